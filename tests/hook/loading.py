"""Which modules a hook loads, started as `assent install` wires it and from a snapshot that an earlier hook left."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path

from assent.hook import bundle, launcher


def loaded(state: Path, project: Path, command: str, environ: Mapping[str, str], slow: frozenset[str]) -> set[str]:
    """Those of `slow` that the hook loads for a call. Tries again if another test changed the files that hold the
    modules."""
    launcher.write(str(state))
    _modules(state, project, command, environ)
    found = {command}
    for _ in range(3):
        bundle.write(launcher.bundle())
        found = _modules(state, project, command, environ) & slow
        if not found:
            break
    return found


def _modules(state: Path, project: Path, command: str, environ: Mapping[str, str]) -> set[str]:
    words = launcher.launcher(str(state), "claude", socket=str(state / "none"), deadline=60)
    script = f"""
import os, sys
leave = os._exit
os._exit = lambda status: (print(*sys.modules, file=sys.stderr, flush=True), leave(status))
sys.argv = {words[2:]!r}
exec(open({words[2]!r}, encoding="utf-8").read())
"""
    event = {
        "session_id": "s",
        "cwd": str(project),
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": command},
    }
    done = subprocess.run(
        [*words[:2], "-c", script],
        input=json.dumps(event),
        env=dict(environ),
        capture_output=True,
        text=True,
        check=True,
    )
    assert '"permissionDecision":' in done.stdout, done
    return set(done.stderr.split())
