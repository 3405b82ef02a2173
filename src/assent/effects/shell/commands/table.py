"""Where rows come from: the shipped `*.toml` files of this folder, with a user's rows laid over them.

Finds rows by their header lines and parses only those asked for. Knows nothing of command lines. The one module of
the pure packages that opens files: its own package data, once."""

from __future__ import annotations

import os
import re

from assent.contract.errors import PolicyError
from assent.effects.shell.commands.row import Row, check_row, glob, without

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_HEADER = re.compile(r'^\[(?:"([^"\n]+)"|([A-Za-z0-9_-]+))\][ \t]*(?:#.*)?$', re.MULTILINE)
_ALIASES = re.compile(r"^aliases[ \t]*=[ \t]*\[([^\]]*)\]", re.MULTILINE)
_QUOTED = re.compile(r"\"([^\"\n]*)\"|'([^'\n]*)'")
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
        import tomllib  # costs milliseconds, and a decision on tools other than the shell needs none

        return tomllib.loads(self._shipped()[name])

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
    headers = list(_HEADER.finditer(text))
    ends = [header.start() for header in headers[1:]] + [len(text)]
    for header, end in zip(headers, ends, strict=True):
        name = header[1] or header[2]
        body = text[header.end() : end]
        texts[name] = body
        found = _ALIASES.search(body)
        if found:
            program = name.partition(" ")[0]
            aliases.update({one or other: program for one, other in _QUOTED.findall(found[1])})


shipped = Tables()
