"""The reader for Python's command line. Its inline code is judged in `python_code`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assent.contract import Pattern
from assent.effects.code.python_code import judge
from assent.effects.shell.command import Arg
from assent.effects.shell.commands.command_effects import Seen, shown, values
from assent.effects.shell.commands.line import Line
from assent.effects.shell.commands.options import parse
from assent.programs.option import options_of

if TYPE_CHECKING:
    Word = str | Arg

_OPTIONS = options_of(
    """-b -B -d -E -i!acts -I -O -OO -P -q -s -S -u -v -x!acts -V!prints -VV!prints -h!prints -?!prints
    --help-all!prints --help-env!prints --help-xoptions!prints -W=TEXT -X=TEXT -c=TEXT -m=TEXT
    --check-hash-based-pycs=TEXT!acts"""
)
_CODE = Pattern(r"-[bBdEiIOPqsSuvx]*[cm]")
_VALUED = Pattern(r"-[bBdEiIOPqsSuvx]*[WX]")
_SETTING = Pattern(r"[a-z]+|utf8=[01]|dev|faulthandler|importtime")


def python(line: Line) -> None:
    """`python [options] [-c code | -m module | file | -] [words…]`."""
    seen = line.seen
    parsed = parse(_until_code(line.words), _OPTIONS, style="posix")
    seen.flags.update(parsed.flags)
    seen.operands.extend(shown(word) for word in parsed.operands)
    for given in parsed.given:
        line.option(given)
    settings = parsed.values("-W") + parsed.values("-X")
    if parsed.doubts or not all(isinstance(word, str) and _SETTING.fullmatch(word) for word in settings):
        seen.execute()
    seen.argv = tuple(line.words[len(_until_code(line.words)) :])
    code, module = parsed.values("-c"), parsed.values("-m")
    if code:
        python_code(seen, code[0], isolated=parsed.has("-I", "-P"))
    elif module:
        seen.execute()
    elif parsed.operands and shown(parsed.operands[0]) != "-":
        seen.script_file(parsed.operands[0])
    elif parsed.operands or not (parsed.helps or any(given.option.prints for given in parsed.given)):
        seen.execute()


def _until_code(words: list[Word]) -> list[Word]:
    """The words up to the value of the first `-c` or `-m`: what follows belongs to the code."""
    index = 0
    while index < len(words):
        text = words[index]
        if not isinstance(text, str) or not text.startswith("-") or text == "-":
            return words
        match = _CODE.match(text)
        if match:
            return words[: index + (1 if len(text) > match.end() else 2)]
        index += 2 if _VALUED.fullmatch(text) or text == "--check-hash-based-pycs" else 1
    return words


def python_code(seen: Seen, word: Word, *, isolated: bool = False) -> None:
    """Code in a word."""
    for text in values(word):
        if text is None:
            seen.execute()
        else:
            judge(seen, text, isolated=isolated)
