"""Reads compound commands, `[[ … ]]` and function definitions: the whole reader."""

from __future__ import annotations

from assent.contract import Pattern
from assent.effects.shell.syntax.commands import RESERVED, Commands
from assent.effects.shell.syntax.source import SYNTAX, UNMODELLED, Halt
from assent.effects.shell.syntax.words import PATTERN
from assent.effects.shell.tree import (
    Arithmetic,
    ArithmeticCommand,
    CaseCommand,
    Command,
    Conditional,
    Coproc,
    For,
    ForArithmetic,
    Function,
    Group,
    If,
    Literal,
    Loop,
    Part,
    Script,
    Simple,
    Word,
)

_name = Pattern(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_starters = frozenset("if case for select while until { [[".split())
_unary = Pattern(r"-[abcdefghknoprstuvwxzGLNORS]\Z")
_BINARY = frozenset("= == != =~ < > -eq -ne -lt -le -gt -ge -nt -ot -ef".split())
_regex_run = Pattern(r"[^ \t\n&;()<>'\"`\\$*?\[|]++")


class ShellReader(Commands):
    __slots__ = ()

    def compound(self, word: str) -> Command:
        self.deepen()
        command = self.compounds(word)
        self.depth -= 1
        return command

    def compounds(self, word: str) -> Command:
        match word:
            case "":
                return self.parenthesized()
            case "{":
                return self.group()
            case "if":
                return self.conditional_lists()
            case "while" | "until":
                return self.loop()
            case "for" | "select":
                return self.each(word)
            case "case":
                return self.case()
            case "[[":
                return self.conditional()
            case "function":
                return self.declared_function()
            case "coproc":
                return self.coproc()
        raise self.unexpected()

    def expect(self, word: str) -> None:
        """Step over the reserved word, which must be here."""
        self.skip()
        if self.reserved() != word:
            raise self.unexpected()
        self.pos += len(word)

    # ------------------------------------------------------------ groups and arithmetic

    def group(self) -> Group:
        self.pos += 1
        body = self.nonempty_script()
        self.expect("}")
        return Group(body, False, self.redirects())

    def parenthesized(self) -> Command:
        """`(…)` or `((…))`. A `((` that no `))` closes is two subshells."""
        start = self.pos
        if self.text.startswith("((", start):
            expression = self.double_parenthesis(start)
            if expression is not None:
                return ArithmeticCommand(expression, self.redirects())
            self.rereading()
        self.pos = start + 1
        body = self.nonempty_script()
        if self.skip() != ")":
            raise self.unclosed(start, "(") if self.pos >= self.end else self.unexpected()
        self.pos += 1
        return Group(body, True, self.redirects())

    def double_parenthesis(self, start: int) -> Arithmetic | None:
        """`((…))`, from its first parenthesis on; None if it is none."""
        self.pos = start + 2
        gaps = len(self.gaps)
        text, parts = self.arithmetic("(", ")", start)
        if self.peek() == ")":
            self.pos += 1
            return Arithmetic(text, parts)
        del self.gaps[gaps:]
        if self.peek() == "\\" or "#" in text or "<<" in text or "\\\n" in text:
            raise Halt(UNMODELLED, start, "`((` begins here and is not arithmetic; write `( (`")
        return None

    # ------------------------------------------------------------ if and loops

    def conditional_lists(self) -> If:
        self.pos += 2
        arms: list[tuple[Script, Script]] = []
        otherwise = None
        while True:
            condition = self.nonempty_script()
            self.expect("then")
            arms.append((condition, self.nonempty_script()))
            self.skip()
            word = self.reserved()
            if word == "elif":
                self.pos += 4
                continue
            if word == "else":
                self.pos += 4
                otherwise = self.nonempty_script()
            self.expect("fi")
            return If(tuple(arms), otherwise, self.redirects())

    def loop(self) -> Loop:
        self.pos += 5
        condition = self.nonempty_script()
        return Loop(condition, self.each_body(False), self.redirects())

    def each(self, word: str) -> Command:
        start = self.pos
        self.pos += len(word)
        if self.skip() == "(" and word == "for":
            return self.counting(start)
        name = self.word(0)
        if not _name.match(name.text):
            raise Halt(UNMODELLED, name.start, "bash refuses this name of a loop variable; correct it")
        words, separated = self.each_words()
        return For(name.text, words, self.each_body(separated), word == "select", self.redirects())

    def each_words(self) -> tuple[tuple[Word, ...] | None, bool]:
        """The words after `in`, and whether a separator comes before the body."""
        before = self.pos
        if self.skip() == ";":
            self.pos += 1
            self.newlines()
            return None, True
        self.newlines()
        broken = "\n" in self.text[before : self.pos].replace("\\\n", "")
        if self.reserved() != "in":
            return None, broken
        self.pos += 2
        words: list[Word] = []
        while (char := self.skip()) and char not in "\n;#":
            self.no_descriptor()
            words.append(self.word())
        if char == ";":
            self.pos += 1
        self.newlines()
        return tuple(words), True

    def each_body(self, separated: bool) -> Script:
        opening, closing = ("{", "}") if separated and self.reserved() == "{" else ("do", "done")
        self.expect(opening)
        body = self.nonempty_script()
        self.expect(closing)
        return body

    def counting(self, start: int) -> ForArithmetic:
        if not self.text.startswith("((", self.pos):
            raise self.unexpected()
        expression = self.double_parenthesis(self.pos)
        if expression is None:
            raise Halt(UNMODELLED, start, "the expressions of this loop are not followed")
        if expression.text.count(";") != 2:
            code = UNMODELLED if expression.parts else SYNTAX
            raise Halt(code, start, "a counting loop takes three expressions; write it so")
        if self.skip() == ";":
            self.pos += 1
        self.newlines()
        return ForArithmetic(expression, self.each_body(True), self.redirects())

    # ------------------------------------------------------------ case

    def case(self) -> CaseCommand:
        self.pos += 4
        self.skip()
        self.no_descriptor()
        word = self.word(0)
        self.newlines()
        self.expect("in")
        arms: list[tuple[tuple[Word, ...], Script]] = []
        more = True
        while True:
            char = self.newlines()
            if self.reserved() == "esac":
                self.pos += 4
                return CaseCommand(word, tuple(arms), self.redirects())
            if not more:
                raise self.unexpected()
            if char == "(":
                self.pos += 1
            arms.append((self.patterns(), self.script()))
            more = self.arm_ends()

    def patterns(self) -> tuple[Word, ...]:
        out: list[Word] = []
        while True:
            self.skip()
            self.no_descriptor()
            out.append(self.word(0))
            if out[-1].text == "esac":
                self.gap(UNMODELLED, out[-1].start, "the pattern `esac` is not followed; quote it")
            char = self.skip()
            self.pos += 1
            if char == ")":
                return tuple(out)
            if char != "|" or self.peek() in ("|", "&"):
                self.pos -= 1
                raise self.unexpected()

    def arm_ends(self) -> bool:
        """Step over `;;`, `;&` or `;;&`; false if there is none: this was the last arm."""
        self.skip()
        for sign in (";;&", ";;", ";&"):
            if self.text.startswith(sign, self.pos) and self.pos + len(sign) <= self.end:
                self.pos += len(sign)
                return True
        return False

    # ------------------------------------------------------------ functions and coprocesses

    def function(self, name: Word, start: int) -> Function:
        self.deepen()
        self.pos += 1
        if self.skip() != ")":
            raise self.unexpected()
        self.pos += 1
        self.newlines()
        body = self.function_body()
        self.depth -= 1
        return self.named(name, body, start)

    def declared_function(self) -> Function:
        start = self.pos
        self.pos += 8
        self.skip()
        self.no_descriptor()
        name = self.word(0)
        if self.skip() == "(":
            before = self.pos
            self.pos += 1
            if self.skip() == ")":
                self.pos += 1
            else:
                self.pos = before
        self.newlines()
        return self.named(name, self.function_body(), start)

    def function_body(self) -> Command:
        word = self.reserved()
        if word not in _starters and self.peek() != "(":
            raise self.unexpected()
        return self.compounds(word)

    def named(self, name: Word, body: Command, start: int) -> Function:
        if name.text in RESERVED or any(sign in name.text for sign in "'\"\\$`<>"):
            self.gap(UNMODELLED, start, "bash refuses this name of a function; correct it")
        return Function(name.text, body, start, self.pos)

    def coproc(self) -> Coproc:
        start = self.pos
        if self.closing:
            self.gap(UNMODELLED, start, "a coprocess in a substitution is not followed")
        self.pos += 6
        self.skip()
        word = self.reserved()
        if word in _starters or self.peek() == "(":
            return Coproc("COPROC", self.compounds(word))
        if word and word != "time":
            raise self.unexpected()
        begin = self.pos
        gaps = len(self.gaps)
        first = self.word() if self.peek() not in ("<", ">", "&") else None
        char = self.skip()
        word = self.reserved()
        if first is not None and (word or char == "("):
            if word and word not in _starters:
                raise self.unexpected()
            if not _name.match(first.text):
                raise Halt(UNMODELLED, begin, "the name of this coprocess is not followed")
            return Coproc(first.text, self.compounds(word))
        del self.gaps[gaps:]
        self.rereading()
        self.pos = begin
        command = self.simple()
        if not isinstance(command, Simple):
            raise self.unexpected()
        return Coproc("COPROC", command)

    # ------------------------------------------------------------ conditional expressions

    def conditional(self) -> Conditional:
        self.pos += 2
        words: list[Word] = []
        level = 0
        while True:
            level = self.terms_end(words, self.term(words, level))
            if level < 0:
                return Conditional(tuple(words), self.redirects())

    def sign(self, words: list[Word], text: str) -> None:
        words.append(Word((Literal(text),), text, self.pos, self.pos + len(text)))
        self.pos += len(text)

    def term(self, words: list[Word], level: int) -> int:
        """One test with its prefix; returns the number of parentheses then open."""
        while True:
            if self.newlines() == "(":
                level += 1
                self.sign(words, "(")
                continue
            word = self.operand_word()
            words.append(word)
            if word.text == "!":
                continue
            if _unary.match(word.text):
                self.skip()
                words.append(self.operand_word())
            else:
                self.comparison(words)
            return level

    def operand_word(self, flags: int = 0) -> Word:
        """A word of a test; `]]` and numbers before `<` are none."""
        self.no_descriptor()
        if self.peek() == "#":
            raise self.unexpected()
        start = self.pos
        word = self.word(flags)
        if word.text == "]]":
            self.pos = start
            raise self.unexpected()
        return word

    def comparison(self, words: list[Word]) -> None:
        """An operator and its right side, if they follow the word."""
        char = self.skip()
        if self.reserved() == "]]" or char == ")" or self.text.startswith(("&&", "||"), self.pos):
            return
        if char in ("<", ">") and not self.text.startswith(("(", "<", ">", "&", "|"), self.pos + 1):
            self.sign(words, char)
        else:
            operator = self.operand_word()
            if operator.text not in _BINARY:
                self.pos = operator.start
                raise self.unexpected()
            words.append(operator)
        operator_text = words[-1].text
        self.skip()
        if operator_text == "=~":
            words.append(self.regex())
        else:
            words.append(self.operand_word(PATTERN if operator_text in ("=", "==", "!=") else 0))

    def terms_end(self, words: list[Word], level: int) -> int:
        """Read the text after a test; returns the number of parentheses then open, or -1 at the end."""
        while True:
            char = self.newlines()
            if char == ")" and level:
                level -= 1
                self.sign(words, ")")
            elif self.text.startswith(("&&", "||"), self.pos):
                self.sign(words, char + char)
                return level
            elif self.reserved() == "]]" and not level:
                self.pos += 2
                return -1
            else:
                raise self.unexpected()

    def regex(self) -> Word:
        """The right side of `=~`: parentheses and bars belong to it, and blanks inside parentheses."""
        start = self.pos
        parts: list[Part] = []
        if self.peek() == "#":
            raise self.unexpected()
        while True:
            char = self.take(_regex_run, parts, False)
            if not char or char in " \t\n&;)":
                break
            if char == "(":
                self.parentheses(parts)
            elif char in "<>" and not self.text.startswith("(", self.pos + 1):
                break
            else:
                self.special(parts, char, False)
        text = self.text[start : self.pos]
        if not text or text == "]]":
            self.pos = start
            raise self.unexpected()
        return Word(tuple(parts), text, start, self.pos)
