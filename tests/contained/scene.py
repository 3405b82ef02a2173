"""A project with a session whose calls may run contained: decided by the real gate, run by the real runner. Holds no
assertions."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from assent.contract import Call
from assent.engine import containment
from assent.engine.engine import Engine, Request, Settled
from assent.engine.memory import Memory
from assent.gate import CallGate
from assent.policy.document import document_of
from assent.policy.rules import Origin
from assent.policy.settings import combine

# A tool that a session wrote: it looks at a folder, reaches a port and makes a file, as its plan says.
PLACES = """
import os
from logging.handlers import SocketHandler

def look(place):
    try:
        return os.listdir(place)
    except OSError as error:
        return f"failed: {error}"

def reach(host, port):
    try:
        return SocketHandler(host, port).makeSocket(2)
    except OSError as error:
        return f"failed: {error}"
"""
TOOL = """
import json, sys
import places

plan = json.load(open("plan.json"))
print("hello from the tool")
print("looked:", places.look(plan["look"]))
print("reached:", places.reach(plan["host"], plan["port"]))
with open("made.txt", "w") as file:
    file.write("made")
sys.exit(plan["status"])
"""
RUNS = "python3 tool.py"


class Ran:
    """The output and the exit status of a run."""

    def __init__(self, out: str, status: int) -> None:
        self.out = out
        self.status = status


class Scene:
    def __init__(self, folder: Path, mode: str = "auto", contain: Mapping[str, object] | None = None, **more: Any):
        self.root, self.home = folder / "work" / "project", folder / "home"
        for path in (self.root, self.home / ".ssh"):
            path.mkdir(parents=True)
        (self.home / ".ssh" / "id_ed25519").write_text("a key")
        self.write("places.py", PLACES)
        self.write("tool.py", TOOL)
        self.plan()
        rules = {"mode": mode, "contain": {"on": True} if contain is None else dict(contain), **more}
        self.memory = Memory(str(folder / "state"))
        own = (str(folder / "state"),)
        self.engine = Engine(combine([document_of(rules, "rules", Origin.USER)]), own=own, state=self.memory.state)
        self.gate = CallGate(self.memory)
        self.count = 0

    def write(self, name: str, text: str) -> None:
        (self.root / name).write_text(text)

    def plan(self, status: int = 0, host: str = "127.0.0.1", port: int = 9) -> None:
        text = f'{{"look": "{self.home}/.ssh", "host": "{host}", "port": {port}, "status": {status}}}'
        self.write("plan.json", text)

    def call(self, command: str, **given: object) -> Call:
        root = str(self.root)
        call_input = {"command": command, **given}
        return Call(
            "Bash",
            call_input,
            cwd=root,
            roots=(root,),
            home=str(self.home),
            session="s",
            runtime="claude",
            shell="bash",
        )

    def request(self, call: Call, *, rewrites: bool = True, keeps: str = "folder", headless: bool = False) -> Request:
        self.count += 1
        return Request(
            self.engine,
            call,
            str(self.root),
            rewrites=rewrites,
            keeps=keeps,
            headless=headless,
            call_id=f"call {self.count}",
            environ={"PATH": "/usr/local/bin:/usr/bin:/bin"},
        )

    def decide(self, command: str, *, rewrites: bool = True, headless: bool = False, **given: object) -> Settled:
        return self.gate.decide(self.request(self.call(command, **given), rewrites=rewrites, headless=headless))

    def ended(self, command: str, **given: object) -> str:
        """What the agent is told after its last call."""
        return containment.ended(self.memory, self.call(command, **given), f"call {self.count}", str(self.root))

    def edit(self, name: str, text: str) -> None:
        """Write a file with a tool of the session, which notes it."""
        path = str(self.root / name)
        call = Call("Write", {"file_path": path, "content": text}, cwd=str(self.root), roots=(str(self.root),))
        self.gate.decide(Request(self.engine, call.but(session="s", runtime="claude"), str(self.root)))
        self.write(name, text)


def run(command: str) -> Ran:
    """Run what an agent program was given, as its shell does."""
    environ = {**os.environ, "PATH": "/usr/local/bin:/usr/bin:/bin"}
    words = ["bash", "-c", command]
    done = subprocess.run(words, capture_output=True, text=True, env=environ, stdin=subprocess.DEVNULL, timeout=60)
    return Ran(done.stdout + done.stderr, done.returncode)
