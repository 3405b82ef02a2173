"""Shell patterns on known texts: what `${x#…}`, `${x%…}` and `${x/…}` leave. Touches no files.

Everything it is not sure of, or that could take long, is None."""

from __future__ import annotations

from assent.contract import DOTALL, Pattern, re

LONGEST_TEXT = 512
MOST_STARS = 2

_SIMPLE = Pattern(r"[^\[\]\\()|!^]*")


def removed(text: str, pattern: str, op: str) -> str | None:
    """`${text#pattern}` and its three like."""
    regex = _regex(text, pattern, greedy=len(op) == 2)
    if regex is None:
        return None
    if op[0] == "#":
        found = re.match(regex, text, DOTALL)
        return text[found.end() :] if found else text
    places = range(len(text) + 1) if len(op) == 2 else range(len(text), -1, -1)
    whole = re.compile(regex, DOTALL)
    for place in places:
        if whole.fullmatch(text, place):
            return text[:place]
    return text


def replaced(text: str, pattern: str, new: str, op: str) -> str | None:
    """`${text/pattern/new}` and its three like."""
    regex = _regex(text, pattern, greedy=True)
    if regex is None or not pattern or "&" in new or "\\" in new:
        return None
    if op == "/#":
        found = re.match(regex, text, DOTALL)
        return new + text[found.end() :] if found else text
    if op == "/%" or ("*" in pattern and op == "//"):
        return None
    return re.sub(regex, lambda _: new, text, count=0 if op == "//" else 1, flags=DOTALL)


def _regex(text: str, pattern: str, *, greedy: bool) -> str | None:
    if len(text) > LONGEST_TEXT or len(pattern) > LONGEST_TEXT or not _SIMPLE.fullmatch(pattern):
        return None
    if pattern.count("*") > MOST_STARS:
        return None
    star = ".*" if greedy else ".*?"
    return "".join(star if c == "*" else "." if c == "?" else re.escape(c) for c in pattern)
