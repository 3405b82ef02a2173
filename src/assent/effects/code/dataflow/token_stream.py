"""A place in the tokens of a script: what is there, and where brackets and blocks end."""

from __future__ import annotations

from assent.effects.code.dataflow.nodes import HOLE, CodeFunction, CodeNodes, NameScope
from assent.effects.code.dataflow.script_tokens import MARK, NAME, TEXT, ScriptToken

OPENS = {"(": ")", "[": "]", "{": "}"}


class TokenStream:
    """A place in the tokens of a text, and the names that are bound there."""

    __slots__ = ("all", "at", "code", "depth", "end", "functions", "language", "pairs", "scope")

    def __init__(self, tokens: list[ScriptToken], language: str, code: CodeNodes, scope: NameScope) -> None:
        self.all = tokens
        self.language = language
        self.code = code
        self.scope = scope
        self.functions: list[CodeFunction] = []
        self.at = 0
        self.end = len(tokens)
        self.depth = 0
        self.pairs = _pairs(tokens)

    def word(self, ahead: int = 0) -> str:
        """The mark or name at a place; `""` if there is none or something else."""
        place = self.at + ahead
        if not 0 <= place < self.end:
            return ""
        token = self.all[place]
        return token.text if token.kind in (MARK, NAME) else " "

    def is_kind(self, kind: str, ahead: int = 0) -> bool:
        return self.at + ahead < self.end and self.all[self.at + ahead].kind == kind

    def new_line(self, ahead: int = 0) -> bool:
        return self.at + ahead >= self.end or self.all[self.at + ahead].line

    def spaced(self) -> bool:
        return self.at < self.end and self.all[self.at].space

    def take(self, word: str) -> bool:
        if self.word() == word:
            self.at += 1
            return True
        return False

    def close(self) -> int:
        """The place where the bracket here is closed, or the end."""
        return min(self.pairs.get(self.at, self.end), self.end)

    def close_of(self, place: int) -> int:
        return min(self.pairs.get(place, self.end), self.end)

    def literal(self) -> str:
        """The plain text here."""
        if self.is_kind(TEXT) and all(isinstance(part, str) for part in self.all[self.at].parts):
            self.at += 1
            return "".join(str(part) for part in self.all[self.at - 1].parts)
        return HOLE

    def angle(self) -> int:
        level = 0
        for place in range(self.at, min(self.end, self.at + 200)):
            word = self.all[place].text
            level += (word == "<") - (1 if word == ">" else 2 if word == ">>" else 3 if word == ">>>" else 0)
            if level <= 0:
                return place
        return self.at

    def until_end(self, indent: int) -> int:
        """The place of the `end` that begins a line at this depth."""
        for place in range(self.at, self.end):
            token = self.all[place]
            if token.text == "end" and token.line and token.indent <= indent:
                return place
        return self.end


def _pairs(tokens: list[ScriptToken]) -> dict[int, int]:
    """Where each bracket is closed; one that is not closed reaches to the end."""
    out: dict[int, int] = {}
    waiting: list[int] = []
    for place, token in enumerate(tokens):
        if token.kind != MARK:
            continue
        if token.text in OPENS:
            waiting.append(place)
        elif token.text in (")", "]", "}"):
            while waiting:
                opened = waiting.pop()
                out[opened] = place
                if OPENS[tokens[opened].text] == token.text:
                    break
    for opened in waiting:
        out[opened] = len(tokens)
    return out
