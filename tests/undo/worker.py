"""Copies and puts back for ever, until it is killed. Arguments: the state folder, a folder to work in, and `git` if
that is a repository, to delete a branch of."""

from __future__ import annotations

import itertools
import os
import sys
import time
from pathlib import Path

from assent.engine import copies, git_copies
from assent.engine.memory import Memory
from assent.undo.copy import About
from assent.undo.restore import put_back
from assent.undo.store import CopyStore, Limits
from assent.undo.take import take
from tests.undo.git_states import collect_garbage, git

LIMITS = Limits(age=5.0)


def main(state: str, folder: str, kind: str = "files") -> None:
    for number in itertools.count():
        (branches if kind == "git" else files)(state, folder, f"{os.getpid()}n{number}")
        if number == 0:
            print("ready", flush=True)  # so that there is a copy, however busy the machine is


def files(state: str, folder: str, id: str) -> None:
    """A few files of their own, and in every third round so many that these are one file."""
    store, tree = CopyStore(state), Path(folder)
    count = 60 if id.endswith(("0", "3", "6", "9")) else 5
    for name in range(count):
        (tree / f"f{name}").write_bytes(os.urandom(5_000) if name % 2 else f"{id} {name}".encode())
    copy = take(store, [folder], id=id, now=time.time(), about=About("rm -rf tree"), limits=LIMITS)
    for name in range(count):
        (tree / f"f{name}").unlink()
    put_back(store, copy, id=f"{id}b", now=time.time(), limits=LIMITS)


def branches(state: str, folder: str, id: str) -> None:
    """A branch with a commit that nothing else refers to is deleted, its objects too, and put back."""
    repository = Path(folder)
    tree = git(repository, "rev-parse", "HEAD^{tree}").strip()
    commit = git(repository, "commit-tree", tree, "-p", "HEAD", "-m", id).strip()
    git(repository, "branch", "-f", "topic", commit)
    lost = git_copies.losses([f"branch-delete topic:{folder}"])
    paths = [path for loss in lost for path in loss.files]
    more, about = git_copies.keeping(lost), About("git branch -D topic")
    copy = take(CopyStore(state), paths, id=id, now=time.time(), about=about, limits=LIMITS, more=more)
    git(repository, "branch", "-D", "topic")
    collect_garbage(repository)
    copies.undo(Memory(state), copy, LIMITS)


if __name__ == "__main__":
    main(*sys.argv[1:])
