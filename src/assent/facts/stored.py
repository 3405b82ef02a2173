"""Whether a database in a file holds statements of its own that reach out of it. Its views run with whatever is read,
and the program `sqlite3` gives them functions that start programs and open files; those of DuckDB read any file."""

from __future__ import annotations

import os
import re
import sqlite3
from contextlib import closing
from urllib.parse import quote

MOST_STATEMENTS = 10_000
_OWN = re.compile(r"(?i)\b(?:view|virtual)\b")
_REACHES = re.compile(r"(?i)\b(?:edit|readfile|writefile|load_extension|fts3_tokenizer|fsdir|zipfile)\b")


def reaching(path: str) -> str:
    """Say why reading the database may do more than read it; `""` where its own statements show that it does not.

    Opens it without writing. What cannot be read, or only after a log was merged, is not proved."""
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
    """How to open it so that nothing is written; `""` where that cannot be."""
    log = f"{path}-wal"
    if not os.path.exists(log) or os.path.getsize(log) == 0:
        return "mode=ro&immutable=1"
    return "mode=ro" if os.path.exists(f"{path}-shm") else ""


def _called(path: str, flags: str) -> list[str]:
    """The functions that its views and virtual tables name and that reach out of it."""
    with closing(sqlite3.connect(f"file:{quote(path)}?{flags}", uri=True, timeout=0.2)) as database:
        database.text_factory = lambda data: data.decode(errors="replace")
        rows = database.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL").fetchmany(MOST_STATEMENTS + 1)
    if len(rows) > MOST_STATEMENTS:
        return ["…"]
    texts = [str(sql) for (sql,) in rows]
    return [found[0] for text in texts if _OWN.search(text) and (found := _REACHES.search(text))]
