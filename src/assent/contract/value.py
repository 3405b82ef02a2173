"""The base class of the values that stages share, bounded caches, and lists of text as callers pass them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import TYPE_CHECKING, TypeVar

from assent.contract.errors import PayloadError

if TYPE_CHECKING:
    from operator import attrgetter

    Key = TypeVar("Key", bound=Hashable)
    Kept = TypeVar("Kept")
else:
    from _operator import attrgetter  # the C part of `operator`


def fields(kind: type) -> tuple[str, ...]:
    """The names of a value's fields, those of a base first. A compiled class has them in `__mypyc_attrs__`."""
    own = kind.__dict__.get("__mypyc_attrs__")
    if own is not None:
        return tuple(own)
    return (*(name for base in kind.__bases__ for name in fields(base)), *kind.__dict__.get("__slots__", ()))


class _Getters(dict["type", "Callable[[object], object]"]):
    """For each class that was compared: a function that reads all fields of a value at once, in C."""

    def __missing__(self, kind: type) -> Callable[[object], object]:
        names = fields(kind)
        found = self[kind] = attrgetter(*names) if names else _none
        return found


_getters = _Getters()


class Value:
    """A slotted object that is equal to another of the same class with the same fields.

    Written by hand, because importing `dataclasses` costs more than a whole decision.
    Never assigned to after `__init__`; tests/test_architecture.py checks that."""

    __slots__: tuple[str, ...] = ()

    def __eq__(self, other: object) -> bool:
        kind = type(self)
        return self is other or (type(other) is kind and _getters[kind](self) == _getters[kind](other))

    def __hash__(self) -> int:
        kind = type(self)
        return hash((kind.__name__, _getters[kind](self)))

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in fields(type(self)))
        return f"{type(self).__name__}({shown})"


def _none(_: object) -> object:
    return ()


def keep(cache: dict[Key, Kept], key: Key, kept: Kept, most: int) -> None:
    """Add to a cache of at most `most` entries, and drop the oldest ones if it is full.

    A few at once, because finding the first of a dictionary that lost its first entries takes time; not all, because
    dropping a thousand would make one call in a thousand slow."""
    if len(cache) >= most:
        try:
            oldest = iter(cache)
            for old in [next(oldest) for _ in range(min(1 + most // 32, len(cache)))]:
                cache.pop(old, None)
        except (RuntimeError, StopIteration):  # another thread changed it
            cache.clear()
    cache[key] = kept


def texts(value: object, name: str) -> tuple[str, ...]:
    """A list, tuple, set or other iterable of texts as a tuple. Raises PayloadError for anything else: a mapping, None,
    or a single text, which as a list would be rules of one letter each."""
    if isinstance(value, str):
        raise PayloadError(f"`{name}` must be a list, not one text; write `{name}=[{value[:80]!r}]`")
    if isinstance(value, bytes | bytearray | dict) or not hasattr(value, "__iter__"):
        raise PayloadError(f'`{name}` must be a list of texts, not {type(value).__name__}; write `{name}=["…"]`')
    given: Iterable[object] = value
    return tuple(_text(each, name) for each in given)


def _text(each: object, name: str) -> str:
    if not isinstance(each, str):
        raise PayloadError(f'`{name}` must be a list of texts, but contains {each!r:.80}; write `{name}=["…"]`')
    return each
