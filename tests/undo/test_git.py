"""What git discards is copied before, and put back byte for byte, also after git has removed the objects."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from assent.engine import copies
from assent.engine.memory import Memory
from assent.undo.store import CopyStore, Limits
from tests.undo import git_states
from tests.undo.git_states import collect_garbage, is_sound, state
from tests.undo.test_hook import AUTO, last_record
from tests.unit.hook.test_hook import Session

COPIED = [
    "git reset --hard",
    "git reset --hard HEAD~2",
    "git reset -q --hard topic",
    "git checkout -- src/b.txt",
    "git checkout src/b.txt",
    "git checkout .",
    "git checkout HEAD~2 a.txt src",
    "git checkout HEAD~2 -- .",
    "git checkout -f",
    "git checkout -f topic",
    "git switch -f topic",
    "git switch --discard-changes side",
    "git restore src",
    "git restore -SW .",
    "git restore --source=HEAD~2 a.txt",
    "git rm -qf src/b.txt",
    "git rm -rf src",
    "git clean -f",
    "git clean -fd",
    "git clean -fdx",
    "git clean -fdX",
    "git clean -fx",
    "git clean -fX",
    "git clean -f new",
    "git stash drop",
    "git stash drop stash@{1}",
    "git stash clear",
    "git branch -D topic side",
    "git branch -d -f topic",
    "git branch -f side HEAD~1",
    "git tag -d v1",
    "cd src && git reset --hard",
    "git -C src checkout .",
]


def session_in(folder: Path, config: str = AUTO, *, stashes: bool = False) -> Session:
    session = Session(Path(folder).resolve(), config=config)
    git_states.make(session.project, stashes=stashes)
    return session


def undo(session: Session, id: str = "") -> str:
    """Put a copy back, the last one by default; return the id of the copy of what that replaced."""
    store = CopyStore(str(session.state))
    copy = store.named(id) if id else store.copies()[0]
    return copies.undo(Memory(str(session.state)), copy, Limits())[0].id


def run(session: Session, command: str) -> None:
    subprocess.run(command, shell=True, cwd=session.project, check=True, capture_output=True)


@pytest.mark.parametrize("command", COPIED)
def test_what_git_discards_is_put_back_after_its_objects_are_gone(tmp_path: Path, command: str) -> None:
    session = session_in(tmp_path, stashes="stash" in command)
    before = state(session.project)
    assert session.decides(command) == "allow"
    assert last_record(session)["code"] == "undo.copied"
    assert state(session.project) == before
    run(session, command)
    assert state(session.project) != before
    collect_garbage(session.project)
    after = state(session.project)
    undone = undo(session)
    assert state(session.project) == before
    assert is_sound(session.project)
    collect_garbage(session.project)
    undo(session, undone)
    assert state(session.project) == after
    assert is_sound(session.project)
