"""Lays a project out on disk, and decides the calls of its sessions there. Holds no assertions."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from assent.contract import Call, Decision
from assent.engine import changes
from assent.engine.engine import Engine
from assent.engine.memory import Memory
from assent.facts import baseline
from assent.policy.document import document_of
from assent.policy.rules import Origin
from assent.policy.settings import combine
from assent.state import sessions

HERE = Path(__file__).parent
NAMES = ("node", "python", "go")
PACKS = ("dev-tasks", "git-local", "project-code", "rebuild")
REMOTE = "https://github.com/example/project.git"


def calls(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (HERE / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


def lay_out(name: str, root: Path) -> None:
    """Write the files of a project, and commit those that it does not ignore. `==== path` begins a file, `+x` makes it
    a program, `-> place` is a link; `@HERE@` is the folder of the project."""
    root.mkdir(parents=True)
    for part in ("\n" + (HERE / f"{name}.files").read_text(encoding="utf-8")).split("\n==== ")[1:]:
        head, _, text = part.partition("\n")
        path, _, mark = head.partition(" ")
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        if mark.startswith("-> "):
            file.symlink_to(mark[3:])
            continue
        file.write_text((text + "\n" if text else "").replace("@HERE@", str(root)), encoding="utf-8")
        file.chmod(0o755 if mark == "+x" else 0o644)
    git(root, "init", "-q", "-b", "main")
    git(root, "remote", "add", "origin", REMOTE)
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "Begin")


def git(root: Path, *words: str) -> None:
    environ = {"PATH": os.environ["PATH"], "HOME": str(root.parent), "GIT_CONFIG_NOSYSTEM": "1"}
    for who in ("AUTHOR", "COMMITTER"):
        environ |= {f"GIT_{who}_NAME": "a", f"GIT_{who}_EMAIL": "a@b.c"}
    subprocess.run(["git", "-C", str(root), *words], check=True, capture_output=True, env=environ)


class Project:
    """A project on disk with a gate. Calls are decided and noted in the ledger of their session, but not run; edits
    are made, and taken back by `clean`."""

    def __init__(self, name: str, folder: Path, mode: str, packs: tuple[str, ...] = PACKS) -> None:
        self.root = folder / "work" / name
        self.home = folder / "home"
        self.home.mkdir(exist_ok=True)
        if not self.root.exists():
            lay_out(name, self.root)
        self.memory = Memory(str(folder / f"state-{mode}"))
        document = document_of({"mode": mode, "packs": {"on": list(packs)}}, "rules", Origin.USER)
        self.engine = Engine(combine([document]), state=self.memory.state)
        self._began: set[str] = set()

    def decide(self, call: dict[str, Any]) -> Decision:
        session = f"session {call.get('session', 0)}"
        root = str(self.root)
        if session not in self._began:
            self._began.add(session)
            sessions.began(self.memory.state, session, root, baseline.start_of)
        given = {key: self._at(key, value) for key, value in call["input"].items()}
        made = Call(
            call["tool"].lower(),
            given,
            cwd=root,
            roots=(root,),
            home=str(self.home),
            shell="bash",
            session=session,
        )
        judged = self.engine.judge(made, session=session)
        changes.note(self.memory, made, judged, f"{session} {id(call)}")
        if call["tool"] in ("Edit", "Write"):
            self._edit(given)
        return judged.decision

    def bash(self, command: str, session: int = 0) -> Decision:
        return self.decide({"tool": "Bash", "input": {"command": command}, "session": session})

    def clean(self) -> None:
        """Take back what calls edited."""
        git(self.root, "checkout", "-q", "--", ".")
        git(self.root, "clean", "-fdq")

    def _at(self, key: str, value: object) -> object:
        return str(self.root / str(value)) if key in ("file_path", "path") else value

    def _edit(self, given: dict[str, Any]) -> None:
        file = Path(given["file_path"])
        assert file.resolve().is_relative_to(self.root.resolve()), "a test writes in its own folder only"
        file.parent.mkdir(parents=True, exist_ok=True)
        if "content" in given:
            file.write_text(given["content"], encoding="utf-8")
            return
        text = file.read_text(encoding="utf-8")
        if given["old_string"] not in text:
            raise ValueError(f"{file} has no {given['old_string']!r}")
        file.write_text(text.replace(given["old_string"], given["new_string"]), encoding="utf-8")
