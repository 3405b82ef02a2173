"""JSON with comments: parsed to a tree with positions, and edited so that everything else stays byte for byte.

Comments and trailing commas are accepted, since programs accept them; a duplicate key is refused, since programs differ
on which one counts. A blank file is an empty object.

INVARIANT: removing what was just added restores the text. So that the text alone shows this, an item added to an empty
container ends right at its closing bracket, and a container created for it has a line break there."""

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
TOKEN = re.compile(f"{STRING.pattern}|{COMMENT.pattern}", re.DOTALL)
INDENT = re.compile(r"^([ \t]+)\S", re.MULTILINE)
SPACES = " \t\r\n"
DEEPEST = 100


class Item(Value):
    """One element of a list, or one member of an object (then with its key). `comma` is the position of the comma after
    it, -1 if there is none."""

    __slots__ = ("key", "start", "node", "comma")

    def __init__(self, key: str | None, start: int, node: JsonNode, comma: int) -> None:
        self.key = key
        self.start = start
        self.node = node
        self.comma = comma

    @property
    def end(self) -> int:
        return self.node.end

    @property
    def after(self) -> int:
        """The end of the item with its comma."""
        return self.end if self.comma < 0 else self.comma + 1


class JsonNode(Value):
    """A value at `text[start:end]`. `value` is the data; `items` are those of a list or object."""

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


# ---------------------------------------------------------------- parsing


def is_blank(text: str) -> bool:
    return not text.strip(SPACES + "\ufeff")


def parse(text: str) -> JsonNode:
    """The tree of a text; raises SettingsError with the line if it is not JSON."""
    if is_blank(text):
        return JsonNode(0, len(text), {})
    reader = JsonReader(text)
    root = reader.value(reader.blank(1 if text.startswith("\ufeff") else 0), 0)
    after = reader.blank(root.end)
    if after < len(text):
        raise reader.error(after, "there is more text after the end of the settings")
    return root


def objects(text: str) -> dict[str, object]:
    """The object that a text is; an empty one for any other value. Raises SettingsError."""
    found = parse(text).value
    return found if isinstance(found, dict) else {}


