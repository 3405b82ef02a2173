"""Qwen Code: settings.json, headless and attended."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from .client import PROMPT, SUB_PROMPT, Client, Hook, add_hook
from .model import Call, Step, Use
from .sandbox import Sandbox


class Qwen(Client):
    name = "qwen"
    loose = ("--approval-mode=yolo",)

    def shell(self, command: str) -> Call:
        return Call("run_shell_command", {"command": command, "description": "a command", "is_background": False})

    def write(self, path: Path, content: str) -> Call:
        return Call("write_file", {"file_path": str(path), "content": content})

    def edit(self, path: Path, old: str, new: str) -> list[Step]:
        change = {"file_path": str(path), "old_string": old, "new_string": new}
        return [Use(Call("read_file", {"file_path": str(path)})), Use(Call("edit", change))]

    def delegate(self) -> list[Step]:
        arguments = {"description": "a part", "prompt": SUB_PROMPT, "subagent_type": "general-purpose"}
        return [Use(Call("agent", arguments))]

    def mcp(self, server: str, tool: str, arguments: Mapping[str, object]) -> Call:
        return Call(f"mcp__{server}__{tool}", arguments)

    def hook(self, sandbox: Sandbox, hook: Hook, event: str = "PreToolUse") -> None:
        entry = {"type": "command", "command": hook.command, "timeout": hook.timeout} | hook.more
        add_hook(sandbox.home / ".qwen" / "settings.json", event, {"matcher": "*", "hooks": [entry]})

    def words(self, sandbox: Sandbox, url: str, servers: Mapping[str, Sequence[str]]) -> list[str]:
        return [*self.programs.qwen, "--auth-type=openai"]

    def asking(self) -> list[str]:
        return ["-p", PROMPT]

    def attended_words(self, sandbox: Sandbox, url: str) -> list[str]:
        return [*self.programs.qwen, "--auth-type=openai"]

    def opening(self) -> list[str]:
        return ["--prompt-interactive", PROMPT]

    def environment(self, sandbox: Sandbox, url: str, servers: Mapping[str, Sequence[str]]) -> dict[str, str]:
        if servers:
            _servers(sandbox, servers)
        return {
            "OPENAI_API_KEY": "no-key-at-all",
            "OPENAI_BASE_URL": f"{url}/v1",
            "OPENAI_MODEL": "scripted",
            "QWEN_TELEMETRY_ENABLED": "false",
        }


def _servers(sandbox: Sandbox, servers: Mapping[str, Sequence[str]]) -> None:
    settings = sandbox.home / ".qwen" / "settings.json"
    settings.parent.mkdir(exist_ok=True)
    known = json.loads(settings.read_text()) if settings.exists() else {}
    named = {name: {"command": words[0], "args": list(words[1:]), "trust": True} for name, words in servers.items()}
    settings.write_text(json.dumps(known | {"mcpServers": named}))
