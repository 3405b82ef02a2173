"""Files of a project on a real disk, and what the gate says of a command there."""

from __future__ import annotations

from pathlib import Path

from assent.contract import Call
from assent.engine.configure import open_gate, place


def lay(project: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(text, newline="")


def repository(folder: Path) -> Path:
    """An empty repository as `git init` leaves it, made without git: tests/git holds that git takes it for one."""
    lay(folder / ".git", {"HEAD": "ref: refs/heads/main\n", "config": "[core]\n\trepositoryformatversion = 0\n"})
    for name in ("objects/info", "objects/pack", "refs/heads", "refs/tags", "hooks", "info"):
        (folder / ".git" / name).mkdir(parents=True)
    return folder


def configured(project: Path, *settings: str) -> None:
    """Settings of the repository, each `section.key=value` or `section.name.key=value`."""
    with (project / ".git/config").open("a") as config:
        for setting in settings:
            place, _, value = setting.partition("=")
            section, *name, key = place.split(".")
            quoted = value.replace("\\", "\\\\").replace('"', '\\"')
            named = "".join(f' "{each}"' for each in name)
            config.write(f'[{section}{named}]\n\t{key} = "{quoted}"\n')


def answer(project: Path, command: str, mode: str = "default", cwd: str = "") -> str:
    environ = {"HOME": str(project.parent / "home"), "ASSENT_HOME": str(project.parent / "state")}
    gate, here = open_gate(place(str(project), environ), environ, mode=mode)
    call = Call("bash", {"command": command}, cwd=str(project / cwd), roots=here.roots, home=here.home, shell="bash")
    return gate.decide(call).outcome.word
