"""The parts of a copy: one entry for each path, in a manifest that is written last.

A manifest is a file of JSON lines: the first describes the copy, each other one is an entry."""

from __future__ import annotations

from typing import Any

from assent.contract import StoreError, Value, dumps, loads

VERSION = 2
NUMBERS = ("mode", "owner", "group", "accessed", "modified", "size")
KINDS = frozenset({"file", "folder", "link", "pipe", "absent", "pack"})


class Entry(Value):
    """The state of one path. `kind`: file, folder, link, pipe, absent, or pack: objects of the git repository whose
    working tree is in `leads`, in git's format. `digest` and `size` are of a content, `leads` is the target of a link,
    `same` the path of another entry that is a hard link to the same file. `attributes` are extended attributes; those
    of a pack list the objects that must exist. `accessed` and `modified` are in nanoseconds."""

    __slots__ = (
        "path",
        "kind",
        "mode",
        "owner",
        "group",
        "accessed",
        "modified",
        "size",
        "digest",
        "leads",
        "same",
        "attributes",
    )

    def __init__(
        self,
        path: str,
        kind: str,
        *,
        mode: int = 0,
        owner: int = 0,
        group: int = 0,
        accessed: int = 0,
        modified: int = 0,
        size: int = 0,
        digest: str = "",
        leads: str = "",
        same: str = "",
        attributes: tuple[tuple[str, str], ...] = (),
    ) -> None:
        self.path = path
        self.kind = kind
        self.mode = mode
        self.owner = owner
        self.group = group
        self.accessed = accessed
        self.modified = modified
        self.size = size
        self.digest = digest
        self.leads = leads
        self.same = same
        self.attributes = attributes


class About(Value):
    """The reason for a copy: the `call`, its `session`, `folder` and `runtime`. `undoes` is the id of the copy that was
    put back, if this copy keeps the files it replaced."""

    __slots__ = ("call", "session", "folder", "runtime", "undoes")

    def __init__(
        self, call: str = "", session: str = "", folder: str = "", runtime: str = "", undoes: str = ""
    ) -> None:
        self.call = call
        self.session = session
        self.folder = folder
        self.runtime = runtime
        self.undoes = undoes


class Copy(Value):
    """A complete copy: `time` in seconds, `size` of its contents in bytes, `count` of the paths that existed, `entries`
    of all recorded ones."""

    __slots__ = ("id", "time", "about", "size", "count", "entries")

    def __init__(self, id: str, time: float, about: About, size: int, count: int, entries: int) -> None:
        self.id = id
        self.time = time
        self.about = about
        self.size = size
        self.count = count
        self.entries = entries


def written(copy: Copy, entries: list[Entry]) -> str:
    about = copy.about
    head = {
        "assent": "undo",
        "version": VERSION,
        "id": copy.id,
        "time": copy.time,
        "size": copy.size,
        "count": copy.count,
        "entries": copy.entries,
        "call": about.call,
        "session": about.session,
        "folder": about.folder,
        "runtime": about.runtime,
        "undoes": about.undoes,
    }
    return "".join(f"{dumps(each)}\n" for each in (head, *map(_line, entries)))


def _line(entry: Entry) -> dict[str, object]:
    found: dict[str, object] = {"path": entry.path, "kind": entry.kind}
    if entry.kind == "absent":
        return found
    found |= {name: getattr(entry, name) for name in NUMBERS}
    found |= {name: getattr(entry, name) for name in ("digest", "leads", "same") if getattr(entry, name)}
    if entry.attributes:
        found["attributes"] = dict(entry.attributes)
    return found


def head_of(line: bytes) -> Copy:
    """The copy that the first line of a manifest describes. Raises StoreError."""
    try:
        head = loads(line)
        if head["assent"] != "undo" or head["version"] != VERSION:
            raise StoreError("it was written by another version of Assent")
        about = About(*(str(head[name]) for name in ("call", "session", "folder", "runtime", "undoes")))
        numbers = (int(head[name]) for name in ("size", "count", "entries"))
        return Copy(str(head["id"]), float(head["time"]), about, *numbers)
    except (ValueError, KeyError, TypeError, RecursionError):
        raise StoreError("its first line is not that of a copy") from None


def entries_of(raw: bytes) -> tuple[Entry, ...]:
    """The entries of a whole manifest. Raises StoreError."""
    head, _, rest = raw.partition(b"\n")
    try:
        found = tuple(_entry(loads(line)) for line in rest.splitlines())
    except (ValueError, KeyError, TypeError, RecursionError):
        raise StoreError("a line is not that of a path") from None
    if len(found) != head_of(head).entries or not raw.endswith(b"\n"):
        raise StoreError("it is cut short")
    return found


def _entry(line: dict[str, Any]) -> Entry:
    kind, attributes = str(line["kind"]), line.get("attributes", {})
    if kind not in KINDS:
        raise ValueError(kind)
    return Entry(
        str(line["path"]),
        kind,
        **{name: int(line.get(name, 0)) for name in NUMBERS},
        digest=str(line.get("digest", "")),
        leads=str(line.get("leads", "")),
        same=str(line.get("same", "")),
        attributes=tuple((str(name), str(value)) for name, value in attributes.items()),
    )
