"""Reads `${…}` with its operators and operands, and `$'…'`. An operand is not a word of a command: blanks and
operators mean nothing in it."""

from __future__ import annotations

from assent.contract import DOTALL, Pattern, re
from assent.effects.shell.syntax.expansions import Expansions, add
from assent.effects.shell.syntax.source import SUBSTITUTION, UNMODELLED, Halt
from assent.effects.shell.tree import CommandSub, GlobPart, Literal, Parameter, Part, Tilde, Word

_plain = Pattern(r"\$\{([A-Za-z_][A-Za-z0-9_]*+|[0-9]++|[@*#?$!-])\}")
_length = Pattern(r"#([A-Za-z_][A-Za-z0-9_]*+|[0-9]++|[@*#?$!-])(?=[}\[])")
_head = Pattern(r"(!?)([A-Za-z_][A-Za-z0-9_]*+|[0-9]++|[@*#?$!-])")
_operator = Pattern(r":[-=?+]|[-=?+:]|##?|%%?|/[/#%]?|\^\^?|,,?|~~?|@[A-Za-z](?=\})|[*@](?=\})")
_unquoted_run = Pattern(r"[^}'\"`\\$*?\[<>/~]++")
_quoted_run = Pattern(r"[^}'\"`\\$<>]++")
_tilde = Pattern(r"~([A-Za-z0-9_.+-]*)(?=[/}])")
_ansi = Pattern(r"\$'((?:[^'\\]++|\\.)*+)'", DOTALL)
_WORDS = (":-", "-", ":=", "=", ":?", "?", ":+", "+")
_ansi_escape = Pattern(
    r"\\(?:([abeEfnrtv\\'\"?])|([0-7]{1,3})|x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|c(.)|(.))",
    DOTALL,
)
_SIMPLE = dict(zip("abeEfnrtv\\'\"?", "\a\b\x1b\x1b\f\n\r\t\v\\'\"?", strict=True))


