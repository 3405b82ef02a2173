"""The other gates: how each is run, or why it is missing."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

VENV = Path(__file__).parents[1] / ".venv"
NOT_INSTALLED = "not installed, see `make bench`"

Run = Callable[[str], object]


def openharness(rules: int = 0) -> Run | str:
    """Its checker of shell commands, which compares the text with that many patterns, none of them matching."""
    try:
        from openharness.config.settings import PermissionSettings  # type: ignore[import-not-found,unused-ignore]
        from openharness.permissions.checker import PermissionChecker  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        return NOT_INSTALLED
    checker = PermissionChecker(PermissionSettings(denied_commands=[f"tool{number} *" for number in range(rules)]))
    return lambda command: checker.evaluate("bash", is_read_only=False, command=command)


def nah() -> Run | str:
    """Its classification of a command."""
    try:
        from nah.bash import classify_command  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        return NOT_INSTALLED
    return lambda command: classify_command(command)


def nah_hook() -> list[str] | str:
    found = VENV / "bin" / "nah"
    return [str(found), "_claude-hook"] if found.exists() else NOT_INSTALLED


def safety_net_hook() -> list[str] | str:
    found = VENV / "peers" / "node_modules" / ".bin" / "cc-safety-net"
    return [str(found), "--claude-code"] if found.exists() else NOT_INSTALLED


def sandbox_runtime() -> list[str] | str:
    """Runs a command in the sandbox of Anthropic's sandbox-runtime."""
    found = VENV / "peers" / "sandbox" / "node_modules" / ".bin" / "srt"
    return [str(found)] if found.exists() else NOT_INSTALLED


def versions() -> dict[str, str]:
    """The installed versions."""
    found: dict[str, str] = {}
    for name in ("nah", "openharness-ai", "starlette", "uvicorn"):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    for name, folder in (("cc-safety-net", ""), ("@anthropic-ai/sandbox-runtime", "sandbox")):
        package = VENV / "peers" / folder / "node_modules" / name / "package.json"
        if package.exists():
            found[name] = str(json.loads(package.read_text(encoding="utf-8"))["version"])
    return found
