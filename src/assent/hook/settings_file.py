"""Reads and replaces settings files of agent programs and of the user's policy, with a backup. Knows no format.

A symlink stays: its target is replaced. Permissions stay too, except that files for the whole machine are made readable
for everybody, whatever the umask."""

from __future__ import annotations

import difflib
import os
import stat
import time

from assent.contract import SettingsError, StoreError
from assent.state import files
from assent.state.files import read, state_folder

BACKUPS = "backups"
LARGEST = 16 * 1024 * 1024


def text_of(path: str) -> str | None:
    """The text of a file, byte for byte; None if there is none."""
    try:
        data = read(path, LARGEST)[0]
    except (FileNotFoundError, NotADirectoryError):
        if os.path.islink(path):
            raise SettingsError(f"`{path}` is a dangling symlink; remove it or restore its target") from None
        return None
    except OSError as error:
        raise SettingsError(f"`{path}` cannot be read: {error.strerror}") from None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise SettingsError(f"`{path}`: line {line}: not UTF-8 text; save it as UTF-8 first") from None


def expanded(place: str, home: str, project: str) -> str:
    """The path that settings name: `~` is the home folder, a relative path is in the project."""
    if place.startswith("~/"):
        return os.path.join(home, place[2:])
    return place if place.startswith("/") else os.path.join(project, place)


def replace(path: str, text: str, *, executable: bool = False, public: bool = False) -> None:
    """Write a file whole or not at all. `public`: every user of the machine must be able to read it. Raises
    StoreError."""
    real = os.path.realpath(path)
    again = "; run it as root" if public and os.geteuid() != 0 else ""
    try:
        if public:
            public_folder(os.path.dirname(real))
        else:
            os.makedirs(os.path.dirname(real), mode=0o755, exist_ok=True)
        files.replace(real, text.encode("utf-8"), _mode(real, executable, public))
    except OSError as error:
        raise StoreError(f"`{path}` cannot be written: {error.strerror}{again}") from None
    except StoreError as error:
        raise StoreError(f"{error}{again}") from None


def public_folder(folder: str) -> None:
    """Make a folder that everybody can enter and list; an existing one is opened to readers. Raises OSError."""
    above = os.path.dirname(folder)
    if not os.path.isdir(folder):
        if above != folder and not os.path.isdir(above):
            public_folder(above)
        os.mkdir(folder, 0o755)
        os.chmod(folder, 0o755)  # the umask may have restricted it
        return
    mode = stat.S_IMODE(os.stat(folder).st_mode)
    if mode & 0o055 != 0o055:
        os.chmod(folder, mode | 0o055)


def _mode(path: str, executable: bool, public: bool) -> int:
    try:
        mode = stat.S_IMODE(os.stat(path).st_mode) | (0o100 if executable else 0)
    except FileNotFoundError:
        mode = 0o700 if executable else 0o600
    # Only root changes files for all users.
    return (mode | (0o055 if executable else 0o044)) & ~0o022 if public else mode


def remove(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass
    except OSError as error:
        raise StoreError(f"`{path}` cannot be removed: {error.strerror}") from None


def keep_copy(state: str, path: str, text: str) -> str:
    """Save the text of a file in Assent's folder; return the path."""
    state_folder(state)
    folder = state_folder(os.path.join(state, BACKUPS))
    moment = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
    name = path.strip("/").replace("/", "%")[-150:]
    found = os.path.join(folder, f"{moment}-{os.urandom(2).hex()}-{name}")
    replace(found, text)
    return found


def difference(path: str, before: str, after: str) -> str:
    """The changes as a unified diff; `""` if there are none."""
    lines = difflib.unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True), path, f"{path} (with Assent)", n=2
    )
    return "".join(line if line.endswith("\n") else f"{line}\n\\ no line end\n" for line in lines)