def line_of(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


class JsonReader:
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

    def value(self, at: int, depth: int) -> JsonNode:
        if depth > DEEPEST:
            raise self.error(at, "the settings are nested too deep")
        first = self.text[at : at + 1]
        if first == "{" or first == "[":
            return self.container(at, depth, "}" if first == "{" else "]")
        for pattern in (STRING, NUMBER, WORD):
            if found := pattern.match(self.text, at):
                return JsonNode(at, found.end(), self.decoded(at, found[0]))
        shown = self.text[at : at + 20].split("\n")[0]
        raise self.error(at, f"no JSON value: `{shown}`" if shown else "a value is missing")

    def decoded(self, at: int, source: str) -> object:
        try:
            return json.loads(source)
        except ValueError as error:  # a number of too many digits
            raise self.error(at, str(error)) from None

    def container(self, start: int, depth: int, close: str) -> JsonNode:
        items: list[Item] = []
        at = self.blank(start + 1)
        while not self.text.startswith(close, at):
            if items and items[-1].comma < 0:
                raise self.error(at, f"`,` or `{close}` is missing")
            item = self.item(at, depth, named=close == "}")
            if item.key is not None and any(each.key == item.key for each in items):
                raise self.error(at, f"key `{item.key}` is given twice")
            items.append(item)
            at = self.blank(item.after)
        value = (
            {str(each.key): each.node.value for each in items} if close == "}" else [each.node.value for each in items]
        )
        return JsonNode(start, at + 1, value, tuple(items))

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


def comments(text: str) -> Iterator[re.Match[str]]:
    return (found for found in TOKEN.finditer(text) if found[0].startswith("/"))


def trailing_commas(node: JsonNode) -> list[int]:
    last = [item.comma for item in node.items[-1:] if item.comma >= 0]
    return last + [at for item in node.items for at in trailing_commas(item.node)]


# ---------------------------------------------------------------- editing


def keeps(whole: object, part: object) -> bool:
    """Whether all of some data is still there, perhaps with additions."""
    if isinstance(part, dict) and isinstance(whole, dict):
        return all(key in whole and keeps(whole[key], value) for key, value in part.items())
    if isinstance(part, list) and isinstance(whole, list):
        return whole[: len(part)] == part
    return part == whole


def newline_of(text: str) -> str:
    at = text.find("\n")
    return "\r\n" if at > 0 and text[at - 1] == "\r" else "\n"


def written(text: str, value: object, indent: str, key: str | None = None) -> str:
    """A value as JSON, with the indentation (of the first indented line) and the line ends of a text."""
    found = INDENT.search(text)
    body = json.dumps(value, indent=found[1] if found else "  ", ensure_ascii=False)
    shown = body.replace("\n", newline_of(text) + indent)
    return shown if key is None else f"{json.dumps(key, ensure_ascii=False)}: {shown}"


def line_indent(text: str, at: int) -> str:
    start = text.rfind("\n", 0, at) + 1
    return text[start : start + len(text[start:at]) - len(text[start:at].lstrip(" \t"))]


def append(text: str, container: JsonNode, value: object, key: str | None = None) -> str:
    """The text with a value added at the end of a list, or with a key at the end of an object."""
    if not container.items:
        at = container.end - 1
        return text[:at] + written(text, value, line_indent(text, container.start), key) + text[at:]
    last = container.items[-1]
    trailing = last.comma >= 0
    notes = list(COMMENT.finditer(text, last.after, container.end - 1))
    at = notes[-1].end() if notes else last.after
    on_own_line = not text[text.rfind("\n", 0, last.start) + 1 : last.start].strip(" \t")
    indent = line_indent(text, last.start)
    breaks = on_own_line or any(note[0].startswith("//") for note in notes)
    gap = newline_of(text) + indent if breaks else " "
    added = gap + written(text, value, indent, key) + ("," if trailing else "")
    return text[: last.end] + ("" if trailing else ",") + text[last.end : at] + added + text[at:]


def made_for(text: str, container: JsonNode) -> bool:
    """Whether a container with a single item was created for that item."""
    return text[container.items[0].end] in SPACES


def without(text: str, container: JsonNode, item: Item) -> str:
    """The text without an item. A container that becomes empty stays."""
    where = container.items.index(item)
    if len(container.items) == 1:
        return text[: item.start] + text[item.after :]
    before = container.items[where - 1] if where else None
    start = _start(text, before.comma + 1 if before else container.start + 1, item)
    if item.comma >= 0:  # its own comma goes with it, and comments between the two stay
        return text[:start] + text[item.end : item.comma] + text[item.comma + 1 :]
    assert before is not None
    return text[: before.comma] + text[before.comma + 1 : start] + text[item.end :]


def _start(text: str, after: int, item: Item) -> int:
    """The start of the cut: white space before an item goes too, except for a line break that ends a comment."""
    start = max(after, len(text[: item.start].rstrip(SPACES)))
    notes = list(COMMENT.finditer(text, after, item.start))
    in_note = bool(notes) and notes[-1].end() == start and notes[-1][0].startswith("//")
    return item.start if in_note and text[item.after :].lstrip(" \t")[:1] not in ("\n", "\r") else start


# ---------------------------------------------------------------- keys of the whole object, and plain JSON


def stripped(text: str) -> str:
    """The text without comments and trailing commas, for programs that accept neither."""
    cuts = [(at, at + 1) for at in trailing_commas(parse(text))]
    cuts += [_whole_line(text, *found.span()) for found in comments(text)]
    out, at = [], 0
    for start, end in sorted(cuts):
        if start >= at:
            out.append(text[at:start])
        at = max(at, end)
    return "".join([*out, text[at:]])


def _whole_line(text: str, start: int, end: int) -> tuple[int, int]:
    """A comment with the white space before it, and with its line if nothing else is on it."""
    begin = len(text[:start].rstrip(" \t"))
    if begin and text[begin - 1] != "\n":
        return begin, end
    after = text[end : end + 2]
    return begin, end + (2 if after == "\r\n" else 1 if after[:1] == "\n" else 0)


def with_value(text: str, key: str, value: object) -> str:
    if is_blank(text):
        return text + json.dumps({key: value}, indent=2) + "\n"
    root = parse(text)
    found = root.member(key)
    if found is None:
        return append(text, root, value, key)
    return text if found.node.value == value else _replaced(text, found, json.dumps(value))


def put_back(text: str, key: str, value: object, before: str) -> str:
    """The text with a key reset to its value before (`""`: it was not there). It is unchanged if somebody has changed
    it since."""
    root = parse(text)
    found = root.member(key)
    if found is None or found.node.value != value:
        return text
    return _replaced(text, found, before) if before else without(text, root, found)


def _replaced(text: str, item: Item, value: str) -> str:
    return text[: item.node.start] + value + text[item.node.end :]


def source(text: str, key: str) -> str:
    """The text of the value of a top-level key, `""` if it has none."""
    found = parse(text).member(key)
    return text[found.node.start : found.node.end] if found is not None else ""
