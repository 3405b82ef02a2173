"""Which process is at the other end of a socket, and what it descends from. Lets nobody in and keeps nobody out.

Also closes this process to the debuggers and memory readers of the same user."""

from __future__ import annotations

import ctypes
import os
import socket
import struct
import subprocess
import sys
import time

from assent.agents import known
from assent.contract import Value
from assent.programs.traits import has

PR_SET_DUMPABLE = 4
DEEPEST = 64
# Programs that run agents, by the name of their process or of the script that an interpreter runs for them.
AGENT_HOSTS = frozenset((*known.joined("program", "names"), *known.joined("program", "processes"), *known.OTHERS))
# What such programs set for the commands that they run.
AGENT_MARKS = frozenset(known.joined("environment", "marks"))


class Peer(Value):
    """The process that connected. `since` is when, in seconds since the system started; 0 where that is not known."""

    __slots__ = ("pid", "uid", "since")

    def __init__(self, pid: int, uid: int, since: float = 0.0) -> None:
        self.pid = pid
        self.uid = uid
        self.since = since


def peer_of(connection: socket.socket) -> Peer | None:
    """Who connected to a Unix socket, as the kernel says; None where it does not say."""
    if sys.platform == "linux":
        raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        pid, uid, _ = struct.unpack("3i", raw)
        return Peer(pid, uid)
    if sys.platform == "darwin":  # LOCAL_PEERCRED (struct xucred) and LOCAL_PEERPID
        raw = connection.getsockopt(0, 0x001, 76)
        (uid,) = struct.unpack_from("I", raw, 4)
        return Peer(connection.getsockopt(0, 0x002), uid)
    return None


def user_on_tcp(client: tuple[str, int], port: int, table: str = "/proc/net/tcp") -> int | None:
    """The user whose process is at the other end of a connection to a port of ours on loopback, as the kernel lists it;
    None where it does not say."""
    try:
        wanted = f"{_kernel_form(client[0])}:{client[1]:04X}"
        with open(table, encoding="ascii", errors="replace") as file:
            for line in file:
                fields = line.split()
                if len(fields) > 7 and fields[1] == wanted and fields[2].endswith(f":{port:04X}"):
                    return int(fields[7])
    except (OSError, ValueError):
        pass
    return None


def _kernel_form(address: str) -> str:
    """An IPv4 address as the kernel writes it: the bytes in the order of this machine."""
    (number,) = struct.unpack("=I", socket.inet_aton(address))
    return f"{number:08X}"


def uptime() -> float:
    """Seconds since the system started, 0 where it does not say."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) if sys.platform == "linux" else 0.0


def why_no_person(pid: int, hosts: frozenset[str] = frozenset(), *, since: float = 0.0) -> str:
    """Why the process is not taken for one that a person started from a terminal; `""` where it is. `hosts` are names
    of programs that run agents, beside those that are known. One that started after it connected (`since`) is another
    one, which has the number of a process that is gone.

    Nothing here is proof, since an agent has the user's own powers: it makes the ways around it long and visible."""
    try:
        process = _process(pid)
    except (OSError, ValueError, IndexError):
        return "it cannot be told who asks"
    if since and process.started > since:
        return "it cannot be told who asks"
    if not process.terminal:
        return "it was not asked from a terminal"
    for _ in range(DEEPEST):
        if marks := process.marks:
            return f"it was asked from within an agent ({min(marks)} is set)"
        found = process.names & (AGENT_HOSTS | hosts)
        if found:
            return f"it was asked from within an agent ({min(found)})"
        if process.parent <= 1:
            return ""
        try:
            process = _process(process.parent)
        except (OSError, ValueError, IndexError):
            return "it cannot be told who asks"
    return "it cannot be told who asks"


class _Process:
    __slots__ = ("parent", "names", "terminal", "marks", "started")

    def __init__(
        self, parent: int, names: frozenset[str], terminal: bool, marks: frozenset[str], started: float = 0.0
    ) -> None:
        self.parent = parent
        self.names = names
        self.terminal = terminal
        self.marks = marks
        self.started = started  # seconds since the system started


def _process(pid: int) -> _Process:
    if sys.platform == "linux":
        return _from_proc(pid)
    told = subprocess.run(
        ["/bin/ps", "-o", "ppid=,tty=,command=", "-p", str(pid)], capture_output=True, text=True, check=False
    )
    parent, terminal, command = told.stdout.strip().split(None, 2)
    return _Process(int(parent), _names("", command.split()), terminal not in ("??", "?", "-"), frozenset())


def _from_proc(pid: int) -> _Process:
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
        before, _, after = file.read().rpartition(")")
    fields = after.split()
    words = _strings(f"/proc/{pid}/cmdline")
    try:
        set_names = {each.partition("=")[0] for each in _strings(f"/proc/{pid}/environ")}
    except PermissionError:  # a login shell's ancestors belong to root
        set_names = set()
    return _Process(
        int(fields[1]),
        _names(before.partition("(")[2], words),
        int(fields[4]) != 0,
        AGENT_MARKS & set_names,
        int(fields[19]) / os.sysconf("SC_CLK_TCK"),
    )


def _strings(path: str) -> list[str]:
    with open(path, "rb") as file:
        return [each for each in file.read(1 << 20).decode("utf-8", "replace").split("\0") if each]


def _names(name: str, words: list[str]) -> frozenset[str]:
    """What a process goes by: its own name, its program, and the script that an interpreter runs."""
    found = [name]
    if words:
        found.append(words[0])
        if has(os.path.basename(words[0]), "runs-named-script"):
            found += [word for word in words[1:4] if not word.startswith("-")]
    short = (os.path.basename(each).lower() for each in found)
    return frozenset(each.removesuffix(".js").removesuffix(".py") for each in short)


def close_to_debuggers() -> bool:
    """Let no process of the same user read this one's memory or attach to it. False where that cannot be had."""
    try:
        libc = ctypes.CDLL(None, use_errno=True)
        return bool(libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0)
    except (OSError, AttributeError):
        return False
