"""Gemini CLI: settings.json, headless."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from .client import PROMPT, SUB_PROMPT, Client, Hook, add_hook
from .model import Call, Step, Turn, Use
from .sandbox import Sandbox

MODEL = "--model=gemini-2.5-flash"


class Gemini(Client):
    name = "gemini"
    loose = ("--yolo",)

    def shell(self, command: str) -> Call:
        return Call("run_shell_command", {"command": command, "description": "a command"})

    def write(self, path: Path, content: str) -> Call:
        return Call("write_file", {"file_path": str(path), "content": content})

    def edit(self, path: Path, old: str, new: str) -> list[Step]:
        change = {"file_path": str(path), "old_string": old, "new_string": new, "instruction": "change a line"}
        return [Use(Call("replace", change))]

    def delegate(self) -> list[Step]:
        return [Use(Call("invoke_agent", {"agent_name": "generalist", "prompt": SUB_PROMPT}))]

    def report(self, text: str) -> Turn:
        return Use(Call("complete_task", {"result": {"response": text}}))

    def mcp(self, server: str, tool: str, arguments: Mapping[str, object]) -> Call:
        return Call(f"mcp_{server}_{tool}", arguments)

    def hook(self, sandbox: Sandbox, hook: Hook, event: str = "BeforeTool") -> None:
        milliseconds = int(hook.timeout * 1000)
        entry = {"type": "command", "name": "gate", "command": hook.command, "timeout": milliseconds} | hook.more
        add_hook(sandbox.home / ".gemini" / "settings.json", event, {"matcher": ".*", "hooks": [entry]})

    def words(self, sandbox: Sandbox, url: str, servers: Mapping[str, Sequence[str]]) -> list[str]:
        return [*self.programs.gemini, MODEL]

    def attended_words(self, sandbox: Sandbox, url: str) -> list[str]:
        """The kind of account is the one thing that it takes from the user's settings only."""
        settings = sandbox.home / ".gemini" / "settings.json"
        settings.parent.mkdir(exist_ok=True)
        known = json.loads(settings.read_text()) if settings.exists() else {}
        settings.write_text(json.dumps(known | {"security": {"auth": {"selectedType": "vertex-ai"}}}))
        return [*self.programs.gemini, MODEL]

    def opening(self) -> list[str]:
        return ["--prompt-interactive", PROMPT]

    def environment(self, sandbox: Sandbox, url: str, servers: Mapping[str, Sequence[str]]) -> dict[str, str]:
        """Vertex, since it is the one kind of account that can be had by environment alone with another address."""
        if servers:
            _extension(sandbox, servers)
        return {
            "GOOGLE_GENAI_USE_VERTEXAI": "true",
            "GOOGLE_API_KEY": "no-key-at-all",
            "GOOGLE_VERTEX_BASE_URL": url,
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
            "GEMINI_TELEMETRY_ENABLED": "false",
        }


def _extension(sandbox: Sandbox, servers: Mapping[str, Sequence[str]]) -> None:
    """MCP servers come by an extension: the settings are the test's."""
    known = {name: {"command": words[0], "args": list(words[1:])} for name, words in servers.items()}
    folder = sandbox.home / ".gemini" / "extensions" / "servers"
    folder.mkdir(parents=True)
    about = {"name": "servers", "version": "1.0.0", "mcpServers": known}
    (folder / "gemini-extension.json").write_text(json.dumps(about))
