"""The base of the words every stage shares: compared, hashed and shown by their fields. Holds no field itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from operator import attrgetter
else:
    from _operator import attrgetter  # what `operator` is made of


def fields(kind: type) -> tuple[str, ...]:
    """The names of a value's fields, a base's first. A compiled class has them under a name of its own."""
    own = kind.__dict__.get("__mypyc_attrs__")
    if own is not None:
        return tuple(own)
    names = list(kind.__dict__.get("__slots__", ()))
    return (*(name for base in kind.__bases__ for name in fields(base)), *names)


class _Fields(dict["type", "Callable[[object], object]"]):
    """All fields of a value at once, read in C; of a class whose values are compared."""

    def __missing__(self, kind: type) -> Callable[[object], object]:
        names = fields(kind)
        found = self[kind] = attrgetter(*names) if names else _none
        return found


_fields = _Fields()


class Value:
    """A slotted object that is equal to another of the same class with the same fields.

    Written by hand, because importing `dataclasses` costs more than a whole decision.
    Never assigned to after `__init__`; tests/test_architecture.py holds that."""

    __slots__: tuple[str, ...] = ()

    def __eq__(self, other: object) -> bool:
        kind = type(self)
        return type(other) is kind and _fields[kind](self) == _fields[kind](other)

    def __hash__(self) -> int:
        kind = type(self)
        return hash((kind.__name__, _fields[kind](self)))

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in fields(type(self)))
        return f"{type(self).__name__}({shown})"


def _none(_: object) -> object:
    return ()
