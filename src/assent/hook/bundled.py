"""Loads the hook's modules from one file: runs the same code as importing them one by one, in half the time. Also has
the regular expressions that they may need. `bundle.py` makes that file, and the launcher checks who owns it.

The code of this module comes first in it."""

from __future__ import annotations

import _imp
import marshal
import os
import re
import sys
from _frozen_importlib import ModuleSpec
from _frozen_importlib_external import spec_from_file_location
from collections.abc import Callable, Sequence
from types import CodeType, ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    State = tuple[str, int, int, int]
    """A file or a folder with its size and the times of its last change."""

    Bundled = tuple[str, str, bool, CodeType | None]
    """A module: its name, its file, whether it is a package, and its code; None of one that is compiled."""

    Part = tuple[int, bytes]
    """A part of the file after the first: its length and its checksum."""

    Other = tuple[bool, tuple[State, State], int, Part]
    """A module that is taken from the file when it is imported: whether it is a package, its file and its folder, and
    where its code is."""

    Kept = tuple[int, bytes, int, dict[str, int], tuple[str | None, ...]]
    """A pattern: its flags, its code, how many groups it has, their numbers by name and their names by number."""


def start(handle: int, made_of: list[State], modules: list[Bundled], parts: list[Part]) -> Callable[[], None] | None:
    """Load the modules of every hook. Returns a function that loads the others for a decision; None if the file does
    not match the state of the package: then nothing is loaded from it."""
    if not fresh(made_of):
        return None
    places = [os.lseek(handle, 0, os.SEEK_CUR)]
    for length, _ in parts:
        places.append(places[-1] + length)
    deciders, usual, unusual, index = ((handle, *each) for each in zip(places, parts, strict=False))
    sys.meta_path.insert(0, Others(*index))
    run_modules(modules)
    sys.modules["assent.contract.lean"].KEPT.append(Patterns([unusual, usual]).compiled)

    def deciding() -> None:
        try:
            run_modules(marshal.loads(read_part(*deciders)))
        except Exception:  # missing modules are imported as usual
            mark_corrupt()

    return deciding


def read_part(handle: int, place: int, part: Part) -> bytes:
    """A part of the file. Raises ValueError if its checksum does not match.

    INVARIANT: corrupt data is not parsed: it could run as something else, or end the process."""
    data = os.pread(handle, part[0], place)
    if _imp.source_hash(0, data) != part[1]:
        raise ValueError("checksum mismatch")
    return data


def mark_corrupt() -> None:
    """Tell the launcher to rebuild the file: something could not be loaded from it."""
    sys.modules["assent.contract.launched"].DECIDING.clear()


class Others:
    """Imports the package's other modules from the file or from their sources, even if compiled ones exist.

    INVARIANT: no compiled module is loaded together with modules from the file: compiled ones find each other without
    the import system. For one call, loading them takes longer than they save."""

    __slots__ = ("_known", "_place")

    def __init__(self, handle: int, place: int, part: Part) -> None:
        self._place = handle, place, part
        self._known: dict[str, Other] | None = None

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: object = None) -> ModuleSpec | None:
        file = source(name, path[0]) if path and name.startswith("assent.") else ""
        if not file:
            return None
        loader: Any = self._loader(name)  # it has the methods that importing calls
        return spec_from_file_location(name, file, loader=loader)

    def _loader(self, name: str) -> Loader | None:
        """The loader of a module; None if the file has no code of its current source."""
        handle, place, part = self._place
        try:
            if self._known is None:
                self._known = marshal.loads(read_part(handle, place, part))
            package, made_of, at, code = self._known.get(name, (False, (), 0, part))
            if not made_of or not fresh(list(made_of)):
                return None
            return Loader(marshal.loads(read_part(handle, place + part[0] + at, code)), package)
        except Exception:
            self._known = {}
            mark_corrupt()
            return None


class Loader:
    """Runs the code of one module, as importing it does."""

    __slots__ = ("_code", "_package")

    def __init__(self, code: CodeType, package: bool) -> None:
        self._code = code
        self._package = package

    def is_package(self, name: str) -> bool:
        return self._package

    def create_module(self, spec: ModuleSpec) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        exec(self._code, module.__dict__)


def source(name: str, folder: str) -> str:
    """The source of a module of a package that is in a folder; `""` if there is none."""
    last = name.rpartition(".")[2]
    places = (f"{folder}/{last}/__init__.py", f"{folder}/{last}.py")
    return next((place for place in places if os.path.isfile(place)), "")


class Patterns:
    """Regular expressions as `re` compiled them, without that module: loading it takes longer than all of them. The
    last of the `parts`, which has those of everyday calls, is read first, and each when a pattern is in none before."""

    __slots__ = ("_known", "_parts")

    def __init__(self, parts: list[tuple[int, int, Part]]) -> None:
        self._parts = parts
        self._known: dict[tuple[str, int], Kept] = {}

    def compiled(self, text: str, flags: int) -> re.Pattern[str] | None:
        """A pattern; None if the file does not have it."""
        try:
            kept = self._known.get((text, flags))
            while kept is None and self._parts:
                self._known |= marshal.loads(read_part(*self._parts.pop()))
                kept = self._known.get((text, flags))
            return thawed(text, kept) if kept is not None else None
        except Exception:
            self._known = {}
            self._parts = []
            mark_corrupt()
            return None


def thawed(text: str, kept: Kept) -> re.Pattern[str]:
    import _sre  # type: ignore[import-not-found]  # what `re` is made of

    flags, code, groups, names, numbers = kept
    found: re.Pattern[str] = _sre.compile(text, flags, list(memoryview(code).cast("I")), groups, names, numbers)
    return found


def fresh(made_of: list[State]) -> bool:
    """Whether no file or folder has changed.

    INVARIANT: a changed source is never ignored."""
    try:
        return all(state(each[0]) == each for each in made_of)
    except OSError:
        return False


def state(path: str) -> State:
    found = os.stat(path)
    return path, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def run_modules(modules: list[Bundled]) -> None:
    """Run modules in their order, as importing them does, unless they are loaded already."""
    loaded, make = sys.modules, type(sys)
    packages: dict[str, ModuleType] = {}  # in `loaded` before they run: their imports may belong to them
    for name, _, package, _ in modules:
        if package and name not in loaded:
            packages[name] = loaded[name] = make(name)
    try:
        for name, path, _, code in modules:
            if code is not None and name in packages:
                _run(packages.pop(name), path, code, [path.rpartition("/")[0]])
            elif code is not None and name not in loaded:
                _run(make(name), path, code)
            elif name not in loaded:
                _load(name, path)
    finally:
        for name in packages:
            del loaded[name]


def _load(name: str, path: str) -> None:
    """Load a compiled module, without searching all folders."""
    module = _imp.create_dynamic(ModuleSpec(name, None, origin=path))
    _imp.exec_dynamic(module)
    sys.modules[name] = module


def _run(module: ModuleType, path: str, code: CodeType, folders: list[str] | None = None) -> None:
    name = module.__name__
    parent, _, last = name.rpartition(".")
    module.__file__ = path
    if folders:
        module.__path__ = folders
    module.__package__ = name if folders else parent
    sys.modules[name] = module
    try:
        exec(code, module.__dict__)
    except BaseException:
        del sys.modules[name]
        raise
    if parent:
        setattr(sys.modules[parent], last, module)
