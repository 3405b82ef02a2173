"""Finds names and lines below the folder that it runs in. Follows no link, changes nothing, knows nothing of Assent.

A program of its own: a regular expression can take longer than anybody waits, and then the process is ended."""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import Iterator
from typing import Any

ENTRIES = 200_000  # looked at
DEPTH = 100
NAMES = 500  # told
LINES = 300  # told
SIZE = 60_000  # characters told
WIDEST = 300  # characters of a line
FILE = 8 * 1024 * 1024  # bytes of a file that is searched
MEMORY = 1024 * 1024 * 1024
SKIPPED = frozenset({".git"})


class Walk:
    """All files below a folder, by their names from there. Says in `cut` why it ended early."""

    def __init__(self, end: float) -> None:
        self._end = end
        self._left = ENTRIES
        self.cut = ""

    def files(self, handle: int, above: str = "", depth: int = 0) -> Iterator[tuple[int, str, str]]:
        """The handle of its folder, the file's name there, and its path from the beginning."""
        folders: list[str] = []
        for name, is_folder in self._entries(handle):
            if self.cut:
                return
            if not is_folder:
                yield handle, name, above + name
            elif name not in SKIPPED:
                folders.append(name)
        for name in folders:
            if depth >= DEPTH:
                self.cut = f"folders deeper than {DEPTH} were not looked at"
                return
            try:
                below = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=handle)
            except OSError:
                continue
            try:
                yield from self.files(below, f"{above}{name}/", depth + 1)
            finally:
                os.close(below)
            if self.cut:
                return

    def _entries(self, handle: int) -> list[tuple[str, bool]]:
        found: list[tuple[str, bool]] = []
        try:
            with os.scandir(handle) as entries:
                for each in entries:
                    self._left -= 1
                    if self._left < 0:
                        self.cut = f"only the first {ENTRIES} files were looked at"
                        break
                    found.append((each.name, each.is_dir(follow_symlinks=False)))
        except OSError:
            return []
        if time.monotonic() > self._end:
            self.cut = "not everything was looked at, as it took too long; look in a smaller folder"
        return sorted(found)


def pattern_of(text: str) -> re.Pattern[str]:
    """A pattern of names as a regular expression. Raises re.error."""
    return re.compile("".join(_pieces(text)) + r"\Z", re.DOTALL)


def _pieces(text: str) -> Iterator[str]:
    at = braces = 0
    while at < len(text):
        char = text[at]
        at += 1
        if char == "*":
            if text[at : at + 1] != "*":
                yield "[^/]*"
                continue
            while text[at : at + 1] == "*":
                at += 1
            if text[at : at + 1] == "/":
                at += 1
                yield "(?:[^/]+/)*"
            else:
                yield ".*"
        elif char == "?":
            yield "[^/]"
        elif char == "[" and (end := text.find("]", at + 1)) > 0:
            inner = text[at:end].replace("\\", "\\\\").replace("[", "\\[")
            yield f"[^/{inner[1:]}]" if inner[0] in "!^" else f"(?!/)[{inner}]"
            at = end + 1
        elif char == "{" and text.find("}", at) > 0:
            braces += 1
            yield "(?:"
        elif char == "," and braces:
            yield "|"
        elif char == "}" and braces:
            braces -= 1
            yield ")"
        else:
            yield re.escape(char)
    yield ")" * braces


def names(wanted: dict[str, Any], walk: Walk, handle: int) -> dict[str, Any]:
    pattern = pattern_of(wanted["pattern"])
    found: list[str] = []
    for _, _, path in walk.files(handle):
        if pattern.match(path):
            if len(found) >= NAMES:
                walk.cut = f"more than {NAMES} files; use a narrower pattern"
                break
            found.append(path)
    return {"names": found, "notes": [walk.cut] if walk.cut else []}


def lines(wanted: dict[str, Any], walk: Walk, handle: int) -> dict[str, Any]:
    expression = re.compile(wanted["pattern"], re.IGNORECASE if wanted.get("ignore_case") else 0)
    named = pattern_of(wanted["glob"]) if wanted.get("glob") else None
    whole = "/" in wanted.get("glob", "")
    found: list[tuple[str, list[tuple[int, str]]]] = []
    left, size = LINES, SIZE
    only = wanted.get("only")
    for within, name, path in [(handle, only, only)] if only else walk.files(handle):
        if named is not None and not named.match(path if whole else name):
            continue
        matches: list[tuple[int, str]] = []
        for number, text in _matches(within, name, expression):
            matches.append((number, text))
            left, size = left - 1, size - len(text) - len(path)
            if wanted.get("files_only") or left < 0 or size < 0:
                break
        if matches:
            found.append((path, matches))
        if left < 0 or size < 0:
            walk.cut = "there are more; use a narrower pattern, or look in a smaller folder"
            break
    return {"files": found, "notes": [walk.cut] if walk.cut else []}


def _matches(within: int, name: str, expression: re.Pattern[str]) -> Iterator[tuple[int, str]]:
    raw = _text(within, name)
    if raw is None:
        return
    for number, line in enumerate(raw.decode("utf-8", "replace").split("\n"), 1):
        if expression.search(line):
            text = line.strip("\r")
            yield number, text if len(text) <= WIDEST else f"{text[:WIDEST]}…"


def _text(within: int, name: str) -> bytes | None:
    """The bytes of a text file; None for what is none, or too long."""
    try:
        handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=within)
    except OSError:
        return None
    try:
        status = os.fstat(handle)
        if status.st_mode & 0o170000 != 0o100000 or status.st_size > FILE:
            return None
        raw = bytearray()
        while len(raw) <= FILE and (piece := os.read(handle, 1 << 20)):
            raw += piece
        return None if b"\0" in raw[:8192] or len(raw) > FILE else bytes(raw)
    except OSError:
        return None
    finally:
        os.close(handle)


def main() -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    wanted = json.loads(sys.stdin.buffer.read())
    handle = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    walk = Walk(time.monotonic() + wanted["seconds"])
    try:
        found = names(wanted, walk, handle) if wanted["what"] == "glob" else lines(wanted, walk, handle)
    except (re.error, ValueError, OverflowError) as error:
        found = {"error": f"the pattern cannot be read: {error}"}
    except (MemoryError, RecursionError):
        found = {"error": "the search needs too much memory; use a simpler pattern"}
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main()
