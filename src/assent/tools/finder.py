"""Finds names and lines below the folder that it runs in. Follows no link; imports nothing of the package.

Run as a script: a regular expression can take longer than anybody waits, and then the process is ended."""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from stat import S_ISREG
from typing import Any

ENTRIES = 200_000  # visited
DEPTH = 100
NAMES = 500  # in an answer
LINES = 300  # in an answer
SIZE = 60_000  # characters of an answer
WIDEST = 300  # characters of a line
FILE = 8 * 1024 * 1024  # bytes of a file that is searched
MEMORY = 1024 * 1024 * 1024
SKIPPED = frozenset({".git"})


class FileWalk:
    """All files below a folder. `cut` says why it ended early."""

    def __init__(self, end: float) -> None:
        self._end = end
        self._left = ENTRIES
        self.cut = ""

    def files(self, handle: int, above: str = "", depth: int = 0) -> Iterator[tuple[int, str, str]]:
        """The handle of each file's folder, its name there, and its path from the first folder."""
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
                self.cut = f"folders deeper than {DEPTH} were not searched"
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
                        self.cut = f"only the first {ENTRIES} files were searched"
                        break
                    found.append((each.name, each.is_dir(follow_symlinks=False)))
        except OSError:
            return []
        if time.monotonic() > self._end:
            self.cut = "not everything was searched, as it took too long; search a smaller folder"
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


def names(request: dict[str, Any], walk: FileWalk, handle: int) -> dict[str, Any]:
    pattern = pattern_of(request["pattern"])
    found: list[str] = []
    for _, _, path in walk.files(handle):
        if pattern.match(path):
            if len(found) >= NAMES:
                walk.cut = f"more than {NAMES} files; use a narrower pattern"
                break
            found.append(path)
    return {"names": found, "notes": [walk.cut] if walk.cut else []}


def lines(request: dict[str, Any], walk: FileWalk, handle: int) -> dict[str, Any]:
    expression = re.compile(request["pattern"], re.IGNORECASE if request.get("ignore_case") else 0)
    named = pattern_of(request["glob"]) if request.get("glob") else None
    whole = "/" in request.get("glob", "")
    found: list[tuple[str, list[tuple[int, str]]]] = []
    left, size = LINES, SIZE
    only = request.get("only")
    for within, name, path in [(handle, only, only)] if only else walk.files(handle):
        if named is not None and not named.match(path if whole else name):
            continue
        matches: list[tuple[int, str]] = []
        for each in _matches(within, name, expression):
            matches.append(each)
            left, size = left - 1, size - len(each[1]) - len(path)
            if request.get("files_only") or left < 0 or size < 0:
                break
        if matches:
            found.append((path, matches))
        if left < 0 or size < 0:
            walk.cut = "there are more; use a narrower pattern, or search a smaller folder"
            break
    return {"files": found, "notes": [walk.cut] if walk.cut else []}


def _matches(within: int, name: str, expression: re.Pattern[str]) -> Iterator[tuple[int, str]]:
    if (raw := _text(within, name)) is not None:
        for number, line in enumerate(raw.decode("utf-8", "replace").split("\n"), 1):
            if expression.search(line):
                text = line.strip("\r")
                yield number, text if len(text) <= WIDEST else f"{text[:WIDEST]}…"


def _text(within: int, name: str) -> bytes | None:
    """The bytes of a text file; None for anything else, or a file that is too long."""

    def opener(path: str, flags: int) -> int:
        return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=within)

    with suppress(OSError), open(name, "rb", opener=opener) as file:
        status = os.fstat(file.fileno())
        if S_ISREG(status.st_mode) and status.st_size <= FILE:
            raw = file.read(FILE + 1)
            return None if b"\0" in raw[:8192] or len(raw) > FILE else raw
    return None


def main() -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    request = json.loads(sys.stdin.buffer.read())
    handle = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    walk = FileWalk(time.monotonic() + request["seconds"])
    try:
        found = names(request, walk, handle) if request["what"] == "glob" else lines(request, walk, handle)
    except (re.error, ValueError, OverflowError) as error:
        found = {"error": f"the pattern cannot be read: {error}"}
    except (MemoryError, RecursionError):
        found = {"error": "the search needs too much memory; use a simpler pattern"}
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main()
