"""Tables of the effects of functions, and command lines with unknown pieces as shell text."""

from __future__ import annotations

from assent.effects.code.dataflow.nodes import HOLE

OWN = "/tmp/tmp-made-by-the-code"
"""Stands for a temporary file or folder that the code itself makes."""

Action = tuple[str, str]


class Actions:
    """The effects of functions, by dotted name. A line is `name name…: verb argument; verb argument…`; a name
    with a `*` is a pattern, one with a dot before it is a method of anything, one with a slash a method of a path."""

    __slots__ = ("exact", "methods", "paths", "patterns", "found")

    def __init__(self, text: str) -> None:
        self.paths: dict[str, tuple[Action, ...]] = {}
        self.exact: dict[str, tuple[Action, ...]] = {}
        self.methods: dict[str, tuple[Action, ...]] = {}
        self.patterns: list[tuple[list[str], tuple[Action, ...]]] = []
        self.found: dict[str, tuple[Action, ...]] = {}
        for line in text.strip().splitlines():
            names, _, does = line.strip().rpartition(": ")
            actions = tuple(_action(part) for part in does.split(";"))
            for name in names.split():
                if name.startswith("/"):
                    self.paths[name[1:]] = actions
                elif name.startswith("."):
                    self.methods[name[1:]] = actions
                elif "*" in name:
                    self.patterns.append((name.split("*"), actions))
                else:
                    self.exact[name] = actions

    def of(self, ref: str) -> tuple[Action, ...]:
        found = self.found.get(ref)
        if found is None:
            found = self.exact.get(ref) or next((does for pieces, does in self.patterns if _fits(ref, pieces)), ())
            self.found[ref] = found
        return found


def _fits(ref: str, pieces: list[str]) -> bool:
    """Whether a name has the pieces of a pattern in their order, with anything between them."""
    at = len(pieces[0])
    if not ref.startswith(pieces[0]) or not ref.endswith(pieces[-1]):
        return False
    for piece in pieces[1:]:
        at = ref.find(piece, at)
        if at < 0:
            return False
        at += len(piece)
    return True


def _action(part: str) -> Action:
    verb, _, argument = part.strip().partition(" ")
    return verb, argument.strip()


def script_of(text: str) -> str:
    """A command line as shell text: an unknown piece is `$1`, in any quotes; an unknown program is a name that no table
    has."""
    if HOLE not in text:
        return text
    if text.lstrip(" \t\n'\"").startswith(HOLE):
        rest = text.lstrip(" \t\n'\"")
        end = next((place for place, letter in enumerate(rest) if letter in " \t\n;|&"), len(rest))
        if not rest[end:].strip():
            return ""
        text = "computed-program" + rest[end:]
    out: list[str] = []
    quote = ""
    skip = False
    for letter in text:
        if letter == HOLE:
            out.append("'\"$1\"'" if quote == "'" else "$1")
        else:
            out.append(letter)
        if skip:
            skip = False
        elif letter == "\\" and quote != "'":
            skip = True
        elif letter in "'\"":
            quote = "" if letter == quote else quote or letter
    return "".join(out)
