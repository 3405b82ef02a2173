"""Codex: hooks.json, headless."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from .client import SUB_PROMPT, Client, Hook, add_hook
from .model import Call, Step, Turn, Use
from .sandbox import Sandbox

AGENTS = "multi_agent_v1"  # the group of the tools for sub-agents


class Codex(Client):
    name = "codex"
    model = "scripted"  # one that it does not know
    loose = ("--dangerously-bypass-approvals-and-sandbox",)
    trust = ("--dangerously-bypass-hook-trust",)

    def shell(self, command: str) -> Call:
        return Call("exec_command", {"cmd": command})

    def write(self, path: Path, content: str) -> Call:
        """A model that it does not know gets no tool to write with: the patch goes through the shell."""
        return self.shell(f"apply_patch <<'EOF'\n{_patch(path, content)}EOF\n")

    def edit(self, path: Path, old: str, new: str) -> list[Step]:
        return [Use(self.shell(f"apply_patch <<'EOF'\n{_change(path, old, new)}EOF\n"))]

    def delegate(self) -> list[Step]:
        """A sub-agent runs beside its parent, which must wait for it by its name."""

        def wait(results: Sequence[str]) -> Turn:
            agent = json.loads(results[-1])["agent_id"]
            return Use(Call("wait_agent", {"targets": [agent]}, AGENTS))

        return [Use(Call("spawn_agent", {"message": SUB_PROMPT}, AGENTS)), wait]

    def mcp(self, server: str, tool: str, arguments: Mapping[str, object]) -> Call:
        return Call(tool, arguments, f"mcp__{server}")

    def hook(self, sandbox: Sandbox, hook: Hook, event: str = "PreToolUse") -> None:
        entry = {"type": "command", "command": hook.command, "timeout": int(hook.timeout)} | hook.more
        add_hook(sandbox.home / ".codex" / "hooks.json", event, {"matcher": "*", "hooks": [entry]})

    def words(self, sandbox: Sandbox, url: str, servers: Mapping[str, Sequence[str]]) -> list[str]:
        return [*self.programs.codex, "exec", "--skip-git-repo-check", *self._settings(url, servers)]

    def attended_words(self, sandbox: Sandbox, url: str) -> list[str]:
        trusted = f'projects={{{json.dumps(str(sandbox.project))}={{trust_level="trusted"}}}}'
        return [*self.programs.codex, *self._settings(url, {}), f"--config={trusted}"]

    def _settings(self, url: str, servers: Mapping[str, Sequence[str]]) -> list[str]:
        settings = {
            "model": self.model,
            "model_provider": "loopback",
            "model_providers.loopback": {"name": "loopback", "base_url": f"{url}/v1", "wire_api": "responses"},
            "check_for_update_on_startup": False,
            "analytics.enabled": False,
            "features.plugins": False,  # it would look for them on the network, and wait five seconds at the end
        }
        for name, words in servers.items():
            settings[f"mcp_servers.{name}"] = {"command": words[0], "args": list(words[1:])}
        return [f"--config={key}={_toml(value)}" for key, value in settings.items()]

    def environment(self, sandbox: Sandbox, url: str, servers: Mapping[str, Sequence[str]]) -> dict[str, str]:
        return {}


class CodexCode(Codex):
    """Codex with its newest models: one tool runs JavaScript, which calls the others."""

    name = "codex-code"
    model = "gpt-6.1-sol"  # the newest that it knows: it asks a person to move on from others

    def shell(self, command: str) -> Call:
        return _script("exec_command", {"cmd": command})

    def write(self, path: Path, content: str) -> Call:
        return _script("apply_patch", _patch(path, content))

    def edit(self, path: Path, old: str, new: str) -> list[Step]:
        return [Use(_script("apply_patch", _change(path, old, new)))]

    def mcp(self, server: str, tool: str, arguments: Mapping[str, object]) -> Call:
        return _script(f"mcp__{server}__{tool}", arguments)

    def delegate(self) -> list[Step]:
        task = {"message": SUB_PROMPT, "task_name": "part", "fork_turns": "none"}
        return [Use(Call("spawn_agent", task, "collaboration")), Use(Call("wait_agent", {}, "collaboration"))]


def _script(tool: str, argument: object) -> Call:
    return Call("exec", {}, text=f"text(JSON.stringify(await tools.{tool}({json.dumps(argument)})))")


def _patch(path: Path, content: str) -> str:
    added = "".join(f"+{line}\n" for line in content.splitlines())
    return f"*** Begin Patch\n*** Add File: {path}\n{added}*** End Patch\n"


def _change(path: Path, old: str, new: str) -> str:
    return f"*** Begin Patch\n*** Update File: {path}\n@@\n-{old}\n+{new}\n*** End Patch\n"


def _toml(value: object) -> str:
    """JSON is TOML, except for the sign between key and value of a table."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {_toml(each)}" for key, each in value.items()) + "}"
    return json.dumps(value)
