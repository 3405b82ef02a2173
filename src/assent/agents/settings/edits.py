"""Adding to a list or object in JSON text, and taking out again, so that everything else stays byte for byte.

INVARIANT: taking out what was just added gives back the text as it was. So that this can be told from the text alone,
what is put into a container that stood there empty ends right at its closing bracket, and a container that is made
for it has a line break there."""

from __future__ import annotations

import json
import re

from assent.agents.settings import jsonc
from assent.agents.settings.jsonc import Item, Node

INDENT = re.compile(r"^([ \t]+)\S", re.MULTILINE)
SPACES = " \t\r\n"


def keeps(whole: object, part: object) -> bool:
    """Whether all of some data is still there, with more beside it at most."""
    if isinstance(part, dict) and isinstance(whole, dict):
        return all(key in whole and keeps(whole[key], value) for key, value in part.items())
    if isinstance(part, list) and isinstance(whole, list):
        return whole[: len(part)] == part
    return part == whole


def newline_of(text: str) -> str:
    at = text.find("\n")
    return "\r\n" if at > 0 and text[at - 1] == "\r" else "\n"


def unit_of(text: str) -> str:
    """The indentation that a text uses, by its first indented line."""
    found = INDENT.search(text)
    return found[1] if found else "  "


def written(text: str, value: object, indent: str, key: str | None = None) -> str:
    """A value as it would stand in a text: in its own indentation and with its own line ends."""
    body = json.dumps(value, indent=unit_of(text), ensure_ascii=False)
    shown = body.replace("\n", newline_of(text) + indent)
    return shown if key is None else f"{json.dumps(key, ensure_ascii=False)}: {shown}"


def line_indent(text: str, at: int) -> str:
    """The blanks at the beginning of the line on which something stands."""
    start = text.rfind("\n", 0, at) + 1
    return text[start : start + len(text[start:at]) - len(text[start:at].lstrip(" \t"))]


def append(text: str, container: Node, value: object, key: str | None = None) -> str:
    """The text with a value added at the end of a list, or with a key at the end of an object."""
    if not container.items:
        at = container.end - 1
        return text[:at] + written(text, value, line_indent(text, container.start), key) + text[at:]
    last = container.items[-1]
    trailing = last.comma >= 0
    after = last.comma + 1 if trailing else last.end
    notes = list(jsonc.comments(text, after, container.end - 1))
    at = notes[-1].end() if notes else after
    on_own_line = not text[text.rfind("\n", 0, last.start) + 1 : last.start].strip(" \t")
    indent = line_indent(text, last.start)
    breaks = on_own_line or any(note[0].startswith("//") for note in notes)
    gap = newline_of(text) + indent if breaks else " "
    added = gap + written(text, value, indent, key) + ("," if trailing else "")
    return text[: last.end] + ("" if trailing else ",") + text[last.end : at] + added + text[at:]


def made_for(text: str, container: Node) -> bool:
    """Whether a container with a single item was made for that item."""
    return text[container.items[0].end] in SPACES


def without(text: str, container: Node, item: Item) -> str:
    """The text without an item. A container that becomes empty stays."""
    where = container.items.index(item)
    if len(container.items) == 1:
        return text[: item.start] + text[item.end if item.comma < 0 else item.comma + 1 :]
    before = container.items[where - 1] if where else None
    start = _start(text, before.comma + 1 if before else container.start + 1, item)
    if item.comma >= 0:  # its own comma goes with it, and notes between the two stay
        return text[:start] + text[item.end : item.comma] + text[item.comma + 1 :]
    assert before is not None
    return text[: before.comma] + text[before.comma + 1 : start] + text[item.end :]


def _start(text: str, after: int, item: Item) -> int:
    """Where to cut from: the blanks before an item go too, but for a line break that ends a note."""
    start = max(after, len(text[: item.start].rstrip(SPACES)))
    notes = list(jsonc.comments(text, after, item.start))
    in_note = bool(notes) and notes[-1].end() == start and notes[-1][0].startswith("//")
    end = item.end if item.comma < 0 else item.comma + 1
    return item.start if in_note and text[end:].lstrip(" \t")[:1] not in ("\n", "\r") else start
