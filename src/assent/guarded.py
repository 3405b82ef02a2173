"""Functions that pass the gate before they run, and the schema of a function as a tool. Decides nothing."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import os
import types
import typing
from collections.abc import Callable, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeVar

from assent.contract.errors import AssentError, PayloadError
from assent.contract.review import Verdict
from assent.contract.value import Value
from assent.effects.declared import Tool

if TYPE_CHECKING:
    from assent.contract.call import Call
    from assent.guard import Session

F = TypeVar("F", bound=Callable[..., Any])
RUNTIME = "python"
KINDS: dict[object, str] = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}


class Denied(AssentError):
    """A call that may not run. `verdict` says why; its text is for the agent."""

    def __init__(self, verdict: Verdict) -> None:
        super().__init__(verdict.message or "This call was not run.")
        self.verdict = verdict


class Schema(Value):
    """A function as a tool: what models are told of it."""

    __slots__ = ("name", "description", "parameters")

    def __init__(self, name: str, description: str, parameters: dict[str, object]) -> None:
        self.name = name
        self.description = description
        self.parameters = parameters


def guard_function(session: Session, function: F, tool: Tool, name: str = "") -> F:
    """The function, behind the gate."""
    signature = inspect.signature(function)
    unknown = [each for each in (*tool.paths, *tool.addresses) if each not in signature.parameters]
    if unknown:
        raise PayloadError(f"`{function.__name__}` has no parameter `{unknown[0]}`")
    word = name or function.__name__
    session.declare(word, tool)

    def call_of(given: tuple[Any, ...], named: dict[str, Any]) -> Call:
        bound = signature.bind(*given, **named)
        bound.apply_defaults()
        input = {key: plain(value) for key, value in bound.arguments.items()}
        return session.call(word, input, cwd=os.getcwd(), runtime=RUNTIME)

    def passed(verdict: Verdict, call: Call, given: tuple[Any, ...], named: dict[str, Any]) -> None:
        # INVARIANT: what runs is what was judged; arguments can change while a person is asked.
        if verdict.allowed is not True:
            raise Denied(verdict)
        if call_of(given, named) != call:
            raise Denied(Verdict(False, verdict.decision, verdict.id, message=CHANGED))

    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def later(*given: Any, **named: Any) -> Any:
            call = call_of(given, named)
            passed(await session.guard(call), call, given, named)
            return await function(*given, **named)

        found: Any = later
    else:

        @functools.wraps(function)
        def at_once(*given: Any, **named: Any) -> Any:
            call = call_of(given, named)
            passed(session.guard_sync(call), call, given, named)
            return function(*given, **named)

        found = at_once
    found.tool = schema(function, word)
    return found  # type: ignore[no-any-return]  # the same signature


CHANGED = "This call was not run: its arguments changed while a person was asked."


def schema(function: Callable[..., Any], name: str = "") -> Schema:
    """The JSON schema of a function's parameters, by their annotations."""
    try:
        hints = typing.get_type_hints(function)
    except Exception:  # an annotation that means nothing here says nothing of the kind of value
        hints = {}
    properties: dict[str, object] = {}
    required: list[str] = []
    for key, parameter in inspect.signature(function).parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        shape = _shape(hints.get(key))
        if parameter.default is parameter.empty:
            required.append(key)
        elif parameter.default is None or isinstance(parameter.default, str | int | float | bool):
            shape = {**shape, "default": parameter.default}
        properties[key] = shape
    parameters: dict[str, object] = {"type": "object", "properties": properties, "required": required}
    return Schema(name or function.__name__, inspect.getdoc(function) or "", parameters)


def _shape(hint: Any) -> dict[str, object]:
    if hint in KINDS:
        return {"type": KINDS[hint]}
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Literal:
        return {"enum": list(parts)}
    if origin in (list, tuple, set, Sequence) or hint in (list, tuple, set):
        return {"type": "array", "items": _shape(parts[0])} if parts else {"type": "array"}
    if origin is dict or hint is dict:
        return {"type": "object"}
    if origin in (typing.Union, types.UnionType):
        return {"anyOf": [_shape(each) for each in parts]}
    if isinstance(hint, type) and issubclass(hint, os.PathLike):
        return {"type": "string"}
    return {}


def plain(value: object) -> object:
    """An argument as data that can be shown, kept and compared. What is none is shown as Python shows it."""
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, os.PathLike):
        return os.fspath(value) if isinstance(os.fspath(value), str) else repr(value)
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(each) for each in value]
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, Enum):
        return plain(value.value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {each.name: plain(getattr(value, each.name)) for each in dataclasses.fields(value)}
    fields = getattr(type(value), "model_fields", None)  # a Pydantic model; paths in it are looked at like any other
    if isinstance(fields, dict):
        more = getattr(value, "model_extra", None) or {}
        return {key: plain(getattr(value, key, None)) for key in (*fields, *more)}
    return repr(value)
