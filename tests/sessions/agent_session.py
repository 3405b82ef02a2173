"""A session of an agent in a real project, with the policy that `assent install` offers."""

from __future__ import annotations

import os
import subprocess
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from assent.contract import Call, Decision, Outcome
from assent.engine import changes
from assent.engine.engine import Engine
from assent.facts import baseline
from assent.policy import shipped
from assent.policy.document import document_of
from assent.policy.rules import Origin
from assent.policy.settings import combine
from assent.state import ledger, sessions

HERE = Path(__file__).parent
FILES = {
    head: text
    for part in (HERE / "project.files").read_text(encoding="utf-8").split("==== ")[1:]
    for head, _, text in [part.partition("\n")]
}
BEFORE = """
git init -q -b main && git add -A && git commit -q -m first
git remote add origin https://git.example.com/acme/app.git
git update-ref refs/remotes/origin/main HEAD && git symbolic-ref refs/remotes/origin/HEAD refs/remotes/origin/main
mkdir -p dist node_modules/.cache data && touch dist/a.js node_modules/.cache/x .env data/dev.db
mkdir -p ~/Documents ~/work ~/projects && touch ~/Documents/a ~/work/b ~/projects/c ~/.bashrc
"""


def offered() -> dict[str, object]:
    """The policy that `assent install` writes for a person who takes what it offers."""
    return tomllib.loads(Path(shipped.HERE, "starter.toml").read_text())


@contextmanager
def folder() -> Iterator[Path]:
    """A folder that is not below `/tmp`, where the packs allow changes."""
    with TemporaryDirectory(prefix="assent-", dir="/var/tmp") as place:
        yield Path(os.path.realpath(place))


def lay_out(place: Path) -> None:
    """Make the project and the home folder of a session."""
    project, home = place / "w", place / "home"
    home.mkdir(parents=True)
    for path, text in FILES.items():
        write(project / path, text)
    environ = {"PATH": os.environ["PATH"], "HOME": str(home), "GIT_CONFIG_NOSYSTEM": "1"}
    for who in ("AUTHOR", "COMMITTER"):
        environ |= {f"GIT_{who}_NAME": "a", f"GIT_{who}_EMAIL": "a@b.c"}
    done = subprocess.run(["bash", "-euc", BEFORE], cwd=project, env=environ, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


class AgentSession:
    """In a folder that `lay_out` has filled. Steps are decided in their order. Allowed writes of files are done; other
    commands are not run."""

    def __init__(self, place: Path, name: str, *, mode: str = "") -> None:
        self.name = name
        self.project, self.home, self.state = place / "w", place / "home", place / "state"
        self.state.mkdir(mode=0o700)
        given = offered()
        user = document_of(given, "user", Origin.USER)
        self.engine = Engine(combine([user], flag_mode=mode or str(given["mode"])), state=str(self.state))
        sessions.began(str(self.state), name, str(self.project), baseline.start_of)
        self.count = 0

    def step(self, tool: str, given: dict[str, object]) -> Decision:
        """Decide a step, note in the ledger what it may change, and write the file that it writes."""
        where = str(self.project)
        call = Call(tool, given, cwd=where, roots=(where,), home=str(self.home), session=self.name)
        judged = self.engine.judge(call, session=self.name)
        decision = judged.decision
        if decision.outcome is not Outcome.DENY and judged.lowering is not None and judged.facts is not None:
            entry = changes.entry_of(call, judged.lowering, judged.facts)
            if entry is not None:
                self.count += 1
                ledger.note(str(self.state), self.name, f"r{self.count}", entry)
        if decision.outcome is Outcome.ALLOW:
            self._apply(tool, given)
        return decision

    def _apply(self, tool: str, given: dict[str, object]) -> None:
        if tool not in ("write", "edit"):
            return
        path = self.project / str(given["file_path"])
        assert path.resolve().is_relative_to(self.project.resolve()), "a test writes in its own folder only"
        if tool == "write":
            write(path, str(given["content"]))
        elif path.exists():
            path.write_text(path.read_text().replace(str(given["old_string"]), str(given["new_string"]), 1))
