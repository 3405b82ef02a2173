"""The rule: its subject, its origin, and its words."""

from __future__ import annotations

from assent.contract import Enum, IntEnum, Operation, Value


class Origin(IntEnum):
    """Whose rule it is. Managed rules apply in every mode; the others can be switched off or skipped."""

    SHIPPED = 0
    MANAGED = 1
    USER = 2
    PROJECT = 3
    SESSION = 4
    PACK = 5

    @property
    def word(self) -> str:
        return self.name.lower()


class RuleKind(Enum):
    """The subject of a rule."""

    COMMAND = "command"  # shell invocations
    PATH = "path"  # effects on paths
    HOST = "host"  # addresses
    TOOL = "tool"  # tools by name, MCP tools among them
    AGENT = "agent"  # sub-agents
    DANGER = "danger"  # effects that are marked as dangerous

    __hash__ = object.__hash__  # members are singletons; Enum's own hash is slower


class RuleShape(Enum):
    """How the specifier of a command rule is compared."""

    WHOLE = "whole"
    EXACT = "exact"
    PREFIX = "prefix"
    WILD = "wild"

    __hash__ = object.__hash__  # as above


# The words that take a specifier → the subject of their rules. Any other word is the name of a tool.
WORDS: dict[str, RuleKind] = {
    "bash": RuleKind.COMMAND,
    "read": RuleKind.PATH,
    "write": RuleKind.PATH,
    "delete": RuleKind.PATH,
    "list": RuleKind.PATH,
    "search": RuleKind.PATH,
    "path": RuleKind.PATH,
    "fetch": RuleKind.HOST,
    "agent": RuleKind.AGENT,
    "danger": RuleKind.DANGER,
}

# Rule word → the operations that it matches. `write` in a deny or ask rule matches removal too.
PATH_WORDS: dict[str, frozenset[Operation]] = {
    "read": frozenset({Operation.READ, Operation.SEARCH}),
    "list": frozenset({Operation.LIST}),
    "search": frozenset({Operation.SEARCH}),
    "write": frozenset({Operation.WRITE}),
    "delete": frozenset({Operation.DELETE}),
    "path": frozenset(Operation),
}


class Rule(Value):
    """One rule, ready to be matched.

    `tool` is the canonical rule word. `spec` is the specifier, `""` for the whole tool. `text` is the rule as
    written, `source` its file:line. `words` are a command rule's words. `excepts`, for a command rule, are flags or
    words whose presence keeps an allow rule from matching; for a path rule, globs of excluded paths.
    `id` names shipped and pack rules. `undoable`: a complete copy of what a call destroys answers it."""

    __slots__ = (
        "about",
        "tool",
        "spec",
        "shape",
        "operations",
        "text",
        "source",
        "origin",
        "id",
        "reason",
        "message",
        "advice",
        "words",
        "excepts",
        "number",
        "undoable",
    )

    def __init__(
        self,
        about: RuleKind,
        tool: str,
        spec: str,
        shape: RuleShape,
        text: str,
        *,
        operations: frozenset[Operation] = frozenset(),
        source: str = "",
        origin: Origin = Origin.USER,
        id: str = "",
        reason: str = "",
        message: str = "",
        advice: str = "",
        words: tuple[str, ...] = (),
        excepts: tuple[str, ...] = (),
        number: int = 0,
        undoable: bool = False,
    ) -> None:
        self.about = about
        self.tool = tool
        self.spec = spec
        self.shape = shape
        self.text = text
        self.operations = operations
        self.source = source
        self.origin = origin
        self.id = id
        self.reason = reason
        self.message = message
        self.advice = advice
        self.words = words
        self.excepts = excepts
        self.number = number
        self.undoable = undoable

    def numbered(self, number: int) -> Rule:
        return Rule(
            self.about,
            self.tool,
            self.spec,
            self.shape,
            self.text,
            operations=self.operations,
            source=self.source,
            origin=self.origin,
            id=self.id,
            reason=self.reason,
            message=self.message,
            advice=self.advice,
            words=self.words,
            excepts=self.excepts,
            number=number,
            undoable=self.undoable,
        )


def base(program: str) -> str:
    """The name of a program without its folder."""
    return program.rsplit("/", 1)[-1]
