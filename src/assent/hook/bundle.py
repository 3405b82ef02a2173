"""Builds the bundle of the hook's modules (see `bundled.py`), next to the package's compiled files.

It is like a `.pyc` file for many modules: ignored once a source changes, written by any process that may write there,
never required. If the package is not writable, there is none, and modules are imported one by one."""

from __future__ import annotations
import __future__

import _imp
import ast
import gc
import marshal
import os
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.machinery import BuiltinImporter, ExtensionFileLoader, FrozenImporter, PathFinder, SourceFileLoader
from pkgutil import iter_modules, walk_packages
from types import CodeType
from typing import TypeGuard

from assent.agents import known
from assent.contract import Pattern
from assent.hook import bundled, launcher
from assent.state.files import replace

# Programs whose adapter is in the part that every hook loads.
BUNDLED = tuple(runtime for runtime, row in known.section("agent").items() if row.get("bundled"))
# Modules of every hook, and more for a hook that decides by itself; both with all their imports.
ASKING = ("assent.contract.launched", "assent.hook.hook", *(f"assent.agents.{each}.payload" for each in BUNDLED))
DECIDING = (
    *("assent.gate", "assent.engine.configure", "assent.engine.memory", "assent.hook.replies", "assent.policy.frozen"),
    *("assent.policy.index", "assent.effects.shell.walk", "assent.facts.guarded", "assent.facts.repository"),
    "assent.facts.search_path",
)
# The packages with patterns that a decision may need, and the other modules.
MATCHING = ("assent.contract", "assent.agents", "assent.effects", "assent.facts", "assent.policy", "assent.trail")
OTHERS = (
    *(*MATCHING, "assent.programs", "assent.state", "assent.approval.grants", "assent.approval.escalation"),
    *("assent.hook.client", "assent.hook.starting"),
)
FEATURES = "__future__"  # of the compiler
LIBRARY = os.path.dirname(os.__file__)
INSIDE = "__init__.py"  # the file of a package
IMPORTS = (ast.Import, ast.ImportFrom)
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def renew() -> None:
    """Make the file, if possible. Reports no errors."""
    path = launcher.bundle()
    with suppress(Exception):
        replace(path, b"", 0o644)  # so that other hooks do not build it at the same time, nor soon after a failure
        write(path)


def write(path: str) -> None:
    kept = patterns()  # before all else: loading modules may change their folders
    made = ModuleReader()
    own = compiled(made.read(bundled.__file__, own=True), bundled.__file__)
    first = [each for name in ASKING for each in made.modules(name)]
    second = [each for name in DECIDING for each in made.modules(name)]
    states = list(made.states.values())
    usual = _patterns_in(name for name, *_ in (*first, *second))
    codes, index = others(made)
    rest = (
        second,
        {each: kept[each] for each in usual if each in kept},
        {each: found for each, found in kept.items() if each not in usual},
        index,
    )
    parts = [marshal.dumps(each) for each in rest]
    start = marshal.dumps((own, states, first, [part(each) for each in parts]))
    length, summed = part(start)
    if bundled.fresh(states):  # nothing changed while it was made
        numbers = length.to_bytes(launcher.NUMBER, "little") + summed
        replace(path, b"".join((launcher.head(), numbers, start, *parts, *codes)), 0o644)


def others(made: ModuleReader) -> tuple[list[bytes], dict[str, bundled.Other]]:
    """The code of modules that only some decisions need, and an index of them by name."""
    codes: list[bytes] = []
    index: dict[str, bundled.Other] = {}
    at = 0
    for each in (each for package in OTHERS for each in inside(package)):
        for name, path, is_package, code in made.module(each):
            codes.append(marshal.dumps(code))
            states = made.states[path], made.states[os.path.dirname(path)]
            index[name] = is_package, states, at, part(codes[-1])
            at += len(codes[-1])
    return codes, index


def inside(name: str) -> Iterator[str]:
    """The names of a module, its package, and all modules below it; without loading any, which may change folders."""
    yield from (name.rpartition(".")[0], name)
    folder, file = os.path.split(place(name))
    for each in iter_modules([folder] if file == INSIDE else [], f"{name}."):
        yield from inside(each.name)


def part(data: bytes) -> bundled.Part:
    return len(data), _imp.source_hash(0, data)


@dataclass(slots=True)
class ModuleReader:
    """Modules from their sources. `states` are those of all files and folders, from before they were read."""

    states: dict[str, bundled.State] = field(default_factory=dict)
    _seen: set[str] = field(default_factory=set)

    def modules(self, name: str) -> Iterator[bundled.Bundled]:
        """A module and all its imports, without those returned before; each after its imports."""
        parent = name.rpartition(".")[0]
        if parent:
            yield from self.modules(parent)
        path = place(name) if name not in self._seen else ""
        self._seen.add(name)
        if path and not path.endswith(".py"):
            self._note_state(path)
            yield name, path, False, None
        elif path:
            tree = self.read(path, own=name.startswith("assent"))
            for each in imports(tree.body):
                yield from self.modules(each)
            yield name, path, os.path.basename(path) == INSIDE, compiled(tree, path)

    def module(self, name: str) -> Iterator[bundled.Bundled]:
        """A module of the package without its imports, unless it was returned before."""
        path = place(name) if name not in self._seen else ""
        self._seen.add(name)
        if path:
            yield name, path, os.path.basename(path) == INSIDE, compiled(self.read(path, own=True), path)

    def read(self, path: str, *, own: bool) -> ast.Module:
        """A source, without parts for people and type checkers. In `own` modules of the package, imports have no effect
        but to bind names, so unused ones are dropped."""
        self._note_state(path)
        with open(path, "rb") as file:
            tree = ast.parse(file.read(), path)
        needed = strip(tree)
        if own:
            tree.body = [each for each in tree.body if not isinstance(each, IMPORTS) or needs(each, needed)]
        return tree

    def _note_state(self, path: str) -> None:
        for each in (path, os.path.dirname(path)):
            if each not in self.states:
                self.states[each] = bundled.state(each)


