"""Whether an agent program is attended, by its process; for programs that do not report it.

Reads only ancestors of this process."""

from __future__ import annotations

import os
from collections.abc import Sequence

DEEPEST = 8  # processes between a hook and its program: a shell or two
# Not a trait of `programs/`: a hook asks this before it reads any table.
SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh", "busybox"})
TERMINALS = ("/dev/pts/", "/dev/tty", "/dev/console")


def unattended(once: Sequence[str], *, root: str = "/proc", pid: int = 0) -> bool:
    """Whether the program is certainly unattended: its input or output is no terminal, or it was started with one of
    the words `once`, which make it run once and end. False if unknown.

    `root` and `pid` replace the system's processes and the first one to read."""
    try:
        found = _chain(root, pid or os.getppid())[-1]
        if not found:
            return False
        with open(f"{root}/{found}/cmdline", "rb") as file:
            words = file.read(1 << 20).decode("utf-8", "replace").split("\0")
        if any(word == option or word.startswith(f"{option}=") for word in words for option in once):
            return True
        return not all(os.readlink(f"{root}/{found}/fd/{each}").startswith(TERMINALS) for each in (0, 1))
    except (OSError, ValueError, IndexError):
        return False


def above(*, root: str = "/proc", pid: int = 0) -> tuple[int, ...]:
    """The processes from a hook up to its program. They change when one of them ends."""
    try:
        return _chain(root, pid or os.getppid())
    except (OSError, ValueError, IndexError):
        return (pid or os.getppid(),)


def _chain(root: str, pid: int) -> tuple[int, ...]:
    """Shells, and the nearest process above that is not a shell; 0 if there is none."""
    found: list[int] = []
    while pid > 1 and len(found) < DEEPEST:
        found.append(pid)
        with open(f"{root}/{pid}/stat", encoding="utf-8", errors="replace") as file:
            before, _, after = file.read().rpartition(")")
        if before.partition("(")[2] not in SHELLS:
            return tuple(found)
        pid = int(after.split()[1])
    return (*found, 0)
