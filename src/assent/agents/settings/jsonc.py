"""JSON with comments → a tree that knows its places in the text. Changes nothing; that is the work of `edits`.

Accepts comments and trailing commas, since hosts do; refuses a key that stands twice, on which they do not agree."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from assent.contract import SettingsError, Value

BLANK = re.compile(r"(?:[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)
COMMENT = re.compile(r"//[^\r\n]*|/\*.*?\*/", re.DOTALL)
STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"')
NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
WORD = re.compile(r"true|false|null")
DEEPEST = 100


class Item(Value):
    """One element of a list, or one member of an object (then with its key). `comma` is the place of the comma after
    it, -1 where there is none."""

    __slots__ = ("key", "start", "node", "comma")

    def __init__(self, key: str | None, start: int, node: Node, comma: int) -> None:
        self.key = key
        self.start = start
        self.node = node
        self.comma = comma

    @property
    def end(self) -> int:
        return self.node.end


class Node(Value):
    """A value and where it stands: `text[start:end]`. `value` is the data; `items` are those of a list or object."""

    __slots__ = ("start", "end", "value", "items")

    def __init__(self, start: int, end: int, value: object, items: tuple[Item, ...] = ()) -> None:
        self.start = start
        self.end = end
        self.value = value
        self.items = items

    @property
    def is_object(self) -> bool:
        return isinstance(self.value, dict)

    @property
    def is_list(self) -> bool:
        return isinstance(self.value, list)

    def member(self, key: str) -> Item | None:
        return next((item for item in self.items if item.key == key), None)


def parse(text: str) -> Node:
    """The tree of a text; raises SettingsError with the line where it is not JSON."""
    reader = Reader(text)
    start = reader.blank(1 if text.startswith("\ufeff") else 0)
    root = reader.value(start, 0)
    after = reader.blank(root.end)
    if after < len(text):
        raise reader.error(after, "something stands after the end of the settings")
    return root


def line_of(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


class Reader:
    """Reads one text, recursively and within bounds."""

    def __init__(self, text: str) -> None:
        self.text = text

    def error(self, at: int, message: str) -> SettingsError:
        return SettingsError(message, line=line_of(self.text, at))

    def blank(self, at: int) -> int:
        found = BLANK.match(self.text, at)
        end = found.end() if found else at
        if self.text.startswith("/*", end):
            raise self.error(end, "a comment does not end")
        return end

    def value(self, at: int, depth: int) -> Node:
        if depth > DEEPEST:
            raise self.error(at, "the settings are nested too deep")
        first = self.text[at : at + 1]
        if first == "{" or first == "[":
            return self.container(at, depth, "}" if first == "{" else "]")
        for pattern in (STRING, NUMBER, WORD):
            found = pattern.match(self.text, at)
            if found:
                return Node(at, found.end(), self.decoded(at, found[0]))
        shown = self.text[at : at + 20].split("\n")[0]
        raise self.error(at, f"no JSON value: `{shown}`" if shown else "a value is missing")

    def decoded(self, at: int, source: str) -> object:
        try:
            return json.loads(source)
        except ValueError as error:  # a number of too many digits
            raise self.error(at, str(error)) from None

    def container(self, start: int, depth: int, close: str) -> Node:
        items: list[Item] = []
        at = self.blank(start + 1)
        while not self.text.startswith(close, at):
            if items and items[-1].comma < 0:
                raise self.error(at, f"`,` or `{close}` is missing")
            item = self.item(at, depth, named=close == "}")
            if item.key is not None and any(each.key == item.key for each in items):
                raise self.error(at, f"key `{item.key}` is given twice")
            items.append(item)
            at = self.blank(item.end if item.comma < 0 else item.comma + 1)
        value = (
            {str(each.key): each.node.value for each in items} if close == "}" else [each.node.value for each in items]
        )
        return Node(start, at + 1, value, tuple(items))

    def item(self, start: int, depth: int, *, named: bool) -> Item:
        key, at = None, start
        if named:
            found = STRING.match(self.text, at)
            if found is None:
                raise self.error(at, "a key in double quotes is missing")
            key = str(self.decoded(at, found[0]))
            at = self.blank(found.end())
            if not self.text.startswith(":", at):
                raise self.error(at, f"`:` is missing after the key `{key}`")
            at = self.blank(at + 1)
        node = self.value(at, depth + 1)
        after = self.blank(node.end)
        return Item(key, start, node, after if self.text.startswith(",", after) else -1)


TOKEN = re.compile(f"{STRING.pattern}|{COMMENT.pattern}", re.DOTALL)


def first_comment(text: str) -> int:
    """Where the first comment of a text begins, -1 where there is none."""
    return next((found.start() for found in TOKEN.finditer(text) if found[0].startswith("/")), -1)


def first_trailing_comma(node: Node) -> int:
    """Where the first comma stands that nothing follows, -1 where there is none."""
    inner = [at for item in node.items if (at := first_trailing_comma(item.node)) >= 0]
    own = [node.items[-1].comma] if node.items and node.items[-1].comma >= 0 else []
    return min(inner + own, default=-1)


def comments(text: str, start: int, end: int) -> Iterator[re.Match[str]]:
    """The comments in a stretch that holds nothing else but blanks and commas."""
    return COMMENT.finditer(text, start, end)
