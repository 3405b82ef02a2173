"""Secrets that look like chance: long runs of letters and digits in no order. Knows no services and no names.

Told apart from what is also long and mixed in ordinary commands: hashes, UUIDs, paths, identifiers, base64 of text."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from assent.contract import Pattern, re
from assent.trail.shapes import Span

KIND = "high-entropy text"
SHORTEST = 20
_RUN = Pattern(r"[A-Za-z0-9+/_=-]{20,}")
# What hashes are written as, and other names that chance gave but that open nothing.
# Texts, not patterns, here and below: few lines need them, and `re` keeps what it compiled once.
_KNOWN = (
    r"[0-9a-fA-F]+"  # a hash in hexadecimal
    r"|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"  # a UUID
    r"|[0-7][0-9A-HJKMNP-TV-Z]{25}"  # a ULID
    r"|(?:sha(?:1|224|256|384|512)|md5)-[A-Za-z0-9+/=]+"  # subresource integrity
    r"|(?:[A-Za-z]{1,24}[_-])+[0-9a-f]{6,64}"  # a name and a hash
    r"|(?:[A-Za-z0-9]{1,16}[_-])+[0-9a-f]{32,64}"  # as above
    r"|0x[0-9a-fA-F]+"
    r"|[A-Z]{1,5}_kw[A-Za-z0-9_-]+"  # a node of GitHub's graph
)
_HASH_BEFORE = r"(?:(?i:sha(?:1|224|256|384|512)|md5)|h1)[:=-]$"
_CLASSES = str.maketrans(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/_=-", "a" * 26 + "A" * 26 + "0" * 10 + "....."
)
_DIGITS = frozenset("0123456789")
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/_=-")
LONG = 4000  # characters of a text
_CHANGES = r"(?=aA|a0|Aa|A0|0a|0A)"


def find(text: str, hides: Callable[[str], bool]) -> Iterator[Span]:
    """Where a text holds what only chance writes. `hides` judges the text that base64 stands for."""
    if len(text) < SHORTEST:
        return
    for at, whole in _runs(text):
        for run in whole.split("=") if "=" in whole else (whole,):
            if len(run) >= SHORTEST:
                yield from _in_run(text, at, run, hides)
            at += len(run) + 1


def _runs(text: str) -> Iterator[tuple[int, str]]:
    """Where long runs of letters that such secrets are made of stand. Short texts need no pattern for that."""
    if len(text) > LONG:
        yield from ((found.start(), found[0]) for found in _RUN.finditer(text))
        return
    at = 0
    for word in text.split():
        at = text.index(word, at)
        if len(word) >= SHORTEST:
            yield from _runs_in(word, at)
        at += len(word)


def _runs_in(word: str, start: int) -> Iterator[tuple[int, str]]:
    begin = 0
    for at, letter in enumerate(word):
        if letter not in _LETTERS:
            if at - begin >= SHORTEST:
                yield start + begin, word[begin:at]
            begin = at + 1
    if len(word) - begin >= SHORTEST:
        yield start + begin, word[begin:]


def _in_run(text: str, start: int, run: str, hides: Callable[[str], bool]) -> Iterator[Span]:
    if _is_path(text, start, run):
        if len(run) > 28:
            yield from _in_path(run, start)
    elif looks_random(run) and not _harmless(text, start, run, hides):
        yield start, start + len(run), KIND


def _in_path(path: str, at: int) -> Iterator[Span]:
    """Folders have odd names; only a very long one is taken for more, or base64 that happens to begin with a slash."""
    if path.lower() != path != path.upper() and looks_random(path, 0.36 if "+" in path else 0.5):
        yield at, at + len(path), KIND
        return
    for name in path.split("/"):
        mixed = len(name) >= 32 and name.lower() != name != name.upper()
        if mixed and looks_random(name, 0.45) and not re.fullmatch(_KNOWN, name):
            yield at, at + len(name), KIND
        at += len(name) + 1


def looks_random(run: str, changes: float = 0.36) -> bool:
    """Whether letters, capitals and digits alternate as they do by chance, and as they do not in names."""
    if len(run) < 32 and _DIGITS.isdisjoint(run):
        return False
    classes = run.translate(_CLASSES)
    lower, upper, digits = classes.count("a"), classes.count("A"), classes.count("0")
    length = lower + upper + digits
    if length < SHORTEST - 2 or (not digits and not (lower and upper and length >= 32)):
        return False
    if len(set(run)) * 5 < min(length, 40) * 2:  # a few characters again and again
        return False
    turns = len(re.findall(_CHANGES, classes))
    if lower and upper:
        return turns >= (changes if digits else 0.45) * (length - 1)
    # One case only: chance needs more length to show.
    return length >= 24 and digits >= 4 and turns >= 0.28 * (length - 1)


def _is_path(text: str, start: int, run: str) -> bool:
    if "/" not in run:
        return False
    return run[0] == "/" or (text[max(start - 1, 0) : start] in (".", "~", ":", "@", "}", "%") and "/" in run[:3])


def _harmless(text: str, start: int, run: str, hides: Callable[[str], bool]) -> bool:
    if re.fullmatch(_KNOWN, run) or re.search(_HASH_BEFORE, text[max(start - 8, 0) : start]):
        return True
    decoded = _decoded(run)
    return bool(decoded) and not hides(decoded)


def _decoded(run: str) -> str:
    """The text that base64 stands for; `""` where it stands for none."""
    trimmed = run.rstrip("=").translate({ord("-"): "+", ord("_"): "/"})
    from binascii import a2b_base64

    try:
        decoded = a2b_base64(trimmed + "=" * (-len(trimmed) % 4))
    except ValueError:
        return ""
    printable = len(decoded) > 8 and all(32 <= byte < 127 or byte in b"\r\n\t" for byte in decoded)
    return decoded.decode("ascii") if printable else ""
