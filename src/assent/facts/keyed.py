"""Reads settings files by key (TOML, JSON, INI, the top level of YAML), or searches them for words; and the statements
of a database. Anything not understood counts as a setting."""

from __future__ import annotations

import os
from collections.abc import Iterator
from fnmatch import fnmatchcase

from assent.contract import Pattern
from assent.state.files import read

LARGEST = 1 << 20
DEEPEST = 32
UNREAD = "something that cannot be read"

_YAML = (".yamllint", ".clang-format", "_clang-format", ".clang-tidy", ".markdownlint")

_OTHER_BREAKS = Pattern("\r(?!\n)|[\x85\u2028\u2029]")
_ANCHOR = Pattern(r"&[\w-]+$")  # an anchor: `x-logging: &logging`

Pair = tuple[tuple[str, ...], str]


def odd_key(path: str, section: str, harmless: list[str]) -> str:
    """The first key of a section that is not among the harmless ones, dotted; `""` if there is none.

    A harmless key covers all below it, may hold `*`, and with `=glob` is harmless only with a matching value."""
    try:
        pairs = list(_pairs(path, read(path, LARGEST)[0].decode()))
    except (OSError, ValueError, RecursionError):  # TOML's and JSON's own errors are ValueErrors
        return UNREAD
    wanted = tuple(section.split(".")) if section else ()
    for key, value in pairs:
        if key[: len(wanted)] == wanted:
            rest = ".".join(key[len(wanted) :])
            if not any(_covers(pattern, rest, value) for pattern in harmless):
                return ".".join(key)
    return ""


def odd_text(path: str, pattern: str) -> str:
    try:
        found = Pattern(pattern).search(read(path, LARGEST)[0].decode())
    except (OSError, ValueError):
        return UNREAD
    return found[0] if found is not None else ""


def _covers(pattern: str, key: str, value: str) -> bool:
    name, sign, glob = pattern.partition("=")
    return (fnmatchcase(key, name) or fnmatchcase(key, name + ".*")) and (not sign or fnmatchcase(value, glob))


def _pairs(path: str, text: str) -> Iterator[Pair]:
    if path.endswith("/.git/config"):
        return _git(text)
    name = path.rpartition("/")[2]
    ending = "yaml" if name in _YAML else name.rpartition(".")[2]
    if ending == "toml":
        import tomllib

        return _nested(tomllib.loads(text), ())
    if ending in ("json", "jsonc", "code-workspace"):
        import json

        return _nested(json.loads(text, object_pairs_hook=_Twice), ())
    if ending in ("yml", "yaml"):
        return _yaml(text)
    return _just(text) if name.lower().removeprefix(".") == "justfile" else _ini(text)


class _Twice(list[tuple[str, object]]):
    """A JSON object as its pairs: programs differ on which of two equal keys counts."""


def _nested(found: object, above: tuple[str, ...]) -> Iterator[Pair]:
    if len(above) > DEEPEST:
        raise ValueError("nested too deep")
    if isinstance(found, (dict, _Twice)) and found:
        for key, value in found.items() if isinstance(found, dict) else found:
            yield from _nested(value, (*above, *str(key).split(".")))
    else:
        yield above, found if isinstance(found, str) else repr(found)


def _ini(text: str) -> Iterator[Pair]:
    """`[section]` and `key = value`, with continued lines; npm's `key[] = value` too. Keys in lower case."""
    section: tuple[str, ...] = ()
    key: tuple[str, ...] = ()
    for raw in text.replace("\r", "\n").split("\n"):
        line = raw.strip()
        if not line or line[0] in "#;":
            continue
        if line[0] == "[" and line[-1] == "]":
            section, key = tuple(line[1:-1].strip().strip("\"'").lower().split(".")), ()
            continue
        if raw[0] in " \t" and section and key:
            yield key, line
            continue
        if line[0] == "[":  # some read the text after the bracket as a setting, others ignore it
            raise ValueError(line)
        name, _, value = line.partition("=" if "=" in line else ":")
        key = (*section, name.strip().strip("\"'").removesuffix("[]").lower())
        yield key, value.strip().strip("\"'")


