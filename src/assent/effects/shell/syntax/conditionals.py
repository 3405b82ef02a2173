"""Reads `[[ … ]]`, which has a grammar of its own."""

from __future__ import annotations

from assent.contract import Pattern
from assent.effects.shell.syntax.commands import Commands
from assent.effects.shell.syntax.expansions import add
from assent.effects.shell.syntax.words import PATTERN
from assent.effects.shell.tree import Conditional, Literal, Part, Word

_unary = Pattern(r"-[abcdefghknoprstuvwxzGLNORS]\Z")
_BINARY = frozenset("= == != =~ < > -eq -ne -lt -le -gt -ge -nt -ot -ef".split())
_regex_run = Pattern(r"[^ \t\n&;()<>'\"`\\$*?\[|]++")


class Conditionals(Commands):
    __slots__ = ()

    def conditional(self) -> Conditional:
        """`[[ … ]]`, from its first bracket on."""
        start = self.pos
        self.pos += 2
        words: list[Word] = []
        level = 0
        while True:
            level = self.term(words, level)
            level = self.terms_end(words, level)
            if level < 0:
                return Conditional(tuple(words), self.redirects(), start, self.pos)

    def sign(self, words: list[Word], text: str) -> None:
        """Take an operator as a word."""
        words.append(Word((Literal(text),), text, self.pos, self.pos + len(text)))
        self.pos += len(text)

    def term(self, words: list[Word], level: int) -> int:
        """One test with what may stand before it; the number of parentheses then open."""
        while True:
            char = self.newlines()
            if char == "(":
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
        """An operator and its right side, if they stand behind the word."""
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
        """What stands behind a test; the number of parentheses then open, or -1 at the end of it all."""
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
            found = _regex_run.match(self.text, self.pos, self.end)
            if found is not None:
                self.pos = found.end()
                add(parts, found[0], False)
            char = self.peek()
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
