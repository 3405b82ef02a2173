"""Brings the hook's modules out of one file, all at once: what importing them one by one would run, in half the time.
`bundle.py` makes that file, and the launcher looks whose it is.

This module's own code comes first in it."""

from __future__ import annotations

import marshal
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, ModuleType

    # A file or a folder with its size and the times of its last change; a module's name, file, whether it is a package.
    State = tuple[str, int, int, int]
    Bundled = tuple[str, str, bool, CodeType]


def start(handle: int, made_of: list[State], modules: list[Bundled]) -> Callable[[], None] | None:
    """Bring what every hook needs. What is returned brings what a decision needs besides, from the rest of the file;
    None where the file is of another state of the package: then nothing comes from it."""
    if not fresh(made_of):
        return None
    bring(modules)

    def deciding() -> None:
        try:
            bring(marshal.loads(os.read(handle, os.fstat(handle).st_size)))
        except Exception:  # what did not come is imported as usual
            return

    return deciding


def fresh(made_of: list[State]) -> bool:
    """Whether all files and folders are as they were.

    INVARIANT: a source that was changed is never passed by, nor a compiled module that came beside one."""
    try:
        return all(state(each[0]) == each for each in made_of)
    except OSError:
        return False


def state(path: str) -> State:
    found = os.stat(path)
    return path, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def bring(modules: list[Bundled]) -> None:
    """Run modules in their order, as importing them does. Those that are loaded already stay as they are."""
    loaded, make = sys.modules, type(sys)
    packages: dict[str, ModuleType] = {}  # in `loaded` before they run: what they import may belong to them
    for name, _, package, _ in modules:
        if package and name not in loaded:
            packages[name] = loaded[name] = make(name)
    try:
        for name, path, package, code in modules:
            if package:
                if name in packages:
                    _run(packages.pop(name), path, code, [path.rpartition("/")[0]])
            elif name not in loaded:
                _run(make(name), path, code)
    finally:
        for name in packages:
            del loaded[name]


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
