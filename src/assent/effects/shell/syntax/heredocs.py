"""Reads the text of here-documents, which stands after the line that names them."""

from __future__ import annotations

from assent.contract import DOTALL, Pattern
from assent.effects.shell.syntax.expansions import add
from assent.effects.shell.syntax.source import DOCUMENT, Halt, Pending
from assent.effects.shell.syntax.words import Words
from assent.effects.shell.tree import Literal, Redirect, Word

_escape = Pattern(r"\\(.)", DOTALL)
_logical = Pattern(r"(?:[^\\\n]++|\\.|\\\Z)*+(?:\n|\Z)", DOTALL)
_MOST = 16
"""Here-documents that bash takes at once."""


class HereDocuments(Words):
    __slots__ = ()

    def newline(self) -> None:
        """Step over the newline at `pos`, and over the here-documents that follow it."""
        self.pos += 1
        if len(self.pending) > self.base:
            self.gather()

    def announce(self, op: str, fd: str, start: int) -> Redirect:
        """A here-document, from behind its operator on. The redirect is filled when its text has come."""
        target, line, quoted = self.delimiter()
        if line.startswith("-"):
            self.gap(DOCUMENT, start, "a delimiter that begins with a dash is not followed; use a plain word")
        self.documents += 1
        redirect = Redirect(op, fd, target)
        self.pending.append(Pending(redirect, op, fd, target, line, quoted, start, self.pos))
        if len(self.pending) - self.base > _MOST:
            raise Halt(DOCUMENT, start, "more here-documents than bash takes; split the command")
        return redirect

    def gather(self) -> None:
        """Read the text of the here-documents that wait, from `pos` on."""
        waiting = self.pending[self.base :]
        for wait in waiting:
            body = self.collect(wait)
            Redirect.__init__(wait.redirect, wait.op, wait.fd, wait.target, body, wait.inert, wait.start, wait.end)
        del self.pending[self.base :]

    def collect(self, wait: Pending) -> Word:
        """The text up to the delimiter, or to the end; `pos` is then behind the delimiter's line."""
        strip = wait.op == "<<-"
        start = at = self.pos
        lines: list[str] = []
        cut = False
        while at < self.end:
            stop = self.line_end(at, wait.inert)
            written = self.text[at:stop]
            line = written if wait.inert else _joined(written)
            if self.ends(line, wait, strip):
                self.pos = stop
                return self.text_of(wait, start, at, "".join(lines) if cut else None)
            self.spoiled(line, wait, at)
            if strip and line.startswith("\t"):
                cut = True
                lines.append(written.lstrip("\t"))
            else:
                lines.append(written)
            at = stop
        self.pos = self.end
        word = self.text_of(wait, start, self.end, "".join(lines) if cut else None)
        return _with_newline(word) if self.end > start and self.text[self.end - 1] != "\n" else word

    def line_end(self, at: int, inert: bool) -> int:
        """Where the next line begins; with expansions a backslash joins a line to the one behind it."""
        if not inert:
            found = _logical.match(self.text, at, self.end)
            assert found is not None  # it matches any line
            return found.end()
        stop = self.text.find("\n", at, self.end)
        return stop + 1 if stop >= 0 else self.end

    def ends(self, line: str, wait: Pending, strip: bool) -> bool:
        """Whether the line is the delimiter."""
        if line.endswith("\n"):
            line = line[:-1]
        return line == wait.delimiter or (strip and line.lstrip("\t") == wait.delimiter and line != "")

    def spoiled(self, line: str, wait: Pending, at: int) -> None:
        """Inside `$(…)` bash also ends a document at a line that only begins with the delimiter and has a `)`."""
        if self.closing and ")" in line and line.lstrip("\t").startswith(wait.delimiter):
            raise Halt(DOCUMENT, at, "end the here-document on a line of its own")

    def text_of(self, wait: Pending, start: int, end: int, cut: str | None) -> Word:
        """The Word of a document: as it stands in the text, or `cut` where tabs were taken from its lines."""
        if wait.inert:
            body = self.text[start:end] if cut is None else cut
            return Word((Literal(body, True),), body, start, end)
        if cut is None:
            return self.document(start, end)
        self.copying(start + len(cut))
        inner = self.fresh(self.text[:start] + cut, start)
        word = inner.document(start, inner.end)
        self.account(inner)
        return word


def _with_newline(word: Word) -> Word:
    """The text of a document that the end of the text ends: its last line is a line too."""
    parts = list(word.parts)
    add(parts, "\n", True)
    return Word(tuple(parts), word.text, word.start, word.end)


def _joined(line: str) -> str:
    """A line as it is compared with the delimiter: continued lines are one."""
    if "\\\n" not in line:
        return line
    return _escape.sub(lambda one: "" if one[1] == "\n" else one[0], line)
