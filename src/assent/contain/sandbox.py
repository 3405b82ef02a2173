"""Checks whether the sandbox works here, and installs the runner."""

from __future__ import annotations

import os
import sys

from assent.contain import profile, ticket, words
from assent.contract import AssentError, StoreError

PATIENCE = 20.0  # seconds for one try


def source() -> str:
    """The compiled runner in the package."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), words.PROGRAM)


def why_not(state: str, *, again: bool = False) -> str:
    """Why nothing can be contained here; `""` if it can. Installs the runner.

    The result is cached in the state folder until a program or the kernel changes, or the machine restarts. `again`
    ignores the cache."""
    if sys.platform != "linux":
        return "contained runs need Linux"
    if not os.path.isfile(source()):
        return "the runner was not built, as there was no C compiler when this package was"
    if why := _wrong_bubblewrap():
        return why
    key = _key(state)
    kept = "" if again else _kept(state)
    if key and kept.startswith(key):
        return kept[len(key) :].strip()
    why = _try(state)
    _keep(state, f"{_key(state)}{why}\n")
    return why


def _wrong_bubblewrap() -> str:
    path = words.bubblewrap()
    if not path:
        return "bubblewrap is not installed; install the package `bubblewrap`"
    status = os.stat(path)
    return "bubblewrap is not a program of the system" if status.st_uid != 0 or status.st_mode & 0o022 else ""


def _key(state: str) -> str:
    """The key of the cached result."""
    found = []
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="utf-8") as file:
            found.append(file.read().strip())
        for path in (words.bubblewrap(), source(), words.runner(state)):
            status = os.stat(path)
            found.append(f"{status.st_size}-{status.st_mtime_ns}")
    except OSError:
        return ""
    return " ".join((*found, str(os.geteuid()))) + "\n"


def _kept(state: str) -> str:
    try:
        with open(os.path.join(state, profile.FOLDER, "works"), encoding="utf-8") as file:
            return file.read(4096)
    except (OSError, ValueError):
        return ""


def _keep(state: str, text: str) -> None:
    from assent.state.files import replace_text

    try:
        replace_text(os.path.join(state, profile.FOLDER, "works"), text)
    except StoreError:
        return


def install(state: str) -> None:
    """Install the runner, by one rename."""
    from assent.state.files import replace, state_folder

    state_folder(os.path.join(state, "bin"))
    try:
        with open(source(), "rb") as file:
            data = file.read()
    except OSError as error:
        raise StoreError(f"`{source()}` cannot be read: {error.strerror}; install Assent again") from None
    replace(words.runner(state), data, 0o700)


def is_current(state: str) -> bool:
    """Whether the installed runner is that of this package."""
    try:
        with open(words.runner(state), "rb") as placed, open(source(), "rb") as ours:
            return placed.read() == ours.read()
    except OSError:
        return False


def _try(state: str) -> str:
    """Run one command contained, in an empty folder."""
    import subprocess
    import tempfile
    import time

    try:
        if not is_current(state):
            install(state)
        with tempfile.TemporaryDirectory(prefix="assent-") as folder:
            open_inside = profile.Profile([os.path.realpath(folder)], readable=profile.system(), links=profile.links())
            id = ticket.issue(
                *(state, open_inside),
                command="echo contained",
                shell="/bin/sh",
                cwd=folder,
                digest="",
                session="",
                now=time.time(),
            )
            command = [words.runner(state), id]
            done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE)
    except (OSError, subprocess.TimeoutExpired, AssentError) as error:
        return f"the sandbox cannot be tried: {error}"
    if done.returncode == 0 and done.stdout == "contained\n":
        return ""
    said = (done.stderr.strip().splitlines() or [f"it ended with {done.returncode}"])[0]
    return f"the sandbox does not start here: {said[:300]}"
