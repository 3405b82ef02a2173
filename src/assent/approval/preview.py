"""The preview of a call for a person: the command, the change to a file against its current text, or the arguments.

The text is raw: every surface shows it through `contract/display`."""

from __future__ import annotations

import difflib
import json
import os
import re
import shlex
from collections.abc import Iterator, Mapping
from contextlib import suppress

from assent.contract import Call
from assent.contract.approval import Preview
from assent.contract.display import clip
from assent.contract.tools import canonical
from assent.state.files import read

LONGEST = 4_000_000  # characters of a preview; a longer one cannot be shown whole anywhere, so not be allowed
FILE = 1024 * 1024  # bytes of a file that a diff is made against
COMMANDS = ("command", "cmd", "script", "commands")
PATHS = ("filepath", "path", "file", "filename", "targetfile", "notebookpath", "absolutepath", "relativepath")
WHOLE = ("content", "contents", "filetext", "newcontent")
PATCHES = ("patch", "diff", "input", "patchtext", "command", "content")
IGNORED = frozenset({"description", "timeout", "timeoutms", "runinbackground"})  # arguments that change nothing shown
LISTED = ("edits", "replacements", "operations", "files", "changes")
MEANT = ("command", "insertline", "newsource", "cellid", "cellnumber", "editmode", "instruction", "explanation")
INSERTED = ("inserttext", "newstr", "newtext", "text")
NEW = ("newstring", "newstr", "newtext", "replace", "replacement")
OLD = ("oldstring", "oldstr", "oldtext", "search", "find")
ALL = ("replaceall", "allowmultiple", "multiple")
KNOWN = frozenset((*PATHS, *WHOLE, *OLD, *NEW, *INSERTED, *ALL, *IGNORED, *LISTED, *MEANT))
NOTHING: tuple[object, ...] = (None, "", {}, [], False)
CONTEXT = 3
COMPARED = 2000  # lines on either side that are compared one by one


def preview(call: Call, tool: str = "") -> Preview:
    """`tool` is the canonical tool, if the call's name does not say it."""
    tool = canonical(tool or call.tool)
    found: Preview | None = None
    with suppress(OSError, ValueError, TypeError, RecursionError):  # an odd argument: all are shown unchanged
        found = _command(call) if tool == "bash" else _file_change(call) if tool == "write" else None
    return found or _arguments(call.input)


def _preview(kind: str, text: str, path: str = "") -> Preview:
    shown = text if len(text) <= LONGEST else clip(text, LONGEST - 200)  # shorter than `length`, with its note
    return Preview(kind, shown, path=path, length=len(text))


def _arguments(given: Mapping[str, object]) -> Preview:
    try:
        text = json.dumps(given, indent=1, ensure_ascii=False, default=repr)
    except (ValueError, TypeError, RecursionError):
        text = repr(given)
    return _preview("input", text)


def _plain(key: object) -> str:
    return str(key).lower().replace("_", "").replace("-", "")


def _by_name(given: Mapping[str, object]) -> dict[str, object]:
    return {_plain(key): value for key, value in given.items()}


def _first(given: Mapping[str, object], names: tuple[str, ...]) -> str | None:
    return _text(_by_name(given), names)


def _text(named: Mapping[str, object], names: tuple[str, ...]) -> str | None:
    return next((value for name in names if isinstance(value := named.get(name), str)), None)


# ---------------------------------------------------------------- commands


def _command(call: Call) -> Preview | None:
    """The command, and after it the arguments that it runs with."""
    found: list[str] = []
    others: dict[str, object] = {}
    for key, value in call.input.items():
        if _plain(key) in COMMANDS and isinstance(value, str):
            found.append(value)
        elif _plain(key) in COMMANDS and isinstance(value, list) and all(isinstance(word, str) for word in value):
            found.append(shlex.join(value))
        elif _plain(key) not in IGNORED and value not in (None, "", {}, []):
            others[str(key)] = value
    if len(found) != 1:
        return None
    rest = f"\n\n# with\n{json.dumps(others, indent=1, ensure_ascii=False, default=repr)}" if others else ""
    return _preview("command", found[0] + rest)


# ---------------------------------------------------------------- files


