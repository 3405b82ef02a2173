"""Gemini CLI's permissions: `tools.allowed` and `tools.exclude` in its settings, and the rules of its policy files."""

from __future__ import annotations

import json
import tomllib

from assent.agents.permissions import Permission, Permissions, prefix_of, split
from assent.agents.settings import jsonc
from assent.contract import SettingsError

SHELL = frozenset({"run_shell_command", "ShellTool"})
TOOLS = {
    "read_file": "read",
    "ReadFileTool": "read",
    "read_many_files": "read",
    "write_file": "write",
    "WriteFileTool": "write",
    "replace": "write",
    "EditTool": "write",
    "list_directory": "list",
    "glob": "list",
    "search_file_content": "search",
    "grep_search": "search",
    "web_fetch": "fetch",
    "google_web_search": "websearch",
}
LAYER = {"allow": "allow", "ask_user": "ask", "deny": "deny"}
DECISION = {ours: theirs for theirs, ours in LAYER.items()}
PRIORITY = {"allow": 100, "ask": 200, "deny": 300}


class GeminiCliPermissions(Permissions):
    def read(self, text: str, file: str = "") -> tuple[Permission, ...]:
        return tuple(policy(text)) if file.endswith(".toml") else tuple(settings(text))

    def write(self, rules: tuple[tuple[str, str], ...]) -> tuple[str, tuple[str, ...]]:
        out: list[str] = []
        for layer, text in rules:
            if prefix := prefix_of(layer, text):
                out += ["[[rule]]", 'toolName = "run_shell_command"', f"commandPrefix = {json.dumps(prefix)}"]
                out += [f'decision = "{DECISION[layer]}"', f"priority = {PRIORITY[layer]}", ""]
        return "\n".join(out), tuple(text for layer, text in rules if not prefix_of(layer, text))


def settings(text: str) -> list[Permission]:
    root = jsonc.parse(text).value
    if not isinstance(root, dict):
        raise SettingsError("the settings are not an object")
    tools = root.get("tools")
    inner = tools if isinstance(tools, dict) else {}
    listed = [("allow", inner.get("allowed")), ("deny", inner.get("exclude"))]
    listed += [("allow", root.get("allowedTools")), ("deny", root.get("excludeTools"))]
    return [
        entry(layer, each)
        for layer, names in listed
        if isinstance(names, list)
        for each in names
        if isinstance(each, str)
    ]


def entry(layer: str, text: str) -> Permission:
    halves = split(text)
    if halves is None:
        return Permission(layer, text, note="does nothing: its parentheses do not match")
    tool, spec = halves
    if tool in SHELL:
        return Permission(layer, text, f"bash({spec}:*)" if spec else "bash")
    if tool in TOOLS:
        return Permission(layer, text, TOOLS[tool])
    if tool.startswith("mcp_") or "__" in tool:
        return Permission(layer, text, note="name the server by hand, as in `mcp__server__tool`")
    return Permission(layer, text, note="Assent has no rule for that tool; it asks")


def policy(text: str) -> list[Permission]:
    try:
        found = tomllib.loads(text).get("rule", [])
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"not TOML, so Gemini CLI passes it over: {error}") from None
    return [each for rule in found if isinstance(rule, dict) for each in ruled(rule)]


def ruled(rule: dict[str, object]) -> list[Permission]:
    shown = json.dumps(rule, default=str, ensure_ascii=False)
    layer = LAYER.get(str(rule.get("decision")), "")
    if not layer or "priority" not in rule:
        return [Permission("ask", shown, note="does nothing: it needs a decision and a priority")]
    names, prefixes = listed(rule.get("toolName")), listed(rule.get("commandPrefix"))
    if "commandRegex" in rule or "argsPattern" in rule:
        return [Permission(layer, shown, note="patterns have no counterpart; write a rule by hand")]
    if prefixes:
        return [Permission(layer, shown, f"bash({prefix}:*)") for prefix in prefixes]
    server = rule.get("mcpName")
    if isinstance(server, str) and server:
        return [Permission(layer, shown, f"mcp__{server}")]
    return [entry(layer, name) for name in names]


def listed(value: object) -> list[str]:
    return [str(each) for each in value] if isinstance(value, list) else [value] if isinstance(value, str) else []


PERMISSIONS = GeminiCliPermissions("gemini")
