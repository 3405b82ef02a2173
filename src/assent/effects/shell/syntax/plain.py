"""Reads lines of plain words, whole quotes, plain redirects and the operators between commands: most commands that
agents run are no more than that. Anything else is left to the reader.

INVARIANT: where it answers, the answer is the reader's own (tests/unit/effects/shell/test_syntax_plain.py)."""

from __future__ import annotations

from assent.contract.memory import keep
from assent.contract.pattern import Pattern
from assent.effects.shell.tree import Literal, Pipeline, Redirect, Script, Simple, Word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from assent.effects.shell.tree import Command, Part

LONGEST = 4000
"""Characters; what is longer has time to be read."""

RESERVED = frozenset(
    "if then else elif fi case esac for select while until do done in function time { } ! [[ ]] coproc".split()
)
REMEMBERED, REMEMBERED_LENGTH = 1024, 24  # plain words, characters of one: texts are written with the same few
_remembered: dict[str, tuple[Part, ...]] = {}

_WORD = r"""[^ \t\n|&;()<>'"`\\$*?\[\]~{#!][^ \t\n|&;()<>'"`\\$*?\[\]~{]*+"""
_token = Pattern(
    rf"[ \t]*+(?:({_WORD})(?=[ \t;&|]|\Z)"
    r"""|('[^'\n]*+'|"[^"`$\\\n]*+")(?=[ \t;&|]|\Z)"""
    r"|(&&|\|\||[|;])"
    rf"|([0-9]?)(?:(>&)([0-9])|(>>?)[ \t]*+({_WORD}))(?=[ \t;&|]|\Z))"
)
_PLAIN, _QUOTED, _OPERATOR, _DUPLICATE = 1, 2, 3, 6  # the last group that took part
_OPERATORS = frozenset(("&&", "||", "|", ";"))
_SIGNS = frozenset(" \t\n|&;()<>'\"`\\$*?[]~{")
_LIVE = frozenset("`$\\\n")


def literal_parts(word: str) -> tuple[Part, ...]:
    """The parts of a word without quotes and expansions: itself. One object for all places where it stands."""
    parts = _remembered.get(word)
    if parts is None:
        parts = (Literal(word),)
        if len(word) <= REMEMBERED_LENGTH:
            keep(_remembered, word, parts, REMEMBERED)
    return parts


class _NotPlain(Exception):
    """The text holds something that is left to the reader."""


def read_plain(text: str) -> Script | None:
    """The tree of a text; None where it holds anything that is not plain."""
    line = _Line(text)
    try:
        if not line.by_words():
            line = _Line(text)
            line.by_tokens()
        return line.script()
    except _NotPlain:
        return None


class _Line:
    """Commands in the making: those that are whole, and the words of the one that is being read up to `pos`."""

    __slots__ = ("text", "pos", "commands", "joins", "members", "words", "redirects")

    def __init__(self, text: str) -> None:
        self.text = text
        self.pos = 0
        self.commands: list[Command] = []
        self.joins: list[str] = []
        self.members: list[Command] = []
        self.words: list[Word] = []
        self.redirects: list[Redirect] = []

    def by_words(self) -> bool:
        """Read words that blanks set apart; False where it takes more than that. Needs no pattern."""
        text = self.text
        length = len(text)
        at = 0
        while at < length:
            first = text[at]
            if first == " ":
                at += 1
                continue
            if first == "'" or first == '"':
                end = text.find(first, at + 1) + 1
                body = text[at + 1 : end - 1]
                if not end or "\n" in body or (first == '"' and not _LIVE.isdisjoint(body)) or not self._ends(end):
                    return False
                self.quoted(at, end)
            else:
                end = text.find(" ", at)
                word = text[at : end if end >= 0 else length]
                if word in _OPERATORS:
                    self.operator(word, at + len(word))
                else:
                    word = word[:-1] if word[-1] == ";" else word
                    if not _SIGNS.isdisjoint(word) or first in "#!":
                        return False
                    self.word(word, at, at + len(word))
            at = self.pos
        return True

    def _ends(self, pos: int) -> bool:
        """Whether a word may end here."""
        return pos == len(self.text) or self.text[pos] in " \t;&|"

    def by_tokens(self) -> None:
        """Read any plain words and redirects."""
        text = self.text
        while (found := _token.match(text, self.pos)) is not None:
            kind = found.lastindex
            if kind == _PLAIN:
                self.word(found[1], *found.span(1))
            elif kind == _QUOTED:
                self.quoted(*found.span(2))
            elif kind == _OPERATOR:
                self.operator(found[3], found.end())
            else:
                sign, target = (found[5], 6) if kind == _DUPLICATE else (found[7], 8)
                self.redirect(sign, found[4], found.start(4), found[target], *found.span(target))
        if text[self.pos :].strip(" \t"):
            raise _NotPlain

    def word(self, word: str, begin: int, end: int) -> None:
        if not self.words and (word in RESERVED or ("=" in word and _assigns(word))):
            raise _NotPlain
        self.words.append(Word(literal_parts(word), word, begin, end))
        self.pos = end

    def quoted(self, begin: int, end: int) -> None:
        if not self.words:
            raise _NotPlain
        text = self.text[begin:end]
        self.words.append(Word((Literal(text[1:-1], True),), text, begin, end))
        self.pos = end

    def operator(self, sign: str, end: int) -> None:
        if not self.words:
            raise _NotPlain
        self._simple()
        self.words, self.redirects = [], []
        if sign != "|":
            self._joined(sign)
        self.pos = end

    def redirect(self, sign: str, descriptor: str, start: int, name: str, begin: int, end: int) -> None:
        if not self.words:
            raise _NotPlain
        target = Word(literal_parts(name), name, begin, end)
        self.redirects.append(Redirect(sign, descriptor, target, start=start, end=end))
        self.pos = end

    def _simple(self) -> None:
        words = tuple(self.words)
        self.members.append(Simple((), words, tuple(self.redirects), words[0].start, self.pos))

    def _joined(self, sign: str) -> None:
        members = self.members
        self.commands.append(
            members[0] if len(members) == 1 else Pipeline(tuple(members), merges=(False,) * (len(members) - 1))
        )
        self.joins.append(sign)
        self.members = []

    def script(self) -> Script:
        if self.words:
            self._simple()
            self._joined("")
        elif self.members or not self.joins or self.joins[-1] != ";":
            raise _NotPlain
        return Script(tuple(self.commands), tuple(self.joins))


def _assigns(word: str) -> bool:
    """Whether a word at the beginning of a command is an assignment. Subscripts are no plain words."""
    name = word.partition("=")[0].removesuffix("+")
    return name.isidentifier() and name.isascii()
