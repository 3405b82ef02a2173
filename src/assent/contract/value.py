"""The base of the words every stage shares: compared, hashed and shown by their fields. Holds no field itself."""

from __future__ import annotations


class Value:
    """A slotted object that is equal to another of the same class with the same fields.

    Written by hand, because importing `dataclasses` costs more than a whole decision.
    Never assigned to after `__init__`; tests/test_architecture.py holds that."""

    __slots__: tuple[str, ...] = ()

    def _fields(self) -> tuple[object, ...]:
        return tuple(getattr(self, name) for name in self.__slots__)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self._fields() == other._fields()

    def __hash__(self) -> int:
        return hash((type(self).__name__, self._fields()))

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__slots__)
        return f"{type(self).__name__}({shown})"
