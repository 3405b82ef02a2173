"""Where configuration and state live, and reading and making them with care. Knows nothing of what they say."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Mapping
from stat import S_IMODE, S_IWGRP, S_IWOTH

from assent.contract import PolicyError
from assent.state.files import read
from assent.state.files import replace_text as replace_text
from assent.state.files import state_folder as state_folder

MANAGED_FILE = "/etc/assent/policy.toml"
USER_FILE = "config.toml"
PROJECT_FILE = ".assent.toml"
PACKS_FILE = "packs.json"
MAX_CONFIG = 4 * 1024 * 1024
READS = 10  # attempts, while another process creates or removes the file


def assent_home(environ: Mapping[str, str], home: str) -> str:
    """The folder of the user's configuration and state: `ASSENT_HOME`, else `.assent` in the home folder.

    `""` where neither names an absolute folder; a relative `ASSENT_HOME` is a mistake, never a guess."""
    named = environ.get("ASSENT_HOME", "")
    if named and not named.startswith("/"):
        raise PolicyError(f"`ASSENT_HOME` is `{named}`, not an absolute path", suggestion="give the whole path")
    if named:
        return posixpath.normpath(named)
    return posixpath.join(home, ".assent") if home.startswith("/") else ""


def user_file(folder: str) -> str:
    """The user's configuration file in Assent's folder."""
    return posixpath.join(folder, USER_FILE)


def project_file(root: str) -> str:
    """The project's configuration file."""
    return posixpath.join(root, PROJECT_FILE)


def packs_file(folder: str) -> str:
    """The list of the packs that a person activated."""
    return posixpath.join(folder, PACKS_FILE)


def own_paths(folder: str, roots: tuple[str, ...]) -> tuple[str, ...]:
    """Assent's own files and folders, which no call may touch."""
    return tuple(
        path for path in (posixpath.dirname(MANAGED_FILE), folder, *(project_file(root) for root in roots)) if path
    )


def config_text(path: str, *, managed: bool = False) -> str | None:
    """Return a configuration file's text; None where there is no such file.

    Every other way of not reading it is a PolicyError: what cannot be read must not count as empty. A managed file
    must be out of reach of everyone but its owner and root."""
    try:
        raw, status = _present(path)
        if managed:
            _guarded(path, status)
            _guarded(posixpath.dirname(path), os.stat(posixpath.dirname(path)))
    except FileNotFoundError:
        if os.path.islink(path):
            raise PolicyError("a link that leads nowhere", file=path, suggestion="remove it or restore it") from None
        return None
    except NotADirectoryError:
        return None
    except OSError as error:
        raise PolicyError(
            f"cannot be read: {error.strerror}", file=path, suggestion="make it a readable file, or move it away"
        ) from None
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise PolicyError("not UTF-8 text", file=path, line=line, suggestion="save it as UTF-8") from None


def _present(path: str) -> tuple[bytes, os.stat_result]:
    """Read the file, even if another process is just creating it. FileNotFoundError if there is none."""
    for _ in range(READS):
        try:
            return read(path, MAX_CONFIG)
        except FileNotFoundError:
            if not os.path.lexists(path) or os.path.islink(path):
                raise
    raise OSError(0, "it comes and goes")


def _guarded(path: str, status: os.stat_result) -> None:
    if status.st_uid != 0:
        raise PolicyError("a managed policy must belong to root", file=path, suggestion=f"sudo chown root {path}")
    if S_IMODE(status.st_mode) & (S_IWGRP | S_IWOTH):
        raise PolicyError("a managed policy that others can write", file=path, suggestion=f"sudo chmod go-w {path}")
