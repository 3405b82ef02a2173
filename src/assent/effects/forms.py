"""The paths that one text may stand for: programs clean what a model writes before they open it. Opens nothing.

Each of them is done by some program of the tables (a leading `@`, NULs, percent signs, backslashes, quotes, spaces of
all sorts, `file:` addresses, line numbers). Which does what changes from version to version, and a form too many only
tightens, so every tool gets all of them."""

from __future__ import annotations

from collections.abc import Iterator

from assent.contract import Pattern

PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./~+,=-")
PERCENT = Pattern(r"((?:%[0-9A-Fa-f]{2})+)")
SPACES = Pattern(r"[\t\x0b\x0c\r\n\x85\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]")
UNSEEN = Pattern(r"[\x00-\x1f\x7f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]")
ESCAPED = Pattern(r"\\(.)")
HOME = Pattern(r"(?:\$HOME|\$\{HOME\}|\$env:HOME|%USERPROFILE%|%HOME%)(?=[/\\]|$)")
LINES = Pattern(r"(?:#L?\d[\dL-]*|:\d+(?:[:,-]\d+)*)$")
QUOTES = "\"'`<>"
LONGEST = 4096  # bytes of a path that a kernel takes
MOST = 48


def is_path(text: str) -> bool:
    """Whether a text can be the name of a file: one line, no longer than a path can be."""
    return "\n" not in text and "\r" not in text and len(text) <= LONGEST


def may_be_path(text: str) -> bool:
    """Whether an argument that nobody knows may name a file: prose has spaces, and no slash."""
    return bool(text) and is_path(text) and ("/" in text or "\\" in text or not any(map(str.isspace, text.strip())))


def forms(text: str) -> tuple[str, ...]:
    """A text as a path, and everything that a program may make of it, itself first; at most `MOST`."""
    if PLAIN.issuperset(text):
        return (text,)
    found: dict[str, None] = {text: None}
    todo = [text]
    while todo and len(found) < MOST:
        for each in _cleaned(todo.pop()):
            if each and each not in found:
                found[each] = None
                todo.append(each)
    return tuple(found)


def _cleaned(text: str) -> Iterator[str]:
    """One step of cleaning, in each way that there is."""
    yield text.strip()
    yield text.strip(QUOTES)
    if "\0" in text:
        yield text.replace("\0", "")
        yield text.partition("\0")[0]
    yield UNSEEN.sub("", text)
    yield SPACES.sub(" ", text)
    if text[:1] == "@":
        yield text[1:]
        yield text[1:].lstrip("/\\")
    if "%" in text:
        yield PERCENT.sub(lambda found: _decoded(found[1]), text)
    if "\\" in text:
        yield text.replace("\\", "/")
        yield ESCAPED.sub(lambda found: found[1], text)
    if "file:" in text[:24].lower():
        from assent.effects import addresses

        yield addresses.local_file(text) or ""
    if "$" in text or "%" in text:
        yield HOME.sub(lambda found: "~", text)
    yield LINES.sub("", text)


def _decoded(text: str) -> str:
    return bytes.fromhex(text.replace("%", "")).decode("utf-8", "replace")
