"""Reads expansions and quotes that begin with `$`, a back-quote or a double quote. Knows no words and no commands: the
subclasses read the commands in substitutions."""

from __future__ import annotations

from assent.contract import DOTALL, Pattern, re
from assent.effects.shell.syntax.source import DOCUMENT, UNMODELLED, Halt, SourceText
from assent.effects.shell.tree import (
    Arithmetic,
    Command,
    CommandSub,
    Literal,
    Parameter,
    Part,
    Pipeline,
    ProcessSub,
    Script,
    Simple,
    Word,
)

_variable = Pattern(r"\$(?:([A-Za-z_][A-Za-z0-9_]*+)|([0-9@*#?$!-]))")
_quoted_run = Pattern(r"[^\"\\$`]++")
_document_run = Pattern(r"[^\\$`]++")
_arithmetic_run = Pattern(r"[^\\$`'\"()\[\]]++")
_processes = Pattern(r"[<>]\(")
_back_quoted = Pattern(r"`((?:[^`\\]++|\\.)*+)`", DOTALL)
_back_escape = Pattern(r"\\(.)", DOTALL)
_timed = Pattern(r"time(?=[ \t\n;&|()<>]|\Z)(?:[ \t]++-[p-](?=[ \t\n;&|()<>]|\Z))*+[ \t]*+")
_untimed = Pattern(
    r"(?:if|then|else|elif|fi|case|esac|for|select|while|until|do|done|in|function|time|[{}!]|\[\[|\]\]|coproc)"
    r"(?=[ \t\n;&|()<>]|\Z)|[^A-Za-z0-9_./$'\"-]|[^ \t\n;&|()<>]++[ \t]*+\(|[A-Za-z_][A-Za-z0-9_]*+[\[+=]|\Z"
)
_PLAIN_ARITHMETIC = "\\$`'\""


def add(parts: list[Part], text: str, quoted: bool) -> None:
    """Append literal text, joined with the literal before it if both are quoted or both are not.

    Long ones are left apart, so that a text of many small pieces is not copied over and over."""
    if parts:
        last = parts[-1]
        if type(last) is Literal and last.quoted is quoted and len(last.text) < 4096:
            parts[-1] = Literal(last.text + text, quoted)
            return
    parts.append(Literal(text, quoted))


