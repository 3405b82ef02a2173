"""Git repositories in many states, and the state of a repository for comparison."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

from tests.undo.trees import Look, look

WHO = ("-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false")


def git(folder: Path, *words: str, check: bool = True) -> str:
    environ = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "GIT_EDITOR": "true"}
    done = subprocess.run(["git", *WHO, *words], cwd=folder, env=environ, check=False, capture_output=True, timeout=60)
    assert not check or done.returncode == 0, done.stderr.decode()
    return done.stdout.decode("utf-8", "surrogateescape")


def make(folder: Path, *, stashes: bool = False) -> None:
    """Three commits on main, two branches, a tag, perhaps two stashes, staged and unstaged changes, and files that
    git does not have, some of which it ignores."""
    git(folder, "init", "-q", "-b", "main")
    (folder / "src").mkdir()
    for name, text in {"a.txt": "1\n", "src/b.txt": "2\n", "src/c.txt": "3\n", ".gitignore": "build/\n*.o\n"}.items():
        (folder / name).write_text(text)
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "one")
    git(folder, "checkout", "-qb", "topic")
    (folder / "topic.txt").write_text("only here\n")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "topic")
    git(folder, "checkout", "-q", "main")
    git(folder, "branch", "side", "topic")
    for number in (2, 3):
        (folder / "a.txt").write_text(f"{number}\n")
        git(folder, "commit", "-qam", f"number {number}")
    git(folder, "tag", "-a", "-m", "tag", "v1", "topic")
    git(folder, "config", "branch.topic.description", "a topic")
    for number in (1, 2) if stashes else ():
        (folder / "a.txt").write_text(f"stashed {number}\n")
        git(folder, "stash", "-q")
    (folder / "src/b.txt").write_text("staged\n")
    git(folder, "add", "src/b.txt")
    (folder / "src/b.txt").write_text("staged, and changed\n")
    (folder / "src/c.txt").unlink()
    (folder / "new.txt").write_text("untracked\n")
    (folder / "new").mkdir(mode=0o750)
    (folder / "new/empty").mkdir()
    (folder / "new/x.o").write_text("ignored\n")
    (folder / "new/y").write_text("untracked too\n")
    (folder / "build").mkdir()
    (folder / "build/out").write_text("ignored\n")
    os.utime(folder / "new.txt", ns=(10**18, 10**18 + 5))


def collect_garbage(folder: Path) -> None:
    """Remove every object that no ref and no index needs."""
    git(folder, "reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all")
    git(folder, "gc", "-q", "--prune=now")


def state(folder: Path) -> dict[str, Any]:
    """All that putting back must restore: refs, HEAD, index, stashes, settings, and every file."""
    files: Look = {name: each for name, each in look(folder).items() if not (name + "/").startswith("/.git/")}
    files.pop("", None)
    for name, each in files.items():
        if each[0] == "file":
            files[name] = (*each[:3], *each[4:])  # git reads files, which changes the times of access
    return {
        "files": files,
        "refs": git(folder, "for-each-ref"),
        "head": (folder / ".git/HEAD").read_text(),
        "index": git(folder, "ls-files", "-s", "-v"),
        "stashes": git(folder, "stash", "list", "--format=%H %gs"),
        "settings": (folder / ".git/config").read_text(),
        "doing": sorted(name for name in os.listdir(folder / ".git") if name.endswith(("HEAD", "-merge", "-apply"))),
    }


def is_sound(folder: Path) -> bool:
    """Whether git has every object that its refs and its index need."""
    git(folder, "fsck", "--connectivity-only", "--no-dangling")
    git(folder, "status")
    return True
