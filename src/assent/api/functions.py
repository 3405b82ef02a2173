"""Functions that pass the gate before they run, and the schema of a function as a tool."""

from __future__ import annotations

import functools
import inspect
import os
import types
import typing
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Generator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, TypeVar

from assent.api.embedded import fault, unchanged
from assent.api.values import own, plain
from assent.contract import AssentError, Call, PayloadError
from assent.contract.approval import Verdict
from assent.effects.declared import Tool

F = TypeVar("F", bound=Callable[..., Any])
RUNTIME = "python"
Passes = Callable[[tuple[Any, ...], dict[str, Any]], inspect.BoundArguments]
PassesLater = Callable[[tuple[Any, ...], dict[str, Any]], Awaitable[inspect.BoundArguments]]
KINDS: dict[object, str] = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}


class Denied(AssentError):
    """A call that may not run. `verdict` says why; its text is for the agent."""

    def __init__(self, verdict: Verdict) -> None:
        super().__init__(verdict.message or "This call was not run.")
        self.verdict = verdict


@dataclass(frozen=True, slots=True)
class Schema:
    """A function as a tool, for models."""

    name: str
    description: str
    parameters: dict[str, object]


def guard_function(
    declare: Callable[[str, Tool], None],
    guard: Callable[[Call], Coroutine[Any, Any, Verdict]],
    guard_sync: Callable[[Call], Verdict],
    function: F,
    *,
    tool: Tool,
    name: str,
) -> F:
    """The function, guarded by these methods of a session. A generator is judged when it begins to run, not when it is
    made."""
    word = name or getattr(function, "__name__", "")
    if not word:
        raise PayloadError("the function has no name; give it one with `guarded(name=…)`")
    signature = inspect.signature(function)
    unknown = [each for each in (*tool.paths, *tool.addresses) if each not in signature.parameters]
    if unknown:
        raise PayloadError(f"`{word}` has no parameter `{unknown[0]}`")
    declare(word, tool)

    def call_of(bound: inspect.BoundArguments) -> Call:
        try:
            input = {key: plain(value) for key, value in bound.arguments.items()}
            return Call(word, input, cwd=os.getcwd(), runtime=RUNTIME)
        except Exception as error:  # arguments that cannot be read, or a folder that is gone
            raise Denied(fault(error)) from None

    def bind(given: tuple[Any, ...], named: dict[str, Any]) -> inspect.BoundArguments:
        bound = signature.bind(*given, **named)
        bound.apply_defaults()
        try:
            bound.arguments.update({key: own(value) for key, value in bound.arguments.items()})
        except PayloadError as error:
            raise Denied(fault(error)) from None
        return bound

    def passed(verdict: Verdict, call: Call, bound: inspect.BoundArguments) -> inspect.BoundArguments:
        # What cannot be copied can change while a person is asked.
        verdict = unchanged(verdict, lambda: call_of(bound), call)
        if verdict.allowed is not True:
            raise Denied(verdict)
        return bound

    async def pass_later(given: tuple[Any, ...], named: dict[str, Any]) -> inspect.BoundArguments:
        bound = bind(given, named)
        call = call_of(bound)
        return passed(await guard(call), call, bound)

    def pass_now(given: tuple[Any, ...], named: dict[str, Any]) -> inspect.BoundArguments:
        bound = bind(given, named)
        call = call_of(bound)
        return passed(guard_sync(call), call, bound)

    found: Any = functools.wraps(function)(_behind(function, pass_now, pass_later))
    found.tool = schema(function, word)
    return found  # type: ignore[no-any-return]  # the same signature


def _behind(function: Callable[..., Any], pass_now: Passes, pass_later: PassesLater) -> Any:
    """A function of the same kind that passes first, and runs with the arguments that passed."""

    async def later(*given: Any, **named: Any) -> Any:
        bound = await pass_later(given, named)
        return await function(*bound.args, **bound.kwargs)

    async def flowing(*given: Any, **named: Any) -> AsyncGenerator[Any, Any]:
        bound = await pass_later(given, named)
        async with aclosing(function(*bound.args, **bound.kwargs)) as inner:
            sent = None
            while True:
                try:
                    each = await inner.asend(sent)
                except StopAsyncIteration:
                    return
                sent = yield each

    def stepping(*given: Any, **named: Any) -> Generator[Any, Any, Any]:
        bound = pass_now(given, named)
        return (yield from function(*bound.args, **bound.kwargs))

    def at_once(*given: Any, **named: Any) -> Any:
        bound = pass_now(given, named)
        return function(*bound.args, **bound.kwargs)

    for kind in (function, getattr(type(function), "__call__", None)):  # noqa: B004  # a callable object by its method
        if inspect.iscoroutinefunction(kind):
            return later
        if inspect.isasyncgenfunction(kind):
            return flowing
        if inspect.isgeneratorfunction(kind):
            return stepping
    return at_once


def schema(function: Callable[..., Any], name: str = "") -> Schema:
    """The JSON schema of a function's parameters, by their annotations."""
    try:
        hints = typing.get_type_hints(function)
    except Exception:  # an annotation that cannot be resolved here
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
    return Schema(name or getattr(function, "__name__", ""), inspect.getdoc(function) or "", parameters)


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
