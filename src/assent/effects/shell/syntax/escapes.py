"""Decodes `$'…'`. Knows nothing of the text around it."""

from __future__ import annotations

import re

_escape = re.compile(
    rb"\\(?:([abeEfnrtv\\'\"?])|([0-7]{1,3})|x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|c(.)|(.))",
    re.DOTALL,
)
_SIMPLE = {
    b"a": b"\a",
    b"b": b"\b",
    b"e": b"\x1b",
    b"E": b"\x1b",
    b"f": b"\f",
    b"n": b"\n",
    b"r": b"\r",
    b"t": b"\t",
    b"v": b"\v",
    b"\\": b"\\",
    b"'": b"'",
    b'"': b'"',
    b"?": b"?",
}


def decode(text: str) -> str | None:
    """What `$'text'` stands for in a UTF-8 locale, or None where bash's own reading is not modelled.

    A NUL ends the string, as it does in bash."""
    if "\\" not in text:
        return text
    try:
        raw = text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return None
    out: list[bytes] = []
    at = 0
    for found in _escape.finditer(raw):
        out.append(raw[at : found.start()])
        at = found.end()
        piece = _one(found)
        if piece is None:
            return None
        out.append(piece)
        if piece == b"\0":
            return b"".join(out)[:-1].decode("utf-8", "surrogateescape")
    out.append(raw[at:])
    return b"".join(out).decode("utf-8", "surrogateescape")


def _one(found: re.Match[bytes]) -> bytes | None:
    simple, octal, hexadecimal, short, long, control, other = found.groups()
    if simple is not None:
        return _SIMPLE[simple]
    if octal is not None:
        return bytes((int(octal, 8) & 0xFF,))
    if hexadecimal is not None:
        return bytes((int(hexadecimal, 16),))
    if short is not None or long is not None:
        return _character(int(short or long, 16))
    if control is not None:
        return _control(control)
    if other == b"x":  # `\x{…}`, or no digits at all
        return None
    return b"\\" + other


def _character(code: int) -> bytes | None:
    if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
        return None
    return chr(code).encode("utf-8")


def _control(character: bytes) -> bytes | None:
    if character == b"?":
        return b"\x7f"
    if character == b"\\" or character > b"\x7e":
        return None
    return bytes((character.upper()[0] & 0x1F,))
