"""Claude Code's `permissions`: allow, ask and deny lists of `Tool(specifier)`."""

from __future__ import annotations

import json
import re

from assent.agents.permissions import LAYERS, Permission, Permissions, split
from assent.agents.settings import jsonc
from assent.contract import SettingsError

PATHS = {
    "Read": "read",
    "Edit": "write",
    "Write": "write",
    "MultiEdit": "write",
    "NotebookEdit": "write",
    "Glob": "list",
    "Grep": "search",
    "LS": "list",
}
NAMED = {"WebFetch": "fetch", "Task": "agent", "Agent": "agent"}
ALONE = {"WebSearch": "websearch"}
JOINED = re.compile(r"&&|\|\||[;|]")
BACK = {"read": "Read", "write": "Edit", "search": "Grep", "list": "Glob"}


class ClaudeCodePermissions(Permissions):
    def read(self, text: str, file: str = "") -> tuple[Permission, ...]:
        found = jsonc.objects(text).get("permissions", {})
        if not isinstance(found, dict | None):
            raise SettingsError("`permissions` is not an object")
        listed = [(layer, rules) for layer in LAYERS if isinstance(rules := (found or {}).get(layer), list)]
        return tuple(permission(layer, each) for layer, rules in listed for each in rules if isinstance(each, str))

    def write(self, rules: tuple[tuple[str, str], ...]) -> tuple[str, tuple[str, ...]]:
        out: dict[str, list[str]] = {}
        for layer, text in rules:
            if written := back(text):
                out.setdefault(layer, []).append(written)
        left = tuple(text for _, text in rules if not back(text))
        return json.dumps({"permissions": out}, indent=2, ensure_ascii=False) + "\n", left


def permission(layer: str, text: str) -> Permission:
    halves = split(text)
    if halves is None:
        return Permission(layer, text, note="does nothing: its parentheses do not match")
    tool, spec = halves
    if tool.startswith("mcp__"):
        return Permission(layer, text, tool)
    if tool == "Bash":
        return bash(layer, text, spec)
    if tool in NAMED:
        return Permission(layer, text, f"{NAMED[tool]}({spec})" if spec else NAMED[tool])
    if tool in ALONE:
        return Permission(layer, text, ALONE[tool])
    if tool in PATHS:
        return Permission(layer, text, f"{PATHS[tool]}({path(spec, wide=layer != 'allow')})" if spec else PATHS[tool])
    known = next((name for name in ("Bash", *NAMED, *ALONE, *PATHS) if name.lower() == tool.lower()), "")
    if known:
        return Permission(layer, text, note=f"does nothing: the name is `{known}`, and case counts there")
    return Permission(layer, text, note="Assent has no rule for that tool; it asks")


def bash(layer: str, text: str, spec: str) -> Permission:
    if not spec or spec in ("*", ":*"):
        return Permission(layer, text, "bash")
    if JOINED.search(spec):
        return Permission(layer, text, note="does nothing: Claude Code matches each command of a line by itself")
    if ":*" in spec[:-2]:
        return Permission(layer, text, note="does nothing: `:*` means something at the end only")
    note = "" if layer == "allow" else "in Claude Code other spellings pass it; as a rule of Assent they do not"
    return Permission(layer, text, f"bash({spec})", note)


def path(spec: str, *, wide: bool) -> str:
    """`//x` is absolute there, `/x` and `x` are in the project, and a bare name is one at any depth."""
    if spec.startswith(("//", "~")):
        return spec.removeprefix("/") if spec[0] == "/" else spec
    bare = spec.removeprefix("./").lstrip("/")
    return f"**/{bare}" if wide and "/" not in bare and not spec.startswith(("/", "./")) else bare


def back(text: str) -> str:
    """A rule of ours as Claude Code writes it; `""` if it cannot."""
    tool, spec = split(text) or ("", "")
    if tool.startswith("mcp__"):
        return text
    if tool == "bash":
        return f"Bash({spec})" if spec else "Bash"
    if tool == "fetch" and spec.startswith("domain:"):
        return f"WebFetch({spec})"
    if tool == "agent" and spec:
        return f"Agent({spec})"
    if tool in BACK and spec:
        shown = f"/{spec}" if spec.startswith("/") else spec if spec.startswith(("~", "**/")) else f"./{spec}"
        return f"{BACK[tool]}({shown})"
    return ""


PERMISSIONS = ClaudeCodePermissions("claude")
