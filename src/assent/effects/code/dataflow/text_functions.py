"""Texts that code makes from other texts: formats and decoding."""

from __future__ import annotations

from assent.contract import Pattern
from assent.effects.code.dataflow.evaluate import CallArguments
from assent.effects.code.dataflow.nodes import HOLE
from assent.effects.code.dataflow.value import CodeValue, joined, text_value

_FIELD = Pattern(r"\{\{|\}\}|\{([^{}!:]*)[^{}]*\}")
_MOST = 65_536


def formatted(text: str, given: CallArguments) -> CodeValue:
    """`"rm {}".format(x)`."""
    parts: list[CodeValue] = [text_value("")]
    last = number = 0
    for match in _FIELD.finditer(text):
        parts.append(text_value(text[last : match.start()]))
        last = match.end()
        if match[0] in ("{{", "}}"):
            parts.append(text_value(match[0][0]))
            continue
        name = match[1] or str(number)
        number += 1
        value = given.items[int(name)] if name.isdecimal() and int(name) < len(given.items) else given.named.get(name)
        parts.append(value if value is not None else text_value(HOLE))
    parts.append(text_value(text[last:]))
    return joined(parts).tainted(given.taint())


def decoded(function: str, text: str) -> str | None:
    """The decoded text, if the encoding is a plain one."""
    import binascii

    if len(text) > _MOST:
        return None
    try:
        if "b64" in function or "64" in function or function == "atob":
            padded = text.replace("-", "+").replace("_", "/")
            return binascii.a2b_base64((padded + "=" * (-len(padded) % 4)).encode()).decode("latin-1")
        if "hex" in function or "16" in function:
            return binascii.unhexlify(text.encode()).decode("latin-1")
    except (ValueError, UnicodeError):
        return None
    return None
