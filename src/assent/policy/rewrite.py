"""Adds a mode, packs or rules to the text of a configuration file; comments and order stay.

INVARIANT: the result parses as the old file with exactly that added; else PolicyError."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Sequence

from assent.contract import PolicyError, Value

HEADER = re.compile(r"[ \t]*\[+[ \t]*([^\[\]\r\n]*?)[ \t]*\]+")
KEY = re.compile(r"[ \t]*([A-Za-z0-9_.\"'-]+)[ \t]*=[ \t]*")
REST = re.compile(r"[^\r\n]*(?:\r?\n|\Z)")
TOKEN = re.compile(
    r'"""(?:\\.|.)*?"""|\'\'\'.*?\'\'\'|"(?:\\.|[^"\\\r\n])*"|\'[^\'\r\n]*\'|#[^\r\n]*|[\[\]{}]|\r?\n|.', re.DOTALL
)


class Statement(Value):
    """`key = value` in a table, and where the value starts and ends."""

    __slots__ = ("table", "key", "start", "end")

    def __init__(self, table: str, key: str, start: int, end: int) -> None:
        self.table = table
        self.key = key
        self.start = start
        self.end = end


def with_mode(text: str, mode: str) -> str:
    """Set a mode; a file that has one keeps it."""
    if "mode" in read(text):
        return text
    return checked(text, _with_line(text, f"mode = {json.dumps(mode)}"), ("mode",), mode)


def with_packs(text: str, names: Sequence[str]) -> str:
    """Switch on more packs."""
    packs = read(text).get("packs")
    known = packs.get("on", []) if isinstance(packs, dict) else []
    missing = [name for name in names if name not in known]
    if not missing:
        return text
    return checked(text, _appended(text, "packs", "on", missing), ("packs", "on"), [*known, *missing])


def with_start(text: str) -> str:
    """Set `server.start`; a file that has it keeps its value."""
    return _with_true(text, "server", "start")


def with_contain(text: str) -> str:
    """Set `contain.on`; a file that has it keeps its value."""
    return _with_true(text, "contain", "on")


def _with_true(text: str, section: str, name: str) -> str:
    known = read(text).get(section)
    if isinstance(known, dict) and name in known:
        return text
    newline = "\r\n" if "\r\n" in text else "\n"
    _, headers = _statements(text)
    made = f"{name} = true{newline}"
    added = f"{_ended(text, newline)}{newline}[{section}]{newline}{made}"
    at = headers.get(section)
    return checked(text, added if at is None else text[:at] + made + text[at:], (section, name), True)


def starts(text: str) -> bool:
    """Whether a text lets hooks start the server."""
    server = read(text).get("server")
    return isinstance(server, dict) and server.get("start") is True


def contains(text: str) -> bool:
    """Whether a text lets calls run contained."""
    known = read(text).get("contain")
    return isinstance(known, dict) and known.get("on") is True


def with_rules(text: str, layer: str, rules: Sequence[str]) -> str:
    """Add rules at the end of a list, except for those that it has."""
    known = read(text).get(layer, [])
    listed = known if isinstance(known, list) else []
    texts = [each.get("rule") if isinstance(each, dict) else each for each in listed]
    missing = [rule for rule in dict.fromkeys(rules) if rule not in texts]
    if not missing:
        return text
    return checked(text, _appended(text, "", layer, missing), (layer,), [*listed, *missing])


def read(text: str) -> dict[str, object]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise PolicyError(f"not TOML: {error}", suggestion="correct the file first") from None


def checked(before: str, after: str, keys: tuple[str, ...], value: object) -> str:
    """The new text, if it has the new value and no other change."""
    wanted = read(before)
    inner = wanted
    for key in keys[:-1]:
        found = inner.setdefault(key, {})
        if not isinstance(found, dict):
            raise PolicyError(f"`{key}` is not a table", suggestion="correct the file first")
        inner = found
    inner[keys[-1]] = value
    try:
        fits = tomllib.loads(after) == wanted
    except tomllib.TOMLDecodeError:
        fits = False
    if not fits:
        raise PolicyError("the file is written in a way that cannot be changed safely", suggestion="add it by hand")
    return after


# ---------------------------------------------------------------- places in the text


def _appended(text: str, table: str, key: str, items: Sequence[str]) -> str:
    newline = "\r\n" if "\r\n" in text else "\n"
    statements, headers = _statements(text)
    lines = "".join(f"  {json.dumps(item, ensure_ascii=False)},{newline}" for item in items)
    found = next((each for each in statements if (each.table, each.key) == (table, key)), None)
    if found is not None:
        return _into(text, found, lines, newline)
    made = f"{key} = [{newline}{lines}]"
    if not table:
        return _with_line(text, made)
    if table in headers:
        at = headers[table]
        return text[:at] + made + newline + text[at:]
    return f"{_ended(text, newline)}{newline}[{table}]{newline}{made}{newline}"


def _ended(text: str, newline: str) -> str:
    return text if not text or text.endswith("\n") else text + newline


def _into(text: str, found: Statement, lines: str, newline: str) -> str:
    """Before the closing bracket of a list, with a comma if one is missing."""
    last = found.end - 1
    comma, content = -1, found.start + 1
    for token in TOKEN.finditer(text, found.start + 1, last):
        if token[0] == ",":
            comma = token.end()
        elif token[0].strip() and not token[0].startswith("#"):
            comma, content = -1, token.end()
    empty = content == found.start + 1
    body = text[:content] + ("" if empty or comma >= 0 else ",") + text[content:last]
    return _ended(body, newline) + lines + text[last:]


def _with_line(text: str, line: str) -> str:
    """Add a line to the top-level table: before the first other table and its comments."""
    newline = "\r\n" if "\r\n" in text else "\n"
    _, headers = _statements(text)
    if not headers:
        return f"{_ended(text, newline)}{line}{newline}"
    at = text.rfind("\n", 0, len(text[: min(headers.values())].rstrip("\r\n"))) + 1
    while at and (above := text[text.rfind("\n", 0, at - 1) + 1 : at]).lstrip(" \t").startswith("#"):
        at -= len(above)
    return text[:at] + line + newline + newline + text[at:]


def _statements(text: str) -> tuple[list[Statement], dict[str, int]]:
    """The statements, and for each table the position of its first line after the header."""
    found: list[Statement] = []
    headers: dict[str, int] = {}
    table, at = "", 1 if text.startswith("\ufeff") else 0
    while at < len(text):
        header, key = HEADER.match(text, at), KEY.match(text, at)
        if header is not None:
            table, at = header[1], header.end()
        elif key is not None:
            at = _value_end(text, key.end())
            found.append(Statement(table, key[1].strip("\"'"), key.end(), at))
        rest = REST.match(text, at)
        at = rest.end() if rest else len(text)
        if header is not None:
            headers.setdefault(table, at)
    return found, headers


def _value_end(text: str, start: int) -> int:
    depth, end = 0, start
    for token in TOKEN.finditer(text, start):
        part = token[0]
        if depth == 0 and (part in ("\n", "\r\n") or part.startswith("#")):
            return end
        depth += (part in "[{") - (part in "]}")
        if part.strip() and not part.startswith("#"):
            end = token.end()
    return end
