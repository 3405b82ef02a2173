"""The enumerations of effects and decisions, and the part of `enum` that they need.

Importing `enum` and creating a class with it takes longer than a decision. The type checker sees the real one."""

from __future__ import annotations

TYPE_CHECKING = False  # not from `typing`, which takes longer to import than a decision: it is also used below
if TYPE_CHECKING:
    from collections.abc import Iterator
    from enum import Enum, IntEnum
    from typing import Any

__all__ = ["MUTATION", "READ_ONLY", "Enum", "IntEnum", "Kind", "Layer", "Operation", "Outcome", "Via"]


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

    def __len__(cls) -> int:
        return len(cls._by_name)

    def __contains__(cls, value: object) -> bool:
        return type(value) is cls or value in cls._by_value

    def __setattr__(cls, name: str, value: object) -> None:
        if name in cls.__dict__.get("_by_name", ()):
            raise AttributeError(f"cannot reassign member {name!r}")
        super().__setattr__(name, value)


if not TYPE_CHECKING:

    class Enum(metaclass=_Choices):
        """One of a few named values. Members are singletons."""

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
        """The same with an order: members are numbers too."""

        __str__ = int.__repr__
        __repr__ = Enum.__repr__


class Operation(Enum):
    """An operation on a target. DESTROY: removes something shared that cannot be restored: remote resources, databases,
    volumes, published packages."""

    READ = "read"
    LIST = "list"
    SEARCH = "search"
    FETCH = "fetch"
    WRITE = "write"
    DELETE = "delete"
    EXECUTE = "execute"
    DESTROY = "destroy"
    DELEGATE = "delegate"

    __hash__ = object.__hash__  # members are singletons; Enum's own hash is ten times slower

    @property
    def verb(self) -> str:
        """The verb in the description of an effect."""
        return "run" if self is Operation.EXECUTE else self.value


READ_ONLY = frozenset({Operation.READ, Operation.LIST, Operation.SEARCH})
MUTATION = frozenset({Operation.WRITE, Operation.DELETE, Operation.EXECUTE, Operation.DESTROY})


class Kind(Enum):
    """The kind of a target."""

    PATH = "path"
    HOST = "host"
    PROGRAM = "program"
    TOOL = "tool"
    AGENT = "agent"
    SERVICE = "service"
    REPOSITORY = "repository"
    HOOKS = "hooks"
    MODULES = "modules"
    SETTINGS = "settings"
    TREE = "tree"
    CODE = "code"
    NOTHING = "nothing"

    __hash__ = object.__hash__  # as above


class Via(Enum):
    """How an effect belongs to its invocation. An allow rule on the invocation settles all but REDIRECT effects.
    TOLD: unknown code gets the path as an argument, and may do anything with it; the operation is READ.
    PERHAPS: an argument that the tool is not known to read names the path. Only floor, deny and ask rules apply.
    LOOPBACK: a request to a server of this machine that only reads."""

    OPERAND = "operand"
    REDIRECT = "redirect"
    TOLD = "told"
    PERHAPS = "perhaps"
    LOOPBACK = "loopback"

    __hash__ = object.__hash__  # as above


class Outcome(IntEnum):
    """Ordered: the strictest of several is their maximum."""

    ALLOW = 0
    ASK = 1
    DENY = 2

    @property
    def word(self) -> str:
        return self.name.lower()

    def __bool__(self) -> bool:
        raise TypeError("an outcome is neither true nor false; write `outcome is Outcome.ALLOW`")


class Layer(Enum):
    """Which of the six layers decided. GRANT is a saved answer that settles an ask, CLASSIFIER a model that called a
    call safe that no rule matches, LOAD a policy that does not load, HEADLESS an ask that nobody can answer."""

    FLOOR = "floor"
    DENY = "deny"
    ASK = "ask"
    ALLOW = "allow"
    INTRINSIC = "intrinsic"
    MODE = "mode"
    GRANT = "grant"
    CLASSIFIER = "classifier"
    HEADLESS = "headless"
    LOAD = "load"
