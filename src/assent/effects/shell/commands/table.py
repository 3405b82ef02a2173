"""Where rows come from: the shipped `*.toml` files of this folder, with a user's rows laid over them.

Finds rows by their header lines and reads only those asked for. Knows nothing of command lines. The one module of
the pure packages that opens files: its own package data, once."""

from __future__ import annotations

import os
import re

from assent.contract.errors import PolicyError
from assent.contract.pattern import Pattern
from assent.effects.shell.commands.option import without
from assent.effects.shell.commands.row import Row, check_row, glob

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_KEY = Pattern(r"(?:[ \t]*(?:#[^\n]*)?\n)*([a-z_]+)[ \t]*=[ \t]*")
_QUOTED = Pattern(r'"([^"\n]*)"')
_ESCAPE = Pattern(r"\\(.)")
_ESCAPES = {"n": "\n", "t": "\t", '"': '"', "\\": "\\"}
_STRING = Pattern(r'"""(?:\n)?((?:[^"\\]|\\["\\nt]|"(?!""))*)"""|"((?:[^"\\\n]|\\["\\nt])*)"|\'([^\'\n]*)\'')
_WORD = Pattern(r"([A-Za-z0-9_-]+)")
_SPACE = Pattern(r"(?:[ \t\n]|#[^\n]*)*")
_END = Pattern(r"[ \t]*(?:#[^\n]*)?(?:\n|$)")
_LIKE_LIMIT = 8


class Node:
    """A word of a subcommand path. `name` is the row that ends here (`""`: none). `groups` are the words that a `**`
    stands for; a node of such words comes back to itself."""

    __slots__ = ("children", "globs", "groups", "loops", "name")

    def __init__(self, groups: frozenset[str] = frozenset(), loops: bool = False) -> None:
        self.name = ""
        self.groups = groups
        self.loops = loops
        self.children: dict[str, Node] = {}
        self.globs: list[tuple[re.Pattern[str], Node]] = []

    def child(self, word: str) -> Node:
        """The child for a word of a row's name, made where it is new."""
        node = self.children.get(word)
        if node is None:
            node = self.children[word] = Node(self.groups, word == "**")
            if "*" in word and word != "**":
                self.globs.append((re.compile(glob(word)), node))
        return node

    def after(self, word: str) -> list[Node]:
        """The nodes that a word of a command line leads to, the exact one first."""
        exact = self.children.get(word)
        found = [exact] if exact is not None else []
        found += [node for pattern, node in self.globs if pattern.fullmatch(word) and node is not exact]
        if word in self.groups:
            found += [self] if self.loops else [self.children["**"]] if "**" in self.children else []
        return found


class Tables:
    """Rows by name. `user` rows replace shipped ones of the same name; a malformed one raises PolicyError."""

    __slots__ = ("_aliases", "_programs", "_rows", "_texts", "_user")

    def __init__(self, user: Mapping[str, Mapping[str, object]] | None = None) -> None:
        self._user = dict(user or {})
        self._rows: dict[str, Row] = {}
        self._programs: dict[str, Node | None] = {}
        self._texts: dict[str, str] | None = None
        self._aliases: dict[str, str] = {}
        if self._user:
            self._check_user()

    def names(self) -> list[str]:
        """The names of all rows, shipped and the user's."""
        return list(dict.fromkeys([*self._shipped(), *self._user]))

    def program(self, name: str) -> Node | None:
        """The tree of a program's rows, or None where no table speaks of it."""
        if name not in self._programs:
            self._programs[name] = self._grow(name)
        return self._programs[name]

    def row(self, name: str) -> Row:
        """The compiled row of that exact name."""
        row = self._rows.get(name)
        if row is None:
            row = self._rows[name] = Row(name, self.keys(name))
        return row

    def keys(self, name: str, depth: int = 0) -> dict[str, object]:
        """A row as written, with what it is `like` underneath; examples are never inherited."""
        own = self._own(name)
        if "with" in own:
            own["options"] = self._joined(name, own)
        base = own.get("like")
        if base is None:
            return own
        if not isinstance(base, str) or depth >= _LIKE_LIMIT or not self._has(base):
            raise PolicyError(f'commands."{name}".like: no row is called `{base}`')
        under = self.keys(base, depth + 1)
        return {k: v for k, v in {**under, **own}.items() if k in own or k not in ("safe", "acts", "aliases", "like")}

    def _joined(self, name: str, own: dict[str, object]) -> str:
        """The row's options with those of the sets that it names."""
        sets = own["with"] if isinstance(own["with"], list) else [own["with"]]
        options = str(own.get("options", "")).split()
        for one in sets:
            if not isinstance(one, str) or not one.startswith("_") or not self._has(one):
                raise PolicyError(f'commands."{name}".with: no set of options is called `{one}`')
            options += without(options, str(self._own(one).get("options", "")).split())
        return " ".join(options)

    def _own(self, name: str) -> dict[str, object]:
        if name in self._user:
            return dict(self._user[name])
        return block(self._shipped()[name])

    def _has(self, name: str) -> bool:
        return name in self._user or name in self._shipped()

    def _grow(self, program: str) -> Node | None:
        shipped = self._shipped()
        program = self._aliases.get(program, program)
        head = program + " "
        if program.startswith("_"):
            return None
        names = [name for name in dict.fromkeys([*shipped, *self._user]) if name == program or name.startswith(head)]
        if not names:
            return None
        groups = self.row(program).groups if program in names and any("**" in name for name in names) else frozenset()
        root = Node(groups)
        for name in names:
            nodes = [root]
            for word in name.split(" ")[1:]:
                nodes = [node.child(choice) for node in nodes for choice in word.split("|")]
            for node in nodes:
                node.name = name
        return root

    def _shipped(self) -> dict[str, str]:
        if self._texts is None:
            self._texts, aliases = _index()
            self._aliases = {**aliases, **self._aliases}
        return self._texts

    def _check_user(self) -> None:
        from assent.effects.shell.commands.readers import NAMES

        for name, keys in self._user.items():
            check_row(name, keys, readers=frozenset(NAMES))
            program = name.partition(" ")[0]
            aliases = keys.get("aliases", ())
            if isinstance(aliases, (list, tuple)):
                self._aliases.update({str(alias): program for alias in aliases})
        for name in self._user:
            self.row(name)


