"""The script with which a hook starts the server: its text, and whether it works.

A hook runs without installed packages and in an environment set by an agent program. So the script has the folders of
the server's libraries, and the whole environment of the server."""

from __future__ import annotations

import os
import site
import subprocess
import sys

from assent.hook import launcher, starting
from assent.state.files import replace

TEXT = """\
# Assent's server in the background: written by `assent install --start-server`, started by a hook that finds none.
import os
import sys

os.environ.clear()
os.environ.update({environ!r})
sys.path[:0] = {folders!r}
from assent.server.detached import main

os._exit(main({state!r}, sys.argv[1:]))
"""
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
PATIENCE = 30.0  # seconds to load the server's libraries


def path(state: str) -> str:
    return os.path.join(state, launcher.FOLDER, starting.SCRIPT)


def text(state: str, home: str) -> str:
    environ = {"HOME": home, "ASSENT_HOME": state, "PATH": PATH, "LANG": "C.UTF-8"}
    return TEXT.format(environ=environ, folders=folders(), state=state)


def folders() -> list[str]:
    """The folders of Assent and of its server's libraries: those of this installation only."""
    own = [*site.getsitepackages(), site.getusersitepackages()]
    return list(dict.fromkeys([launcher.package(), *(each for each in own if each in sys.path)]))


def write(state: str, home: str) -> str:
    """Write the script; why it does not work, `""` if it does."""
    replace(path(state), text(state, home).encode(), 0o700)
    words = [launcher.interpreter(), launcher.FLAGS, path(state), "try"]
    try:
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, env={}, timeout=PATIENCE)
    except (OSError, subprocess.TimeoutExpired) as error:
        why = str(error)
    else:
        if done.returncode == 0:
            return ""
        why = done.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2] or f"status {done.returncode}"
    os.unlink(path(state))
    return why


def is_current(state: str, home: str) -> bool:
    """Whether the script is the one that this installation writes."""
    try:
        with open(path(state), encoding="utf-8") as file:
            return file.read() == text(state, home)
    except (OSError, ValueError):
        return False
