"""Reads the words of commands (quotes, globs, tildes, braces) and the text of here-documents."""

from __future__ import annotations

from assent.contract import DOTALL, Pattern
from assent.effects.shell.syntax import braces
from assent.effects.shell.syntax.expansions import add
from assent.effects.shell.syntax.parameters import Parameters
from assent.effects.shell.syntax.source import DOCUMENT, EXTGLOB, LIMIT, UNMODELLED, Halt
from assent.effects.shell.tree import Brace, GlobPart, Literal, Part, Redirect, Tilde, Word

BRACES = 1  # Brace expansion applies to the word
PATTERN = 2  # Extended globs are on: the right side of `==` in `[[ ]]`
VALUE = 4  # The word is the value of an assignment: a tilde expands after each colon too
BRACED = 8  # The word is one of those that braces expand to: a tilde expands at its start only

_run = Pattern(r"[^ \t\n|&;()<>'\"`\\$*?\[\]~{]++")
_bracket = Pattern(r"\[[!^]?\]?(?:\[[:.=][a-z]*[:.=]\]|[^\]\[{~ \t\n|&;()<>'\"`\\$])*\]")
_tilde = Pattern(r"~([^ \t\n|&;()<>'\"`\\$*?\[/:{]*+)")
_twice = Pattern(r"~[^ \t\n/:]*?=~")
_assigning = Pattern(r"[A-Za-z_][A-Za-z0-9_]*+(?:\[[^\]]{0,200}\])?\+?=")
_pattern_run = Pattern(r"[^()<>'\"`$\\*?\[]++")
_plain = Pattern(r"[^ \t\n|&;()<>'\"`\\$*?\[\]~{#!]*\Z")
_BREAKS = " \t\n|&;()<>"
_EXTENDED = "?*+@!"
_escape = Pattern(r"\\(.)", DOTALL)
_logical = Pattern(r"(?:[^\\\n]++|\\.|\\\Z)*+(?:\n|\Z)", DOTALL)
_MOST = 16  # Here-documents that bash accepts at once


