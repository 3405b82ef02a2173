"""Makes the file that hooks take their modules from, beside the package's compiled files. Takes nothing out of it.

It is to many modules what a `.pyc` file is to one: of the same state as its sources or not used, written by whoever may
write there, never needed. Where the package is not ours to write there is none, and modules are imported one by one."""

from __future__ import annotations
import __future__

import _imp
import ast
import gc
import marshal
import os
import re
import sys
from contextlib import suppress
from importlib.machinery import BuiltinImporter, ExtensionFileLoader, FrozenImporter, PathFinder, SourceFileLoader
from pkgutil import walk_packages

from assent.agents import known
from assent.contract.pattern import Pattern
from assent.hook import bundled, launcher
from assent.state.files import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import CodeType

# Programs whose adapter is kept with what every hook needs.
BUNDLED = tuple(runtime for runtime, row in known.section("agent").items() if row.get("bundled"))
# What every hook needs, and what one needs besides that decides by itself; both with all that they import.
ASKING = ("assent.contract.later", "assent.hook.hook", *(f"assent.agents.{each}.payload" for each in BUNDLED))
DECIDING = (
    *("assent.gate", "assent.engine.configure", "assent.engine.memory", "assent.hook.replies", "assent.policy.frozen"),
    *("assent.policy.index", "assent.effects.shell.lowering", "assent.facts.guarded", "assent.facts.repository"),
)
# Where the patterns are that a decision may need.
MATCHING = ("assent.contract", "assent.agents", "assent.effects", "assent.facts", "assent.policy", "assent.trail")
FEATURES = "__future__"  # of the compiler
LIBRARY = os.path.dirname(os.__file__)
INSIDE = "__init__.py"  # the file of a package
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def renew() -> None:
    """Make the file, as far as that is possible. Says nothing, whatever happens."""
    path = launcher.bundle()
    with suppress(Exception):
        replace(path, b"", 0o644)  # others need not do the same, and no other hook soon where this fails
        write(path)


def write(path: str) -> None:
    """Make the file of the package as it is now."""
    third = marshal.dumps(patterns())  # before all others: loading modules may change their folders
    made = Making()
    own = compiled(made.read(bundled.__file__), bundled.__file__)
    first = [each for name in ASKING for each in made.modules(name)]
    deciding = [each for name in DECIDING for each in made.modules(name)]
    second = marshal.dumps(deciding)
    states = list(made.states.values())
    start = marshal.dumps((own, states, first, (part(second), part(third))))
    length, summed = part(start)
    if bundled.fresh(states):  # nothing changed meanwhile
        numbers = length.to_bytes(launcher.NUMBER, "little") + summed
        replace(path, b"".join((launcher.head(), numbers, start, second, third)), 0o644)


def part(data: bytes) -> bundled.Part:
    return len(data), _imp.source_hash(0, data)


class Making:
    """Modules from their sources. `states` are those of all files and folders, from before they were read."""

    __slots__ = ("states", "_seen")

    def __init__(self) -> None:
        self.states: dict[str, bundled.State] = {}
        self._seen: set[str] = set()

    def modules(self, name: str) -> Iterator[bundled.Bundled]:
        """A module and all that it imports, as far as they are not here yet: each behind what it needs itself."""
        parent = name.rpartition(".")[0]
        if parent:
            yield from self.modules(parent)
        path = place(name) if name not in self._seen else ""
        self._seen.add(name)
        if path and not path.endswith(".py"):
            self._look_at(path)
            yield name, path, False, None
        elif path:
            tree = self.read(path)
            for each in imports(tree.body):
                yield from self.modules(each)
            yield name, path, os.path.basename(path) == INSIDE, compiled(tree, path)

    def read(self, path: str) -> ast.Module:
        self._look_at(path)
        with open(path, "rb") as file:
            return ast.parse(file.read(), path)

    def _look_at(self, path: str) -> None:
        for each in (path, os.path.dirname(path)):
            if each not in self.states:
                self.states[each] = bundled.state(each)


def place(name: str) -> str:
    """The file that importing a module takes; `""` where there is none, or where the interpreter needs none. Inside a
    package that is the source, whatever is compiled of it."""
    if "." in name:
        above, file = os.path.split(place(name.rpartition(".")[0]))
        return bundled.source(name, above) if file == INSIDE else ""
    if BuiltinImporter.find_spec(name) or FrozenImporter.find_spec(name):
        return ""
    found = PathFinder.find_spec(name, [launcher.package(), LIBRARY, os.path.join(LIBRARY, "lib-dynload")])
    known = found is not None and isinstance(found.loader, SourceFileLoader | ExtensionFileLoader)
    return found.origin or "" if found is not None and known else ""


def imports(body: list[ast.stmt]) -> Iterator[str]:
    """The modules that are imported when these statements run, by name; also what may be a name in one of them."""
    for each in body:
        if isinstance(each, ast.Import):
            yield from (alias.name for alias in each.names)
        elif isinstance(each, ast.ImportFrom) and each.module != FEATURES:
            yield from (str(each.module), *(f"{each.module}.{alias.name}" for alias in each.names))
        elif isinstance(each, ast.If):
            for_people = isinstance(each.test, ast.Name) and each.test.id == "TYPE_CHECKING"
            yield from imports([*([] if for_people else each.body), *each.orelse])
        elif isinstance(each, ast.Try):
            yield from imports([*each.body, *each.orelse, *each.finalbody])


def compiled(tree: ast.Module, path: str) -> CodeType:
    """The code of a source without what only people and type checkers read, and without loading `__future__`.
    Assertions stay in it."""
    features = [each for each in tree.body if isinstance(each, ast.ImportFrom) and each.module == FEATURES]
    names = [alias.name for each in features for alias in each.names]
    for each in ast.walk(tree):
        if isinstance(each, DOCUMENTED) and ast.get_docstring(each, clean=False) is not None:
            each.body[0] = ast.copy_location(ast.Pass(), each.body[0])
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef):
            each.returns = None
        elif isinstance(each, ast.arg):
            each.annotation = None
    tree.body = [each for each in tree.body if each not in features]
    flags = sum(getattr(__future__, name).compiler_flag for name in names)
    code: CodeType = compile(tree, path, "exec", flags=flags, dont_inherit=True)
    return code


# ---------------------------------------------------------------- patterns


def patterns() -> dict[tuple[str, int], bundled.Kept]:
    """The patterns of all modules that a decision may need, by their texts and flags."""
    for package in MATCHING:
        for each in walk_packages(__import__(package, fromlist=["x"]).__path__, f"{package}."):
            with suppress(ImportError):  # some need packages that are not here
                __import__(each.name)
    every = {(each.text, int(each.flags)) for each in gc.get_objects() if isinstance(each, Pattern)}
    found = {}
    for text, flags in every:
        kept = _frozen(text, flags)
        if bundled.thawed(text, kept) == re.compile(text, flags):  # of the same code
            found[text, flags] = kept
    return found


def _frozen(text: str, flags: int) -> bundled.Kept:
    """What `re.compile` makes of a pattern before it hands it over."""
    from re import _compiler, _parser  # type: ignore[attr-defined]  # its own parts, compared with what it makes

    parsed = _parser.parse(text, flags)
    names = dict(parsed.state.groupdict)
    numbers = {number: name for name, number in names.items()}
    groups = parsed.state.groups
    code = b"".join(int(each).to_bytes(4, sys.byteorder) for each in _compiler._code(parsed, flags))
    return int(flags | parsed.state.flags), code, groups - 1, names, tuple(numbers.get(each) for each in range(groups))
