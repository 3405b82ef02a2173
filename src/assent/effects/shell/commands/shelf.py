"""The shipped tables: the `*.toml` files of this folder. Finds a program's rows in them by their header lines, and does
not read them. Of the modules of the pure packages that open files: its own package data, once."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

# Most commands are in these: the others are looked for behind them.
FIRST = ("coreutils.toml", "git.toml", "text.toml", "files.toml")


class Shelf:
    """The shipped tables as they lie on disk. A program's rows are all in one file, and found there by their headers:
    lines that begin with a bracket. Files are opened one by one, until the program is found; `known` says at once which
    it is, where somebody has an `index` of these very files."""

    __slots__ = ("known", "_names", "_rows", "_texts")

    def __init__(self) -> None:
        self.known = b""
        self._names: list[str] | None = None  # of files; None before the first look
        self._texts: dict[str, bytes] = {}
        self._rows: dict[str, dict[str, bytes]] = {}

    def rows(self, program: str) -> dict[str, bytes]:
        """The texts of a program's rows by their names, in the order of the file."""
        found = self._rows.get(program)
        if found is None:
            file = self._looked_up(program)
            texts = self._all() if file is None else (self._text(file),) if file.endswith(".toml") else ()
            found = self._rows[program] = next((rows for text in texts if (rows := _rows(text, program))), {})
        return found

    def behind(self, alias: str) -> str:
        """The program that a row names an alias of; `""` where none does."""
        known = self._looked_up(f"={alias}")
        if known is not None:
            return known
        wanted = b'"%b"' % alias.encode("utf-8", "replace")
        for text in self._all():
            for place, names in _aliases(text):
                if wanted in names:
                    return _program_at(text, place)
        return ""

    def names(self) -> list[str]:
        """The names of all rows."""
        return [_header(b"\n[" + piece) for text in self._all() for piece in text.split(b"\n[")[1:]]

    def index(self) -> bytes:
        """Lines that tell the file of every program, and the program behind every alias."""
        found: dict[str, str] = {}
        for file in self.files():
            text = self._text(file)
            for piece in text.split(b"\n[")[1:]:
                found.setdefault(_header(b"\n[" + piece).partition(" ")[0], file)
            for place, names in _aliases(text):
                for alias in names.split(b'"')[1::2]:
                    found.setdefault(f"={alias.decode()}", _program_at(text, place))
        return "".join(f"\n{name}\t{where}" for name, where in found.items()).encode() + b"\n"

    def _looked_up(self, name: str) -> str | None:
        """What the index says, `""` where it says nothing; None where there is none."""
        if not self.known:
            return None
        line = b"\n%b\t" % name.encode("utf-8", "replace")
        at = self.known.find(line)
        if at < 0 or b"\n" in line[1:]:
            return ""
        return self.known[at + len(line) : self.known.index(b"\n", at + 1)].decode()

    def files(self) -> list[str]:
        """The names of the files, in the order in which they are looked into."""
        if self._names is None:
            names = sorted(name for name in os.listdir(os.path.dirname(__file__)) if name.endswith(".toml"))
            self._names = sorted(names, key=lambda name: name not in FIRST)
        return self._names

    def _all(self) -> Iterator[bytes]:
        return map(self._text, self.files())

    def _text(self, name: str) -> bytes:
        if name not in self._texts:
            with open(f"{os.path.dirname(__file__)}/{name}", "rb", buffering=0) as file:
                self._texts[name] = b"\n" + file.read()
        return self._texts[name]


def _rows(text: bytes, program: str) -> dict[str, bytes]:
    """The rows of a program in one file."""
    word = program.encode("utf-8", "replace")
    heads = (b'"%b"' % word, b'"%b ' % word, b"%b]" % word)
    if not any(b"\n[" + head in text for head in heads):
        return {}
    found: dict[str, bytes] = {}
    for piece in text.split(b"\n["):
        if piece.startswith(heads):
            line, _, rest = piece.partition(b"\n")
            name = line.rpartition(b"]")[0].strip(b"\"'").decode()
            if name == program or name.startswith(program + " "):
                found[name] = rest
    return found


def _aliases(text: bytes) -> Iterator[tuple[int, bytes]]:
    """The lists of aliases in one file, each with its place."""
    place = text.find(b"\naliases = [")
    while place >= 0:
        yield place, text[place : text.index(b"]", place)]
        place = text.find(b"\naliases = [", place + 1)


def _program_at(text: bytes, place: int) -> str:
    """The program whose row a place is in."""
    return _header(text[text.rindex(b"\n[", 0, place) :]).partition(" ")[0]


def _header(text: bytes) -> str:
    """The name in the header that a text begins with."""
    return text[2:].partition(b"\n")[0].rpartition(b"]")[0].strip(b"\"'").decode()


shelf = Shelf()
