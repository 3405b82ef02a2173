"""opencode: plugins, headless."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from .client import PROMPT, SUB_PROMPT, Client, Hook
from .model import Call, Step, Use
from .sandbox import Sandbox

# It has no hooks but JavaScript in its own process. This is the smallest that asks a command: status 0 lets the call
# run, anything else throws what the command wrote to stderr.
PLUGIN = """
import { spawnSync } from "node:child_process"
export const Gate = async (ctx) => ({
  "tool.execute.before": async (input, output) => {
    const payload = JSON.stringify({ ...input, args: output.args, directory: ctx.directory })
    const ended = spawnSync("/bin/sh", ["-c", %s], { input: payload, timeout: %d, encoding: "utf8" })
    if (ended.status !== 0) throw new Error(ended.stderr || "the gate failed")
  },
})
"""


class Opencode(Client):
    name = "opencode"

    def shell(self, command: str) -> Call:
        return Call("bash", {"command": command, "description": "a command"})

    def write(self, path: Path, content: str) -> Call:
        return Call("write", {"filePath": str(path), "content": content})

    def edit(self, path: Path, old: str, new: str) -> list[Step]:
        """It edits no file that it has not read."""
        change = {"filePath": str(path), "oldString": old, "newString": new}
        return [Use(Call("read", {"filePath": str(path)})), Use(Call("edit", change))]

    def delegate(self) -> list[Step]:
        return [Use(Call("task", {"description": "a part", "prompt": SUB_PROMPT, "subagent_type": "general"}))]

    def mcp(self, server: str, tool: str, arguments: Mapping[str, object]) -> Call:
        return Call(f"{server}_{tool}", arguments)

    def hook(self, sandbox: Sandbox, hook: Hook) -> None:
        self.plugin(sandbox, PLUGIN % (json.dumps(hook.command), int(hook.timeout * 1000)))

    def plugin(self, sandbox: Sandbox, text: str) -> None:
        """Write a plugin of the user."""
        folder = sandbox.home / ".config" / "opencode" / "plugin"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "gate.js").write_text(text)

    def words(self, sandbox: Sandbox, url: str, servers: Mapping[str, Sequence[str]]) -> list[str]:
        return [*self.programs.opencode, "run"]

    def attended_words(self, sandbox: Sandbox, url: str) -> list[str]:
        return [*self.programs.opencode]

    def opening(self) -> list[str]:
        return ["--prompt", PROMPT]

    def environment(self, sandbox: Sandbox, url: str, servers: Mapping[str, Sequence[str]]) -> dict[str, str]:
        model = {"name": "scripted", "tool_call": True}
        options = {"baseURL": f"{url}/v1", "apiKey": "no-key-at-all"}
        provider = {"npm": "@ai-sdk/openai-compatible", "name": "loopback", "options": options}
        known = {name: {"type": "local", "command": list(words)} for name, words in servers.items()}
        settings = {
            "model": "loopback/scripted",
            "provider": {"loopback": provider | {"models": {"scripted": model}}},
            "autoupdate": False,
            "share": "disabled",
            "mcp": known,
        }
        return {
            "OPENCODE_CONFIG_CONTENT": json.dumps(settings),
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
            "npm_config_offline": "true",  # where there are plugins it installs a package, and waits long for one
        }
