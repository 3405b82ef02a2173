"""The settings of contained runs: whether calls run contained, and with what access."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from assent.contract import Pattern, Value
from assent.policy.rules import Origin
from assent.policy.undo_settings import UNITS

if TYPE_CHECKING:
    from assent.policy.document import Document

DEFAULT_LIMITS: Mapping[str, int] = {"memory": 8 * 10**9, "processes": 1024, "seconds": 3600}
MOST = 100  # entries of one list
MOST_SECONDS = 86_400
MOST_PROCESSES = 100_000
LEAST_MEMORY = 64 * 10**6
# These folders, and those that contain one of them, are never made writable. `profile_for` resolves links.
SYSTEM = frozenset(f"/{name}" for name in "bin boot dev etc lib lib32 lib64 libx32 proc run sbin sys usr".split())
_MEMORY = Pattern(r"([1-9][0-9]{0,9})\s*(kB|KB|MB|GB|TB)")
_LABEL = r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"
_HOST = Pattern(rf"(\*\.)?({_LABEL}\.)+[a-z]([a-z0-9-]{{0,61}}[a-z0-9])?")


class ContainSettings(Value):
    """The access of a contained run. `network` are hosts (`registry.npmjs.org`, `*.example.com`), `writable` folders
    outside the workspace (absolute or `~/…`), `hidden` paths that are absent inside (absolute, `~/…`, or in the
    workspace). `memory` is in bytes. `full_auto`: calls run contained in that mode too."""

    __slots__ = ("network", "writable", "hidden", "memory", "processes", "seconds", "full_auto")

    def __init__(
        self,
        network: Sequence[str] = (),
        writable: Sequence[str] = (),
        hidden: Sequence[str] = (),
        memory: int = DEFAULT_LIMITS["memory"],
        processes: int = DEFAULT_LIMITS["processes"],
        seconds: int = DEFAULT_LIMITS["seconds"],
        full_auto: bool = False,
    ) -> None:
        self.network = tuple(network)
        self.writable = tuple(writable)
        self.hidden = tuple(hidden)
        self.memory = memory
        self.processes = processes
        self.seconds = seconds
        self.full_auto = full_auto


def value(name: str, given: object, *, project: bool = False) -> object:
    """One setting of the section, checked. Raises ValueError with what is wrong and what to write."""
    match name:
        case "network":
            return _listed(given, _host, 'write `network = ["registry.npmjs.org"]`')
        case "writable":
            return _listed(given, _folder, 'write `writable = ["~/.cache/tool"]`')
        case "hidden":
            return _listed(given, _path, 'write `hidden = ["~/notes", "private"]`')
        case "limits":
            return _limits(given)
        case _:
            if not isinstance(given, bool):
                raise ValueError("must be true or false", f"write `{name} = true`")
            if project and not given:
                raise ValueError("can only be true in a project file, which tightens", f"remove `{name}`")
            return given


def _listed(given: object, problem: Callable[[str], str], example: str) -> tuple[str, ...]:
    if not isinstance(given, list) or len(given) > MOST or not all(isinstance(each, str) for each in given):
        raise ValueError(f"must be a list of at most {MOST} texts", example)
    for each in given:
        if said := problem(each):
            raise ValueError(f"cannot hold `{each}`: {said}", example)
    return tuple(given)


def _host(text: str) -> str:
    if len(text) <= 253 and _HOST.fullmatch(text) and not (text.startswith("*.") and text.count(".") < 2):
        return ""
    return "it must be a host name in lower case, without scheme, port and path"


def _path(text: str) -> str:
    bare = text[2:] if text.startswith("~/") else text
    if not bare or not text.isprintable():
        return "it names no path"
    parts = bare.strip("/").split("/")
    if any(part in ("", ".", "..") for part in parts) or "*" in bare or bare.startswith("~"):
        return "it is not a plain path: no `.`, `..`, `*` or empty part"
    return ""


def _folder(text: str) -> str:
    if said := _path(text):
        return said
    if not text.startswith(("/", "~/")):
        return "the workspace is already writable; name a folder outside, absolute or with `~/`"
    path = posixpath.normpath(text)
    parts = path.split("/")
    top = f"/{parts[1]}" if path.startswith("/") else ""
    if top in SYSTEM or (top and len(parts) < 3) or (top == "/home" and len(parts) < 4) or path == "/root":
        return "it is a system folder, or contains home folders"
    return ""


def _limits(given: object) -> dict[str, int]:
    example = 'write `limits = { memory = "8 GB", processes = 1024, seconds = 3600 }`'
    if not isinstance(given, dict) or not set(given) <= set(DEFAULT_LIMITS):
        raise ValueError("must be a table of `memory`, `processes` and `seconds`", example)
    found: dict[str, int] = {}
    for name, each in given.items():
        if name == "memory":
            size = _MEMORY.fullmatch(each) if isinstance(each, str) else None
            number = int(size[1]) * UNITS[size[2]] if size else 0
            right = LEAST_MEMORY <= number <= 10**15
        else:
            number = each if isinstance(each, int) and not isinstance(each, bool) else 0
            right = 1 <= number <= (MOST_SECONDS if name == "seconds" else MOST_PROCESSES)
        if not right:
            raise ValueError(f"has a `{name}` that is not a valid limit", example)
        found[name] = number
    return found


def combined(documents: Sequence[Document]) -> ContainSettings | None:
    """The settings in force, None if containment is off. The last file that sets `on` decides, but no file switches off
    containment that the managed policy switches on. Lists append. A project file only lowers limits."""
    if not any(document.contain for document in documents):
        return None
    on = False
    limits = dict(DEFAULT_LIMITS)
    lists: dict[str, list[str]] = {"network": [], "writable": [], "hidden": []}
    for document in documents:
        given = document.contain
        on = bool(given.get("on", on))
        for name, found in lists.items():
            found += [str(each) for each in _items(given.get(name)) if each not in found]
        said = given.get("limits")
        for name, number in said.items() if isinstance(said, dict) else ():
            limits[name] = min(limits[name], number) if document.origin is Origin.PROJECT else number
    if any(document.origin is Origin.MANAGED and document.contain.get("on") for document in documents):
        on = True
    full_auto = any(document.contain.get("full_auto") for document in documents)
    if not on:
        return None
    return ContainSettings(
        lists["network"],
        lists["writable"],
        lists["hidden"],
        limits["memory"],
        limits["processes"],
        limits["seconds"],
        full_auto,
    )


def _items(given: object) -> tuple[object, ...]:
    return given if isinstance(given, tuple) else ()
