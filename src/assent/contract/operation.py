"""What is done, to what sort of thing, and how it came about: the choices that an effect is made of."""

from __future__ import annotations

from assent.contract.choice import Enum


class Operation(Enum):
    """What is done to a target."""

    READ = "read"
    LIST = "list"
    SEARCH = "search"
    FETCH = "fetch"
    WRITE = "write"
    DELETE = "delete"
    EXECUTE = "execute"
    DELEGATE = "delegate"

    __hash__ = object.__hash__  # members are singletons; Enum's own hash is ten times slower

    @property
    def verb(self) -> str:
        """As an effect is described."""
        return "run" if self is Operation.EXECUTE else self.value


READ_ONLY = frozenset({Operation.READ, Operation.LIST, Operation.SEARCH})
MUTATION = frozenset({Operation.WRITE, Operation.DELETE, Operation.EXECUTE})


class Kind(Enum):
    """What sort of thing a target is."""

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
    NOTHING = "nothing"

    __hash__ = object.__hash__  # as above


class Via(Enum):
    """How an effect hangs on its invocation. An allow rule on the invocation settles all but REDIRECT effects.
    TOLD: code that nobody knows is told of the path, and may do with it what it likes; READ stands for that.
    PERHAPS: an argument that the tool is not known to read names the path. Floor, deny and ask rules hold for it, and
    nothing else."""

    OPERAND = "operand"
    REDIRECT = "redirect"
    TOLD = "told"
    PERHAPS = "perhaps"

    __hash__ = object.__hash__  # as above
