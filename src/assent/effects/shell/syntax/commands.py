"""Reads lists, pipelines, simple commands and redirects. The compound commands are read by the class built on this."""

from __future__ import annotations

from assent.contract import Pattern, keep
from assent.effects.shell.syntax.source import EXTGLOB, LIMIT, SYNTAX, UNMODELLED, WORDS, Halt
from assent.effects.shell.syntax.words import BRACES, VALUE, Words
from assent.effects.shell.tree import Assignment, Command, Literal, Part, Pipeline, Redirect, Script, Simple, Word

RESERVED = frozenset(
    "if then else elif fi case esac for select while until do done in function time { } ! [[ ]] coproc".split()
)
CLOSERS = frozenset("then else elif fi esac do done in } ]]".split())
_DECLARES = frozenset("declare typeset local export readonly".split())
_ARRAY_ARGUMENT = frozenset("alias eval let".split())

plain = Pattern(r"[ \t]*+([^ \t\n|&;()<>'\"`\\$*?\[\]~{#!][^ \t\n|&;()<>'\"`\\$*?\[\]~{]*+)(?=[ \t\n;&|)]|\Z)")
quoted = Pattern(r"""[ \t]*+('[^'\n]*+'|"[^"`$\\\n]*+")(?=[ \t\n;&|)]|\Z)""")
reserved = Pattern(r"(?:[a-z]++|[{}!]|\[\[|\]\])(?=[ \t\n;&|()]|[<>](?!\()|\Z)")
_NOT_PLAIN = frozenset("\n|&;()<>'\"`\\$*?[]~{#!")  # what `plain` cannot begin with
_MAY_BE_QUOTED = frozenset("'\" \t")  # what `quoted` begins with, or a blank before it
_descriptor = Pattern(r"([0-9]++|\{[A-Za-z_][A-Za-z0-9_]*+\})(?=[<>](?!\())")
_array_descriptor = Pattern(r"\{[A-Za-z_][A-Za-z0-9_]*+\[[^ \t\n<>]*\]\}(?=[<>])")
_redirection = Pattern(r"<<<|<<-|<<|<&|<>|<|>>|>&|>\||>|&>>|&>")
assignment = Pattern(r"([A-Za-z_][A-Za-z0-9_]*+)(?:(\+?)=|(\[))")
_sign = Pattern(r"(\+?)=")

_DESCRIBING = tuple("{0123456789")
_INITIALS = frozenset(word[0] for word in RESERVED)
REMEMBERED, REMEMBERED_LENGTH = 1024, 24  # plain words, characters of one: texts repeat the same few
_remembered: dict[str, tuple[Part, ...]] = {}


def literal_parts(word: str) -> tuple[Part, ...]:
    """The parts of a word without quotes and expansions: itself. One shared object for all occurrences."""
    parts = _remembered.get(word)
    if parts is None:
        parts = (Literal(word),)
        if len(word) <= REMEMBERED_LENGTH:
            keep(_remembered, word, parts, REMEMBERED)
    return parts


