"""Cline CLI: hook files and plugins, headless."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from .client import SUB_PROMPT, Client, Hook
from .model import Call, Step, Use
from .sandbox import Sandbox

PROVIDER = "openai-compatible"


class Cline(Client):
    name = "cline"
    loose = ("--auto-approve", "true")

    def shell(self, command: str) -> Call:
        return Call("run_commands", {"commands": [command]})

    def write(self, path: Path, content: str) -> Call:
        return Call("editor", {"path": str(path), "new_text": content})

    def edit(self, path: Path, old: str, new: str) -> list[Step]:
        return [Use(Call("editor", {"path": str(path), "old_text": old, "new_text": new}))]

    def delegate(self) -> list[Step]:
        return [Use(Call("spawn_agent", {"systemPrompt": "help", "task": SUB_PROMPT}))]

    def mcp(self, server: str, tool: str, arguments: Mapping[str, object]) -> Call:
        return Call(f"{server}__{tool}", arguments)

    def hook(self, sandbox: Sandbox, hook: Hook) -> None:
        file = sandbox.home / ".cline" / "hooks" / "PreToolUse"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"#!/bin/sh\n{hook.command}\n")
        file.chmod(0o755)

    def words(self, sandbox: Sandbox, url: str, servers: Mapping[str, Sequence[str]]) -> list[str]:
        return [*self.programs.cline]

    def attended_words(self, sandbox: Sandbox, url: str) -> list[str]:
        return [*self.programs.cline, "-i"]

    def environment(self, sandbox: Sandbox, url: str, servers: Mapping[str, Sequence[str]]) -> dict[str, str]:
        """The model's address is in a file of its own, which is no settings file with hooks in it."""
        provider = {"provider": PROVIDER, "apiKey": "no-key-at-all", "model": "scripted", "baseUrl": f"{url}/v1"}
        listed = {PROVIDER: {"settings": provider, "updatedAt": "2026-01-01T00:00:00.000Z", "tokenSource": "manual"}}
        file = sandbox.home / ".cline" / "data" / "settings" / "providers.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps({"version": 1, "lastUsedProvider": PROVIDER, "modes": {}, "providers": listed}))
        if servers:
            known = {name: {"command": words[0], "args": list(words[1:])} for name, words in servers.items()}
            (file.parent / "cline_mcp_settings.json").write_text(json.dumps({"mcpServers": known}))
        return {"CLINE_TELEMETRY_DISABLED": "1"}
