"""The fixtures: a project in a git repository, an environment, an event of an agent program."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

SESSION = "bench"


def project(folder: Path) -> Path:
    """A small project in a real git repository."""
    root = folder / "webshop"
    for name in ("src/components", "tests/unit", "packages/core", "assets"):
        (root / name).mkdir(parents=True)
    for name in ("src/app.py", "src/main.py", "src/util.py", "package.json", "notes.txt", "data.csv"):
        (root / name).touch()
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    return root


def environ(home: Path, root: Path) -> dict[str, str]:
    """The environment of a hook."""
    return {
        **{key: os.environ[key] for key in ("PATH", "LANG") if key in os.environ},
        "HOME": str(home),
        "CLAUDE_PROJECT_DIR": str(root),
        "SHELL": "/bin/bash",
    }


def event(root: Path, command: str, *, kind: str = "PreToolUse") -> bytes:
    """An event in Claude Code's form; of a tool call by default."""
    given: dict[str, object] = {"session_id": SESSION, "cwd": str(root), "hook_event_name": kind}
    if kind == "PreToolUse":
        given |= {
            "permission_mode": "default",
            "tool_name": "Bash",
            "tool_input": {"command": command},
            "tool_use_id": "1",
        }
    else:
        given["source"] = "startup"
    return json.dumps(given).encode()
