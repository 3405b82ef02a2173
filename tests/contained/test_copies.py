"""Uncommitted work is copied before a contained run, which may delete it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from assent.engine import contained_copies, copies
from assent.undo.store import CopyStore
from tests.contained.scene import RUNS, Scene, run
from tests.contained.test_gate import records

LOSES = """
import places
for name in places.PLAN:
    name.rename("lost")
"""
PLAN = "from pathlib import Path\nPLAN = [Path('work.txt'), Path('draft.txt')]\n"


@pytest.fixture
def dirty(tmp_path: Path, sandboxed: None) -> Scene:
    scene = Scene(tmp_path.resolve())
    scene.write("work.txt", "committed")
    scene.write(".gitignore", "ignored\n")
    for command in ("init -q", "add -A", "-c user.name=a -c user.email=a@b commit -qm first"):
        subprocess.run(["git", *command.split()], cwd=scene.root, check=True)
    scene.write("work.txt", "work of a day")
    scene.write("draft.txt", "a draft")
    scene.write("ignored", "")
    os.link(scene.home / ".ssh" / "id_ed25519", scene.root / "linked")  # it has another name, which may be a key's
    scene.write(".env", "TOKEN=x")
    scene.write("tool.py", LOSES)
    scene.write("places.py", PLAN)
    return scene


def words(scene: Scene) -> list[object]:
    return [each.get("no_copy", each.get("copy")) for each in records(scene) if each.get("contained")]


def test_uncommitted_work_that_a_run_deletes_can_be_put_back(dirty: Scene) -> None:
    settled = dirty.decide(RUNS)
    assert run(settled.command).status == 0
    assert not (dirty.root / "work.txt").exists()
    assert words(dirty) == ["kept"]
    store = CopyStore(dirty.memory.state)
    (copy,) = store.copies()
    assert copy.id == settled.id
    names = {os.path.relpath(entry.path, dirty.root) for entry in store.entries(copy)}
    assert names == {"work.txt", "draft.txt", "tool.py", "places.py"}  # no secret, and nothing that git ignores
    copies.undo(dirty.memory, copy, copies.limits_of(dirty.engine.settings))
    assert [(dirty.root / name).read_text() for name in ("work.txt", "draft.txt")] == ["work of a day", "a draft"]


def test_a_session_keeps_one_once_in_a_while(dirty: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    for word in "one two three".split():
        dirty.decide(f"{RUNS} {word}")
    assert words(dirty) == ["kept", None, None]
    monkeypatch.setattr(dirty.memory, "clock", lambda: os.stat(dirty.root).st_mtime + contained_copies.EVERY + 60)
    dirty.decide(f"{RUNS} four")
    assert words(dirty)[-1] == "kept"


def test_a_clean_tree_needs_none(dirty: Scene) -> None:
    subprocess.run(["git", "add", "-A", "."], cwd=dirty.root, check=True)
    subprocess.run("git -c user.name=a -c user.email=a@b commit -qm second".split(), cwd=dirty.root, check=True)
    assert dirty.decide(RUNS).command
    assert words(dirty) == [None]
    assert list(CopyStore(dirty.memory.state).copies()) == []


def test_of_too_much_there_is_none_and_the_call_runs(dirty: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    assert dirty.decide(RUNS).command
    monkeypatch.setattr(copies, "MOST_WRITTEN", 10)
    other = dirty.call(RUNS).but(session="other")
    assert dirty.gate.decide(dirty.request(other)).command
    assert words(dirty)[-1] == "it is more than 0 MB"


def test_a_workspace_that_is_in_no_repository_has_none(scene: Scene) -> None:
    assert scene.decide(RUNS).command
    assert words(scene) == ["uncommitted work is not known: the workspace is in no plain git repository"]
