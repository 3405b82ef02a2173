"""Claude Code: settings, headless and attended."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from .client import SUB_PROMPT, Client, Hook, add_hook
from .model import Call, Step, Use
from .sandbox import Sandbox

KEY = "no-key-at-all"


class Claude(Client):
    name = "claude"
    loose = ("--permission-mode=bypassPermissions",)

    def shell(self, command: str) -> Call:
        return Call("Bash", {"command": command, "description": "a command"})

    def write(self, path: Path, content: str) -> Call:
        return Call("Write", {"file_path": str(path), "content": content})

    def edit(self, path: Path, old: str, new: str) -> list[Step]:
        """It edits no file that it has not read."""
        change = {"file_path": str(path), "old_string": old, "new_string": new, "replace_all": False}
        return [Use(Call("Read", {"file_path": str(path)})), Use(Call("Edit", change))]

    def delegate(self) -> list[Step]:
        arguments = {"description": "a part", "prompt": SUB_PROMPT, "subagent_type": "general-purpose"}
        return [Use(Call("Agent", arguments | {"run_in_background": False}))]

    def mcp(self, server: str, tool: str, arguments: Mapping[str, object]) -> Call:
        return Call(f"mcp__{server}__{tool}", arguments)

    def hook(self, sandbox: Sandbox, hook: Hook, event: str = "PreToolUse") -> None:
        entry = {"type": "command", "command": hook.command, "timeout": hook.timeout} | hook.more
        add_hook(sandbox.home / ".claude" / "settings.json", event, {"matcher": "*", "hooks": [entry]})

    def words(self, sandbox: Sandbox, url: str, servers: Mapping[str, Sequence[str]]) -> list[str]:
        return [*self.programs.claude, *_servers(servers), "-p"]

    def attended_words(self, sandbox: Sandbox, url: str) -> list[str]:
        known = {"hasCompletedOnboarding": True, "theme": "dark", "customApiKeyResponses": {"approved": [KEY]}}
        trusted = {"projects": {str(sandbox.project): {"hasTrustDialogAccepted": True}}}
        (sandbox.home / ".claude.json").write_text(json.dumps(known | trusted))
        return [*self.programs.claude]

    def environment(self, sandbox: Sandbox, url: str, servers: Mapping[str, Sequence[str]]) -> dict[str, str]:
        return {
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": KEY,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_AUTOUPDATER": "1",
            "IS_SANDBOX": "1",  # or it refuses to bypass permissions as root
        }


def _servers(servers: Mapping[str, Sequence[str]]) -> list[str]:
    if not servers:
        return []
    known = {name: {"type": "stdio", "command": words[0], "args": list(words[1:])} for name, words in servers.items()}
    return ["--strict-mcp-config", "--mcp-config=" + json.dumps({"mcpServers": known})]
