"""The deadline for measuring, and the paths it must not read: network mounts, which may hang."""

from __future__ import annotations

import time

_MOUNTS = "/proc/self/mountinfo"
_MOST_MOUNTS = 1 << 20  # bytes of that file
# File systems served by another machine or another program.
_REMOTE = ("nfs", "cifs", "smb", "9p", "afs", "ceph", "gluster", "lustre", "fuse", "autofs", "davfs", "ncpfs", "coda")


class Deadline:
    """A deadline on the monotonic clock. `cut` says that something was left out because of it."""

    __slots__ = ("until", "cut", "_remote")

    def __init__(self, seconds: float) -> None:
        self.until = time.monotonic() + seconds
        self.cut = False
        self._remote: tuple[str, ...] | None = None

    def left(self) -> float:
        return max(0.0, self.until - time.monotonic())

    def over(self) -> bool:
        """Whether the time is up; if so, marks the result as cut short."""
        if time.monotonic() < self.until:
            return False
        self.cut = True
        return True

    def part(self, share: float) -> Deadline:
        """An earlier deadline, after a share of the remaining time."""
        made = Deadline(self.left() * share)
        made._remote = self.remote_mounts()
        return made

    def is_remote(self, path: str) -> bool:
        """Whether a path is on a file system that may hang. Reads only the kernel's mount table."""
        return any(path == mount or path.startswith(mount.rstrip("/") + "/") for mount in self.remote_mounts())

    def remote_mounts(self) -> tuple[str, ...]:
        if self._remote is None:
            self._remote = _remote_mounts()
        return self._remote


def _remote_mounts() -> tuple[str, ...]:
    try:
        with open(_MOUNTS, "rb") as file:
            lines = file.read(_MOST_MOUNTS).decode("utf-8", "surrogateescape").split("\n")
    except OSError:  # not Linux
        return ()
    return tuple(filter(None, map(remote_mount, lines)))


def remote_mount(line: str) -> str:
    """The mount point in a line of `mountinfo` if the file system is remote; `""` if it is local."""
    before, _, after = line.partition(" - ")
    fields, kind = before.split(" "), after.split(" ")[0]
    if len(fields) < 5 or not kind.startswith(_REMOTE):
        return ""
    place = fields[4]
    for octal, character in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        place = place.replace(octal, character)
    return place