class Expansions(SourceText):
    __slots__ = ()

    # Read by the subclasses.

    def script(self) -> Script:
        raise NotImplementedError

    def lines(self) -> Script:
        raise NotImplementedError

    def braced(self, start: int, quoted: bool) -> Part:
        raise NotImplementedError

    def take(self, pattern: Pattern, parts: list[Part], quoted: bool) -> str:
        """Append the match of the pattern at `pos` as literal text; return the character after it."""
        found = pattern.match(self.text, self.pos, self.end)
        if found is not None:
            self.pos = found.end()
            add(parts, found[0], quoted)
        return self.peek()

    # ------------------------------------------------------------ $

    def dollar(self, parts: list[Part], quoted: bool) -> None:
        """Read the expansion at the `$` at `pos`. `$'` and `$"` are not read here: inside quotes they mean nothing."""
        start = self.pos
        found = _variable.match(self.text, start, self.end)
        if found is not None:
            stop = found.end()
            if self.spliced and found[1] and self.text.startswith("\\\n", stop):
                self.lift_continuation(start, stop)
                self.pos = start + 2
                return
            if found[2] == "$" and stop < self.end and self.text[stop] in "{([":
                # bash takes the second `$` for the beginning of an expansion when it looks for the end of a quote
                raise Halt(UNMODELLED, start, "`$$` before a bracket is read in two ways; write a blank between")
            self.pos = stop
            parts.append(Parameter(found[1] or found[2], quoted=quoted, start=start, end=stop))
            return
        after = self.text[start + 1 : start + 2] if start + 1 < self.end else ""
        if after == "(":
            parts.append(self.parenthesis(start, quoted))
        elif after == "{":
            self.deepen()
            parts.append(self.braced(start, quoted))
            self.depth -= 1
        elif after == "[":
            self.pos = start + 2
            text, inner = self.arithmetic("[", "]", start)
            parts.append(Arithmetic(text, inner, quoted))
        elif after == "\\" and self.text.startswith("\n", start + 2) and start + 2 < self.end:
            self.lift_continuation(start, start + 1)
            self.pos = start + 2
        else:
            self.pos = start + 1
            add(parts, "$", quoted)

    def parenthesis(self, start: int, quoted: bool) -> Part:
        """`$(…)` or `$((…))`. A `$((` whose parentheses do not pair up as arithmetic is a substitution after all."""
        self.pos = start + 2
        if self.spliced:
            self.lift(start, start + 2)
            start = self.pos - 2
        if self.peek() == "(":
            arithmetic = self.double(start, quoted)
            if arithmetic is not None:
                self.span(start, self.pos)
                return arithmetic
            script = self.paired(start)
        else:
            script = self.substitution(start)
        self.span(start, self.pos)
        return CommandSub(script, quoted, start, self.pos)

    def lift(self, start: int, at: int) -> None:
        """Move continued lines at `at` to before `start`; `pos` keeps its place in the token."""
        while self.text.startswith("\\\n", at) and at + 1 < self.end:
            self.lift_continuation(start, at)
            start += 2
            at += 2
        self.pos = at

    def double(self, start: int, quoted: bool) -> Arithmetic | None:
        """`$((…))`, from `$((` on; None if it is none, with `pos` after the closing parenthesis."""
        self.pos = start + 3
        gaps = len(self.gaps)
        _, inner = self.arithmetic("(", ")", start, 2)
        body = self.text[start + 3 : self.pos - 1].replace("\\\n", "")
        if body.endswith(")") and _pairs(body[:-1]):
            return Arithmetic(body[:-1], inner, quoted)
        del self.gaps[gaps:]
        return None

    def substitution(self, start: int) -> Script:
        """The text between `(` and `)`, from after the `(`; `pos` is then after the `)`."""
        self.deepen()
        base, closing, spans = self.base, self.closing, self.spans
        self.base = len(self.pending)
        self.closing = True
        self.spans = []
        documents = self.documents
        if self.skip() == "t":
            self.timed()
        script = self.script()
        if self.peek() != ")":
            raise self.unclosed(start, "$(") if self.pos >= self.end else self.unexpected()
        if len(self.pending) > self.base:
            raise Halt(DOCUMENT, start, "a here-document begins in the substitution and ends after it; end it inside")
        if self.documents != documents and not printed_right(script):
            self.gap(DOCUMENT, start, "bash 5.2 may run this here-document otherwise; put it in a file or a variable")
        self.pos += 1
        self.depth -= 1
        self.base, self.closing, self.spans = base, closing, spans
        return script

    def paired(self, start: int) -> Script:
        """A substitution that begins with two parentheses: bash has paired them up to `pos`, as if for arithmetic,
        and reads their content later."""
        self.rereading()
        end = self.pos
        self.pos = start + 2
        script = self.substitution(start)
        if self.pos != end or "\\\n" in self.text[start:end]:
            raise Halt(
                UNMODELLED, start, "two parentheses begin here and are no arithmetic; write a blank between them"
            )
        return script

    def timed(self) -> None:
        """Directly after `$(` bash reads `time` first as a word, then as the reserved word when it runs the text.
        Before a plain command there is no difference."""
        found = _timed.match(self.text, self.pos, self.end)
        if found is not None and _untimed.match(self.text, found.end(), self.end) is not None:
            self.gap(UNMODELLED, self.pos, "`time` at the start of a substitution is not followed; leave it out")

    def process(self, start: int) -> ProcessSub:
        self.pos = start + 2
        if self.peek() == "(":
            gaps = len(self.gaps)
            self.arithmetic("(", ")", start)
            del self.gaps[gaps:]
            script = self.paired(start)
        else:
            script = self.substitution(start)
        self.span(start, self.pos)
        return ProcessSub(script, self.text[start], start, self.pos)

    # ------------------------------------------------------------ back-quotes

    def back_quote(self, quoted: bool, double: bool) -> CommandSub:
        """Back-quotes. `double`: they are directly in double quotes, where `\\"` loses its backslash too."""
        start = self.pos
        found = _back_quoted.match(self.text, start, self.end)
        if found is None:
            raise self.unclosed(start, "`")
        stop = found.end()
        body = found[1]
        if quoted and not double and '\\"' in body:
            self.gap(UNMODELLED, start, "escaped quotes in back-quotes are not followed here; write `$(…)`")
        self.deepen()
        if "\\" not in body:
            script = self.bounded(start + 1, stop - 1)
        else:
            plain = _unescaped(body, '$`\\"' if double else "$`\\")
            self.copying(start + len(plain))
            inner = self.subreader(self.text[: start + 1] + plain, start + 1)
            script = inner.lines()
            self.take_counts(inner)
        self.depth -= 1
        self.pos = stop
        return CommandSub(script, quoted, start, stop)

    def bounded(self, start: int, end: int) -> Script:
        """Read a script that is a text of its own, in place."""
        before = self.end, self.base, self.closing, self.spans, self.depth
        self.pos, self.end, self.base, self.closing, self.spans = start, end, len(self.pending), False, []
        script = self.lines()
        self.end, self.base, self.closing, self.spans, self.depth = before
        return script

    # ------------------------------------------------------------ double quotes and here-documents

    def double_quotes(self, parts: list[Part]) -> None:
        start = self.pos
        size = len(parts)
        self.pos += 1
        while True:
            char = self.take(_quoted_run, parts, True)
            if char == '"':
                self.pos += 1
                if len(parts) == size:
                    add(parts, "", True)
                return
            if not char:
                raise self.unclosed(start, '"')
            self.live_character(parts, '$`"\\', True)

    def live_character(self, parts: list[Part], escapable: str, double: bool) -> None:
        """Read the `\\`, `$` or back-quote at `pos`, where only the `escapable` lose their backslash."""
        char = self.text[self.pos]
        if char == "$":
            self.dollar(parts, True)
        elif char == "`":
            parts.append(self.back_quote(True, double))
        else:
            after = self.text[self.pos + 1] if self.pos + 1 < self.end else ""
            if after != "\n":
                add(parts, after if after and after in escapable else "\\" + after, True)
            self.pos += 1 + len(after)

    def document(self, start: int, end: int) -> Word:
        """The text of a here-document, whose expansions are live; read in place."""
        before = self.pos, self.end, self.base, self.closing, self.spans, self.depth
        self.pos, self.end, self.base, self.closing, self.spans = start, end, len(self.pending), False, []
        parts: list[Part] = []
        try:
            while self.take(_document_run, parts, True):
                self.live_character(parts, "$`\\", False)
        except Halt as halt:
            self.gap(halt.code, halt.at, halt.advice)
            del self.pending[self.base :]
        word = Word(tuple(parts), self.text[start:end], start, end)
        self.pos, self.end, self.base, self.closing, self.spans, self.depth = before
        return word

    # ------------------------------------------------------------ arithmetic

    def arithmetic(self, opening: str, closing: str, start: int, level: int = 1) -> tuple[str, tuple[Part, ...]]:
        """An expression up to the `closing` that pairs with the `level` openings before it; `pos` is then after it.

        The parts are the expansions in it. Single quotes do not hide them: the shell pairs the quotes to find
        the end, and then expands all of it as if in double quotes."""
        self.deepen()
        begin = self.pos
        parts: list[Part] = []
        while True:
            found = _arithmetic_run.match(self.text, self.pos, self.end)
            if found is not None:
                self.pos = found.end()
            char = self.peek()
            if not char:
                raise self.unclosed(start, self.text[start:begin])
            if char == closing:
                level -= 1
                self.pos += 1
                if level == 0:
                    if opening == "[" and _processes.search(self.text, begin, self.pos) is not None:
                        self.gap(UNMODELLED, begin, "a process substitution in a subscript is not followed")
                    self.depth -= 1
                    return self.text[begin : self.pos - 1], tuple(parts)
            elif char == opening:
                level += 1
                self.pos += 1
            elif char in _PLAIN_ARITHMETIC:
                self.expression_part(parts, char)
            else:
                self.pos += 1

    def expression_part(self, parts: list[Part], char: str) -> None:
        """An expansion, quote or backslash inside arithmetic or a subscript."""
        start = self.pos
        if char == "$":
            before = len(parts)
            self.dollar(parts, True)
            if len(parts) > before and type(parts[-1]) is Literal:
                parts.pop()
            elif self.text.startswith(("${", "$["), start) and _tangled(self.text[start : self.pos]):
                self.gap(UNMODELLED, start, "brackets and quotes inside `${…}` inside arithmetic are not followed")
        elif char == "`":
            parts.append(self.back_quote(True, False))
        elif char == '"':
            quoted: list[Part] = []
            self.double_quotes(quoted)
            parts.extend(part for part in quoted if type(part) is not Literal)
            if any(type(part) is Literal and ("$" in part.text or "`" in part.text) for part in quoted):
                self.gap(UNMODELLED, start, "arithmetic may expand this a second time")
        elif char == "'":
            if self.text[start - 1] == "$":
                raise Halt(UNMODELLED, start, "`$'…'` in arithmetic is not followed; write it out")
            parts.extend(part for part in self.expanded_quotes() if type(part) is not Literal)
        else:
            if self.text.startswith(("$", "`"), start + 1):
                self.gap(UNMODELLED, start, "arithmetic may expand this a second time")
            self.pos = min(start + 2, self.end)

    def expanded_quotes(self) -> list[Part]:
        """Single quotes that are paired to find an end but hide nothing: their content is expanded."""
        start = self.pos
        stop = self.text.find("'", start + 1, self.end)
        if stop < 0:
            raise self.unclosed(start, "'")
        parts: list[Part] = []
        end = self.end
        add(parts, "'", True)
        self.pos, self.end = start + 1, stop
        try:
            while char := self.take(_quoted_run, parts, True):
                if char == '"':
                    raise Halt(UNMODELLED, self.pos, "quotes inside quotes inside an expansion are not followed")
                self.live_character(parts, '$`"\\}', True)
        except Halt as halt:
            raise Halt(UNMODELLED, halt.at, "quotes inside an expansion are not followed; write it without") from None
        self.pos, self.end = stop + 1, end
        add(parts, "'", True)
        return parts


