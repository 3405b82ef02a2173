"""The reader for sed and its scripts: which files they read and write, and whether they run commands."""

from __future__ import annotations

from assent.contract import DOTALL, Pattern
from assent.effects.shell.command import Arg
from assent.effects.shell.commands.command_effects import (
    EMPTIES,
    LONGEST,
    READ,
    WRITE,
    EffectsBuilder,
    Word,
    literal,
    shown,
    values,
)
from assent.effects.shell.commands.line import CommandLine
from assent.effects.shell.commands.options import parse

_EVERYDAY = Pattern(r"(?:(?:[0-9]+|\$)(?:,(?:[0-9]+|\$|\+[0-9]+))?!?[pdq=](?:[;\n ]+|$))+")
# A script that removes every line.
_DELETES_ALL = Pattern(
    r"\s*(?:[01](?:,\$|~1)|/\^?(?:\.\*?)?\$?/)?\s*(?:[dDQ]|c\\?.*)\s*|s([/|#,])\^?\.[*+]\$?\1\1g?", DOTALL
)
_BLANK = Pattern(r"[\s;]*")
_SPACE = Pattern(r"[ \t\r\f\v]*")
_NUMBERED = Pattern(r"[0-9]+(?:~[0-9]+)?|\$")
_SECOND = Pattern(r"[+~]?[0-9]+|\$")
_REGEX_FLAGS = Pattern(r"[IM]*")
_LINE = Pattern(r"[^\n]*")
_TEXT = Pattern(r"(?:[^\\\n]|\\(?:.|\n|$))*", DOTALL)
_BRACKET = Pattern(r"\[\^?\]?(?:[^][\\]|\[:[a-z]+:\]|\[\.[^]\n]*\.\]|\[=[^]\n]*=\]|\[(?![.:=])|\\(?!\]))*\]")
_END = Pattern(r"[ \t\r\f\v]*(?:[;\n]|(?=[}#])|$)")
_COUNT = Pattern(r"[ \t]*[0-9]*")
_FLAGS = Pattern(r"[gpiImM0-9]*")
_NOTHING = Pattern(r"")
# The commands that only edit and print, with their arguments.
_ARGUMENTS = {
    **dict.fromkeys("{}=dDgGhHnNpPxzF", _NOTHING),
    **dict.fromkeys("qQlL", _COUNT),
    **dict.fromkeys("btT:v", Pattern(r"[ \t\r\f\v]*[^\s;}]*")),
    **dict.fromkeys("aic", _TEXT),
    "#": _LINE,
}
_NO_END = frozenset("{aic#")  # those that need no separator after them
_DEPTH = 200

# A word that is a script in any position: `s/a/b/`, `/a/d`, `2,5d`.
_SCRIPT = Pattern(r"(?s)s([/|#,:@]).*\1.*\1.*|/.*/[!a-zA-Z].*|[0-9$][0-9,$]*[!a-zA-Z].*")


def sed(line: CommandLine) -> None:
    """Options as in the row; all scripts are read as one, and `-i` writes the files."""
    line.preamble()
    builder, parsed, files = line.builder, line.parsed, line.parsed.operands
    scripts: list[Word] = []
    for given in parsed.given:
        if given.option.role == "SED" and given.value is not None:
            scripts.append(given.value)
        elif not (given.option.writes and given.option.role == "TEXT"):
            line.option(given)
    in_place = [given for given in parsed.given if given.option.writes]
    if not any(given.option.drop for given in parsed.given):
        scripts, files = files[:1], files[1:]
        if in_place and scripts == [""] and files:  # BSD: the word after `-i` is its suffix
            scripts.append(files[0])
            # GNU: an empty script, which changes no file. So the script of BSD is not a changed file.
            files = files[1:] if _SCRIPT.fullmatch(literal(files[0]) or "") and len(files) > 1 else files
    sed_scripts(builder, scripts)
    strict = parse(line.words, line.row.options, line.more, style="posix")
    if strict.operands[:1] != scripts[:1] and not any(given.option.drop for given in strict.given):
        sed_scripts(builder, strict.operands[:1])  # BSD: options end at the first operand
    if in_place and _DELETES_ALL.fullmatch("\n".join(map(shown, scripts))):
        builder.danger(EMPTIES)
    for file in files:
        builder.path(READ, file)
        for given in in_place:
            builder.path(WRITE, file)
            _backup(builder, file, given.value)
    loose = [word for word in parsed.operands if isinstance(word, Arg) and word.splits]
    if in_place and any(word.kind not in ("paths", "files") for word in loose):
        builder.execute()


