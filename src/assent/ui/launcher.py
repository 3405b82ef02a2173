"""How agent programs start the hook: a small script in Assent's folder, run by an interpreter that sees nothing else.

The one place that knows the words of that command. Puts nothing into anybody's settings."""

from __future__ import annotations

import os
import sys

from assent.contract.errors import StoreError
from assent.statefile import state_folder

FOLDER, NAME = "bin", "assent"
# No environment variables, no folder of the call, no site-packages: nothing that an agent can put a module into.
FLAGS = "-IS"
SCRIPT = """\
# Assent's launcher: written by `assent install`, started by agent programs before each tool call.
import os
import sys

try:
    sys.path.insert(0, {package!r})
    from assent.ui.hook import direct

    status = direct(sys.argv[1:])
except BaseException as error:
    os.write(2, f"Assent could not decide: {{type(error).__name__}}: {{error}}\\n".encode("utf-8", "backslashreplace"))
    status = 2
os._exit(status)
"""


def path(state: str) -> str:
    return os.path.join(state, FOLDER, NAME)


def package() -> str:
    """The folder that Assent is imported from."""
    return os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def interpreter() -> str:
    """This Python itself, not the link to it in a virtual environment."""
    return os.path.realpath(sys.executable)


def script() -> str:
    return SCRIPT.format(package=package())


def launcher(state: str, runtime: str, *, socket: str, deadline: int, project: str = "") -> tuple[str, ...]:
    """The words that start the hook. Nothing in them depends on an environment."""
    where = ("--project", project) if project else ()
    times = ("--deadline", str(deadline))
    words = (interpreter(), FLAGS, path(state), "hook", runtime)
    return (*words, "--home", state, "--socket", socket, *where, *times)


def write(state: str) -> str:
    """Put the script in its place, and return it."""
    found = path(state)
    state_folder(state)
    state_folder(os.path.dirname(found))
    beside = f"{found}.{os.getpid()}.new"
    try:
        handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o700)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(script())
        os.replace(beside, found)
    except OSError as error:
        raise StoreError(f"`{found}` cannot be written: {error.strerror}") from None
    return found