def _unescaped(body: str, escapable: str) -> str:
    """The content of back-quotes, without the backslashes that belong to them."""

    def one(found: re.Match[str]) -> str:
        char: str = found[1]
        return "" if char == "\n" else char if char in escapable else found[0]

    return _back_escape.sub(one, body)


def _pairs(body: str) -> bool:
    """Whether the parentheses of what may be arithmetic pair up, quotes left out."""
    level = 0
    at = 0
    while at < len(body):
        char = body[at]
        if char == "(":
            level += 1
        elif char == ")":
            level -= 1
            if level < 0:
                return False
        elif char == "\\":
            at += 1
        elif char in "'\"":
            at = _quote_end(body, at)
        at += 1
    return level == 0


def _quote_end(body: str, at: int) -> int:
    """The end of the quote at `at`, or of the text."""
    quote = body[at]
    at += 1
    while at < len(body) and body[at] != quote:
        at += 2 if body[at] == "\\" and quote == '"' else 1
    return at


def _tangled(text: str) -> bool:
    return text.count("(") != text.count(")") or "'" in text or '"' in text or "\\" in text


def printed_right(script: Script) -> bool:
    """Whether the here-documents in the commands of a substitution are kept."""
    for command, join in zip(script.commands, script.joins, strict=True):
        documents = _documents(command)
        if documents is None or (documents and join not in ("\n", "")):
            return False
    return True


def _documents(command: Command) -> bool | None:
    """Whether it takes a here-document, or None if it is not simple enough to tell."""
    if isinstance(command, Simple):
        return any(redirect.op in ("<<", "<<-") for redirect in command.redirects)
    inner = [_documents(one) for one in command.commands] if isinstance(command, Pipeline) else []
    return None if not inner or None in inner or inner.count(True) > 1 else True in inner
