"""Patch text → the files it touches: apply_patch's own format and unified diffs. Applies nothing."""

from __future__ import annotations

from collections.abc import Iterator

from assent.contract import Operation, Pattern, Value

HEADER = Pattern(r"\*\*\* (Add|Update|Delete|Move to|Move|Rename)\b(?: File)?:?\s*(.*)")
MARKERS = ("*** Begin Patch", "*** End Patch", "*** End of File")
GIT_DIFF = Pattern(r"diff --git (\"?a/.*|.*) (\"?b/.*)$")


DATE = Pattern(r"\s\d{4}-\d\d-\d\d")
BOTH = Pattern(r"(?:^|\n)--- [^\n]*\n\+\+\+ [^\n]*\n@@ -[0-9]")
# Characters in names that end a line for some programs only.
ODD = Pattern(r"(?:^|\n)[ \t]*\*\*\* [^\n]*[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
ODD_DIFF = Pattern(r"(?:^|\n)(?:---|\+\+\+|rename|copy|diff|Index:) [^\n]*[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
PREFIX = Pattern(r"(?:[ciow12])/")  # of `diff.mnemonicPrefix`


class Touch(Value):
    __slots__ = ("operation", "path")

    def __init__(self, operation: Operation, path: str) -> None:
        self.operation = operation
        self.path = path


def read_patch(text: str) -> tuple[tuple[Touch, ...], bool]:
    """Every file that a patch adds, changes, moves or deletes, and whether all of it was understood."""
    if not any(line.strip().startswith("*** ") for line in text.splitlines()):
        return _unified(text)
    touched, sure = _envelope(text)
    if BOTH.search(text):  # a program that knows only the other form skips this one
        touched = tuple(dict.fromkeys((*touched, *_unified(text)[0])))
    return touched, sure and not ODD.search(text)


def _envelope(text: str) -> tuple[tuple[Touch, ...], bool]:
    found: list[Touch] = []
    sure = True
    current = ""
    for line in text.splitlines():
        bare = line.strip()
        if not bare.startswith("*** ") or bare.startswith(MARKERS):
            continue
        header = HEADER.fullmatch(bare)
        if header is None or not header[2]:
            sure = False
            continue
        verb, path = header[1], header[2].strip().removeprefix(":").strip()
        if verb in ("Move to", "Move", "Rename"):
            sure = sure and bool(current)
            found += [Touch(Operation.DELETE, current), Touch(Operation.WRITE, path)] if current else []
        else:
            current = path
            found.append(Touch(Operation.DELETE if verb == "Delete" else Operation.WRITE, path))
    return tuple(dict.fromkeys(found)), sure and bool(found)


def _unified(text: str) -> tuple[tuple[Touch, ...], bool]:
    found: list[Touch] = []
    old = ""
    for kind, path in _headers(text):
        match kind:
            case "old":
                old = path
            case "new" if path == "/dev/null":
                found.append(Touch(Operation.DELETE, old))
            case "new":
                found.append(Touch(Operation.WRITE, path))
                if PREFIX.match(path):
                    found.append(Touch(Operation.WRITE, path[2:]))
                if old not in ("", "/dev/null", path):
                    found.append(Touch(Operation.WRITE, old))
            case _:
                found.append(Touch(Operation.DELETE if kind == "from" else Operation.WRITE, path))
    return tuple(dict.fromkeys(found)), bool(found) and not ODD_DIFF.search(text)


def _headers(text: str) -> Iterator[tuple[str, str]]:
    """The lines of a unified diff that name files. A changed line that looks like one
    may add a file, never hide one."""
    for line in text.splitlines():
        if line.startswith("--- "):
            yield "old", _name(line[4:], "a/")
        elif line.startswith("+++ "):
            yield "new", _name(line[4:], "b/")
        elif line.startswith(("rename from ", "rename to ", "copy to ")):
            kind = "from" if line.startswith("rename from ") else "to"
            yield kind, _name(line.partition(" ")[2].partition(" ")[2], "")
        elif line.startswith("Index: "):
            yield "to", _name(line[7:], "")
        elif found := GIT_DIFF.match(line):
            yield "to", _name(found[2], "b/")


def _name(text: str, prefix: str) -> str:
    name = text.split("\t")[0].strip()
    dated = DATE.search(name)
    name = name[: dated.start()].rstrip() if dated else name
    if name.startswith('"') and name.endswith('"') and len(name) > 1:
        name = name[1:-1].encode("latin-1", "backslashreplace").decode("unicode_escape", "replace")
    return name.removeprefix(prefix)