def _backup(builder: EffectsBuilder, file: Word, suffix: Word | None) -> None:
    name, end = literal(file), literal(suffix or "")
    if end and name is not None and "/" not in end and "*" not in end:
        builder.path(WRITE, name + end)
    elif end != "":
        builder.execute()


def sed_script(builder: EffectsBuilder, word: Word) -> None:
    sed_scripts(builder, [word])


def sed_scripts(builder: EffectsBuilder, words: list[Word]) -> None:
    """The scripts of one command, which sed joins by newlines; EXECUTE if they are not fully read."""
    known = all(literal(word) is not None for word in words)
    texts = ("\n".join(map(shown, words)),) if known and words else values(words[0]) if len(words) == 1 else (None,)
    for text in texts if words else ():
        if text is None or not (_EVERYDAY.fullmatch(text) or _Script(builder, text).read()):
            builder.execute()


class _Script:
    """Reads a script from left to right, and stops at the first unknown command."""

    __slots__ = ("at", "builder", "text")

    def __init__(self, builder: EffectsBuilder, text: str) -> None:
        self.builder = builder
        self.text = text
        self.at = 0

    def read(self) -> bool:
        if len(self.text) > LONGEST:
            return False
        depth = 0
        while True:
            self.skip(_BLANK)
            if self.at >= len(self.text):
                return True
            if not self.addresses():
                return False
            name = self.next()
            depth += (name == "{") - (name == "}")
            if depth > _DEPTH or not self.command(name):
                return False

    def next(self) -> str:
        self.at += 1
        return self.text[self.at - 1 : self.at]

    def skip(self, pattern: Pattern) -> str:
        match = pattern.match(self.text, self.at)
        assert match is not None
        self.at = match.end()
        return match[0]

    def addresses(self) -> bool:
        """At most two addresses and any `!` before a command."""
        if self.address(_NUMBERED):
            self.skip(_SPACE)
            if self.text[self.at : self.at + 1] == ",":
                self.at += 1
                self.skip(_SPACE)
                if not self.address(_SECOND):
                    return False
        elif self.text[self.at : self.at + 1] in ("/", "\\"):
            return False
        self.skip(_SPACE)
        while self.text[self.at : self.at + 1] == "!":
            self.at += 1
            self.skip(_SPACE)
        return True

    def address(self, plain: Pattern) -> bool:
        if match := plain.match(self.text, self.at):
            self.at = match.end()
            return True
        start, first = self.at, self.next()
        mark = self.next() if first == "\\" else first
        if first not in ("\\", "/") or mark in ("", "\n", "\\") or not self.delimited(mark, regex=True):
            self.at = start
            return False
        self.skip(_REGEX_FLAGS)
        return True

    def delimited(self, mark: str, *, regex: bool) -> bool:
        """Move past the next delimiter that is not escaped nor, in a regex, in brackets."""
        text = self.text
        while self.at < len(text):
            letter = text[self.at]
            if letter == mark:
                self.at += 1
                return True
            if letter == "\\":
                self.at += 2
            elif letter == "\n":
                return False
            elif letter == "[" and regex:
                bracket = _BRACKET.match(text, self.at)
                if bracket is None or "\n" in bracket[0]:
                    return False
                self.at = bracket.end()
            else:
                self.at += 1
        return False

    def command(self, name: str) -> bool:
        if name == "s":
            return self.substitute()
        if name == "y":
            mark = self.mark()
            return bool(mark) and self.delimited(mark, regex=False) and self.delimited(mark, regex=False) and self.end()
        if name not in _ARGUMENTS:
            return self.file_or_command(name)
        self.skip(_ARGUMENTS[name])
        return name in _NO_END or self.end()

    def file_or_command(self, name: str) -> bool:
        if name not in ("r", "R", "w", "W", "e"):
            return False
        rest = self.skip(_LINE).lstrip(" \t")
        if name == "e":
            self.runs(rest)
        elif rest:
            self.builder.path(READ if name in "rR" else WRITE, rest)
        return name == "e" or bool(rest)

    def mark(self) -> str:
        mark = self.next()
        return "" if mark in ("\n", "\\") else mark

    def substitute(self) -> bool:
        mark = self.mark()
        if not mark or not self.delimited(mark, regex=True) or not self.delimited(mark, regex=False):
            return False
        while True:
            self.skip(_FLAGS)
            flag = self.text[self.at : self.at + 1]
            if flag == "e":
                self.at += 1
                self.runs("")
            elif flag == "w":
                self.at += 1
                return self.file_or_command("w")
            else:
                return self.end()

    def runs(self, command: str) -> None:
        self.builder.execute()
        if command:
            self.builder.shell(command)

    def end(self) -> bool:
        """Whether the command ends here, as it must."""
        match = _END.match(self.text, self.at)
        self.at = match.end() if match is not None else self.at
        return match is not None
