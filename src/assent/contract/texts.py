"""Lists of texts as programs give them. A text is a sequence too, of its letters: taken for a list it would be rules
of one letter each, and none of what was meant."""

from __future__ import annotations

from collections.abc import Iterable

from assent.contract.errors import PayloadError


def texts(value: object, name: str) -> tuple[str, ...]:
    """The texts of a list, a tuple, a set or anything else that gives them one by one. Raises PayloadError, with what
    to write, where it is something else: a text, a mapping, None, or a list of what is no text."""
    if isinstance(value, str):
        raise PayloadError(f"`{name}` is a list, not one text; write `{name}=[{value[:80]!r}]`")
    if isinstance(value, bytes | bytearray | dict) or not hasattr(value, "__iter__"):
        raise PayloadError(f'`{name}` is a list of texts, not {type(value).__name__}; write `{name}=["…"]`')
    given: Iterable[object] = value
    return tuple(_text(each, name) for each in given)


def _text(each: object, name: str) -> str:
    if not isinstance(each, str):
        raise PayloadError(f'`{name}` is a list of texts, and holds {each!r:.80}; write `{name}=["…"]`')
    return each
