"""The current matches of a shell glob on disk, bounded. Reads patterns as the shell does, not as rules do."""

from __future__ import annotations

import os
from collections.abc import Iterable

from assent.contract import DOTALL, Pattern, keep, re
from assent.facts.links import Links

MAX_MATCHES = 200
MAX_LEVELS = 2  # components with wildcards
MAX_SCANNED = 2000  # names looked at
REMEMBERED = 256  # names with wildcards

_WILD = Pattern(r"[*?\[]")
# globstar, extended globs, collations, and a backslash or a doubled sign inside brackets
_NOT_MODELLED = Pattern(r"\*\*|[?*+@!]\(|\[[.=]|(?<!\\)\[[^\]/]*(?:\\|--|&&|~~|\|\|)|\0")
_PIECE = Pattern(r"\\(.)|(\*)|(\?)|\[([!^]?)(\]?(?:\[:[a-z]+:\]|[^\]/\\])*)\]|(.)", DOTALL)
_CLASSES = {
    "alnum": "A-Za-z0-9",
    "alpha": "A-Za-z",
    "digit": "0-9",
    "lower": "a-z",
    "upper": "A-Z",
    "space": r"\s",
    "xdigit": "0-9A-Fa-f",
}


class _TooMuch(Exception):
    """A bound was reached, or a folder could not be listed."""


def matching(pattern: str, paths: Iterable[str]) -> tuple[str, ...] | None:
    """The paths that an absolute glob matches, of those given, sorted; None if the glob is not modelled."""
    if not pattern.startswith("/") or _NOT_MODELLED.search(pattern):
        return None
    wanted = [_translated(name) for name in pattern.split("/")[1:]]
    split = [(path, path.split("/")[1:]) for path in paths]
    return tuple(
        sorted(
            path
            for path, names in split
            if len(names) == len(wanted) and all(each.fullmatch(name) for each, name in zip(wanted, names, strict=True))
        )
    )


def expand(pattern: str, links: Links | None = None) -> tuple[str, ...] | None:
    """Return the paths that an absolute glob matches, sorted; None if that is too much or not modelled. `links` are
    those of the moment, if the folders were looked at before.

    As in the shell, a wildcard matches no leading dot, and matches the names of links, not where they lead."""
    if links is not None and (start := _start(pattern)) and links.is_gone(links.canonical(start)):
        return ()
    if not pattern.startswith("/") or len(pattern) > 4096 or _NOT_MODELLED.search(pattern):
        return None
    names = [name for name in pattern.split("/") if name]
    wild = [_WILD.search(name) is not None for name in names]
    if sum(wild) > MAX_LEVELS:
        return None
    found, scanned = [""], 0  # without the leading slash
    try:
        for place, name in enumerate(names):
            if not wild[place]:
                plain = re.sub(r"\\(.)", r"\1", name) if "\\" in name else name
                found = [f"{folder}/{plain}" for folder in found]
                if place + 1 == len(names) or wild[place + 1]:  # where the last of several is, all of them are
                    found = [path for path in found if _is_there(path)]
                continue
            wanted = _translated(name)
            matches: list[str] = []
            for folder in found:
                listed = _listed(folder or "/", MAX_SCANNED - scanned)
                scanned += len(listed)
                matches += [f"{folder}/{entry}" for entry in listed if wanted.fullmatch(entry)]
            found = matches
    except (_TooMuch, re.error):
        return None
    return tuple(sorted(found)) if len(found) <= MAX_MATCHES else None


_starts: dict[str, str] = {}


def _start(pattern: str) -> str:
    """The folder of a glob that is modelled and has one wildcard, in its last name; `""` for any other glob."""
    found = _starts.get(pattern)
    if found is None:
        folder, _, last = pattern.rpartition("/")
        plain = folder[:1] == "/" and "\\" not in folder and not _WILD.search(folder) and _WILD.search(last)
        found = folder if plain and len(pattern) <= 4096 and not _NOT_MODELLED.search(pattern) else ""
        keep(_starts, pattern, found, REMEMBERED)
    return found


def _is_there(path: str) -> bool:
    try:
        os.lstat(path)
    except (OSError, ValueError):
        return False
    return True


def _listed(folder: str, limit: int) -> list[str]:
    names: list[str] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if len(names) >= limit:
                    raise _TooMuch
                names.append(entry.name)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise _TooMuch from error
    return names


_kept: dict[str, re.Pattern[str]] = {}


def _translated(name: str) -> re.Pattern[str]:
    found = _kept.get(name)
    if found is None:
        hidden = "" if name.startswith((".", "\\.")) else r"(?!\.)"
        found = re.compile(hidden + "".join(map(_piece, _PIECE.finditer(name))), DOTALL)
        keep(_kept, name, found, REMEMBERED)
    return found


def _piece(match: re.Match[str]) -> str:
    escaped, star, mark, negated, members, other = match.groups()
    if star:
        return ".*"
    if mark:
        return "."
    if members:
        return f"[{'^' if negated else ''}{_members(members)}]"
    return re.escape(escaped or other or match[0])


def _members(text: str) -> str:
    """The members of a bracket expression; an unknown form is an error, so that nothing is matched wrongly."""
    out = []
    for part in re.findall(r"\[:[a-z]+:\]|.", text, DOTALL):
        if part.startswith("[:") and len(part) > 2:
            if part[2:-2] not in _CLASSES:
                raise re.error("unknown class")
            out.append(_CLASSES[part[2:-2]])
        else:
            out.append(part if part == "-" else re.escape(part))
    return "".join(out)
