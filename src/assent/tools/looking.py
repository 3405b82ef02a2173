"""The glob and grep tools: names and lines below the session's folder. What they find is found by `finder.py`, a
process of its own, since a pattern of a model can take forever."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from assent.contract.display import is_hidden
from assent.contract.escapes import escaped
from assent.tools import finder, opening, process
from assent.tools.tool import Bench, Given, Guarded, Problem, Result, Risk, Stop

SECONDS = 20
LONGEST = 4096  # characters of a pattern
ANSWER = 4 * 1024 * 1024  # bytes
FINDER = os.path.abspath(finder.__file__)
FOLDER: dict[str, object] = {"type": "string", "description": "where to look, in the project's folder"}


class GlobTool(Guarded):
    name = "glob"
    risk = Risk.READ
    description = (
        "List files by a pattern like `**/*.py` or `src/*.{ts,tsx}`. Links are not followed; .git is left out."
    )
    properties = {
        "pattern": {"type": "string", "description": "the pattern, from the folder that is looked in"},
        "path": FOLDER,
    }
    required = ("pattern",)

    def prepare(self, bench: Bench, given: Given) -> LookJob:
        _pattern(given["pattern"])
        return LookJob(bench, "glob", given)


class GrepTool(Guarded):
    name = "grep"
    risk = Risk.READ
    description = (
        "Search files for a regular expression (Python's), line by line. Links are not followed; .git, files that are "
        "not text, and files that may not be read without asking are left out."
    )
    properties = {
        "pattern": {"type": "string", "description": "the regular expression"},
        "path": {"type": "string", "description": "a folder or file to look in, in the project's folder"},
        "glob": {"type": "string", "description": "only files with such names, like `*.py`"},
        "ignore_case": {"type": "boolean", "description": "upper and lower case are the same"},
        "files_only": {"type": "boolean", "description": "the names of the files alone"},
    }
    required = ("pattern",)

    def prepare(self, bench: Bench, given: Given) -> LookJob:
        if len(given["pattern"]) > LONGEST:
            raise Problem(f"a pattern has at most {LONGEST} characters")
        if "glob" in given:
            _pattern(given["glob"])
        return LookJob(bench, "grep", given)


def _pattern(text: str) -> None:
    """INVARIANT: a pattern of names leads nowhere but below the folder."""
    if not text or len(text) > LONGEST or "\0" in text:
        raise Problem(f"a pattern has between 1 and {LONGEST} characters")
    if text.startswith(("/", "~")) or ".." in text.replace("{", "/").replace(",", "/").split("/"):
        raise Problem(f"`{text}` leads out of the folder; give the folder as `path`, and a pattern below it")


class LookJob:
    problem = ""

    def __init__(self, bench: Bench, what: str, given: Given) -> None:
        place = opening.resolve(given.get("path", "."), bench.folder)
        if not opening.inside(place.path, bench.folder):
            raise Problem(f"`{given.get('path')}` is outside of `{bench.folder}`; this tool looks below it only")
        self._bench = bench
        self._what = what
        self._given = given
        self._path = place.path
        rest = {key: value for key, value in given.items() if key != "path"}
        self.input: dict[str, object] = {**place.input("path"), **rest}

    def run(self, stop: Stop) -> Result:
        path, only = self._path, ""
        if self._what == "grep" and os.path.isfile(path):
            path, only = os.path.split(path)
        wanted = {**self._given, "what": self._what, "only": only, "seconds": SECONDS}
        with opening.folder(path) as folder:
            ended = process.run(
                [sys.executable, "-I", "-S", FINDER],
                folder=folder,
                environ={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"},
                seconds=SECONDS + 2,
                stop=stop,
                given=json.dumps(wanted).encode(),
                head=ANSWER,
                tail=0,
            )
        found = _answer(ended)
        return Result(self._names(found) if self._what == "glob" else self._lines(found, path, stop))

    def _names(self, found: dict[str, Any]) -> str:
        return _with_notes([_name(each) for each in found["names"]], found, "no file has such a name")

    def _lines(self, found: dict[str, Any], path: str, stop: Stop) -> str:
        """INVARIANT: nothing is told of a file that may not be read without asking."""
        shown: list[str] = []
        closed: list[str] = []
        for name, lines in found["files"]:
            if stop:
                raise Problem("the call was taken back")
            if not self._bench.readable(os.path.join(path, name)):
                closed.append(_name(name))
            elif self._given.get("files_only"):
                shown.append(_name(name))
            else:
                shown += [f"{_name(name)}:{number}: {_shown(text)}" for number, text in lines]
        if closed:
            some = ", ".join(f"`{each}`" for each in closed[:5])
            more = f" and {len(closed) - 5} more" if len(closed) > 5 else ""
            shown.append(f"[left out, since they may not be read without asking: {some}{more}; use `read` for one]")
        return _with_notes(shown, found, "no line matches")


def _name(name: str) -> str:
    """A name on one line: whoever made the file may have put line ends and escape sequences into it."""
    return "".join(escaped(each) if each in "\n\t" else each for each in _shown(name))


def _shown(text: str) -> str:
    """Text with what steers a screen or hides written out."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(escaped(each) if each != "\n" and each != "\t" and is_hidden(each) else each for each in text)


def _answer(ended: process.Ended) -> dict[str, Any]:
    if ended.late:
        raise Problem(f"it took longer than {SECONDS} seconds; use a simpler pattern, or look in a smaller folder")
    try:
        found: dict[str, Any] = json.loads(ended.output)
    except ValueError:
        raise Problem("the search failed; use a simpler pattern") from None
    if found.get("error"):
        raise Problem(str(found["error"]))
    return found


def _with_notes(lines: list[str], found: dict[str, Any], nothing: str) -> str:
    notes = [f"[{each}]" for each in found["notes"]]
    return "\n".join([*(lines or [f"[{nothing}]"]), *notes])
