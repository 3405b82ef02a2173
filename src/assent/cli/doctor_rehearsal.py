"""Starts an agent program itself, with its own settings, against a model of ours that tries a forbidden call.

What a look at the settings cannot see is seen here: whether the program asks the hook, and does what it says. The
program reaches nobody but that model. Judges no settings."""

from __future__ import annotations

import json
import os
import subprocess

from assent.cli.doctor_model import Json, Prompter
from assent.contract.value import Value
from assent.state import hosts

PATIENCE = 90.0  # seconds for a program to start, make one call and end
# On the floor, and there is no such file: where the hook is passed by, nothing is shown.
FORBIDDEN = "cat .ssh/assent-doctor"
REFUSED = "is protected"  # what the floor says of it
PROMPT = "assent doctor tries whether the hook blocks"
KEY = "no-key-at-all"
CALLS: dict[str, tuple[str, Json]] = {
    "claude": ("Bash", {"command": FORBIDDEN, "description": "a trial"}),
    "codex": ("exec_command", {"cmd": FORBIDDEN}),
    "gemini": ("read_file", {"file_path": ".ssh/assent-doctor"}),  # without a person it has no shell
    "opencode": ("bash", {"command": FORBIDDEN, "description": "a trial"}),
}
RUNTIMES = tuple(CALLS)
UNSTORED = "2.1.295"  # Claude Code, since when it knows how to leave no session behind


class Outcome(Value):
    """What came of it: `blocked` is None where no call was made, and `text` says why."""

    __slots__ = ("blocked", "text")

    def __init__(self, blocked: bool | None, text: str) -> None:
        self.blocked = blocked
        self.text = text


def tried(runtime: str, folder: str) -> Outcome:
    """Start the program in a folder, and see whether the forbidden call is blocked by us."""
    program = hosts.program(runtime)
    if not program:
        return Outcome(None, f"`{hosts.PROGRAMS[runtime]}` is not on the PATH")
    prompter = Prompter(*CALLS[runtime])
    try:
        words = [program, *words_of(runtime, prompter.url), PROMPT]
        ended = subprocess.run(
            words,
            cwd=folder,
            env={**os.environ, **environment(runtime, prompter.url), **OFFLINE},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Outcome(None, f"the program did not end within {PATIENCE:.0f} seconds")
    except OSError as error:
        return Outcome(None, f"the program does not start: {error.strerror}")
    finally:
        prompter.close()
    if prompter.results:
        said = prompter.results[0]
        return Outcome(REFUSED in said, " ".join(said.split())[:200])
    said = " ".join((ended.stderr or ended.stdout).split())[-200:]
    return Outcome(
        None, f"{'it made no call' if prompter.spoken else 'it asked no model'}: {said or 'it said nothing'}"
    )


# What is on loopback is reached without a proxy.
OFFLINE = {"NO_PROXY": "127.0.0.1,localhost", "no_proxy": "127.0.0.1,localhost"}


def words_of(runtime: str, url: str) -> list[str]:
    """How the program takes one prompt, and the model's address as far as that is said by words."""
    match runtime:
        case "claude":
            # Settings may name another address, and these stand above them.
            model = json.dumps({"env": environment("claude", url)})
            more = ["--no-session-persistence"] if hosts.at_least(hosts.version("claude"), UNSTORED) else []
            return ["-p", *more, "--strict-mcp-config", "--settings", model]
        case "codex":
            provider = f'{{name = "assent", base_url = "{url}/v1", wire_api = "responses"}}'
            given = {"model": '"assent"', "model_provider": '"assent"', "model_providers.assent": provider}
            given |= {"check_for_update_on_startup": "false", "analytics.enabled": "false", "features.plugins": "false"}
            return ["exec", "--skip-git-repo-check", *(f"--config={key}={value}" for key, value in given.items())]
        case "gemini":
            return ["--model=gemini-2.5-flash"]
        case _:
            return ["run"]


def environment(runtime: str, url: str) -> dict[str, str]:
    """The model's address, a key that is none, and no traffic beside."""
    match runtime:
        case "claude":
            away = (
                "CLAUDE_CODE_USE_BEDROCK",
                "CLAUDE_CODE_USE_VERTEX",
                "CLAUDE_CODE_USE_FOUNDRY",
                "ANTHROPIC_AUTH_TOKEN",
            )
            quiet = ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_TELEMETRY", "DISABLE_AUTOUPDATER")
            return {
                "ANTHROPIC_BASE_URL": url,
                "ANTHROPIC_API_KEY": KEY,
                **dict.fromkeys(away, ""),
                **dict.fromkeys(quiet, "1"),
            }
        case "gemini":
            return {
                "GOOGLE_GENAI_USE_VERTEXAI": "true",
                "GOOGLE_API_KEY": KEY,
                "GOOGLE_VERTEX_BASE_URL": url,
                "GEMINI_TELEMETRY_ENABLED": "false",
            }
        case "opencode":
            options = {"baseURL": f"{url}/v1", "apiKey": KEY}
            models = {"scripted": {"name": "scripted", "tool_call": True}}
            provider = {"npm": "@ai-sdk/openai-compatible", "name": "assent", "options": options, "models": models}
            given = {"model": "assent/scripted", "provider": {"assent": provider}, "autoupdate": False}
            return {
                "OPENCODE_CONFIG_CONTENT": json.dumps({**given, "share": "disabled"}),
                "OPENCODE_DISABLE_AUTOUPDATE": "1",
                "OPENCODE_DISABLE_MODELS_FETCH": "1",
                "npm_config_offline": "true",
            }
        case _:
            return {}
