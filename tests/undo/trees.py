"""Random trees of files, and the state of a tree for comparison."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

NAMES = st.sampled_from(["a", "b", "c.txt", ".d", "e f", "ü", "g\udcff", "-x", "h\nn"])
CONTENTS = st.one_of(st.binary(max_size=40), st.sampled_from([b"", b"text\n" * 50, b"\0" * 5000, os.urandom(3000)]))
MODES = st.sampled_from([0o600, 0o644, 0o755, 0o400, 0o4755, 0o664])  # without read permission there is no copy
FOLDER_MODES = st.sampled_from([0o700, 0o755, 0o775, 0o1777, 0o500])
TIMES = st.integers(0, 2_000_000_000_000_000_000)
Look = dict[str, tuple[Any, ...]]


@st.composite
def tree(draw: st.DrawFn, depth: int = 3) -> dict[str, Any]:
    """A folder by name: bytes of a file, ("link", text), ("same", name), ("hole", size), ("pipe",) or a folder."""
    found: dict[str, Any] = {}
    for name in draw(st.lists(NAMES, max_size=4, unique=True)):
        files = [name for name, kind in found.items() if isinstance(kind, tuple) and kind[0] == "file"]
        kinds = ["file", "file", "file", "link", "hole", "pipe"]
        kinds += ["folder", "folder"] if depth else []
        kinds += ["same"] if files else []
        match draw(st.sampled_from(kinds)):
            case "file":
                found[name] = ("file", draw(CONTENTS), draw(MODES), draw(TIMES))
            case "link":
                found[name] = ("link", draw(st.sampled_from(["a", "../a", "/etc/passwd", "nowhere", "."])), draw(TIMES))
            case "hole":
                found[name] = ("hole", draw(st.integers(1, 3_000_000)), draw(TIMES))
            case "pipe":
                found[name] = ("pipe", draw(TIMES))
            case "same":
                found[name] = ("same", draw(st.sampled_from(files)))
            case _:
                found[name] = ("folder", draw(tree(depth=depth - 1)), draw(FOLDER_MODES), draw(TIMES))
    return found


def make(folder: Path, parts: dict[str, Any]) -> None:
    for name, part in parts.items():
        path = folder / name
        match part:
            case ("file", content, mode, time):
                path.write_bytes(content)
                path.chmod(mode)
                os.utime(path, ns=(time, time + 1))
            case ("hole", size, time):
                with path.open("wb") as file:
                    file.seek(size)
                    file.write(b"end")
                os.utime(path, ns=(time, time))
            case ("link", leads, time):
                path.symlink_to(leads)
                os.utime(path, ns=(time, time), follow_symlinks=False)
            case ("pipe", time):
                os.mkfifo(path)
                os.utime(path, ns=(time, time))
            case ("same", other):
                os.link(folder / other, path)
            case ("folder", inner, mode, time):
                path.mkdir()
                make(path, inner)
                path.chmod(mode)
                os.utime(path, ns=(time, time))


def look(path: Path) -> Look:
    """Everything about a tree that putting it back must restore, by relative path. Reads no content of pipes."""
    found: Look = {}
    _look(path, "", found, {})
    return found


def _look(path: Path, name: str, found: Look, inodes: dict[int, str]) -> None:
    try:
        status = path.lstat()
    except FileNotFoundError:
        return
    kind, mode = stat.S_IFMT(status.st_mode), stat.S_IMODE(status.st_mode)
    times = (status.st_mtime_ns,)
    match kind:
        case stat.S_IFREG:
            handle = os.open(path, os.O_RDONLY | os.O_NOATIME)
            with os.fdopen(handle, "rb") as file:
                content = file.read()
            same = inodes.setdefault(status.st_ino, name)
            found[name] = ("file", mode, times, status.st_atime_ns, content, same)
        case stat.S_IFLNK:
            found[name] = ("link", times, os.readlink(path))
        case stat.S_IFDIR:
            found[name] = ("folder", mode, times)
            for inner in sorted(os.listdir(path)):
                _look(path / inner, f"{name}/{inner}", found, inodes)
        case _:
            found[name] = ("other", kind, mode, times)


def destructions() -> st.SearchStrategy[Callable[[Path], None]]:
    """Ways to lose what is in a folder."""
    import shutil
    import subprocess

    def shell(text: str) -> Callable[[Path], None]:
        def run(path: Path) -> None:
            subprocess.run(["bash", "-c", text, "bash", str(path)], check=False, capture_output=True, timeout=30)

        return run

    return st.sampled_from(
        [
            lambda path: shutil.rmtree(path, ignore_errors=True),
            shell('rm -rf "$1"; echo new > "$1"'),
            shell('rm -rf "$1"; mkdir -p "$1/a/b"; echo x > "$1/a/b/c"; ln -s /etc "$1/c.txt"'),
            shell('find "$1" -type f -exec truncate -s 0 {} +'),
            shell('find "$1" -type f -delete'),
            shell('mv "$1" "$1.away"'),
            shell('chmod -R 777 "$1"; find "$1" -exec touch {} +'),
            shell('rm -rf "$1"; ln -s /tmp "$1"'),
            shell('cd "$1" && for f in *; do rm -rf "./$f"; mkdir "./$f"; done'),
        ]
    )
