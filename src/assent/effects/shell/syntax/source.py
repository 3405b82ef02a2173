"""The text under the reader: its position, depth and gaps. Knows no grammar.

The shell drops a backslash before a newline, even in the middle of a name or an operator. If one is inside a token,
`lift_continuations` and `lift_continuation` move the pair to the front of the token, where it is white space: the
meaning and the length stay the same, and no other part of the reader has to handle it."""

from __future__ import annotations

from typing import Self

from assent.contract import Pattern
from assent.effects.shell.tree import Command, Redirect

SYNTAX = "gap.shell.syntax"
UNMODELLED = "gap.shell.unmodelled"
LIMIT = "gap.shell.limit"
DOCUMENT = "gap.shell.here-document"
EXTGLOB = "gap.shell.extglob"
CONTROL = "gap.shell.control-character"
SUBSTITUTION = "gap.shell.substitution"

DEPTH = 40  # Levels of nesting that are read. Each costs up to thirteen of Python's thousand frames
COPIED = 20_000_000  # Characters that may be copied to re-read parts of the text; a bound on time
COUNT = 10_000  # Commands and levels that are read in all; a bound on time
WORDS = 50_000  # Words of one command that are read; a bound on time
REREADS = 40  # How often a part may be read a second way (`$((` that turns out to be no arithmetic); a bound on time

blanks = Pattern(r"(?:[ \t]++|\\\n)*+")
_BLANK = " \t\\"  # a backslash may continue the line
_spliced = Pattern(r"[^ \t\n\\]\\\n|\\\\\n")
_run = Pattern(r"(?:[^ \t\n|&;()<>'\"`$\\]|\\\n)++|(?:[|&;()<>-]|\\\n)++")


class Halt(Exception):
    """Reading stops here. `kept` are commands that were read completely before; set if the limit is the reader's, not
    the text's: those still run."""

    def __init__(self, code: str, at: int, advice: str) -> None:
        super().__init__(code)
        self.code = code
        self.at = at
        self.advice = advice
        self.kept: list[Command] = []


class SourceText:
    """`end` bounds what is read. `pending[base:]` are the here-documents that the next newline brings, each
    with its delimiter; the redirect is in the tree, but has no body yet.
    `closing` says that a `)` ends what is read (`$(…)`), which matters to here-documents."""

    __slots__ = (
        "text",
        "pos",
        "end",
        "depth",
        "gaps",
        "pending",
        "base",
        "closing",
        "spliced",
        "copied",
        "rereads",
        "spans",
        "curly",
        "documents",
        "count",
        "cut",
    )

    def __init__(self, text: str, pos: int = 0, parent: SourceText | None = None) -> None:
        self.text = text
        self.pos = pos
        self.end = len(text)
        self.pending: list[tuple[Redirect, str]] = []
        self.base = 0
        self.closing = False
        self.spliced = "\\\n" in text and _spliced.search(text, pos) is not None
        self.curly = 0  # braces outside quotes, counted
        self.documents = 0  # here-documents, counted
        self.cut = False  # the text goes on after `end`
        self.spans: list[tuple[int, int]] = []
        self.gaps: list[tuple[str, int, str]] = [] if parent is None else parent.gaps
        self.depth: int = 0 if parent is None else parent.depth
        self.copied: int = 0 if parent is None else parent.copied
        self.count: int = 0 if parent is None else parent.count
        self.rereads: int = 0 if parent is None else parent.rereads

    def subreader(self, text: str, pos: int) -> Self:
        """A reader of another text, for what cannot be read in place; it shares the gaps."""
        return type(self)(text, pos, self)

    # ------------------------------------------------------------ doubt

    def gap(self, code: str, at: int, advice: str) -> None:
        """Note a doubt and go on: the rest is still read correctly."""
        self.gaps.append((code, at, advice))

    def unexpected(self) -> Halt:
        """The text at `pos` is a syntax error."""
        if self.pos >= self.end:
            return Halt(SYNTAX, self.pos, "the text ends in the middle of a command; complete it")
        shown = repr(self.text[self.pos : self.pos + 10])[1:-1]
        return Halt(SYNTAX, self.pos, f"bash refuses `{shown}` here; correct the command")

    def unclosed(self, at: int, what: str) -> Halt:
        return Halt(SYNTAX, at, f"`{what[:20]}` opens here and is never closed; close it")

    def deepen(self) -> None:
        self.depth += 1
        if self.depth > DEPTH:
            raise Halt(LIMIT, self.pos, "nested too deeply; split the command")
        self.count_command()

    def count_command(self) -> None:
        self.count += 1
        if self.count > COUNT:
            raise Halt(LIMIT, self.pos, "too many commands to be read; split them")

    def copying(self, size: int) -> None:
        self.copied += size
        if self.copied > COPIED:
            raise Halt(LIMIT, self.pos, "too large to be read; split the command")

    def take_counts(self, other: SourceText) -> None:
        """Add the counts of a reader of another text."""
        self.copied, self.rereads, self.count = other.copied, other.rereads, other.count

    def rereading(self) -> None:
        self.rereads += 1
        if self.rereads > REREADS:
            raise Halt(LIMIT, self.pos, "too tangled to be read; split the command")

    # ------------------------------------------------------------ moving on

    def peek(self) -> str:
        return self.text[self.pos] if self.pos < self.end else ""

    def skip(self) -> str:
        """Skip white space and return the next character; at the start of a token."""
        if not self.spliced:  # usually nothing to skip, or one blank
            if self.pos >= self.end:
                return ""
            char = self.text[self.pos]
            if char not in _BLANK:
                return char
            if char == " " and self.pos + 1 < self.end:
                char = self.text[self.pos + 1]
                if char not in _BLANK:
                    self.pos += 1
                    return char
        found = blanks.match(self.text, self.pos, self.end)
        assert found is not None  # it matches the empty text
        self.pos = found.end()
        if self.spliced:
            self.lift_continuations()
        return self.text[self.pos] if self.pos < self.end else ""

    def lift_continuations(self) -> None:
        """At the start of a token: move every continued line in it to before it, and step over them."""
        found = _run.match(self.text, self.pos, self.end)
        if found is None or "\\\n" not in found[0] or found[0][0] == "#":
            return
        run = found[0]
        lines = run.count("\\\n")
        self.copying(len(self.text))
        self.text = self.text[: self.pos] + "\\\n" * lines + run.replace("\\\n", "") + self.text[found.end() :]
        self.pos += 2 * lines

    def lift_continuation(self, start: int, at: int) -> None:
        """Move the continued line at `at` to before `start`, the start of the token that it is in."""
        self.copying(len(self.text))
        self.text = self.text[:start] + "\\\n" + self.text[start:at] + self.text[at + 2 :]

    def span(self, start: int, end: int) -> None:
        """Note that a substitution is at `start`; drop those inside it."""
        spans = self.spans
        while spans and spans[-1][0] >= start:
            spans.pop()
        spans.append((start, end))
