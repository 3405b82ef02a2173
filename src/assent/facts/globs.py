"""What a shell glob matches on disk at this moment, bounded. Knows patterns as the shell does, not as rules do."""

from __future__ import annotations

import os
import posixpath

from assent.contract import DOTALL, Pattern, re

MAX_MATCHES = 200
MAX_LEVELS = 2  # components with wildcards
MAX_SCANNED = 2000  # names looked at

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


def expand(pattern: str) -> tuple[str, ...] | None:
    """Return the paths that an absolute glob matches, sorted; None where that is too much or not modelled.

    As in the shell, a wildcard matches no leading dot, and matches the names of links, not where they lead."""
    if not pattern.startswith("/") or len(pattern) > 4096 or _NOT_MODELLED.search(pattern):
        return None
    names = [name for name in pattern.split("/") if name]
    if sum(1 for name in names if _WILD.search(name)) > MAX_LEVELS:
        return None
    found, scanned = ["/"], 0
    try:
        for name in names:
            if not _WILD.search(name):
                plain = re.sub(r"\\(.)", r"\1", name)
                found = [path for path in (posixpath.join(folder, plain) for folder in found) if os.path.lexists(path)]
                continue
            wanted = _translated(name)
            matches: list[str] = []
            for folder in found:
                listed = _listed(folder, MAX_SCANNED - scanned)
                scanned += len(listed)
                matches += [posixpath.join(folder, entry) for entry in listed if wanted.fullmatch(entry)]
            found = matches
    except (_TooMuch, re.error):
        return None
    return tuple(sorted(found)) if len(found) <= MAX_MATCHES else None


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


def _translated(name: str) -> re.Pattern[str]:
    hidden = "" if name.startswith((".", "\\.")) else r"(?!\.)"
    return re.compile(hidden + "".join(map(_piece, _PIECE.finditer(name))), DOTALL)


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
    """The inside of a bracket expression; what it does not know is an error, so that nothing is matched wrongly."""
    out = []
    for part in re.findall(r"\[:[a-z]+:\]|.", text, DOTALL):
        if part.startswith("[:") and len(part) > 2:
            if part[2:-2] not in _CLASSES:
                raise re.error("unknown class")
            out.append(_CLASSES[part[2:-2]])
        else:
            out.append(part if part == "-" else re.escape(part))
    return "".join(out)