class Commands(Words):
    __slots__ = ()

    def compound(self, word: str) -> Command:
        raise NotImplementedError

    def function(self, name: Word, start: int) -> Command:
        raise NotImplementedError

    # ------------------------------------------------------------ lists

    def newlines(self) -> str:
        """Skip white space, comments and newlines; return the next character."""
        while True:
            char = self.skip()
            if char == "\n":
                self.newline()
            elif char == "#":
                self.comment()
            else:
                return char

    def comment(self) -> None:
        stop = self.text.find("\n", self.pos, self.end)
        self.pos = stop if stop >= 0 else self.end

    def script(self) -> Script:
        """Commands up to text that cannot begin one; maybe none."""
        commands: list[Command] = []
        joins: list[str] = []
        self.fill(commands, joins, False)
        return Script(tuple(commands), tuple(joins))

    def nonempty_script(self) -> Script:
        """Commands up to text that cannot begin one; at least one."""
        script = self.script()
        if not script.commands:
            raise self.unexpected()
        return script

    def lines(self) -> Script:
        """A whole text, as bash reads it: line by line, each run before the next is read.

        If a line is refused, those before it have run."""
        commands: list[Command] = []
        joins: list[str] = []
        base, depth = self.base, self.depth
        while True:
            mark = len(commands)
            try:
                if not self.newlines():
                    break
                self.fill(commands, joins, True)
            except Halt as halt:
                del commands[mark:], joins[mark:]
                commands += halt.kept
                joins += [";"] * len(halt.kept)
                self.gap(halt.code, halt.at, halt.advice)
                self.base, self.depth = base, depth
                del self.pending[base:]
                break
        return Script(tuple(commands), tuple(joins))

    def fill(self, commands: list[Command], joins: list[str], line: bool) -> None:
        """Append commands up to text that cannot begin one; with `line`, up to the required end of the line."""
        mark = len(commands)
        try:
            while True:
                char = self.newlines()
                ends = not char or char in ");|" or (char == "&" and not self.text.startswith(">", self.pos + 1))
                command = None if ends else self.pipeline()
                if command is None:
                    if (joins and len(joins) > mark and joins[-1] in ("&&", "||")) or (line and char):
                        raise self.unexpected()
                    break
                commands.append(command)
                join = self.separator()
                joins.append(join)
                if line and join != "&&" and join != "||" and self.line_ends(join):
                    break
                if not join:
                    break
        except Halt as halt:
            if halt.code is not SYNTAX or self.cut:
                halt.kept = commands[mark:] + halt.kept
            raise
        if len(self.pending) > self.base and self.pos >= self.end:
            self.read_documents()

    def line_ends(self, join: str) -> bool:
        """At the top level, after a command: whether its line ends here. Refuses a line that cannot go on."""
        if join == "\n":
            return True
        char = self.skip()
        if char == "#":
            self.comment()
            char = self.peek()
        if char == "\n":
            self.newline()
            return True
        if char and not join:
            raise self.unexpected()
        return not char

    def separator(self) -> str:
        """Step over the separator of two commands: `;`, a newline, `&`, `&&`, `||`, or nothing."""
        char = self.skip()
        if char == "#":
            self.comment()
            char = self.peek()
        if char == "\n":
            self.newline()
            return "\n"
        text, after = self.text, self.pos + 1
        if char == ";":
            if text.startswith((";", "&"), after) and after < self.end:
                return ""
            self.pos = after
            return ";"
        if char == "&" or char == "|":
            if text.startswith(char, after) and after < self.end:
                self.pos += 2
                return char + char
            if char == "&":
                self.pos = after
                return "&"
        return ""

    # ------------------------------------------------------------ pipelines

    def pipeline(self) -> Command | None:
        """A pipeline, or nothing if a reserved word closes the enclosing command."""
        negated = timed = False
        word = self.reserved()
        while word == "!" or word == "time":
            if word == "!":
                if self.text.startswith("(", self.pos + 1):
                    self.gap(EXTGLOB, self.pos, "`!(` depends on a shell option; write `! (`")
                negated = not negated
                self.pos += 1
            else:
                timed = True
                self.pos += 4
                self.time_options()
            char = self.skip()
            if not char or char in "\n;#":
                if self.closing:
                    self.gap(
                        UNMODELLED, self.pos, "a reserved word without a command in a substitution is not followed"
                    )
                return Pipeline((), negated, timed)
            word = self.reserved()
        if word in CLOSERS:
            if negated or timed:
                raise self.unexpected()
            return None
        first = self.command(word)
        if not self.piped():
            return Pipeline((first,), negated, timed) if negated or timed else first
        commands, merges = [first], []
        while self.piped():
            merges.append(self.text.startswith("&", self.pos + 1))
            self.pos += 2 if merges[-1] else 1
            self.newlines()
            word = self.reserved()
            if word in CLOSERS or word == "!":
                raise self.unexpected()
            commands.append(self.command("" if word == "time" else word))
        return Pipeline(tuple(commands), negated, timed, tuple(merges))

    def reserved(self) -> str:
        """The reserved word at `pos`, or nothing; it is not stepped over."""
        if self.peek() not in _INITIALS:
            return ""
        found = reserved.match(self.text, self.pos, self.end)
        return found[0] if found is not None and found[0] in RESERVED else ""

    def time_options(self) -> None:
        for option in ("-p", "--"):
            self.skip()
            if self.text.startswith(option, self.pos) and self.pos + 2 <= self.end:
                self.pos += 2
                if not self.word_ends():
                    self.pos -= 2

    def piped(self) -> bool:
        return self.skip() == "|" and not self.text.startswith("|", self.pos + 1)

    def command(self, word: str) -> Command:
        """The command at `pos`, which begins with the reserved `word` or with none."""
        return self.compound(word) if word or self.peek() == "(" else self.simple()

    # ------------------------------------------------------------ simple commands

    def simple(self) -> Command:
        """A simple command, or a function definition that begins like one."""
        text, end = self.text, self.end
        start = pos = self.pos
        assignments: list[Assignment] = []
        words: list[Word] = []
        redirects: list[Redirect] = []
        opening = True  # assignments are still read as such, with subscripts and arrays
        while True:
            at = pos + 1 if pos < end and text[pos] == " " else pos
            char = text[at] if at < end else ""
            found = plain.match(text, pos, end) if char and char not in _NOT_PLAIN else None
            if found is not None:
                word = found[1]
                if words or "=" not in word or assignment.match(word) is None:
                    pos = found.end()
                    words.append(Word(literal_parts(word), word, pos - len(word), pos))
                    continue
            elif words and char in _MAY_BE_QUOTED:
                found = quoted.match(text, pos, end)
                if found is not None:
                    begin, pos = found.span(1)
                    words.append(Word((Literal(text[begin + 1 : pos - 1], True),), found[1], begin, pos))
                    continue
            self.pos = pos
            char = self.skip()
            if not char or char in "\n;|)#":
                break
            text = self.text
            if char == "&" and not text.startswith(">", self.pos + 1):
                break
            if char == "(":
                if len(words) == 1 and not assignments and not redirects:
                    return self.function(words[0], start)
                if words and words[0].text in _DECLARES and text[self.pos - 1] == "=":
                    raise Halt(UNMODELLED, self.pos, "this array is not followed; declare it apart")
                raise self.unexpected()
            if self.redirected(char):
                redirects.append(self.redirect())
                opening = opening and not assignments and not words
            elif char == "{" and _array_descriptor.match(text, self.pos, end) is not None:
                raise Halt(UNMODELLED, self.pos, "a descriptor kept in an array is not followed")
            elif words:
                self.argument(words, assignments, opening)
            elif not self.assign(assignments, opening):
                words.append(self.word())
            text, pos = self.text, self.pos
        if not words and not assignments and not redirects:
            raise self.unexpected()
        if (redirects or assignments) and words and words[0].text in RESERVED:
            self.gap(UNMODELLED, words[0].start, "a reserved word as the name of a command is not followed; quote it")
        if len(words) > WORDS:
            raise Halt(LIMIT, start, "too many words; split the command")
        self.count_command()
        return Simple(tuple(assignments), tuple(words), tuple(redirects), start, pos)

    def argument(self, words: list[Word], assignments: list[Assignment], opening: bool) -> None:
        """A word after the first. Declarations take arrays there, which are assignments."""
        found = assignment.match(self.text, self.pos, self.end)
        if opening and found is not None and found[3] is None and self.text.startswith("(", found.end()):
            first = words[0].text
            if first in _DECLARES:
                assignments.append(self.array(found[1], found[2] == "+", found.end() + 1))
                return
            if first in _ARRAY_ARGUMENT:
                raise Halt(UNMODELLED, self.pos, f"an array as an argument of `{first}` is not followed")
        words.append(self.word())

    def assign(self, assignments: list[Assignment], opening: bool) -> bool:
        """An assignment at `pos`, if one is there. Subscripts and arrays are known only while `opening`."""
        start = self.pos
        found = assignment.match(self.text, start, self.end)
        if found is None:
            return False
        name, append, subscript = found[1], found[2] == "+", None
        self.pos = found.end()
        if found[3] is not None:
            if not opening:
                raise Halt(UNMODELLED, start, "an assignment to an element after a redirect is not followed")
            self.pos -= 1
            subscript = self.subscript(start)
            sign = _sign.match(self.text, self.pos, self.end)
            if sign is None:
                if any(char in subscript.text for char in " \t\n|&;()<>'\"`$\\"):
                    raise Halt(UNMODELLED, start, "a command name with a bracket is not followed")
                self.pos = start
                return False
            append = sign[1] == "+"
            self.pos = sign.end()
        if self.peek() == "(":
            if not opening:
                raise self.unexpected()
            if subscript is not None:
                raise Halt(UNMODELLED, start, "an array cannot be an element of an array")
            assignments.append(self.array(name, append, self.pos + 1, start))
            return True
        value = self.value()
        assignments.append(Assignment(name, value, append=append, subscript=subscript, start=start, end=self.pos))
        return True

    def value(self) -> Word:
        begin = self.pos
        return Word(tuple(self.parts(VALUE)), self.text[begin : self.pos], begin, self.pos)

    def array(self, name: str, append: bool, inside: int, start: int = -1) -> Assignment:
        """`name=(…)`; `inside` is after its parenthesis."""
        start = self.pos if start < 0 else start
        self.pos = inside
        items: list[Word] = []
        while True:
            before, waiting = self.pos, len(self.pending) > self.base
            char = self.newlines()
            if waiting and "\n" in self.text[before : self.pos]:
                raise Halt(UNMODELLED, start, "a here-document and an array of several lines; write two commands")
            if char == ")":
                self.pos += 1
                if self.closing and "\\" in self.text[start : self.pos].replace("\\\n", ""):
                    # bash takes the character after the backslash for a quote or an operator here
                    raise Halt(UNMODELLED, start, "a backslash in an array in a substitution is not followed; quote it")
                if not self.word_ends():
                    raise Halt(UNMODELLED, self.pos, "with more text after it this is no array; write a blank")
                return Assignment(name, None, append=append, items=tuple(items), start=start, end=self.pos)
            if char == "[":
                items.append(self.item())
            else:
                self.no_descriptor()
                items.append(self.word())

    def word_ends(self) -> bool:
        char = self.peek()
        return not char or char in " \t\n;&|()" or (char in "<>" and not self.text.startswith("(", self.pos + 1))

    def item(self) -> Word:
        """An item of an array that begins with `[`: `[subscript]=value`, or a pattern."""
        begin = self.pos
        subscript = self.subscript(begin)
        sign = _sign.match(self.text, self.pos, self.end)
        if sign is None:
            self.pos = begin
            return self.word()
        self.pos = sign.end()
        parts = (Literal("["), *subscript.parts, Literal("]" + sign[0]), *self.parts(VALUE))
        return Word(parts, self.text[begin : self.pos], begin, self.pos)

    # ------------------------------------------------------------ redirects

    def redirected(self, char: str) -> bool:
        """Whether a redirect begins with the `char` at `pos`."""
        if char == "<" or char == ">":
            return not self.text.startswith("(", self.pos + 1)
        if char == "&":
            return self.text.startswith(">", self.pos + 1)
        return char in _DESCRIBING and _descriptor.match(self.text, self.pos, self.end) is not None

    def redirect(self) -> Redirect:
        start = self.pos
        found = _descriptor.match(self.text, start, self.end)
        fd = ""
        if found is not None:
            fd = found[1]
            self.pos = found.end()
            if self.spliced:
                self.lift_continuations()
        sign = _redirection.match(self.text, self.pos, self.end)
        assert sign is not None  # the callers checked
        op = sign[0]
        self.pos = sign.end()
        char = self.skip()
        duplicates = op == ">&" or op == "<&"
        if char == "#":
            raise self.unexpected()
        if not duplicates or char == "{":
            self.no_descriptor()
        if op == "<<" or op == "<<-":
            return self.begin_document(op, fd, start)
        if char == "-" and duplicates:  # the word after it is another word
            target = Word((Literal("-"),), "-", self.pos, self.pos + 1)
            self.pos += 1
        else:
            target = self.word(0 if op == "<<<" else BRACES)
        return Redirect(op, fd, target, start=start, end=self.pos)

    def no_descriptor(self) -> None:
        """For a place that needs a word: digits or a `{name}` directly before a redirection are none."""
        if self.peek() in _DESCRIBING and _descriptor.match(self.text, self.pos, self.end) is not None:
            raise self.unexpected()

    def redirects(self) -> tuple[Redirect, ...]:
        """The redirects after a compound command. Only the end of a command may follow them."""
        out: list[Redirect] = []
        end = self.pos
        while True:
            char = self.skip()
            if not self.redirected(char):
                break
            out.append(self.redirect())
            end = self.pos
        if out and char and char not in "\n;&|)#":
            raise self.unexpected()
        self.pos = end
        return tuple(out)