def _file_change(call: Call) -> Preview | None:
    name = call.tool.lower()
    if "patch" in name or "diff" in name:
        patch = _first(call.input, PATCHES)
        return None if patch is None else _preview("diff", patch, _first(call.input, PATHS) or "")
    views = _first(call.input, ("command",)) in ("view", "undo_edit")
    parts = [] if views else list(_changes(call, call.input, ""))
    if not parts:
        return None
    paths = list(dict.fromkeys(path for path, _ in parts))
    text = "\n".join(f"# {path}\n{diff}" for path, diff in parts) if len(paths) > 1 else "\n".join(d for _, d in parts)
    return _preview("diff", text, paths[0] if len(paths) == 1 else "")


def _changes(call: Call, given: Mapping[str, object], above: str) -> Iterator[tuple[str, str]]:
    """Every file that is changed, and how; `above` is the path that edits in a list belong to."""
    path = _first(given, PATHS) or above
    nested = [value for key, value in given.items() if _plain(key) in ("files", "changes") and isinstance(value, list)]
    for item in (item for value in nested for item in value if isinstance(item, dict)):
        yield from _changes(call, item, path)
    if not path:
        return
    _one_reading(given, path)
    now, notes = _now(call, path)
    after, more = _first(given, WHOLE), list[str]()
    if after is None and path.endswith(".ipynb") and _first(given, ("newsource",)) is not None:
        after, more = notebook_edited(now or "", given)
        now = "" if now is None else notebook_edited(now, {})[0]
    elif after is None:
        after, more = edited(now or "", given)
    if after is not None:
        head = [f"# {note}" for note in [*notes, *more, *_unshown(given)]]
        yield path, "\n".join([*head, *(changed(now or "", after) or ["# nothing changes"])])


def _one_reading(given: Mapping[str, object], path: str) -> None:
    """Raise if a tool could read another file or change from the arguments than the one shown."""
    named = _by_name(given)
    edits = [item for value in named.values() if isinstance(value, list) for item in value if isinstance(item, dict)]
    paths = {path, *(str(value) for name, value in named.items() if name in PATHS)}
    paths |= {found for item in edits if (found := _first(item, PATHS)) is not None}
    ways = sum(
        any(name in named for name in names) for names in (WHOLE, OLD, ("edits",), ("newsource",), ("patch", "diff"))
    )
    if ways > 1 or (len(paths) > 1 and not {"files", "changes"} & named.keys()):
        raise ValueError("more than one reading")
    if any(map(_says_twice, (given, *edits))):
        raise ValueError("more than one spelling of the same")


def _says_twice(given: Mapping[str, object]) -> bool:
    """Whether one value is given under two names: a tool may use either."""
    named = _by_name(given)
    groups = (WHOLE, OLD, NEW) if "insertline" not in named else (WHOLE, OLD, INSERTED)
    return len(named) < len(given) or any(sum(name in named for name in names) > 1 for names in groups)


def _unshown(given: Mapping[str, object]) -> list[str]:
    """Arguments that the diff does not show."""
    others = {str(key): value for key, value in given.items() if _plain(key) not in KNOWN and value not in NOTHING}
    return [f"with {json.dumps(others, ensure_ascii=False, default=repr)}"] if others else []


def _now(call: Call, path: str) -> tuple[str | None, list[str]]:
    where = os.path.expanduser(path) if not call.home else path.replace("~", call.home, 1) if path[:2] == "~/" else path
    where = os.path.normpath(os.path.join(call.cwd or "/", where))
    notes = [f"leads to {real}"] if (real := os.path.realpath(where)) != where else []
    try:
        raw, _ = read(where, FILE)
    except (FileNotFoundError, NotADirectoryError):
        return None, [*notes, "a new file"]
    except OSError as error:
        return None, [*notes, f"the current file is not shown: {error.strerror}"]
    with suppress(UnicodeDecodeError):
        if b"\0" not in raw:
            return raw.decode("utf-8"), notes
    return None, [*notes, f"the current file is not text ({len(raw)} bytes)"]


