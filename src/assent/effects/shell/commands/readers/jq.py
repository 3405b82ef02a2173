"""Readers for jq and yq: filters read what they are given, unless they ask for the environment or other files."""

from __future__ import annotations

from assent.contract.pattern import Pattern
from assent.effects.shell.command import Arg
from assent.effects.shell.commands.readers.environment import PLAIN
from assent.effects.shell.commands.seen import READ, WRITE, Seen, values

TYPE_CHECKING = False
if TYPE_CHECKING:
    from assent.effects.shell.commands.see import Line

    Word = str | Arg

_SUSPECT = Pattern(r"env|ENV|import|include|load|eval|system|getpath|search|input_|debug|stderr|exec|modulemeta")
_FILE = Pattern(r"[\w./~+-]+")
_STRING = Pattern(r'"[^"\\]*"')
_ENVIRON = Pattern(r"\$ENV\b|(?<![.\w$@])(?:str|str_)?env(?:subst)?\b(?!\s*:)|\$__prog\w*")
_NAMED = Pattern(r"(?:\$ENV|(?<![.\w$@])env)\.([A-Za-z_]\w*)|(?<![.\w$@])(?:str)?env\(\s*\"?([A-Za-z_]\w*)\"?\s*\)")
_FILES = Pattern(r"(?<![.\w$@])(?:import|include|load\w*|modulemeta|get_search_list)\b")
_CODE = Pattern(r"(?<![.\w$@])(?:system|exec|eval)\b")


def jq(line: Line) -> None:
    """The row's roles say it all: the filter has the role JQ."""
    line.standard()


def yq(line: Line) -> None:
    """As jq; a first operand that is the name of a file is that file, and not a filter."""
    if not line.parsed.operands:
        line.preamble()
        line.given()
        return
    line.standard()
    for word in line.parsed.operands[:1]:
        if isinstance(word, str) and _FILE.fullmatch(word):
            line.seen.path(READ, word)
            if line.parsed.has("-i"):
                line.seen.path(WRITE, word)


def jq_filter(seen: Seen, word: Word) -> None:
    """A filter. The environment in it prints secrets; modules and loaded files are files that are not known."""
    for text in values(word):
        if text is None:
            seen.danger("prints-secret")
            seen.path(READ, Arg(word.text if isinstance(word, Arg) else word))
        elif _SUSPECT.search(text):
            _suspect(seen, text)


def _suspect(seen: Seen, text: str) -> None:
    plain = "\\" not in text and "#" not in text  # no interpolation, and no quote in a comment
    code = _STRING.sub('""', text) if plain else text
    if _CODE.search(code):
        seen.execute()
    if _FILES.search(code):
        seen.path(READ, Arg(text))
    if _ENVIRON.search(code):
        named = [one or other for one, other in _NAMED.findall(text)]
        if len(named) < len(_ENVIRON.findall(code)) or not all(PLAIN.fullmatch(name) for name in named):
            seen.danger("prints-secret")