_shipped_index: tuple[dict[str, str], dict[str, str]] | None = None


def _index() -> tuple[dict[str, str], dict[str, str]]:
    """The text of every shipped row by its name, and the program behind every alias. Read once a process."""
    global _shipped_index
    if _shipped_index is None:
        texts: dict[str, str] = {}
        aliases: dict[str, str] = {}
        for text in _files():
            _index_file(text, texts, aliases)
        _shipped_index = texts, aliases
    return _shipped_index


def _files() -> list[str]:
    folder = os.path.dirname(__file__)
    texts = []
    for name in sorted(os.listdir(folder)):
        if name.endswith(".toml"):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                texts.append(file.read())
    return texts


def _index_file(text: str, texts: dict[str, str], aliases: dict[str, str]) -> None:
    """File the rows of a table under their names. A header is a line that begins with a bracket."""
    for piece in ("\n" + text).split("\n[")[1:]:
        header, _, body = piece.partition("\n")
        name = header.rpartition("]")[0].strip("\"'")
        texts[name] = body
        place = body.find("aliases = [")
        if place >= 0:
            program = name.partition(" ")[0]
            listed = body[place : body.index("]", place)]
            aliases.update(dict.fromkeys(_QUOTED.findall(listed), program))


# ---------------------------------------------------------------- the part of TOML that tables use


def block(text: str) -> dict[str, object]:
    """The keys of one row. Strings without escapes, booleans, lists and flat tables are read here, because importing
    tomllib costs more than a decision; a row with anything else is left to it."""
    keys: dict[str, object] = {}
    at = 0
    while True:
        match = _KEY.match(text, at)
        if match is None:
            break
        value, at = _value(text, match.end())
        end = _END.match(text, at)
        if at < 0 or end is None:
            return _slowly(text)
        keys[match[1]] = value
        at = end.end()
    space = _SPACE.match(text, at)
    return keys if space is not None and space.end() == len(text) else _slowly(text)


def _slowly(text: str) -> dict[str, object]:
    import tomllib

    return tomllib.loads(text)


def _value(text: str, at: int) -> tuple[object, int]:
    """The value at a place and where it ends; -1 for what is not read here."""
    match = _STRING.match(text, at)
    if match is not None:
        return _text(match), match.end()
    if text.startswith("true", at):
        return True, at + 4
    if text.startswith("false", at):
        return False, at + 5
    first = text[at : at + 1]
    return _items(text, at + 1, first) if first in ("[", "{") else (None, -1)


def _items(text: str, at: int, opening: str) -> tuple[object, int]:
    """The strings of a list, or the pairs of strings of a table."""
    found: list[object] = []
    names: list[str] = []
    closing = "]" if opening == "[" else "}"
    while True:
        at = _behind(text, at)
        if text.startswith(closing, at):
            return (found if opening == "[" else dict(zip(names, found, strict=True))), at + 1
        if opening == "{":
            name = _STRING.match(text, at) or _WORD.match(text, at)
            if name is None:
                return None, -1
            names.append(_text(name) if len(name.groups()) > 1 else name[0])
            at = _behind(text, name.end())
            if not text.startswith("=", at):
                return None, -1
            at = _behind(text, at + 1)
        item = _STRING.match(text, at)
        if item is None:
            return None, -1
        found.append(_text(item))
        at = _behind(text, item.end())
        if text.startswith(",", at):
            at += 1
        elif not text.startswith(closing, at):
            return None, -1


def _text(string: re.Match[str]) -> str:
    """The value of a string; only those in single quotes hold no escapes."""
    if string[3] is not None:
        return string[3]
    text = string[1] if string[1] is not None else string[2]
    return _ESCAPE.sub(lambda match: _ESCAPES[match[1]], text) if "\\" in text else text


def _behind(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match is not None else at


shipped = Tables()
