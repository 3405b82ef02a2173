"""Tools that the author of an agent declares: what they do, and which arguments are places. Judges nothing.

A declaration comes from the program that embeds Assent, never from the model. Arguments that it does not name are read
as for any unknown tool, so that floor and deny rules hold for every path and address among them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from assent.contract import Call, Effect, Gap, Kind, Lowering, Operation, PayloadError, Target, Value, texts
from assent.contract.tools import ALIASES, INERT
from assent.effects import addresses, files, native
from assent.effects.arguments import nonempty, strings
from assent.effects.paths import path_target

NOTHING = "nothing"
OPERATIONS = {name: Operation[name.upper()] for name in "read list search write delete execute fetch".split()}
LOOKING = (Operation.READ, Operation.LIST, Operation.SEARCH)
WHOLE = (Operation.LIST, Operation.SEARCH, Operation.DELETE)  # with everything below


class Tool(Value):
    """What a tool does. `operation` is read, list, search, write, delete, execute, fetch or nothing; `paths` are the
    arguments that name files or folders, `addresses` those that name hosts or URLs.

    `like` names a tool that Assent knows (`bash`, `read`, `write`…) with the same arguments. `also` lists further
    operations."""

    __slots__ = ("operation", "paths", "addresses", "like", "also")

    def __init__(
        self,
        operation: str = "execute",
        *,
        paths: Sequence[str] = (),
        addresses: Sequence[str] = (),
        like: str = "",
        also: Sequence[Tool] = (),
    ) -> None:
        if operation != NOTHING and operation not in OPERATIONS:
            names = ", ".join((*OPERATIONS, NOTHING))
            raise PayloadError(f"`{operation}` is no operation; it is one of {names}")
        if like and ALIASES.get(like.lower(), "") in {"", *INERT}:
            raise PayloadError(f"`{like}` is no tool that Assent knows; try bash, read, write, list, search or fetch")
        self.operation = operation
        self.paths = texts(paths, "paths")
        self.addresses = texts(addresses, "addresses")
        self.like = like
        self.also = tuple(also)


def by_operations(said: Sequence[tuple[str, Sequence[str]]]) -> Tool:
    """A tool by its operations, each with the arguments that it acts on."""
    parts = [
        Tool(operation, addresses=names) if operation == "fetch" else Tool(operation, paths=names)
        for operation, names in said
    ]
    return Tool(parts[0].operation, paths=parts[0].paths, addresses=parts[0].addresses, also=parts[1:])


def lower(call: Call, tool: Tool, shell: Callable[[Call, str], Lowering]) -> Lowering:
    """What a call of a declared tool does. `shell` reads shell text in the call's folder."""
    name = call.tool if call.tool[:5].lower() == "mcp__" else call.tool.lower()
    if tool.like:
        read = native.lower(call.but(tool=tool.like, runtime=native.LIKE), shell)
        effects = (_itself(call, name), *read.effects)
        return Lowering(
            read.tool,
            effects,
            read.invocations,
            read.gaps,
            text=read.text,
            possible=read.possible,
            wants=read.wants,
            read=read.read,
            changing=read.changing,
            job=read.job,
        )
    parts = (tool, *tool.also)
    keys = [name for part in parts for name in (*part.paths, *part.addresses)]
    named = {key: value for _, key, value in _named(call, keys)}
    unread = [key for key, value in named.items() if not _texts(value)]
    rest = {key: value for key, value in call.input.items() if key not in named or key in unread}
    others = native.foreign(call.but(input=rest), name, shell)
    found = [_part(call, part, unread=bool(unread)) for part in parts]
    known = all(said for said, _ in found) and not call.destructive
    itself = _itself(call, name) if known else others.effects[0]
    done = dict.fromkeys(effect for _, effects in found for effect in effects)
    gaps = (*others.gaps, *(_unread(key) for key in unread))
    return Lowering(name, (itself, *done, *others.effects[1:]), gaps=gaps)


def _part(call: Call, tool: Tool, *, unread: bool) -> tuple[bool, tuple[Effect, ...]]:
    """Whether a declaration covers all that a call does, and the effects on the arguments that it names."""
    places, hosts = tuple(_places(call, tool)), tuple(_hosts(call, tool))
    operation = OPERATIONS.get(tool.operation)
    match operation:
        case Operation.WRITE | Operation.DELETE:
            known = bool(places)
        case Operation.FETCH:
            known = bool(hosts)
        case _:
            known = operation is not Operation.EXECUTE
    if tool.paths and operation in LOOKING and not (places or hosts or unread):
        places = (_somewhere(call, operation),)
    return known, (*places, *hosts)


def _itself(call: Call, name: str) -> Effect:
    """The call as such, so that rules that name the tool match it; the other effects say what it does."""
    return Effect(Operation.READ, Target(Kind.TOOL, name, call.tool), "tool")


def _places(call: Call, tool: Tool) -> Iterator[Effect]:
    operation = OPERATIONS.get(tool.operation, Operation.READ)
    if operation in (Operation.EXECUTE, Operation.FETCH):
        operation = Operation.READ
    for key, _, value in _named(call, tool.paths):
        for text in _texts(value):
            yield from files.at(call, operation, text, key, recursive=operation in WHOLE)
            if addresses.scheme_of(text.strip()):  # many libraries open an address given as a path
                yield from addresses.address(call, text.strip(), key)


def _hosts(call: Call, tool: Tool) -> Iterator[Effect]:
    for key, _, value in _named(call, tool.addresses):
        for text in _texts(value):
            yield from addresses.address(call, text, key)


def _named(call: Call, names: Sequence[str]) -> Iterator[tuple[str, str, object]]:
    """The declared arguments that are given, in any case of letters: the name, the key, the value."""
    wanted = {name.lower(): name for name in names}
    for key, value in call.input.items():
        if key.lower() in wanted and nonempty(value):
            yield wanted[key.lower()], key, value


def _somewhere(call: Call, operation: Operation) -> Effect:
    """The target of a tool if the call names none: the folder, or an unknown file."""
    if operation is Operation.READ:
        return files.unnamed(operation)
    return Effect(operation, path_target(call.cwd or ".", call.cwd, call.home), "cwd", recursive=True)


def _texts(value: object) -> tuple[str, ...]:
    """The texts of an argument, none if any part of it is something else."""
    found = tuple(strings(list(value) if isinstance(value, tuple) else value))
    whole = isinstance(value, str) or (isinstance(value, list | tuple) and all(isinstance(each, str) for each in value))
    return found if whole else ()


def _unread(key: str) -> Gap:
    return Gap("gap.call.input", key, f"give `{key}` as text", f"the argument {key}")
