"""Finds the process at the other end of a socket, and its ancestors. Admits and refuses nobody.

Also keeps debuggers and memory readers of the same user out of this process."""

from __future__ import annotations

import ctypes
import os
import socket
import struct
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass

from assent.agents import known
from assent.programs.traits import has

PR_SET_DUMPABLE = 4
DEEPEST = 64  # ancestors that are checked
UNKNOWN = "the process that asks cannot be identified"
# Programs that run agents, by the name of their process or of the script that an interpreter runs for them.
AGENT_HOSTS = frozenset((*known.joined("program", "names"), *known.joined("program", "processes"), *known.OTHERS))
# Variables that such programs set for the commands that they run.
AGENT_MARKS = frozenset(known.joined("environment", "marks"))


@dataclass(frozen=True, slots=True)
class Peer:
    """The process that connected. `since` is the time of that, in seconds since boot; 0 if unknown."""

    pid: int
    uid: int
    since: float = 0.0


def peer_of(connection: socket.socket) -> Peer | None:
    """Who connected to a Unix socket, as the kernel says; None if it does not say."""
    if sys.platform == "linux":
        raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        pid, uid, _ = struct.unpack("3i", raw)
        return Peer(pid, uid)
    if sys.platform == "darwin":  # LOCAL_PEERCRED (struct xucred) and LOCAL_PEERPID
        raw = connection.getsockopt(0, 0x001, 76)
        return Peer(connection.getsockopt(0, 0x002), struct.unpack_from("I", raw, 4)[0])
    return None


def user_on_tcp(client: tuple[str, int], port: int, table: str = "/proc/net/tcp") -> int | None:
    """The user whose process is at the other end of a connection to a port of ours on loopback, as the kernel lists it;
    None if it does not say."""
    with suppress(OSError, ValueError):
        (address,) = struct.unpack("=I", socket.inet_aton(client[0]))  # in the byte order of this machine
        with open(table, encoding="ascii", errors="replace") as file:
            for fields in map(str.split, file):
                local = len(fields) > 7 and fields[2].endswith(f":{port:04X}")
                if local and fields[1] == f"{address:08X}:{client[1]:04X}":
                    return int(fields[7])
    return None


def uptime() -> float:
    """Seconds since the system started, 0 if it does not say."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) if sys.platform == "linux" else 0.0


def why_no_person(pid: int, hosts: frozenset[str] = frozenset(), *, since: float = 0.0) -> str:
    """Why the process is not one that a person started from a terminal; `""` if it is. `hosts` are names of further
    programs that run agents. A process that started after the connection (`since`) only reuses the number of the one
    that connected.

    None of this is proof, since an agent has the user's own rights: it only makes ways around it long and visible."""
    try:
        process = _process(pid)
        if since and process.started > since:
            return UNKNOWN
        if not process.terminal:
            return "it was not asked from a terminal"
        for _ in range(DEEPEST):
            if process.marks:
                return f"it was asked from within an agent ({min(process.marks)} is set)"
            if found := process.names & (AGENT_HOSTS | hosts):
                return f"it was asked from within an agent ({min(found)})"
            if process.parent <= 1:
                return ""
            process = _process(process.parent)
    except (OSError, ValueError, IndexError):
        pass
    return UNKNOWN


@dataclass(frozen=True, slots=True)
class _Process:
    parent: int
    names: frozenset[str]
    terminal: bool
    marks: frozenset[str]
    started: float = 0.0  # seconds since the system started


def _process(pid: int) -> _Process:
    if sys.platform == "linux":
        return _from_proc(pid)
    done = subprocess.run(
        ["/bin/ps", "-o", "ppid=,tty=,command=", "-p", str(pid)], capture_output=True, text=True, check=False
    )
    parent, terminal, command = done.stdout.strip().split(None, 2)
    return _Process(int(parent), _names("", command.split()), terminal not in ("??", "?", "-"), frozenset())


def _from_proc(pid: int) -> _Process:
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
        before, _, after = file.read().rpartition(")")
    fields = after.split()
    words = _strings(f"/proc/{pid}/cmdline")
    set_names: set[str] = set()
    with suppress(PermissionError):  # a login shell's ancestors belong to root
        set_names = {each.partition("=")[0] for each in _strings(f"/proc/{pid}/environ")}
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
    """The names of a process: its own, its program, and the script that an interpreter runs."""
    found = [name, *words[:1]]
    if words and has(os.path.basename(words[0]), "runs-named-script"):
        found += [word for word in words[1:4] if not word.startswith("-")]
    short = (os.path.basename(each).lower() for each in found)
    return frozenset(each.removesuffix(".js").removesuffix(".py") for each in short)


def close_to_debuggers() -> bool:
    """Let no process of the same user read this one's memory or attach to it. False if that is impossible."""
    try:
        return bool(ctypes.CDLL(None, use_errno=True).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0)
    except (OSError, AttributeError):
        return False
