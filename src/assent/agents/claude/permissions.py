"""Claude Code's `permissions`: allow, ask and deny lists of `Tool(specifier)`."""

from __future__ import annotations

import json
import re

from assent.agents.permissions.permission import LAYERS, Permission, Permissions, split
from assent.agents.settings import hooks, jsonc
from assent.contract import SettingsError

PATHS = {"Read": "read", "Edit": "write", "Write": "write", "MultiEdit": "write", "NotebookEdit": "write"}
LISTING = {"Glob": "list", "Grep": "search", "LS": "list"}
NAMED = {"WebSearch": "websearch"}
KNOWN = frozenset({"Bash", "WebFetch", "Task", "Agent", *PATHS, *LISTING, *NAMED})
JOINED = re.compile(r"&&|\|\||[;|]")
BACK = {"read": "Read", "write": "Edit", "search": "Grep", "list": "Glob"}


class ClaudeCodePermissions(Permissions):
    runtime = "claude"

    def read(self, text: str, file: str = "") -> tuple[Permission, ...]:
        if hooks.is_blank(text):
            return ()
        root = jsonc.parse(text).value
        found = root.get("permissions") if isinstance(root, dict) else None
        if found is None:
            return ()
        if not isinstance(found, dict):
            raise SettingsError("`permissions` is not an object")
        listed = [(layer, found.get(layer, [])) for layer in LAYERS]
        return tuple(
            permission(layer, each)
            for layer, rules in listed
            if isinstance(rules, list)
            for each in rules
            if isinstance(each, str)
        )

    def write(self, rules: tuple[tuple[str, str], ...]) -> tuple[str, tuple[str, ...]]:
        out: dict[str, list[str]] = {}
        left: list[str] = []
        for layer, text in rules:
            written = back(text)
            if written:
                out.setdefault(layer, []).append(written)
            else:
                left.append(text)
        return json.dumps({"permissions": out}, indent=2, ensure_ascii=False) + "\n", tuple(left)


def permission(layer: str, text: str) -> Permission:
    halves = split(text)
    if halves is None:
        return Permission(layer, text, note="does nothing: its parentheses do not match")
    tool, spec = halves
    if tool.startswith("mcp__"):
        return Permission(layer, text, tool)
    if tool not in KNOWN:
        known = next((name for name in KNOWN if name.lower() == tool.lower()), "")
        if known:
            return Permission(layer, text, note=f"does nothing: the name is `{known}`, and case counts there")
        return Permission(layer, text, note="no rule of ours speaks of that tool; it is asked about")
    if tool == "Bash":
        return bash(layer, text, spec)
    if tool == "WebFetch":
        return Permission(layer, text, f"fetch({spec})" if spec else "fetch")
    if tool in ("Task", "Agent"):
        return Permission(layer, text, f"agent({spec})" if spec else "agent")
    if tool in NAMED:
        return Permission(layer, text, NAMED[tool])
    word = PATHS.get(tool) or LISTING[tool]
    if not spec:
        return Permission(layer, text, word)
    return Permission(layer, text, f"{word}({path(spec, wide=layer != 'allow')})")


def bash(layer: str, text: str, spec: str) -> Permission:
    if not spec or spec in ("*", ":*"):
        return Permission(layer, text, "bash")
    if JOINED.search(spec):
        return Permission(layer, text, note="does nothing: Claude Code looks at each command of a line by itself")
    if ":*" in spec[:-2]:
        return Permission(layer, text, note="does nothing: `:*` means something at the end only")
    note = "" if layer == "allow" else "in Claude Code other spellings pass it; as a rule of Assent they do not"
    return Permission(layer, text, f"bash({spec})", note)


def path(spec: str, *, wide: bool) -> str:
    """`//x` is absolute there, `/x` and `x` are in the project, and a bare name is one at any depth."""
    if spec.startswith("//"):
        return spec[1:]
    if spec.startswith("~"):
        return spec
    bare = spec.removeprefix("./").lstrip("/")
    if wide and "/" not in bare and not spec.startswith(("/", "./")):
        return f"**/{bare}"
    return bare


def back(text: str) -> str:
    """A rule of ours as Claude Code writes it; `""` where it cannot."""
    halves = split(text)
    if halves is None:
        return ""
    tool, spec = halves
    if tool.startswith("mcp__"):
        return text
    if tool == "bash":
        return f"Bash({spec})" if spec else "Bash"
    if tool == "fetch" and spec.startswith("domain:"):
        return f"WebFetch({spec})"
    if tool == "agent":
        return f"Agent({spec})" if spec else ""
    if tool in BACK and spec:
        shown = f"/{spec}" if spec.startswith("/") else spec if spec.startswith(("~", "**/")) else f"./{spec}"
        return f"{BACK[tool]}({shown})"
    return ""


PERMISSIONS = ClaudeCodePermissions()
