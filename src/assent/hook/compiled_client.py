"""The hook's compiled client: whether it exists and runs, where it is installed, and its command line.

The package has it if there was a C compiler when it was built. Without it the launcher in Python does the same."""

from __future__ import annotations

import os
import subprocess

from assent import agents
from assent.contract import StoreError
from assent.hook import launcher
from assent.state.files import replace

PROGRAM = "assent-hook"
WRONGLY = 2  # its exit status without arguments
PATIENCE = 10.0  # seconds for a program that ends at once


def source() -> str:
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), PROGRAM)


def path(state: str) -> str:
    """Its installed path: in Assent's folder, next to the launcher."""
    return os.path.join(state, launcher.FOLDER, PROGRAM)


def why_not(state: str) -> str:
    """Why the compiled client is not used with a folder; `""` if it is."""
    if not os.path.isfile(source()):
        return "it was not built: there was no C compiler"
    if not _ends_with([source()], WRONGLY):
        return "it does not run on this machine"
    # The client starts the interpreter with no variables that affect it before its first line.
    if not _ends_with([launcher.interpreter(), launcher.FLAGS, "-c", ""], 0):
        return "this Python needs environment variables to start"
    return "its file system runs no programs (noexec)" if _runs_nothing(state) else ""


def _ends_with(words: list[str], status: int) -> bool:
    try:
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, env={}, timeout=PATIENCE)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == status


def _runs_nothing(folder: str) -> bool:
    while not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    return bool(os.statvfs(folder).f_flag & os.ST_NOEXEC)


def words(given: tuple[str, ...], state: str) -> tuple[str, ...]:
    """The command line of the client from that of the launcher, which it starts if no server answers."""
    interpreter, flags, script, name, runtime, *rest = given
    adapter = agents.load(runtime)
    more = ("--variable", adapter.variable) if adapter.variable else ()
    once = (word for each in adapter.once for word in ("--once", each))
    return (path(state), name, runtime, *rest, *more, *once, "--cold", interpreter, flags, script)


def write(state: str) -> None:
    """Install the client, by one rename."""
    try:
        with open(source(), "rb") as file:
            data = file.read()
    except OSError as error:
        raise StoreError(f"`{source()}` cannot be read: {error.strerror}; install Assent again") from None
    replace(path(state), data, 0o755 if state == launcher.MANAGED else 0o700)


def is_current(state: str) -> bool:
    """Whether the installed client is that of this package."""
    try:
        with open(path(state), "rb") as placed, open(source(), "rb") as ours:
            return placed.read() == ours.read()
    except OSError:
        return False