def _just(text: str) -> Iterator[Pair]:
    """The files that a justfile includes: `import` and `mod` at the beginning of a line."""
    for line in text.removeprefix("\ufeff").replace("\r", "\n").split("\n"):
        while line[:1] == "[" and "]" in line:  # attributes
            line = line.partition("]")[2].lstrip()
        word = line.partition("'")[0].partition('"')[0].split(maxsplit=1)[:1]
        if word and not line[0].isspace() and word[0].rstrip("?") in ("import", "mod"):
            yield (word[0].rstrip("?"),), line


def _git(text: str) -> Iterator[Pair]:
    """git's own settings, `section.key`: the part in quotes is left out."""
    from assent.facts.gitconfig import entries

    return ((tuple(entry.name.split(".")), entry.value or "") for entry in entries(text))


def _yaml(text: str) -> Iterator[Pair]:
    """The top-level keys of a file in which they are plain words at the beginning of lines."""
    if _OTHER_BREAKS.search(text):  # lines end there too
        raise ValueError("lines")
    started = listed = False  # whether there is a key above, and whether its value is on later lines
    for line in text.split("\n"):
        if not line.strip() or line[0] == "#" or line.rstrip() in ("---", "..."):
            continue
        if (line[0] == " " and started) or (line[:2] == "- " and listed):
            continue
        key, colon, value = line.partition(":")
        if not colon or not key.replace("-", "").replace("_", "").isalnum() or value[:1] not in ("", " "):
            raise ValueError(line)
        value = _ANCHOR.sub("", value.strip(), count=1)
        if value[:1] in ("&", "*", "!", "|", ">"):
            raise ValueError(line)
        started, listed = True, not value
        yield (key,), value.strip("\"'")


# ---------------------------------------------------------------- databases

# Its views run with any query, and the program `sqlite3` has functions that start programs and open files; those of
# DuckDB read any file.
MOST_STATEMENTS = 10_000
_OWN = Pattern(r"(?i)\b(?:view|virtual)\b")
_REACHES = Pattern(r"(?i)\b(?:edit|readfile|writefile|load_extension|fts3_tokenizer|fsdir|zipfile)\b")


def reaching(path: str) -> str:
    """Say why reading the database may do more than read it; `""` if its own statements show that it does not.

    Opens it without writing. A database that cannot be read, or only after merging a log, is not proved."""
    try:
        import sqlite3
    except ImportError:  # a Python without SQLite
        return f"`{path}` cannot be looked into"
    try:
        if os.path.getsize(path) == 0:
            return ""
        with open(path, "rb") as file:
            if file.read(12)[8:] == b"DUCK":
                return f"`{path}` may have views that read other files"
        flags = _flags(path)
        if not flags:
            return f"`{path}` has a log that was not merged"
        return next((f"`{path}` calls `{name}`" for name in _called(path, flags)), "")
    except (OSError, sqlite3.Error, UnicodeError):
        return f"`{path}` cannot be read as a database"


def _flags(path: str) -> str:
    """How to open it so that nothing is written; `""` if impossible."""
    log = f"{path}-wal"
    if not os.path.exists(log) or os.path.getsize(log) == 0:
        return "mode=ro&immutable=1"
    return "mode=ro" if os.path.exists(f"{path}-shm") else ""


def _called(path: str, flags: str) -> list[str]:
    """The functions in its views and virtual tables that reach outside the database."""
    import sqlite3
    from contextlib import closing
    from urllib.parse import quote

    with closing(sqlite3.connect(f"file:{quote(path)}?{flags}", uri=True, timeout=0.2)) as database:
        database.text_factory = lambda data: data.decode(errors="replace")
        rows = database.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL").fetchmany(MOST_STATEMENTS + 1)
    if len(rows) > MOST_STATEMENTS:
        return ["…"]
    return [
        found[0] for text in (str(sql) for (sql,) in rows) if _OWN.search(text) and (found := _REACHES.search(text))
    ]
