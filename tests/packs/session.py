"""A session in a real repository, with packs on: its calls are decided by an engine, noted in its ledger, and run if a
test says so."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from assent.contract import Call, Decision
from assent.engine import changes
from assent.engine.engine import Engine
from assent.facts import baseline
from assent.policy.document import document_of
from assent.policy.rules import Origin
from assent.policy.settings import combine
from assent.state import ledger, sessions

NAME = "s1"


class PackSession:
    """`project` is the folder that the session begins in, as it was committed with `files`; `setup` is done after
    that, and before the session begins."""

    def __init__(
        self,
        place: Path,
        packs: list[str],
        files: dict[str, str],
        *,
        setup: str = "",
        mode: str = "auto",
        rules: dict[str, object] | None = None,
    ) -> None:
        place = Path(os.path.realpath(place))
        self.project, self.home, self.state = place / "w", place / "home", place / "state"
        for folder in (self.project, self.home, self.state):
            folder.mkdir(mode=0o700, parents=True)
        for name, text in files.items():
            (self.project / name).parent.mkdir(parents=True, exist_ok=True)
            (self.project / name).write_text(text)
        self.do("git init -q -b main && git add -A && git commit -q -m first && git checkout -q -b feature")
        self.do(setup)
        user = document_of({"packs": {"on": packs}, **(rules or {})}, "user", Origin.USER)
        self.engine = Engine(combine([user], flag_mode=mode), state=str(self.state))
        sessions.began(str(self.state), NAME, str(self.project), baseline.start_of)
        self.count = 0

    def do(self, text: str) -> None:
        """Run a script in the project that is no call of the session."""
        environ = {"PATH": os.environ["PATH"], "HOME": str(self.home), "GIT_CONFIG_NOSYSTEM": "1"}
        for who in ("AUTHOR", "COMMITTER"):
            environ |= {f"GIT_{who}_NAME": "a", f"GIT_{who}_EMAIL": "a@b.c"}
        command = ["bash", "-euc", text]
        done = subprocess.run(command, cwd=self.project, env=environ, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr

    def decide(self, command: str, *, tool: str = "bash", session: str = NAME) -> Decision:
        key = {"bash": "command"}.get(tool, "file_path")
        return self._judged(self._call(tool, {key: command}, session), session)

    def _call(self, tool: str, given: dict[str, object], session: str) -> Call:
        where = str(self.project)
        return Call(tool, given, cwd=where, roots=(where,), home=str(self.home), session=session)

    def _judged(self, call: Call, session: str) -> Decision:
        judged = self.engine.judge(call, session=session)
        assert judged.lowering is not None, judged.decision.reason
        assert judged.facts is not None
        entry = changes.entry_of(call, judged.lowering, judged.facts)
        if entry is not None and session:
            self.count += 1
            ledger.note(str(self.state), session, f"r{self.count}", entry)
        return judged.decision

    def write(self, path: str, text: str) -> None:
        """The agent writes a file."""
        given: dict[str, object] = {"file_path": str(self.project / path), "content": text}
        self._judged(self._call("write", given, NAME), NAME)
        file = self.project / path
        assert file.parent.resolve().is_relative_to(self.project.resolve()), "a test writes in its own folder only"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.unlink(missing_ok=True)  # a link may lead to a program of this machine
        file.write_text(text)
