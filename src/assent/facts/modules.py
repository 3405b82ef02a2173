"""Whether files in a folder shadow modules of Python's library.

Reads only names."""

from __future__ import annotations

import os
import sys

from assent.contract import READ_ONLY, Effect, Kind, Lowering, Operation
from assent.facts.links import Links

_MOST = 4096  # entries of the folder
_ENDINGS = (".py", ".pyc", ".pyw", ".so", ".pyd")
# In the library of other Python versions than this one, or imported by it.
_OTHER = frozenset(
    """aifc annotationlib asynchat asyncore audioop binhex cgi cgitb chunk compression configparser copy_reg crypt
    cstringio distutils dummy_threading formatter imghdr imp java mailcap md5 msilib nis nntplib nt org ossaudiodev
    parser pipes queue sets sha smtpd sndhdr spwd sre stringio sunau symbol telnetlib user userdict uu xdrlib
    sitecustomize usercustomize""".split()
)
_OWN = frozenset({"__init__", "__main__", "__pycache__"})
_SETTLED = frozenset((Kind.REPOSITORY, Kind.HOOKS, Kind.SETTINGS, Kind.CODE))


def posing(
    folder: str, links: Links, lowering: Lowering, *, portable: bool = False, roots: tuple[str, ...] = ()
) -> str:
    """Say what shadows, or may come to shadow, a library module; `""` if nothing does. `data:/file` is a file to be
    loaded as data. `portable`: there is no file system to read, so only a root is known to hold none."""
    if portable and folder not in roots and folder != "data:":
        return "the folder is not looked at"
    if folder.startswith("data:"):
        return _code_for_data(folder[5:], links, lowering, portable=portable)
    if portable:
        return "" if all(map(_leaves_alone, lowering.effects)) else "another part of the command may put a module there"
    here = links.canonical(folder)
    if not here:
        return f"where `{folder}` leads is not known"
    if os.environ.get("PYTHONPATH") or os.environ.get("PYTHONHOME"):
        return "`PYTHONPATH` says where modules come from"
    if not all(map(_leaves_alone, lowering.effects)):
        return "another part of the command may put a module there"
    try:
        with os.scandir(here) as entries:
            for count, entry in enumerate(entries):
                if count > _MOST:
                    return f"`{here}` holds too much to look at"
                if is_library(entry.name) and (entry.name.endswith(_ENDINGS) or _is_package(entry.path)):
                    return f"`{here}/{entry.name}` has the name of a module of Python's library"
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError:
        return f"`{here}` cannot be read"
    return ""


def _code_for_data(path: str, links: Links, lowering: Lowering, *, portable: bool) -> str:
    """Why node may run code for `require("x.json")`: if that is no file, it tries other names, and for a link the name
    of its target decides the type."""
    if path and not all(_leaves_data(effect, path) for effect in lowering.effects):
        return "another part of the command may put code there"
    if portable or not path:
        return ""
    if os.path.isfile(path):
        return "" if links.canonical(path).endswith(".json") else f"`{path}` leads to a file of another sort"
    there = [path, *(path + ending for ending in (".js", ".json", ".node", ".cjs", ".mjs"))]
    found = next((name for name in there if os.path.lexists(name)), "")
    return f"`{found}` is no data" if found else ""


def _leaves_data(effect: Effect, path: str) -> bool:
    """Whether an effect of the same call cannot replace a file, or shadow it by a folder."""
    operation, target = effect.operation, effect.target
    if operation in (Operation.WRITE, Operation.DELETE) and target.kind is Kind.PATH:
        plain = bool(target.name) and target.certain and not target.pattern
        return plain and not path.startswith(target.name.rstrip("/") + "/") and not target.name.startswith(path)
    return _leaves_alone(effect)


def is_library(name: str) -> bool:
    """Whether a file of that name may be loaded as a module of the library; every private name counts."""
    stem = name.partition(".")[0].lower()
    return stem not in _OWN and (stem.startswith("_") or stem in sys.stdlib_module_names or stem in _OTHER)


def _is_package(path: str) -> bool:
    """Whether a folder is a package: one without `__init__` does not shadow the library's module."""
    try:
        return any(name.lower().startswith("__init__.") for name in os.listdir(path))
    except NotADirectoryError:
        return False
    except OSError:
        return True


def _leaves_alone(effect: Effect) -> bool:
    """Whether an effect of the same call cannot make a module: it reads, or it writes one file of another name."""
    operation, target = effect.operation, effect.target
    if operation in READ_ONLY or operation is Operation.DELETE or target.kind is Kind.MODULES:
        return True
    if operation is Operation.EXECUTE:
        return target.kind in _SETTLED
    if operation is not Operation.WRITE or target.kind is not Kind.PATH:
        return operation is Operation.FETCH
    name = target.name.rpartition("/")[2]
    if not target.name or not target.certain or target.pattern or effect.recursive or name.lower()[:8] == "__init__":
        return False
    return not (is_library(name) and ("." not in name or name.lower().endswith(_ENDINGS)))  # a link may be to a package
