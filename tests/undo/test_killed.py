"""A process that is killed while it copies or puts back leaves nothing half."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path

import pytest

from assent.engine import copies
from assent.engine.memory import Memory
from assent.undo.copy import About, Copy
from assent.undo.restore import put_back
from assent.undo.store import CopyStore, Limits
from assent.undo.take import take
from tests.examples import all_of_it
from tests.undo.git_states import git, is_sound

TIMES = 50 if all_of_it() else 6


def test_every_copy_that_is_offered_is_whole(tmp_path: Path) -> None:
    state, tree = tmp_path / "state", tmp_path / "tree"
    tree.mkdir()
    store, seed = CopyStore(str(state)), random.Random(7)
    offered = 0
    for _ in range(TIMES):
        _run_and_kill(state, tree, seed.uniform(0, 0.15))
        for copy in store.copies():
            offered += 1
            for entry in store.entries(copy):
                if entry.kind == "file":
                    with open(store.content(entry), "rb") as file:
                        assert sha256(file.read()).hexdigest() == entry.digest
    assert offered
    newest = store.copies()[0]
    put_back(store, newest, id="last", now=time.time(), limits=Limits())
    for entry in store.entries(newest):
        if entry.kind == "file":
            assert sha256(Path(entry.path).read_bytes()).hexdigest() == entry.digest


def test_what_was_left_half_is_removed_with_old_copies(tmp_path: Path) -> None:
    state, tree = tmp_path / "state", tmp_path / "tree"
    tree.mkdir()
    store, seed = CopyStore(str(state)), random.Random(8)
    for _ in range(5):
        _run_and_kill(state, tree, seed.uniform(0, 0.1))
    (tmp_path / "x").write_text("x")
    now = time.time() + 10
    take(store, [str(tmp_path / "x")], id="x", now=now, about=About(), limits=Limits())
    store.clean(Limits(age=5), now)
    assert [copy.id for copy in store.copies()] == ["x"]
    assert sum(len(files) for _, _, files in os.walk(state / "undo/objects")) == 1
    assert os.listdir(state / "undo/batches") == []
    assert os.listdir(state / "undo/new") == []


def test_every_copy_of_commits_that_is_offered_is_whole(tmp_path: Path) -> None:
    """Each copy that is offered gives back its branch, in a repository that has none of its objects."""
    state, folder = tmp_path / "state", (tmp_path / "work").resolve()
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    git(folder, "commit", "-q", "--allow-empty", "-m", "one")
    shutil.copytree(folder, tmp_path / "first")
    store, seed = CopyStore(str(state)), random.Random(9)
    tried: set[str] = set()
    for _ in range(TIMES if all_of_it() else 4):
        _run_and_kill(state, folder, seed.uniform(0, 0.8), "git")
        for copy in store.copies():
            if copy.id not in tried and not copy.about.undoes:
                tried.add(copy.id)
                _give_back(state, folder, tmp_path / "first", copy)
    assert tried


@pytest.mark.parametrize("kind", ["files", "git"])
def test_processes_that_copy_at_once_leave_only_whole_copies(tmp_path: Path, kind: str) -> None:
    state, first = tmp_path / "state", tmp_path / "first"
    first.mkdir()
    git(first, "init", "-q", "-b", "main")
    git(first, "commit", "-q", "--allow-empty", "-m", "one")
    trees = [(tmp_path / f"work{number}").resolve() for number in range(3)]
    for tree in trees:
        shutil.copytree(first, tree)
    with ThreadPoolExecutor() as pool:
        list(pool.map(lambda tree: _run_and_kill(state, tree, 0.7, kind), trees))
    store = CopyStore(str(state))
    assert store.copies()
    for copy in store.copies():
        for entry in store.entries(copy):
            if entry.digest:
                with open(store.content(entry), "rb") as file:
                    assert sha256(file.read()).hexdigest() == entry.digest


def _give_back(state: Path, folder: Path, first: Path, copy: Copy) -> None:
    away = folder.with_name("away")
    folder.rename(away)
    shutil.copytree(first, folder)
    copies.undo(Memory(str(state)), copy, Limits())
    assert git(folder, "log", "-1", "--format=%s", "topic").strip() == copy.id
    assert is_sound(folder)
    shutil.rmtree(folder)
    away.rename(folder)


def _run_and_kill(state: Path, tree: Path, after: float, kind: str = "files") -> None:
    command = [sys.executable, "-m", "tests.undo.worker", str(state), str(tree), kind]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(after)
        assert process.poll() is None
        os.killpg(process.pid, signal.SIGKILL)  # git too, where it is at work
        process.wait(30)
    for pattern in ("*.lock", "gc.pid"):  # of a git that was killed
        for path in tree.rglob(pattern):
            path.unlink()
