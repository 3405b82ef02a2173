"""Settings in JSON with comments → plain JSON, and single keys set in it; everything else stays byte for byte."""

from __future__ import annotations

import json

from assent.agents.settings import edits, hooks, jsonc
from assent.agents.settings.jsonc import Node


def stripped(text: str) -> str:
    """The text without comments and without commas that nothing follows, for programs that take neither."""
    if hooks.is_blank(text):
        return text
    cuts = [(at, at + 1) for at in _trailing(jsonc.parse(text))]
    for found in jsonc.TOKEN.finditer(text):
        if found[0].startswith("/"):
            cuts.append(_whole_line(text, found.start(), found.end()))
    out, at = [], 0
    for start, end in sorted(cuts):
        if start >= at:
            out.append(text[at:start])
        at = max(at, end)
    return "".join([*out, text[at:]])


def _trailing(node: Node) -> list[int]:
    own = [node.items[-1].comma] if node.items and node.items[-1].comma >= 0 else []
    return own + [at for item in node.items for at in _trailing(item.node)]


def _whole_line(text: str, start: int, end: int) -> tuple[int, int]:
    """A comment with the blanks before it, and with its line where nothing else stands there."""
    begin = len(text[:start].rstrip(" \t"))
    alone = begin == 0 or text[begin - 1] == "\n"
    after = text[end : end + 2]
    if not alone:
        return begin, end
    return begin, end + (2 if after == "\r\n" else 1 if after[:1] == "\n" else 0)


def with_value(text: str, key: str, value: object) -> str:
    """The text with a key of the whole object set."""
    if hooks.is_blank(text):
        return text + json.dumps({key: value}, indent=2) + "\n"
    root = jsonc.parse(text)
    found = root.member(key)
    if found is None:
        return edits.append(text, root, value, key)
    if found.node.value == value:
        return text
    return text[: found.node.start] + json.dumps(value) + text[found.node.end :]


def put_back(text: str, key: str, value: object, before: str) -> str:
    """The text with a key as it was before it was set to a value (`""`: it was not there). Where somebody has given it
    another value since, it stays."""
    root = jsonc.parse(text) if not hooks.is_blank(text) else None
    found = root.member(key) if root is not None and root.is_object else None
    if root is None or found is None or found.node.value != value:
        return text
    if before:
        return text[: found.node.start] + before + text[found.node.end :]
    return edits.without(text, root, found)


def source(text: str, key: str) -> str:
    """How the value of a key of the whole object is written, `""` where it has none."""
    found = None if hooks.is_blank(text) else jsonc.parse(text).member(key)
    return text[found.node.start : found.node.end] if found is not None else ""


def value(text: str, key: str) -> object:
    """The value of a key of the whole object, None where it has none."""
    root = None if hooks.is_blank(text) else jsonc.parse(text).value
    return root.get(key) if isinstance(root, dict) else None
