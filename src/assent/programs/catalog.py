"""Shipped tables, compiled to one file, from which the rows of single programs can be loaded.

The file is to the `*.toml` files of a folder what a `.pyc` file is to a module: used only if it was made from these
very files, its checksum matches, and nobody but this user or root can have written it. Otherwise tomllib reads the
tables, and the file is rewritten if possible. `catalog` has the command tables of this folder; `agents/known.py` and
`policy/remote_channels.py` have others."""

from __future__ import annotations

import _imp  # for its fast hash
import marshal
import os
import sys
from collections.abc import Iterable, Iterator
from stat import S_ISREG

Rows = dict[str, dict[str, object]]  # by their names
FORMAT = 1  # of the file
MARSHAL = 4  # a format of every supported interpreter
SUM = 8  # bytes of a checksum
HEAD = 3 * SUM  # of the tables' file states, of their texts, of the rest of the file
UNUSED = frozenset(("safe", "acts", "aliases", "obeys_checked"))  # keys of a program's row not used by decisions
OTHERS_WRITE = 0o022


class Catalog:
    """The rows of the tables in a folder; a program's rows are loaded on first use.

    With `inside` there is one table of that name in each subfolder, with sections in place of programs, and rows by the
    name of the subfolder."""

    __slots__ = ("path", "_aliases", "_data", "_folder", "_inside", "_places", "_rows")

    def __init__(self, folder: str, inside: str = "") -> None:
        self.path = f"{folder}/__pycache__/tables"  # of the compiled file
        self._folder = folder
        self._inside = inside
        self._data = memoryview(b"")  # before the first look
        self._places: dict[str, int] = {}  # of each program's rows in the data, from its end
        self._aliases: dict[str, str] = {}
        self._rows: dict[str, Rows] = {}

    def rows(self, program: str) -> Rows:
        """A program's rows, in the order of its table."""
        found = self._rows.get(program)
        if found is None:
            self._load()
            if program not in self._places:
                return {}
            found = self._rows[program] = marshal.loads(self._data[self._places[program] :])
        return found

    def program_of(self, alias: str) -> str:
        """The program that has an alias; `""` if none has."""
        self._load()
        return self._aliases.get(alias, "")

    def names(self) -> list[str]:
        self._load()
        return [name for program in self._places for name in self.rows(program)]

    def save(self) -> bytes:
        """Compile the tables, and write the file if possible."""
        states = self._states()
        texts = list(self._texts())
        rest = _compiled(self._read(texts), frozenset() if self._inside else UNUSED)
        data = states + _sums(texts) + _sum(rest) + rest
        if not sys.dont_write_bytecode:
            from importlib.machinery import SourceFileLoader

            SourceFileLoader("", "").set_data(self.path, data, _mode=0o644)  # which ignores failures
        return data

    def renew(self) -> None:
        """Write the file if it does not match the current tables, so that no hook has to read them."""
        if self._saved()[:SUM] != self._states():
            self.save()

    def _load(self) -> None:
        if not self._data:
            data = memoryview(self._saved() or self.save())
            self._places, self._aliases = marshal.loads(data[HEAD:])
            self._data = data

    def _saved(self) -> bytes:
        """The file; empty if it is missing, damaged, not trusted or of other tables."""
        try:
            data = _trusted(self.path)
        except OSError:
            return b""
        states, texts, rest = data[:SUM], data[SUM : 2 * SUM], data[2 * SUM : HEAD]
        # A file from the package has the checksum of the tables' texts, but not yet of their file states.
        current = states == self._states() or texts == _sums(self._texts())
        return data if current and rest == _sum(memoryview(data)[HEAD:]) else b""

    def _states(self) -> bytes:
        """A checksum of the names, sizes and times of the tables."""
        stats = [(name, os.stat(f"{self._folder}/{name}")) for name in self._tables()]
        found = [(name, each.st_size, each.st_mtime_ns, each.st_ctime_ns, each.st_ino) for name, each in stats]
        return _sum(repr(found).encode())

    def _texts(self) -> Iterator[bytes]:
        for name in self._tables():
            with open(f"{self._folder}/{name}", "rb", buffering=0) as file:
                yield file.read()

    def _tables(self) -> list[str]:
        names = sorted(os.listdir(self._folder))
        if not self._inside:
            return [name for name in names if name.endswith(".toml")]
        inner = (f"{name}/{self._inside}" for name in names)
        return [name for name in inner if os.path.exists(f"{self._folder}/{name}")]

    def _read(self, texts: Iterable[bytes]) -> Iterator[tuple[str, str, dict[str, object]]]:
        """The rows of the tables: program, name, row."""
        import tomllib

        for table, text in zip(self._tables(), texts, strict=True):
            for name, row in tomllib.loads(text.decode()).items():
                yield (name, table.partition("/")[0], row) if self._inside else (name.partition(" ")[0], name, row)


def _sum(data: bytes | memoryview) -> bytes:
    return _imp.source_hash(FORMAT, data)


def _sums(texts: Iterable[bytes]) -> bytes:
    return _sum(b"".join(map(_sum, texts)))


def _trusted(path: str) -> bytes:
    """The bytes of a file that only this user or root can have written; OSError for any other."""
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(handle, "rb", buffering=0) as file:
        status = os.fstat(handle)
        if not S_ISREG(status.st_mode) or status.st_uid not in (0, os.geteuid()) or status.st_mode & OTHERS_WRITE:
            raise PermissionError(path)
        return file.read()


def _compiled(given: Iterable[tuple[str, str, dict[str, object]]], unused: frozenset[str]) -> bytes:
    """The positions of the programs and the aliases, then the rows of each program."""
    programs: dict[str, Rows] = {}
    aliases: dict[str, str] = {}
    for program, name, row in given:
        programs.setdefault(program, {})[name] = {key: row[key] for key in row if key not in unused}
        also = row.get("aliases")
        aliases.update(dict.fromkeys(also, program) if isinstance(also, list) else {})
    rows = {program: marshal.dumps(found, MARSHAL) for program, found in programs.items()}
    left = sum(map(len, rows.values()))
    places = {}
    for program, found in rows.items():
        places[program] = -left
        left -= len(found)
    return b"".join((marshal.dumps((places, aliases), MARSHAL), *rows.values()))


catalog = Catalog(os.path.dirname(__file__))
