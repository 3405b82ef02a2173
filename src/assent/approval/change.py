"""A file's text before and after an edit, and the lines that differ. Opens no files.

The forms of an edit are those of the known runtimes: one text for another, several of these, lines put in, a cell of
a notebook."""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping

CONTEXT = 3
COMPARED = 2000  # lines on either side that are compared one by one
OLD = ("oldstring", "oldstr", "oldtext", "search", "find")
NEW = ("newstring", "newstr", "newtext", "replace", "replacement")
INSERTED = ("inserttext", "newstr", "newtext", "text")
ALL = ("replaceall", "allowmultiple", "multiple")


def by_name(given: Mapping[str, object]) -> dict[str, object]:
    """Arguments by a name that all spellings share."""
    return {str(key).lower().replace("_", "").replace("-", ""): value for key, value in given.items()}


def edited(before: str, given: Mapping[str, object]) -> tuple[str | None, list[str]]:
    """The text after the edits of a call, and what is odd about them; None where the call holds no edit."""
    named = by_name(given)
    edits = next(
        (named[key] for key in ("edits", "replacements", "operations") if isinstance(named.get(key), list)), None
    )
    if isinstance(edits, list):
        text, notes, any_edit = before, [], False
        for each in edits:
            after, more = edited(text, each) if isinstance(each, dict) else (None, ["an edit that cannot be read"])
            notes += more
            text, any_edit = (after, True) if after is not None else (text, any_edit)
        return (text if any_edit else None), notes
    line = named.get("insertline")
    if isinstance(line, int) and not isinstance(line, bool):
        return _inserted(before, line, _text(named, INSERTED))
    old, new = _text(named, OLD), _text(named, NEW)
    if old is None or new is None:
        return None, []
    return _replaced(before, old, new, everywhere=any(named.get(key) in (True, "true") for key in ALL))


def _text(named: Mapping[str, object], keys: tuple[str, ...]) -> str | None:
    return next((value for key in keys if isinstance(value := named.get(key), str)), None)


def _replaced(before: str, old: str, new: str, *, everywhere: bool) -> tuple[str, list[str]]:
    if not old:
        return new + before, ["the old text is empty"] if before else []
    found = before.count(old)
    if not found:
        return before + _apart(before) + new, ["the old text is not in the file of now; it is:", *_quoted(old)]
    if everywhere:
        return before.replace(old, new), [f"in {found} places"] if found > 1 else []
    return before.replace(old, new, 1), [f"the old text is there {found} times"] if found > 1 else []


def _apart(before: str) -> str:
    return "" if not before or before.endswith("\n") else "\n"


def _quoted(text: str) -> list[str]:
    return [f"  {line}" for line in text.split("\n")]


def _inserted(before: str, line: int, text: str | None) -> tuple[str | None, list[str]]:
    if text is None:
        return None, []
    lines = before.split("\n")
    at = min(max(line, 0), len(lines))
    return "\n".join([*lines[:at], *text.removesuffix("\n").split("\n"), *lines[at:]]), []


def notebook_edited(before: str, given: Mapping[str, object]) -> tuple[str, list[str]]:
    """The sources of a notebook's cells as one text, after the edit of a call; without one, as they are."""
    try:
        cells = json.loads(before).get("cells", []) if before else []
        found = [[str(cell.get("id", at)), "".join(cell.get("source", ""))] for at, cell in enumerate(cells)]
    except (ValueError, AttributeError, TypeError):
        return before, ["the notebook of now cannot be read"]
    named = by_name(given)
    new, cell, how = (
        _text(named, ("newsource",)),
        str(named.get("cellid", named.get("cellnumber", ""))),
        named.get("editmode"),
    )
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
    """A unified diff without file names; no lines where nothing changes.

    What both begin and end with is set aside first, and what is too long to compare line by line is shown whole."""
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
    count = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        count += 1
    return count


def _moved(mark: str, by: int) -> str:
    """A hunk's mark with the lines that were set aside counted in."""
    out = []
    for piece in mark.split(" "):
        if piece[:1] in ("-", "+") and piece[1:2].isdigit():
            line, comma, count = piece[1:].partition(",")
            piece = f"{piece[0]}{int(line) + by}{comma}{count}"
        out.append(piece)
    return " ".join(out)
