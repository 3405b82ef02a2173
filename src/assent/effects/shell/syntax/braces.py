"""Brace expansion, on the text of a word as bash does it: before anything in the word is read.

The caller hides substitutions. The rules, odd ones included, are those of bash: text that is no brace expansion stays
as written."""

from __future__ import annotations

from assent.contract import DOTALL, Pattern, re

WORDS = 400  # Words that one word may become; more are not written out

_number = Pattern(r"[+-]?[0-9]++\Z")
_sequence = Pattern(r"(.+?)\.\.(.+?)(?:\.\.([+-]?[0-9]{1,18}))?\Z", DOTALL)
_comma = Pattern(r"(?:[^\\,]|\\.)*+,", DOTALL)  # one without a backslash; quotes do not count
_BLANK = " \t\n"


class TooMany(Exception):
    """The word becomes more words than are written out."""


class NotModelled(Exception):
    """Bash's own reading of this is not modelled."""


def expand(text: str, depth: int = 0) -> list[str]:
    """The words that `text` becomes; only itself if it holds no brace expansion."""
    if depth > 40:
        raise NotModelled
    heads = [""]
    while True:
        opening = _opening(text)
        if opening is None:
            return [head + text for head in heads]
        closing = _find_outside(text, opening + 1, "}")
        assert closing is not None  # `_opening` checked
        amble = text[opening + 1 : closing]
        rest = text[closing + 1 :]
        middle = _alternatives(amble, depth) if _comma.match(amble) is not None else _run(amble)
        if middle is None:
            if not rest:
                return [head + text for head in heads]
            middle = [text[opening : closing + 1]]
        if len(heads) * len(middle) > WORDS:
            raise TooMany
        heads = [head + text[:opening] + one for head in heads for one in middle]
        if not rest:
            return heads
        text = rest


def _opening(text: str) -> int | None:
    at = _find_outside(text, 0, "{")
    while at is not None:
        if _find_outside(text, at + 1, "}") is not None:
            return at
        at = _find_outside(text, at + 1, "{")
    return None


def _alternatives(amble: str, depth: int) -> list[str]:
    out: list[str] = []
    start = 0
    while True:
        comma = _find_outside(amble, start, ",")
        out += expand(amble[start:comma], depth + 1)
        if len(out) > WORDS:
            raise TooMany
        if comma is None:
            return out
        start = comma + 1


def _find_outside(text: str, at: int, wanted: str) -> int | None:
    """The next place of `wanted` outside quotes and inner braces; a `}` counts only after a `,` or `..`."""
    level = 0
    separators = 0 if wanted == "}" else 1
    quote = ""
    size = len(text)
    while at < size:
        char = text[at]
        if char == "\\" and quote != "'":
            at += 2
            continue
        if char == "$" and quote != "'" and text.startswith("{", at + 1):
            if not quote:
                level += 1
            at += 2
            continue
        if quote:
            if char == quote:
                quote = ""
        elif char in "\"'`":
            quote = char
        elif char == wanted and level == 0 and separators:
            if not (char == "{" and _alone(text, at)):
                return at
        elif char == "{":
            level += 1
        elif char == "}" and level:
            level -= 1
        elif (
            wanted == "}"
            and level == 0
            and (char == "," or (text.startswith("..", at) and not text.startswith("}", at + 2)))
        ):
            separators += 1
        at += 1
    return None


def _alone(text: str, at: int) -> bool:
    """Whether the `{` is alone or directly before its `}`."""
    return (at == 0 or text[at - 1] in _BLANK) and (at + 1 < len(text) and text[at + 1] in _BLANK + "}")


def _run(amble: str) -> list[str] | None:
    """The words of `1..9..2` or `a..e`; None if it is no sequence."""
    found = _sequence.match(amble)
    if found is None:
        return None
    first, last, step = found[1], found[2], int(found[3] or 1)
    if _number.match(first) and _number.match(last):
        if max(len(first), len(last)) > 18:
            raise NotModelled  # they may overflow
        return _numbers(first, last, step)
    if len(first) == 1 == len(last) and first.isascii() and last.isascii() and first.isalpha() and last.isalpha():
        if first.isupper() != last.isupper():
            raise NotModelled  # the characters between are special to the shell
        return [chr(code) for code in _steps(ord(first), ord(last), step)]
    if not amble.isascii():
        raise NotModelled
    return None


def _numbers(first: str, last: str, step: int) -> list[str]:
    if "+" in first + last:
        raise NotModelled
    padded = any(re.match(r"-?0[0-9]", end) for end in (first, last))
    width = max(len(first), len(last)) if padded else 1
    return [f"{value:0{width}d}" for value in _steps(int(first), int(last), step)]


def _steps(first: int, last: int, step: int) -> range:
    step = abs(step) or 1
    if abs(last - first) // step + 1 > WORDS:
        raise TooMany
    return range(first, last + 1, step) if first <= last else range(first, last - 1, -step)
