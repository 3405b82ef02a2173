"""The glob and grep tools: names and lines below the session's folder. The search itself is `finder.py`, run as a
process, since a pattern from a model can take forever."""

from __future__ import annotations

import json
import os
import sys
from functools import partial
from threading import Event
from typing import Any

from assent.contract.display import is_hidden
from assent.contract.escapes import escaped
from assent.tools import finder, opening, process
from assent.tools.tool import Given, GuardedTool, Problem, Result, ToolContext, ToolJob

SECONDS = 20
LONGEST = 4096  # characters of a pattern
ANSWER = 4 * 1024 * 1024  # bytes
FINDER = os.path.abspath(finder.__file__)
FOLDER: dict[str, object] = {"type": "string", "description": "where to search, in the project's folder"}


class GlobTool(GuardedTool):
    name = "glob"
    risk = "read"
    description = (
        "List files by a pattern like `**/*.py` or `src/*.{ts,tsx}`. Links are not followed; .git is left out."
    )
    properties = {
        "pattern": {"type": "string", "description": "the pattern, relative to the folder that is searched"},
        "path": FOLDER,
    }
    required = ("pattern",)

    def prepare(self, context: ToolContext, given: Given) -> ToolJob:
        _check_glob(given["pattern"])
        return _job(context, self.name, given)


class GrepTool(GuardedTool):
    name = "grep"
    risk = "read"
    description = (
        "Search files for a regular expression (Python's), line by line. Links are not followed; .git, files that are "
        "not text, and files that may not be read without asking are left out."
    )
    properties = {
        "pattern": {"type": "string", "description": "the regular expression"},
        "path": {"type": "string", "description": "a folder or file to search, in the project's folder"},
        "glob": {"type": "string", "description": "only files with such names, like `*.py`"},
        "ignore_case": {"type": "boolean", "description": "upper and lower case are the same"},
        "files_only": {"type": "boolean", "description": "only the names of the files"},
    }
    required = ("pattern",)

    def prepare(self, context: ToolContext, given: Given) -> ToolJob:
        if len(given["pattern"]) > LONGEST:
            raise Problem(f"a pattern has at most {LONGEST} characters")
        if "glob" in given:
            _check_glob(given["glob"])
        return _job(context, self.name, given)


def _check_glob(text: str) -> None:
    """INVARIANT: a pattern of names matches only below the folder."""
    if not text or len(text) > LONGEST or "\0" in text:
        raise Problem(f"a pattern has between 1 and {LONGEST} characters")
    if text.startswith(("/", "~")) or ".." in text.replace("{", "/").replace(",", "/").split("/"):
        raise Problem(f"`{text}` leaves the folder; give the folder as `path`, and a pattern below it")


def _job(context: ToolContext, what: str, given: Given) -> ToolJob:
    target = opening.resolve(given.get("path", "."), context.folder)
    if not opening.inside(target.path, context.folder):
        raise Problem(f"`{given.get('path')}` is outside of `{context.folder}`; this tool searches below it only")
    rest = {key: value for key, value in given.items() if key != "path"}
    return ToolJob({**target.input("path"), **rest}, partial(_run, context, what, given, target.path))


def _run(context: ToolContext, what: str, given: Given, path: str, stop: Event) -> Result:
    only = ""
    if what == "grep" and os.path.isfile(path):
        path, only = os.path.split(path)
    request = {**given, "what": what, "only": only, "seconds": SECONDS}
    with opening.folder(path) as folder:
        ended = process.run(
            [sys.executable, "-I", "-S", FINDER],
            folder=folder,
            environ={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"},
            seconds=SECONDS + 2,
            stop=stop,
            given=json.dumps(request).encode(),
            head=ANSWER,
            tail=0,
        )
    found = _answer(ended)
    names = what == "glob"
    shown = map(_name, found["names"]) if names else _lines(context, found, path, given.get("files_only", False), stop)
    none = "[no file has such a name]" if names else "[no line matches]"
    return Result("\n".join([*(list(shown) or [none]), *(f"[{each}]" for each in found["notes"])]))


def _answer(ended: process.Ended) -> dict[str, Any]:
    if ended.late:
        raise Problem(f"it took longer than {SECONDS} seconds; use a simpler pattern, or search a smaller folder")
    try:
        found: dict[str, Any] = json.loads(ended.output)
    except ValueError:
        raise Problem("the search failed; use a simpler pattern") from None
    if found.get("error"):
        raise Problem(str(found["error"]))
    return found


def _lines(context: ToolContext, found: dict[str, Any], path: str, files_only: bool, stop: Event) -> list[str]:
    """INVARIANT: only files that may be read without asking are shown."""
    shown: list[str] = []
    closed: list[str] = []
    for name, lines in found["files"]:
        if stop.is_set():
            raise Problem("the call was cancelled")
        if not context.readable(os.path.join(path, name)):
            closed.append(f"`{_name(name)}`")
        elif files_only:
            shown.append(_name(name))
        else:
            shown += [f"{_name(name)}:{number}: {_shown(text)}" for number, text in lines]
    if closed:
        more = f" and {len(closed) - 5} more" if len(closed) > 5 else ""
        some = f"{', '.join(closed[:5])}{more}"
        shown.append(f"[left out, since they may not be read without asking: {some}; use `read` for one]")
    return shown


def _name(name: str) -> str:
    """A name on one line: whoever made the file may have put line ends and escape sequences into it."""
    return "".join(escaped(each) if each in "\n\t" else each for each in _shown(name))


def _shown(text: str) -> str:
    """Text with control characters and hidden characters written out."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(escaped(each) if each not in "\n\t" and is_hidden(each) else each for each in text)