def edited(before: str, given: Mapping[str, object]) -> tuple[str | None, list[str]]:
    """The text after the edits of a call, and what is odd about them; None if the call has no edit."""
    named = _by_name(given)
    lists = (named.get(key) for key in ("edits", "replacements", "operations"))
    edits = next((each for each in lists if isinstance(each, list)), None)
    if edits is not None:
        text, notes = None, list[str]()
        for each in edits:
            now = before if text is None else text
            after, more = edited(now, each) if isinstance(each, dict) else (None, ["an edit that cannot be read"])
            notes += more
            text = text if after is None else after
        return text, notes
    line = named.get("insertline")
    if isinstance(line, int) and not isinstance(line, bool):
        return _inserted(before, line, _text(named, INSERTED))
    old, new = _text(named, OLD), _text(named, NEW)
    if old is None or new is None:
        return None, []
    return _replaced(before, old, new, everywhere=any(named.get(key) in (True, "true") for key in ALL))


def _replaced(before: str, old: str, new: str, *, everywhere: bool) -> tuple[str, list[str]]:
    if not old:
        return new + before, ["the old text is empty"] if before else []
    found = before.count(old)
    if not found:
        apart = "" if not before or before.endswith("\n") else "\n"
        quoted = [f"  {line}" for line in old.split("\n")]
        return before + apart + new, ["the old text is not in the current file; it is:", *quoted]
    if everywhere:
        return before.replace(old, new), [f"in {found} places"] if found > 1 else []
    return before.replace(old, new, 1), [f"the old text is there {found} times"] if found > 1 else []


def _inserted(before: str, line: int, text: str | None) -> tuple[str | None, list[str]]:
    if text is None:
        return None, []
    lines = before.split("\n")
    at = min(max(line, 0), len(lines))
    return "\n".join([*lines[:at], *text.removesuffix("\n").split("\n"), *lines[at:]]), []


def notebook_edited(before: str, given: Mapping[str, object]) -> tuple[str, list[str]]:
    """The sources of a notebook's cells as one text, after the edit of a call; without one, unchanged."""
    try:
        cells = json.loads(before).get("cells", []) if before else []
        found = [[str(cell.get("id", at)), "".join(cell.get("source", ""))] for at, cell in enumerate(cells)]
    except (ValueError, AttributeError, TypeError):
        return before, ["the current notebook cannot be read"]
    named = _by_name(given)
    new, how = _text(named, ("newsource",)), named.get("editmode")
    cell = str(named.get("cellid", named.get("cellnumber", "")))
    notes: list[str] = []
    if new is not None:
        at = next((index for index, (id, _) in enumerate(found) if cell in (id, str(index))), None)
        if how == "insert":
            found.insert(0 if at is None else at + 1, ["new", new])
        elif at is None:
            notes.append(f"there is no cell `{cell}`")
            found.append(["?", new])
        elif how == "delete":
            del found[at]
        else:
            found[at][1] = new
    return "\n".join(f"# cell {id}\n{source}" for id, source in found), notes


# ---------------------------------------------------------------- lines that differ


def changed(before: str, after: str) -> list[str]:
    """A unified diff without file names; no lines if nothing changes.

    A common beginning and end are removed first, and parts too long to compare line by line are shown whole."""
    if before == after:
        return []
    old, new = before.split("\n") if before else [], after.split("\n") if after else []
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    start = max(head - CONTEXT, 0)
    old_end, new_end = len(old) - max(tail - CONTEXT, 0), len(new) - max(tail - CONTEXT, 0)
    old, new = old[start:old_end], new[start:new_end]
    if len(old) > COMPARED or len(new) > COMPARED:
        mark = f"@@ -{start + 1},{len(old)} +{start + 1},{len(new)} @@"
        return [mark, *(f"-{line}" for line in old), *(f"+{line}" for line in new)]
    found = list(difflib.unified_diff(old, new, n=CONTEXT, lineterm=""))[2:]
    return [_moved(line, start) if line.startswith("@@") else line for line in found]


def _common(one: list[str], other: list[str]) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (left, right) in pairs if left != right), min(len(one), len(other)))


def _moved(mark: str, by: int) -> str:
    """The header of a hunk, shifted by the lines removed before it."""
    return re.sub(r"(?<= [-+])\d+", lambda line: str(int(line[0]) + by), mark)
