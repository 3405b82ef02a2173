"""A place to run a program in: no network but its own loopback, no home but a scratch folder, no process left behind.

Knows nothing of agents, hooks or models. Servers of a test (the scripted model, Assent's own) join the same network:
their sockets are made by `Network.inside`, or they are started by `Sandbox.start`."""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import signal
import socket
import struct
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import IO, TypeVar

from .programs import Missing

T = TypeVar("T")
CLONE_NEWNET = 0x4000_0000
SIOCSIFFLAGS, IFF_UP_RUNNING = 0x8914, 0x41
# A process namespace ends all of a program with its first process: a shell that waits for the program and for no more.
# Codex starts its own sandbox by bubblewrap where that is installed, which does not work in this one.
HIDING = "if [ -e /usr/bin/bwrap ]; then mount --bind /dev/null /usr/bin/bwrap; fi"
NAMESPACES = ("unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "--")
ALONE = (*NAMESPACES, "/bin/sh", "-c", f'{HIDING}; "$@"; exit $?', "sh")
CONTAINING = (*NAMESPACES, "/bin/sh", "-c", '"$@"; exit $?', "sh")
NOTHING: Mapping[str, str] = MappingProxyType({})
PATH = "/usr/local/bin:/usr/bin:/bin"


class Network:
    """A network namespace with nothing in it but loopback. Threads enter it one by one; this process stays outside."""

    def __init__(self) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._fd = _in_thread(self._make)

    def _make(self) -> int:
        if self._libc.unshare(CLONE_NEWNET) != 0:
            raise Missing(f"no network namespace of its own: {os.strerror(ctypes.get_errno())}; run as root")
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
            self._libc.ioctl(any_socket.fileno(), SIOCSIFFLAGS, struct.pack("16sh22x", b"lo", IFF_UP_RUNNING))
        return os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)

    def inside(self, work: Callable[[], T]) -> T:
        """The result of `work`, done in this network: the sockets it makes and the processes it starts stay there."""

        def entered() -> T:
            if self._libc.setns(self._fd, CLONE_NEWNET) != 0:
                raise OSError(ctypes.get_errno(), "setns")
            return work()

        return _in_thread(entered)

    def close(self) -> None:
        os.close(self._fd)


def _in_thread(work: Callable[[], T]) -> T:
    """Do it in a thread of its own, since a namespace is joined for good, and by one thread."""
    results: list[T] = []
    failures: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work())
        except BaseException as failure:
            failures.append(failure)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if failures:
        raise failures[0]
    return results[0]


@dataclass(frozen=True)
class Ended:
    """How a program ended. `status` is None if it had to be killed."""

    status: int | None
    stdout: str
    stderr: str
    seconds: float


@dataclass
class Sandbox:
    """A home, a project folder and a network for one program and what belongs to it."""

    base: Path
    network: Network = field(default_factory=Network)
    started: list[subprocess.Popen[bytes]] = field(default_factory=list)
    beside: subprocess.Popen[bytes] | None = None  # what starts from now on sees the processes of this one
    contains: bool = False  # what starts from now on finds bubblewrap
    etc: Path | None = None  # what starts from now on has this folder for /etc

    def __post_init__(self) -> None:
        for folder in (self.home, self.project):
            folder.mkdir(parents=True)

    @property
    def home(self) -> Path:
        return self.base / "home"

    @property
    def project(self) -> Path:
        return self.base / "project"

    def environment(self) -> dict[str, str]:
        """Nothing of the environment of this process: no credential, no setting, no proxy."""
        plain = {"PATH": PATH, "HOME": str(self.home), "USER": "somebody", "SHELL": "/bin/bash", "LANG": "C.UTF-8"}
        return plain | {"TERM": "dumb", "NO_COLOR": "1"}

    def run(
        self,
        words: Sequence[str],
        *,
        deadline: float,
        enough: Callable[[], bool] = lambda: False,
        more: Mapping[str, str] = NOTHING,
    ) -> Ended:
        """Run a program in the project to its end, to the deadline, or until enough was seen of it.

        `more` is added to its environment."""
        out, err = self.base / "stdout", self.base / "stderr"
        begun = time.monotonic()
        with out.open("wb") as stdout, err.open("wb") as stderr:
            process = self.start(words, stdout=stdout, stderr=stderr, more=more)
            status = _wait(process, begun + deadline, enough)
            self.stop(process)
        seconds = time.monotonic() - begun
        return Ended(status, out.read_text(errors="replace"), err.read_text(errors="replace"), seconds)

    def start(
        self,
        words: Sequence[str],
        *,
        stdin: int = subprocess.DEVNULL,
        stdout: int | IO[bytes] = subprocess.DEVNULL,
        stderr: int | IO[bytes] = subprocess.DEVNULL,
        more: Mapping[str, str] = NOTHING,
    ) -> subprocess.Popen[bytes]:
        """Start a program and leave it running until `stop`, or until the sandbox closes."""
        environment = self.environment() | dict(more)
        process = self.network.inside(
            lambda: subprocess.Popen(
                [*self._alone(), *words],
                cwd=self.project,
                env=environment,
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                start_new_session=True,
            )
        )
        self.started.append(process)
        return process

    def own_etc(self) -> Path:
        """A copy of /etc that programs see in its place, for settings of the whole machine."""
        self.etc = self.base / "etc"
        secrets = shutil.ignore_patterns("shadow*", "gshadow*", "ssh", "ssl")
        shutil.copytree("/etc", self.etc, symlinks=True, ignore=secrets)
        return self.etc

    def _alone(self) -> Sequence[str]:
        if self.beside is None:
            seen = () if self.etc is None else ("sh", "-c", 'mount --bind "$0" /etc && exec "$@"', str(self.etc))
            return (*(CONTAINING if self.contains else ALONE), *seen)
        (first,) = Path(f"/proc/{self.beside.pid}/task/{self.beside.pid}/children").read_text().split()
        return ("nsenter", "--target", first, "--pid", "--mount", f"--wdns={self.project}", "--")

    def stop(self, process: subprocess.Popen[bytes]) -> None:
        """End the program and all that it started, whatever group or session they are in by now."""
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(signal.SIGKILL)
        process.wait()
        self.started.remove(process)

    def close(self) -> None:
        for process in list(self.started):
            self.stop(process)
        self.network.close()


def _wait(process: subprocess.Popen[bytes], end: float, enough: Callable[[], bool]) -> int | None:
    while time.monotonic() < end and not enough():
        with contextlib.suppress(subprocess.TimeoutExpired):
            return process.wait(0.1)
    return None