class Words(Parameters):
    __slots__ = ()

    def word(self, flags: int = BRACES) -> Word:
        start = self.pos
        spans, curly = len(self.spans), self.curly
        parts = self.parts(flags) if self.peek() != "#" else []
        if self.pos == start:
            raise self.unexpected()
        text = self.text[start : self.pos]
        if self.curly != curly and flags & BRACES and "}" in text and ("," in text or ".." in text):
            parts = self.expand_braces(parts, text, start, self.spans[spans:])
        del self.spans[spans:]
        return Word(tuple(parts), text, start, self.pos)

    def parts(self, flags: int) -> list[Part]:
        text, end = self.text, self.end
        start = pos = self.pos
        parts: list[Part] = []
        opens: list[int] = []
        while pos < end:
            found = _run.match(text, pos, end)
            if found is not None:
                pos = found.end()
                add(parts, found[0], False)
                if pos >= end:
                    break
            char = text[pos]
            if char in _BREAKS:
                if char == "(":
                    if pos == start or text[pos - 1] not in _EXTENDED or not self.extended(parts, pos, flags):
                        break
                elif char in "<>" and self.text.startswith("(", pos + 1) and pos + 1 < end:
                    parts.append(self.process(pos))
                elif char in "<>" and self.spliced and text.startswith("\\\n", pos + 1) and pos > start:
                    self.lift_continuation(pos, pos + 1)
                    text = self.text
                    pos += 2
                    continue
                else:
                    break
                pos = self.pos
                text = self.text
                continue
            self.pos = pos
            if char == "[":
                self.bracket(parts, opens)
            elif char == "]":
                if opens:
                    opens.clear()
                    parts.append(GlobPart("]"))
                else:
                    add(parts, "]", False)
                self.pos += 1
            elif char == "~":
                self.tilde(parts, start, flags)
            elif char == "{":
                add(parts, "{", False)
                self.curly += 1
                self.pos += 1
            else:
                self.special(parts, char, False)
            pos = self.pos
            text = self.text
        self.pos = pos
        if not opens:
            return parts
        for index in opens:
            parts[index] = Literal("[", False)
        return _merged(parts)

    def bracket(self, parts: list[Part], opens: list[int]) -> None:
        """A `[` outside quotes: a bracket pattern, or itself if nothing closes it."""
        found = _bracket.match(self.text, self.pos, self.end)
        if found is None:
            opens.append(len(parts))
        parts.append(GlobPart("[" if found is None else found[0]))
        self.pos = self.pos + 1 if found is None else found.end()

    def tilde(self, parts: list[Part], start: int, flags: int) -> None:
        """A `~`: expanded at the start of a word, and after `=` and `:` in text that looks like an assignment."""
        pos = self.pos
        if pos > start and (flags & BRACED or not self.after_sign(parts, start, bool(flags & VALUE))):
            self.pos = pos + 1
            add(parts, "~", False)
            return
        found = _tilde.match(self.text, pos, self.end)
        assert found is not None  # it is at a tilde
        name, stop = found[1], found.end()
        after = self.text[stop] if stop < self.end else ""
        assigned = pos > start or flags & VALUE
        odd = "=" in name or "~" in name or (after == ":" and not assigned) or self.text.startswith("\\\n", stop)
        if odd or _twice.match(self.text, pos, self.end) is not None:
            self.gap(UNMODELLED, pos, "a tilde with signs after it is not followed; write the path out")
        if not after or after in " \t\n|&;()<>/:":
            self.pos = stop
            parts.append(Tilde(name))
        else:
            self.pos = pos + 1
            add(parts, "~", False)

    def after_sign(self, parts: list[Part], start: int, value: bool) -> bool:
        """Whether an unquoted `:`, or the `=` of the assignment, is directly before `pos`."""
        last = parts[-1] if parts else None
        if type(last) is not Literal or last.quoted:
            return False
        sign = self.text[self.pos - 1]
        if value or sign not in ":=":
            return sign == ":"
        found = _assigning.match(self.text, start, self.pos)
        return found is not None and (sign == ":" or found.end() == self.pos)

    # ------------------------------------------------------------ extended globs

    def extended(self, parts: list[Part], pos: int, flags: int) -> bool:
        """An extended glob, whose `(` is at `pos`. Outside `[[ ]]` it is one only if the option is on, and a
        syntax error or a function otherwise: a doubt either way."""
        last = parts[-1] if parts else None
        if type(last) is not GlobPart and (type(last) is not Literal or last.quoted):
            return False
        if not flags & PATTERN:
            self.gap(EXTGLOB, pos - 1, "extended globs depend on a shell option; list the files instead")
            if self.text.startswith(")", pos + 1):
                return False
        self.pos = pos
        inner: list[Part] = []
        self.parentheses(inner)
        sign = last.text[-1]
        parts.pop()
        if last.text[:-1]:
            parts.append(type(last)(last.text[:-1]))
        if len(inner) == 1 and type(inner[0]) is Literal:
            parts.append(GlobPart(sign + inner[0].text))
        else:
            parts += [GlobPart(sign), *inner]
        return True

    def parentheses(self, parts: list[Part]) -> None:
        """`(…)` inside a pattern, from its `(` on: blanks and operators mean nothing in it."""
        start = self.pos
        level = 0
        while True:
            char = self.take(_pattern_run, parts, False)
            at = self.pos
            if not char:
                raise self.unclosed(start, "(")
            if char in "()<>":
                if char in "<>" and self.text.startswith("(", at + 1):
                    self.gap(UNMODELLED, at, "a process substitution in a pattern is not followed")
                level += 1 if char == "(" else -1 if char == ")" else 0
                self.pos += 1
                add(parts, char, False)
                if level == 0:
                    return
                continue
            self.special(parts, char, False)
            if char == "$" and any(sign in self.text[at + 2 : self.pos - 1] for sign in "()'\"\\#"):
                self.gap(UNMODELLED, at, "a substitution in a pattern is not followed; put it in a variable")

    # ------------------------------------------------------------ braces

    def expand_braces(self, parts: list[Part], text: str, start: int, spans: list[tuple[int, int]]) -> list[Part]:
        """The word with its braces expanded: one Brace with the whole words, or the unchanged parts."""
        hidden: list[str] = []
        token = self.hide_substitutions(start, spans, hidden)
        if len(token) > 10_000:
            raise Halt(LIMIT, start, "too long a word with braces; split it")
        try:
            words = braces.expand(token)
        except braces.TooMany:
            if not any(sign in text for sign in "$`<>"):
                return [Brace(None, text)]
            raise Halt(LIMIT, start, "these braces expand to too many words; write fewer") from None
        except braces.NotModelled:
            raise Halt(UNMODELLED, start, "these braces are not followed; write the words out") from None
        if words == [token]:
            return parts
        return [Brace(tuple(self.reread(word, start, hidden) for word in words if word), text)]

    def hide_substitutions(self, start: int, spans: list[tuple[int, int]], hidden: list[str]) -> str:
        """The text of the word with its substitutions replaced by numbered marks, and `$'…'` by plain quotes."""
        token = ""
        at = start
        for begin, stop in spans:
            token += f"{self.text[at:begin]}\0{len(hidden)}\0"
            hidden.append(self.text[begin:stop])
            at = stop
        token += self.text[at : self.pos]
        if "$'" in token or '$"' in token or "\\\n" in token:
            raise Halt(UNMODELLED, start, "quotes like this in a word with braces are not followed; write it out")
        return token

    def reread(self, word: str, start: int, hidden: list[str]) -> tuple[Part, ...]:
        for index, text in enumerate(hidden):
            word = word.replace(f"\0{index}\0", text)
        if _plain.match(word):
            return (Literal(word),)
        live = any(sign in word for sign in "$`<>")
        inner = self.subreader(self.text[:start] + word if live else word, start if live else 0)
        self.copying(inner.end)
        try:
            parts = inner.parts(BRACED)
        except Halt:
            inner.pos = -1
        if inner.pos != inner.end:
            raise Halt(UNMODELLED, start, "these braces are not followed; write the words out")
        self.take_counts(inner)
        return tuple(parts)

    # ------------------------------------------------------------ delimiters

    def delimiter(self) -> tuple[Word, str, bool]:
        """The word after `<<`: itself, the line that ends the document, and whether it was quoted at all."""
        start = self.pos
        parts = self.parts(0)
        if self.pos == start:
            raise self.unexpected()
        text = self.text[start : self.pos]
        quoted = any(sign in text for sign in "'\"\\")
        if "`" in text or "\n" in text or any(sign in text for sign in ("$(", "${", "$[", "<(", ">(")):
            raise Halt(DOCUMENT, start, "this delimiter is not followed; use a plain word")
        line = "".join(_delimiting(part) for part in parts)
        return Word((Literal(line, quoted),), text, start, self.pos), line, quoted

    # ------------------------------------------------------------ here-documents

    def newline(self) -> None:
        """Step over the newline at `pos`, and over the here-documents that follow it."""
        self.pos += 1
        if len(self.pending) > self.base:
            self.read_documents()

    def begin_document(self, op: str, fd: str, start: int) -> Redirect:
        """A here-document, from after its operator on. The redirect is filled when its text is read."""
        target, line, quoted = self.delimiter()
        if line.startswith("-"):
            self.gap(DOCUMENT, start, "a delimiter that begins with a dash is not followed; use a plain word")
        self.documents += 1
        redirect = Redirect(op, fd, target, None, quoted, start, self.pos)
        self.pending.append((redirect, line))
        if len(self.pending) - self.base > _MOST:
            raise Halt(DOCUMENT, start, "more here-documents than bash takes; split the command")
        return redirect

    def read_documents(self) -> None:
        for one, delimiter in self.pending[self.base :]:
            body = self.document_body(one, delimiter)
            Redirect.__init__(one, one.op, one.fd, one.target, body, one.inert, one.start, one.end)
        del self.pending[self.base :]

    def document_body(self, redirect: Redirect, delimiter: str) -> Word:
        """The text up to the delimiter, or to the end; `pos` is then after the delimiter's line."""
        strip, inert = redirect.op == "<<-", redirect.inert
        start = at = self.pos
        lines: list[str] = []
        cut = False
        while at < self.end:
            stop = self.line_end(at, inert)
            written = self.text[at:stop]
            line = written if inert else _joined(written)
            end = line.removesuffix("\n")
            if end == delimiter or (strip and end.lstrip("\t") == delimiter and end != ""):
                self.pos = stop
                return self.text_of(inert, start, at, "".join(lines) if cut else None)
            if self.closing and ")" in line and line.lstrip("\t").startswith(delimiter):
                # inside `$(…)` bash also ends a document at a line that begins with the delimiter and has a `)`
                raise Halt(DOCUMENT, at, "end the here-document on a line of its own")
            tabbed = strip and line.startswith("\t")
            cut = cut or tabbed
            lines.append(written.lstrip("\t") if tabbed else written)
            at = stop
        self.pos = self.end
        word = self.text_of(inert, start, self.end, "".join(lines) if cut else None)
        return _with_newline(word) if self.end > start and self.text[self.end - 1] != "\n" else word

    def line_end(self, at: int, inert: bool) -> int:
        """Where the next line begins; with expansions a backslash joins a line to the one after it."""
        if not inert:
            found = _logical.match(self.text, at, self.end)
            assert found is not None  # it matches any line
            return found.end()
        stop = self.text.find("\n", at, self.end)
        return stop + 1 if stop >= 0 else self.end

    def text_of(self, inert: bool, start: int, end: int, cut: str | None) -> Word:
        """The Word of a document: as in the text, or `cut` if tabs were removed from its lines."""
        if inert:
            body = self.text[start:end] if cut is None else cut
            return Word((Literal(body, True),), body, start, end)
        if cut is None:
            return self.document(start, end)
        self.copying(start + len(cut))
        inner = self.subreader(self.text[:start] + cut, start)
        word = inner.document(start, inner.end)
        self.take_counts(inner)
        return word


def _delimiting(part: Part) -> str:
    """The text of a part of a delimiter, in which nothing expands."""
    if isinstance(part, Literal | GlobPart):
        return part.text
    return "~" + part.user if isinstance(part, Tilde) else "$" + getattr(part, "name", "")


def _merged(parts: list[Part]) -> list[Part]:
    out: list[Part] = []
    for part in parts:
        if type(part) is Literal:
            add(out, part.text, part.quoted)
        else:
            out.append(part)
    return out


def _with_newline(word: Word) -> Word:
    """The text of a document that ends with the text: its last line is a line too."""
    parts = list(word.parts)
    add(parts, "\n", True)
    return Word(tuple(parts), word.text, word.start, word.end)


def _joined(line: str) -> str:
    """A line as it is compared with the delimiter: continued lines are one."""
    return _escape.sub(lambda one: "" if one[1] == "\n" else one[0], line) if "\\\n" in line else line
