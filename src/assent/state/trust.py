"""The folders that the user has marked with `assent trust`."""

from __future__ import annotations

import os
import posixpath

from assent.contract import StoreError
from assent.facts.links import Links
from assent.state.files import locked, replace_text, stored

TRUST_FILE = "trust.json"
_MAX = 1024 * 1024


def trusted_folders(state: str) -> tuple[str, ...]:
    """The marked folders, canonical, in the order in which they were marked. `state` is Assent's folder."""
    path = posixpath.join(state, TRUST_FILE)
    value = stored(path, _MAX)
    if not isinstance(value, list) or not all(isinstance(item, str) and item.startswith("/") for item in value):
        raise StoreError(f"`{path}` is not a list of absolute folders; repair it or remove it")
    return tuple(value)


def is_trusted(folder: str, state: str) -> bool:
    """Whether a folder, resolved, is a marked folder or is in one."""
    here = Links().canonical(folder)
    marks = trusted_folders(state) if here else ()
    return any(here == marked or here.startswith(marked.rstrip("/") + "/") for marked in marks)


def trust(folder: str, state: str) -> str:
    """Mark a folder that exists, and return its canonical form."""
    here = Links().canonical(folder)
    if not here or not os.path.isdir(here):
        raise StoreError(f"`{folder}` is not a folder; name one that exists, by its absolute path")
    if here == "/":
        raise StoreError("`/` cannot be trusted; name the folder of a project")
    with locked(state, TRUST_FILE + ".lock"):
        marked = trusted_folders(state)
        if here not in marked:
            _save(state, (*marked, here))
    return here


def distrust(folder: str, state: str) -> bool:
    """Remove a folder's own mark; false if it had none. A mark on a folder around it still counts."""
    here = Links().canonical(folder)
    with locked(state, TRUST_FILE + ".lock"):
        marked = trusted_folders(state)
        if here not in marked:
            return False
        _save(state, tuple(item for item in marked if item != here))
    return True


def _save(state: str, folders: tuple[str, ...]) -> None:
    import json

    replace_text(posixpath.join(state, TRUST_FILE), json.dumps(list(folders), indent=1) + "\n")
