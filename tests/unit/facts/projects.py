"""Files of a project on a real disk, and what the gate says of a command there."""

from __future__ import annotations

from pathlib import Path

from assent.configure import open_gate, place
from assent.contract.call import Call


def lay(project: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(text, newline="")


def answer(project: Path, command: str, mode: str = "default", cwd: str = "") -> str:
    environ = {"HOME": str(project.parent / "home"), "ASSENT_HOME": str(project.parent / "state")}
    gate, here = open_gate(place(str(project), environ), environ, mode=mode)
    call = Call("bash", {"command": command}, cwd=str(project / cwd), roots=here.roots, home=here.home, shell="bash")
    return gate.decide(call).outcome.word
