"""Enumerations as `enum` has them, as far as Assent uses them: importing that module and making a class with it cost
more than a decision. The type checker sees the real ones. Holds no enumeration itself."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from enum import Enum, IntEnum
    from typing import Any

__all__ = ["Enum", "IntEnum"]


class _Choices(type):
    """The class of an enumeration: its members in order, and each by its value or its name."""

    _by_name: dict[str, Any]
    _by_value: dict[object, Any]

    def __new__(kind, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> _Choices:
        given = {
            key: value
            for key, value in body.items()
            if not key.startswith("_") and not callable(value) and not hasattr(value, "__get__")
        }
        rest = {key: value for key, value in body.items() if key not in given}
        made = super().__new__(kind, name, bases, {**rest, "_by_name": {}, "_by_value": {}})
        for key, value in given.items():
            member: Any = made._by_value.get(value)
            if member is None:
                member = int.__new__(made, value) if issubclass(made, int) else object.__new__(made)
                vars(member).update(name=key, value=value)
                made._by_value[value] = member
                made._by_name[key] = member
            type.__setattr__(made, key, member)
        return made

    def __call__(cls, value: object) -> Any:
        if type(value) is cls:
            return value
        try:
            return cls._by_value[value]
        except (KeyError, TypeError):
            raise ValueError(f"{value!r} is not a valid {cls.__qualname__}") from None

    def __getitem__(cls, name: str) -> Any:
        return cls._by_name[name]

    def __iter__(cls) -> Iterator[Any]:
        return iter(cls._by_name.values())

    def __reversed__(cls) -> Iterator[Any]:
        return reversed(cls._by_name.values())

    def __len__(cls) -> int:
        return len(cls._by_name)

    def __contains__(cls, value: object) -> bool:
        return type(value) is cls or value in cls._by_value

    def __setattr__(cls, name: str, value: object) -> None:
        if name in cls.__dict__.get("_by_name", ()):
            raise AttributeError(f"cannot reassign member {name!r}")
        super().__setattr__(name, value)

    @property
    def __members__(cls) -> dict[str, Any]:
        return dict(cls._by_name)


if not TYPE_CHECKING:

    class Enum(metaclass=_Choices):
        """One of a few things that have a name each. Members are singletons."""

        def __repr__(self) -> str:
            return f"<{type(self).__name__}.{self.name}: {self.value!r}>"

        def __str__(self) -> str:
            return f"{type(self).__name__}.{self.name}"

        def __copy__(self) -> Enum:
            return self

        def __deepcopy__(self, _: object) -> Enum:
            return self

        def __reduce_ex__(self, _: object) -> tuple[object, ...]:
            return type(self), (self.value,)

    class IntEnum(int, Enum):
        """The same for things in an order: members are numbers too."""

        __str__ = int.__repr__
        __repr__ = Enum.__repr__
