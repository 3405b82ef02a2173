"""Copilot CLI: hook files, headless."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from .client import PROMPT, SUB_PROMPT, Client, Hook
from .model import Call, Step, Use
from .sandbox import Sandbox


class Copilot(Client):
    name = "copilot"
    loose = ("--allow-all-tools",)

    def shell(self, command: str) -> Call:
        return Call("bash", {"command": command, "description": "a command"})

    def write(self, path: Path, content: str) -> Call:
        return Call("create", {"path": str(path), "file_text": content})

    def edit(self, path: Path, old: str, new: str) -> list[Step]:
        return [Use(Call("edit", {"path": str(path), "old_str": old, "new_str": new}))]

    def delegate(self) -> list[Step]:
        arguments = {"description": "a part", "prompt": SUB_PROMPT, "agent_type": "general-purpose", "name": "part"}
        return [Use(Call("task", arguments))]

    def mcp(self, server: str, tool: str, arguments: Mapping[str, object]) -> Call:
        return Call(f"{server}-{tool}", arguments)

    def hook(self, sandbox: Sandbox, hook: Hook, event: str = "preToolUse") -> None:
        entry = {"type": "command", "bash": hook.command, "timeoutSec": int(hook.timeout)} | hook.more
        folder = sandbox.home / ".copilot" / "hooks"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"gate-{event}.json").write_text(json.dumps({"version": 1, "hooks": {event: [entry]}}))

    def words(self, sandbox: Sandbox, url: str, servers: Mapping[str, Sequence[str]]) -> list[str]:
        return [*self.programs.copilot, *_servers(servers), "--no-color"]

    def asking(self) -> list[str]:
        return ["-p", PROMPT]

    def attended_words(self, sandbox: Sandbox, url: str) -> list[str]:
        return [*self.programs.copilot, "--no-color", "-i"]

    def environment(self, sandbox: Sandbox, url: str, servers: Mapping[str, Sequence[str]]) -> dict[str, str]:
        return {
            "COPILOT_OFFLINE": "true",
            "COPILOT_PROVIDER_BASE_URL": f"{url}/v1",
            "COPILOT_PROVIDER_API_KEY": "no-key-at-all",
            "COPILOT_MODEL": "scripted",
            "COPILOT_AUTO_UPDATE": "false",
        }


def _servers(servers: Mapping[str, Sequence[str]]) -> list[str]:
    if not servers:
        return []
    known = {
        name: {"type": "local", "command": words[0], "args": list(words[1:]), "tools": ["*"]}
        for name, words in servers.items()
    }
    return ["--additional-mcp-config", json.dumps({"mcpServers": known})]