class Parameters(Expansions):
    __slots__ = ()

    def braced(self, start: int, quoted: bool) -> Part:
        found = _plain.match(self.text, start, self.end)
        if found is not None:
            self.pos = found.end()
            return Parameter(found[1], quoted=quoted, start=start, end=self.pos)
        if self.spliced:
            start = self.lift_name(start)
        self.pos = start + 2
        if self.peek() in (" ", "\t", "\n", "|"):
            return self.function_substitution(start, quoted)
        return self.operated(start, quoted)

    def lift_name(self, start: int) -> int:
        """Move continued lines out of the name and operator; the new start."""
        while True:
            at = start + 2
            while at < self.end and self.text[at] not in "}'\"`$ \t\n\\":
                at += 1
            if not self.text.startswith("\\\n", at) or at + 1 >= self.end:
                return start
            self.lift_continuation(start, at)
            start += 2

    def function_substitution(self, start: int, quoted: bool) -> Part:
        """`${ …; }` runs commands from bash 5.3 on and is an error before."""
        self.gap(UNMODELLED, start, "`${ …; }` differs between versions of bash; write `$(…)`")
        if self.peek() == "|":
            self.pos += 1
        base, closing = self.base, self.closing
        self.base, self.closing = len(self.pending), False
        script = self.script()
        if self.peek() != "}" or len(self.pending) > self.base:
            raise self.unclosed(start, "${")
        self.base, self.closing = base, closing
        self.pos += 1
        return CommandSub(script, quoted, start, self.pos)

    def operated(self, start: int, quoted: bool) -> Parameter:
        text, end = self.text, self.end
        length = _length.match(text, self.pos, end)
        if length is not None:
            self.pos = length.end()
            subscript = self.subscript(start) if self.peek() == "[" else None
            return self.close(start, length[1], quoted, op="#", subscript=subscript)
        head = _head.match(text, self.pos, end)
        if head is None:
            return self.bad_substitution(start, "", quoted)
        indirect, name = bool(head[1]), head[2]
        if indirect and name in "?$!-*":
            return self.bad_substitution(start, name, quoted)
        self.pos = head.end()
        indexed = self.peek() == "[" and (name[0].isalpha() or name[0] == "_")
        subscript = self.subscript(start) if indexed else None
        found = _operator.match(self.text, self.pos, self.end)
        op = found[0] if found is not None else ""
        if op in ("*", "@") and not indirect:
            op = ""
        self.pos += len(op)
        if not op and self.peek() != "}":
            return self.bad_substitution(start, name, quoted)
        operand, operand2 = self.operands(op, quoted, start)
        return self.close(start, name, quoted, op, operand, operand2, subscript, indirect)

    def operands(self, op: str, quoted: bool, start: int) -> tuple[Word | None, Word | None]:
        if not op or op[0] in "@*":
            return None, None
        if op in _WORDS:
            return self.operand(quoted, start), None
        if op == ":":
            return self.offsets(start)
        if op[0] == "/":
            pattern = self.operand(False, start, "/")
            if self.peek() != "/":
                return pattern, None
            self.pos += 1
            return pattern, self.operand(False, start)
        return self.operand(False, start), None

    def close(
        self,
        start: int,
        name: str,
        quoted: bool,
        op: str = "",
        operand: Word | None = None,
        operand2: Word | None = None,
        subscript: Word | None = None,
        indirect: bool = False,
    ) -> Parameter:
        if not self.peek():
            raise self.unclosed(start, "${")
        if self.peek() != "}":
            return self.bad_substitution(start, name, quoted)
        self.pos += 1
        return Parameter(
            name,
            op=op,
            operand=operand,
            operand2=operand2,
            subscript=subscript,
            indirect=indirect,
            quoted=quoted,
            start=start,
            end=self.pos,
        )

    def bad_substitution(self, start: int, name: str, quoted: bool) -> Parameter:
        """A form that bash calls a bad substitution; it is read to its end, with everything that might run in it."""
        operand = self.operand(quoted, start)
        if self.peek() != "}":
            raise self.unclosed(start, "${")
        self.gap(SUBSTITUTION, start, "bash refuses this expansion; correct it")
        self.pos += 1
        return Parameter(name, op="bad", operand=operand, quoted=quoted, start=start, end=self.pos)

    def subscript(self, start: int) -> Word:
        begin = self.pos = self.pos + 1
        text, parts = self.arithmetic("[", "]", start)
        if "}" in text and not parts:
            raise Halt(UNMODELLED, begin, "a brace in a subscript is not followed")
        return Word(_with_text(text, parts), text, begin, self.pos - 1)

    def offsets(self, start: int) -> tuple[Word, Word | None]:
        """`${x:offset:length}`, from after the first colon: expressions, each with its expansions."""
        begin = self.pos
        parts: list[Part] = []
        colon = -1
        while self.peek() != "}":
            char = self.peek()
            if not char:
                raise self.unclosed(start, "${")
            if char in "\\$`'\"":
                self.expression_part(parts, char)
                continue
            if char == ":" and colon < 0 and not parts:
                colon = self.pos
            self.pos += 1
        text = self.text[begin : self.pos]
        if "<(" in text or ">(" in text:
            raise Halt(UNMODELLED, begin, "a process substitution in an expression is not followed")
        if parts or colon < 0 or "?" in text or "(" in text:
            return Word(_with_text(text, tuple(parts)), text, begin, self.pos), None
        offset, length = text[: colon - begin], text[colon + 1 - begin :]
        return (
            Word((Literal(offset, True),), offset, begin, colon),
            Word((Literal(length, True),), length, colon + 1, self.pos),
        )

    # ------------------------------------------------------------ operands

    def operand(self, quoted: bool, start: int, stop: str = "") -> Word:
        """Read to the closing brace, or to an unquoted `stop`."""
        begin = self.pos
        parts: list[Part] = []
        if quoted:
            self.quoted_operand(parts, start)
        else:
            self.unquoted_operand(parts, start, stop)
        return Word(tuple(parts), self.text[begin : self.pos], begin, self.pos)

    def quoted_operand(self, parts: list[Part], start: int) -> None:
        while True:
            char = self.take(_quoted_run, parts, True)
            if char == "}":
                return
            if not char:
                raise self.unclosed(start, "${")
            if char == '"':
                self.double_quotes(parts)
            elif char in "<>":
                self.unprocessed(parts)
            elif char == "'":
                if self.text[self.pos - 1] == "$":
                    self.gap(UNMODELLED, self.pos, "`$'…'` inside a quoted expansion is not followed")
                parts.extend(self.expanded_quotes())
            else:
                if char == "`" and '\\"' in self.text[self.pos : self.text.find("`", self.pos + 1)]:
                    self.gap(UNMODELLED, self.pos, "escaped quotes in back-quotes in an expansion are not followed")
                self.live_character(parts, '$`"\\}', True)

    def unprocessed(self, parts: list[Part]) -> None:
        """A `<` or `>`: with a parenthesis bash reads a command after it, but runs none inside quotes."""
        start = self.pos
        if self.text.startswith("(", start + 1) and start + 1 < self.end:
            self.gap(UNMODELLED, start, "a process substitution inside quotes is not followed")
            self.rereading()
            self.process(start)
        self.pos = start + 1
        add(parts, self.text[start], True)

    def unquoted_operand(self, parts: list[Part], start: int, stop: str) -> None:
        begin = self.pos
        while True:
            char = self.take(_unquoted_run, parts, False)
            if char == "}" or (char == stop and char):
                return
            if not char:
                raise self.unclosed(start, "${")
            self.special(parts, char, self.pos == begin)

    def special(self, parts: list[Part], char: str, first: bool) -> None:
        """A character that is special in unquoted text, in any place."""
        text, pos = self.text, self.pos
        if char == '"':
            self.double_quotes(parts)
        elif char == "'":
            self.single_quotes(parts)
        elif char == "$":
            self.unquoted_dollar(parts)
        elif char == "`":
            parts.append(self.back_quote(False, False))
        elif char == "\\":
            self.backslash(parts)
        elif char in "<>" and text.startswith("(", pos + 1) and pos + 1 < self.end:
            parts.append(self.process(pos))
        elif char == "~" and first and (found := _tilde.match(text, pos, self.end)) is not None:
            self.pos = found.end()
            parts.append(Tilde(found[1]))
        elif char in "*?[":
            self.pos += 1
            parts.append(GlobPart(char))
        else:
            self.pos += 1
            add(parts, char, False)

    # ------------------------------------------------------------ quotes outside double quotes

    def single_quotes(self, parts: list[Part]) -> None:
        stop = self.text.find("'", self.pos + 1, self.end)
        if stop < 0:
            raise self.unclosed(self.pos, "'")
        add(parts, self.text[self.pos + 1 : stop], True)
        self.pos = stop + 1

    def backslash(self, parts: list[Part]) -> None:
        """A backslash outside quotes; before a newline both vanish, at the end of the text it is itself."""
        after = self.text[self.pos + 1] if self.pos + 1 < self.end else ""
        if after != "\n":
            add(parts, after or "\\", True)
        self.pos += 1 + len(after)

    def unquoted_dollar(self, parts: list[Part]) -> None:
        """A `$` outside double quotes, where `$'…'` and `$"…"` are quotes."""
        start = self.pos
        after = self.text[start + 1] if start + 1 < self.end else ""
        if after == "'":
            found = _ansi.match(self.text, start, self.end)
            if found is None:
                raise self.unclosed(start, "$'")
            self.pos = found.end()
            plain = decode(found[1])
            if plain is None or "\x01" in plain or "\x7f" in plain:
                self.gap(UNMODELLED, start, "an escape in `$'…'` is not followed; write it out")
                plain = plain or found[1]
            add(parts, plain, True)
        elif after == '"':
            self.gap(UNMODELLED, start, '`$"…"` is translated, and the translation expanded: write plain quotes')
            self.pos = start + 1
            self.double_quotes(parts)
        else:
            self.dollar(parts, False)


