"""Decodes `$'…'`. Knows nothing of the text around it."""

from __future__ import annotations

from assent.contract import DOTALL, Pattern, re

_escape = Pattern(
    r"\\(?:([abeEfnrtv\\'\"?])|([0-7]{1,3})|x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|c(.)|(.))",
    DOTALL,
)
_SIMPLE = dict(zip("abeEfnrtv\\'\"?", "\a\b\x1b\x1b\f\n\r\t\v\\'\"?", strict=True))


def decode(text: str) -> str | None:
    """What `$'text'` stands for in a UTF-8 locale, or None where bash's own reading is not modelled.

    A NUL ends the string, as it does in bash."""
    if "\\" not in text:
        return text
    try:
        return _decode(text)
    except UnicodeEncodeError:
        return None


def _decode(text: str) -> str | None:
    out: list[bytes] = []
    at = 0
    for found in _escape.finditer(text):
        out.append(_bytes(text[at : found.start()]))
        at = found.end()
        piece = _one(found)
        if piece is None:
            return None
        if piece == b"\0":
            return b"".join(out).decode("utf-8", "surrogateescape")
        out.append(piece)
    out.append(_bytes(text[at:]))
    return b"".join(out).decode("utf-8", "surrogateescape")


def _one(found: re.Match[str]) -> bytes | None:
    simple, octal, hexadecimal, short, long, control, other = found.groups()
    if simple is not None:
        return _bytes(_SIMPLE[simple])
    if octal is not None:
        return bytes((int(octal, 8) & 0xFF,))
    if hexadecimal is not None:
        return bytes((int(hexadecimal, 16),))
    if short is not None or long is not None:
        return _character(int(short or long, 16))
    if control is not None:
        return _control(control)
    if other == "x":  # `\x{…}`, or no digits at all
        return None
    return _bytes("\\" + other)


def _character(code: int) -> bytes | None:
    if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
        return None
    return chr(code).encode("utf-8")


def _control(character: str) -> bytes | None:
    if character == "?":
        return b"\x7f"
    if character == "\\" or character > "\x7e":
        return None
    return bytes((ord(character.upper()) & 0x1F,))


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
