"""Packs that a person activated: the manifests as shown, pinned to their hash, in Assent's own folder.

A manifest that changed since it was shown can only tighten, until a person has seen it again."""

from __future__ import annotations

import os
import posixpath

from assent.contract import PolicyError, StoreError, Value, loads, sha256
from assent.state.files import PACKS_FILE, locked, packs_file, read, replace_text, state_folder

FOLDER = "packs"
LARGEST = 1024 * 1024
FIELDS = ("name", "source", "sha256", "who", "made", "tightens")


class Pack(Value):
    """One activated pack. `source` is the manifest that was shown, `sha256` its hash then; `tightens` says that it came
    from a project. `made` is the time of the answer in seconds since the epoch."""

    __slots__ = FIELDS

    def __init__(self, name: str, source: str, sha256: str, who: str, made: float, tightens: bool) -> None:
        self.name = name
        self.source = source
        self.sha256 = sha256
        self.who = who
        self.made = made
        self.tightens = tightens


def packs(state: str) -> tuple[Pack, ...]:
    """The activated packs. Raises PolicyError if the list cannot be read: it must not count as empty."""
    path = packs_file(state)
    try:
        return tuple(map(_pack, loads(read(path, LARGEST)[0])))
    except (FileNotFoundError, NotADirectoryError):
        return ()
    except OSError as error:
        raise PolicyError(f"cannot be read: {error.strerror}", file=path, suggestion="repair it or remove it") from None
    except (ValueError, KeyError, TypeError, RecursionError):
        raise PolicyError("is not a list of packs", file=path, suggestion="repair it or remove it") from None


def _pack(given: dict[str, object]) -> Pack:
    name, source, digest, who, made, tightens = (given[name] for name in FIELDS)
    texts = all(isinstance(each, str) for each in (name, source, digest, who))
    placed = "/" not in str(name) and str(source).startswith("/")
    if not texts or not placed or type(tightens) is not bool or not isinstance(made, int | float):
        raise TypeError
    return Pack(str(name), str(source), str(digest), str(who), float(made), tightens)


def kept(state: str, name: str) -> str:
    return posixpath.join(state, FOLDER, f"{name}.toml")


def files(state: str) -> tuple[str, ...]:
    """The files that decide which packs apply, and how."""
    try:
        found = packs(state)
    except PolicyError:
        found = ()
    return (packs_file(state), *(path for each in found for path in (each.source, kept(state, each.name))))


def manifest(state: str, pack: Pack) -> tuple[str, bool]:
    """The text of an activated pack, and whether it may widen. Raises PolicyError if it differs from what was shown."""
    path = kept(state, pack.name)
    try:
        text = read(path, LARGEST)[0]
    except OSError as error:
        again = f"run `assent pack remove {pack.name}`"
        raise PolicyError(f"cannot be read: {error.strerror}", file=path, suggestion=again) from None
    if digest(text) != pack.sha256:
        again = f"run `assent pack remove {pack.name}`, and then `assent pack add {pack.source}`"
        raise PolicyError("is not the manifest that was activated", file=path, suggestion=again)
    return text.decode(), not pack.tightens and is_as_shown(pack)


def is_as_shown(pack: Pack) -> bool:
    try:
        return digest(read(pack.source, LARGEST)[0]) == pack.sha256
    except OSError:
        return False


def digest(text: bytes) -> str:
    return sha256(text).hexdigest()


def add(state: str, pack: Pack, text: bytes) -> None:
    """Activate a pack, in place of one of the same name. Raises StoreError if it cannot be kept."""
    state_folder(state)
    state_folder(posixpath.join(state, FOLDER))
    with locked(state, PACKS_FILE + ".lock"):
        others = [each for each in packs(state) if each.name != pack.name]
        replace_text(kept(state, pack.name), text.decode())
        _save(state, [*others, pack])


def remove(state: str, name: str) -> bool:
    with locked(state, PACKS_FILE + ".lock"):
        known = packs(state)
        rest = [each for each in known if each.name != name]
        if len(rest) == len(known):
            return False
        _save(state, rest)
        try:
            os.unlink(kept(state, name))
        except FileNotFoundError:
            pass
        except OSError as error:
            raise StoreError(f"`{kept(state, name)}` cannot be removed: {error.strerror}") from None
        return True


def _save(state: str, found: list[Pack]) -> None:
    rows = [{name: getattr(each, name) for name in FIELDS} for each in found]
    import json

    replace_text(packs_file(state), json.dumps(rows, indent=1) + "\n")
