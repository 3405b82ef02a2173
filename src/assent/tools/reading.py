"""The read tool: a file's lines, with their numbers. Changes nothing but what counts as read."""

from __future__ import annotations

from assent.tools import opening
from assent.tools.tool import Bench, Given, Guarded, Problem, Result, Risk, Stop

LINES = 2000  # shown at once
WIDEST = 2000  # characters of a line
MOST = 60_000  # characters at once
PROBED = 8192  # bytes that are looked at for null characters


class ReadTool(Guarded):
    name = "read"
    risk = Risk.READ
    description = "Read a text file. Lines come with their numbers; a long file is read in parts, by `offset`."
    properties = {
        "file_path": {"type": "string", "description": "the file, absolute or from the project's folder"},
        "offset": {"type": "integer", "minimum": 1, "maximum": 10**9, "description": "the first line, from 1"},
        "limit": {"type": "integer", "minimum": 1, "maximum": LINES, "description": "how many lines"},
    }
    required = ("file_path",)

    def prepare(self, bench: Bench, given: Given) -> ReadJob:
        place = opening.resolve(given["file_path"], bench.folder)
        return ReadJob(bench, place, given.get("offset", 1), given.get("limit", LINES))


class ReadJob:
    problem = ""

    def __init__(self, bench: Bench, place: opening.Place, offset: int, limit: int) -> None:
        self._bench = bench
        self._path = place.path
        self._offset, self._limit = offset, limit
        self.input = place.input("file_path")

    def run(self, stop: Stop) -> Result:
        raw = opening.read(self._path)
        if binary(raw):
            raise Problem(f"`{self._path}` is not text ({len(raw)} bytes)")
        self._bench.versions.saw(self._path, raw)
        return Result(numbered(raw, self._offset, self._limit))


def binary(raw: bytes) -> bool:
    return b"\0" in raw[:PROBED]


def numbered(raw: bytes, offset: int, limit: int) -> str:
    """Lines with their numbers, within bounds, and a note on what is not shown."""
    lines = raw.decode("utf-8", "replace").removesuffix("\n").split("\n")
    if not raw:
        return "[the file is empty]"
    if offset > len(lines):
        raise Problem(f"the file has {len(lines)} lines; `offset` is beyond them")
    shown: list[str] = []
    size = cut = 0
    for number, line in enumerate(lines[offset - 1 : offset - 1 + limit], offset):
        line = line.removesuffix("\r")
        if len(line) > WIDEST:
            line, cut = f"{line[:WIDEST]}…", cut + 1
        size += len(line) + 8
        if size > MOST and shown:
            break
        shown.append(f"{number:6}\t{line}")
    last = offset + len(shown) - 1
    notes = [f"[{cut} lines are longer than {WIDEST} characters and cut]"] if cut else []
    if last < len(lines):
        notes.append(f"[lines {offset} to {last} of {len(lines)}; go on with `offset` {last + 1}]")
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        notes.append("[not all of it is UTF-8: what is not is shown as \ufffd, and `edit` does not take the file]")
    return "\n".join([*shown, *notes])