def _with_text(text: str, parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """The parts of an expression; its text if nothing in it expands."""
    return parts or (Literal(text.replace("\\\n", ""), True),)


def decode(text: str) -> str | None:
    """What `$'text'` means in a UTF-8 locale, or None if bash's own reading is not modelled.

    A NUL ends the string, as it does in bash."""
    if "\\" not in text:
        return text
    try:
        return _decode(text)
    except UnicodeEncodeError:
        return None


def _decode(text: str) -> str | None:
    out: list[bytes] = []
    at = 0
    for found in _ansi_escape.finditer(text):
        out.append(_utf8(text[at : found.start()]))
        at = found.end()
        piece = _escaped(found)
        if piece is None:
            return None
        if piece == b"\0":
            return b"".join(out).decode("utf-8", "surrogateescape")
        out.append(piece)
    out.append(_utf8(text[at:]))
    return b"".join(out).decode("utf-8", "surrogateescape")


def _escaped(found: re.Match[str]) -> bytes | None:
    simple, octal, hexadecimal, short, long, control, other = found.groups()
    if simple is not None:
        return _utf8(_SIMPLE[simple])
    if octal is not None:
        return bytes((int(octal, 8) & 0xFF,))
    if hexadecimal is not None:
        return bytes((int(hexadecimal, 16),))
    if short is not None or long is not None:
        return _unicode(int(short or long, 16))
    if control is not None:
        return _control_byte(control)
    return None if other == "x" else _utf8("\\" + other)  # `\x{…}`, or no digits at all


def _unicode(code: int) -> bytes | None:
    return None if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF else chr(code).encode("utf-8")


def _control_byte(character: str) -> bytes | None:
    if character == "?":
        return b"\x7f"
    return None if character == "\\" or character > "\x7e" else bytes((ord(character.upper()) & 0x1F,))


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