def place(name: str) -> str:
    """The file that importing a module loads; `""` if there is none, or if the interpreter needs none. Inside a
    package that is the source, even if it is compiled too."""
    if "." in name:
        above, file = os.path.split(place(name.rpartition(".")[0]))
        return bundled.source(name, above) if file == INSIDE else ""
    if BuiltinImporter.find_spec(name) or FrozenImporter.find_spec(name):
        return ""
    found = PathFinder.find_spec(name, [launcher.package(), LIBRARY, os.path.join(LIBRARY, "lib-dynload")])
    known = found is not None and isinstance(found.loader, SourceFileLoader | ExtensionFileLoader)
    return found.origin or "" if found is not None and known else ""


def imports(body: list[ast.stmt]) -> Iterator[str]:
    """The names of modules that these statements import; includes names that may be submodules."""
    for each in body:
        if isinstance(each, ast.Import):
            yield from (alias.name for alias in each.names)
        elif isinstance(each, ast.ImportFrom) and each.module != FEATURES:
            yield from (str(each.module), *(f"{each.module}.{alias.name}" for alias in each.names))
        elif isinstance(each, ast.If):
            yield from imports([*each.body, *each.orelse])
        elif isinstance(each, ast.Try):
            yield from imports([*each.body, *each.orelse, *each.finalbody])


def strip(tree: ast.Module) -> set[str]:
    """Remove parts for people and type checkers: docstrings, annotations, and blocks for type checkers. Returns the
    names that the rest uses or exports."""
    found: set[str] = set()
    left: list[ast.AST] = [tree]
    while left:
        node = left.pop()
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, DOCUMENTED):
            _strip_body(node)
        elif isinstance(node, ast.arg):
            node.annotation = None
        elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            found |= {str(each.value) for each in ast.walk(node.value) if isinstance(each, ast.Constant)}
        left += [each for field in node._fields for each in _below(node, field)]
    return found


def _strip_body(node: ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    if ast.get_docstring(node, clean=False) is not None:
        node.body[0] = ast.copy_location(ast.Pass(), node.body[0])
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        node.returns = None
    else:
        checked = [each.orelse if _for_checkers(each) else [each] for each in node.body]
        node.body = [each for block in checked for each in block] or [ast.copy_location(ast.Pass(), node.body[0])]


def _for_checkers(statement: ast.stmt) -> TypeGuard[ast.If]:
    return (
        isinstance(statement, ast.If) and isinstance(statement.test, ast.Name) and statement.test.id == "TYPE_CHECKING"
    )


def _below(node: ast.AST, field: str) -> Iterable[ast.AST]:
    """The nodes in a field that are evaluated: annotations of variables are not."""
    value = getattr(node, field, None)
    if isinstance(value, list):
        return [each for each in value if isinstance(each, ast.AST)]
    return (value,) if isinstance(value, ast.AST) and field not in ("annotation", "ctx") else ()


def needs(statement: ast.Import | ast.ImportFrom, needed: set[str]) -> bool:
    """Drop the names of an import that are not needed; whether any is left."""
    if not isinstance(statement, ast.ImportFrom) or statement.module != FEATURES:
        bound = {alias: (alias.asname or alias.name).partition(".")[0] for alias in statement.names}
        statement.names = [alias for alias, name in bound.items() if name in needed or alias.asname == alias.name]
    return bool(statement.names)


def compiled(tree: ast.Module, path: str) -> CodeType:
    """The code of a source, without loading `__future__`. Assertions stay in it."""
    features = [each for each in tree.body if isinstance(each, ast.ImportFrom) and each.module == FEATURES]
    given = [alias.name for each in features for alias in each.names]
    tree.body = [each for each in tree.body if each not in features]
    flags = sum(getattr(__future__, name).compiler_flag for name in given)
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


def _patterns_in(modules: Iterable[str]) -> set[tuple[str, int]]:
    """The texts and flags of the patterns that have a name in one of these modules."""
    loaded = (vars(sys.modules[name]).values() for name in modules if name in sys.modules)
    return {(each.text, int(each.flags)) for values in loaded for each in values if isinstance(each, Pattern)}


def _frozen(text: str, flags: int) -> bundled.Kept:
    """A pattern as `re.compile` passes it to its engine."""
    from re import _compiler, _parser  # type: ignore[attr-defined]  # its own parts, compared with what it makes

    parsed = _parser.parse(text, flags)
    names = dict(parsed.state.groupdict)
    numbers = {number: name for name, number in names.items()}
    groups = parsed.state.groups
    code = b"".join(int(each).to_bytes(4, sys.byteorder) for each in _compiler._code(parsed, flags))
    return int(flags | parsed.state.flags), code, groups - 1, names, tuple(numbers.get(each) for each in range(groups))
