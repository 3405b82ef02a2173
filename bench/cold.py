"""What a hook costs that starts anew for each call, beside peers and a bare interpreter. Run by `make bench`.

All programs take turns in one run, and each is counted by the processor time that the kernel gave it. The project is a
real repository, and ours answers as agent programs start it: through the launcher that `assent install` writes, without
a server."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench import page

from assent.ui import launcher

ROUNDS = 40
COMMANDS = ("git status && ls -la", "grep -rn 'def main' src | head -20", "npm run build && git push --force")
CLI = Path(__file__).parents[1] / ".venv"


def event(project: Path, command: str) -> bytes:
    given = {
        "session_id": "bench",
        "cwd": str(project),
        "permission_mode": "default",
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": command},
        "tool_use_id": "1",
    }
    return json.dumps(given).encode()


def programs(folder: Path) -> dict[str, list[str]]:
    """What there is to be started, by name."""
    state = folder / "state"
    launcher.write(str(state))
    own = launcher.launcher(str(state), "claude", socket=str(state / "server.sock"), deadline=60)
    python = launcher.interpreter()
    found = {
        "`/bin/true`": ["/bin/true"],
        "`python -I -S -c pass`": [python, "-I", "-S", "-c", "pass"],
        "**assent**": list(own),
    }
    nah = CLI / "bin" / "nah"
    if nah.exists():
        found["nah (PyPI)"] = [str(nah), "_claude-hook"]
    net = CLI / "peers" / "node_modules" / ".bin" / "cc-safety-net"
    if net.exists():
        found["cc-safety-net (npm)"] = [str(net), "--claude-code"]
    return found


def once(words: list[str], text: bytes, environ: dict[str, str], folder: Path) -> tuple[float, float]:
    """Milliseconds of processor and of wall time."""
    reading, writing = os.pipe()
    os.write(writing, text)
    os.close(writing)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    ends = [(os.POSIX_SPAWN_DUP2, reading, 0), (os.POSIX_SPAWN_DUP2, nowhere, 1), (os.POSIX_SPAWN_DUP2, nowhere, 2)]
    started = time.perf_counter()
    child = os.posix_spawn(words[0], words, environ, file_actions=ends)
    _, _, usage = os.wait4(child, 0)
    took = time.perf_counter() - started
    os.close(reading)
    os.close(nowhere)
    return (usage.ru_utime + usage.ru_stime) * 1000, took * 1000


def measure(rounds: int) -> str:
    rows: list[str] = []
    with tempfile.TemporaryDirectory(prefix="assent-bench-") as name:
        folder = Path(name)
        project = folder / "webshop"
        project.mkdir()
        subprocess.run(["git", "init", "-q", str(project)], check=True)
        environ = {
            **{key: os.environ[key] for key in ("PATH", "LANG") if key in os.environ},
            "HOME": str(folder),
            "CLAUDE_PROJECT_DIR": str(project),
            "SHELL": "/bin/bash",
        }
        found = programs(folder)
        for command in COMMANDS:
            text = event(project, command)
            times: dict[str, list[tuple[float, float]]] = {name: [] for name in found}
            for turn in range(rounds + 2):
                for each, words in found.items():
                    spent = once(words, text, environ, project)
                    if turn > 1:  # the first two bring files into memory, and leave a snapshot
                        times[each].append(spent)
            bare = statistics.median(cpu for cpu, _ in times["`python -I -S -c pass`"])
            for each, spent_all in times.items():
                rows.append(row(f"`{command}`".replace("|", "\\|"), each, spent_all, bare))
    head = "| command | program | CPU, median ms | CPU, p99 ms | wall, median ms | times the bare interpreter |"
    return "\n".join([head, "|---|---|---:|---:|---:|---:|", *rows])


def row(command: str, name: str, spent: list[tuple[float, float]], bare: float) -> str:
    cpu = sorted(cpu for cpu, _ in spent)
    wall = statistics.median(wall for _, wall in spent)
    middle, late = statistics.median(cpu), cpu[min(len(cpu) - 1, int(len(cpu) * 0.99))]
    return f"| {command} | {name} | {middle:.1f} | {late:.1f} | {wall:.1f} | {middle / bare:.2f} |"


def main() -> int:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    table = measure(rounds)
    how = f"`python -m bench.cold {rounds}`: a process for each call, {rounds} rounds in turn. {page.machine()}."
    text = f"{how}\n\n{table}"
    page.write("A hook that starts anew", text)
    print(text)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
