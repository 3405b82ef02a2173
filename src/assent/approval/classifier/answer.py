"""What a model answered, read strictly: one JSON object with `safe` and `reason`, or nothing at all. Asks nobody.

INVARIANT: `safe` comes from the one object that was asked for, whole and alone. Anything else is no answer."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from assent.contract import Value

LONGEST = 2000  # characters of an answer
REASON = 600  # characters of its reason


class Unread(Exception):
    """There is no answer to be relied on. `code` is a short word for the trail, `tokens` what it took all the same:
    read, and written."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.tokens = (0, 0)


class Said(Value):
    """The answer, and what it took."""

    __slots__ = ("safe", "reason", "input_tokens", "output_tokens")

    def __init__(self, safe: bool, reason: str, input_tokens: int = 0, output_tokens: int = 0) -> None:
        self.safe = safe
        self.reason = reason
        self.input_tokens = input_tokens
        self.output_tokens = output_tokens


def verdict(text: object) -> tuple[bool, str]:
    """`safe` and `reason` of an answer. Raises Unread for anything but the object that was asked for."""
    if not isinstance(text, str) or len(text) > LONGEST:
        raise Unread("answer", f"the model's answer is not text of at most {LONGEST} characters")
    try:
        found = json.loads(text, object_pairs_hook=_once, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise Unread("answer", "the model did not answer with one JSON object") from None
    if not isinstance(found, dict) or set(found) != {"safe", "reason"}:
        raise Unread("answer", "the model's answer does not have `safe` and `reason` alone")
    safe, reason = found["safe"], found["reason"]
    if not isinstance(safe, bool) or not isinstance(reason, str) or len(reason) > REASON:
        raise Unread("answer", "the model's `safe` is not true or false, or its `reason` no short text")
    return safe, reason


def of_anthropic(raw: bytes) -> Said:
    """The answer in a reply of the Messages API."""
    return _read(raw, _in_anthropic, "input_tokens", "output_tokens")


def of_openai(raw: bytes) -> Said:
    """The answer in a reply of a chat completion."""
    return _read(raw, _in_openai, "prompt_tokens", "completion_tokens")


def _read(raw: bytes, text: Callable[[dict[str, Any]], object], *counts: str) -> Said:
    """The answer in a reply, whose `text` is looked for there, and what it took."""
    body = _envelope(raw)
    took = [_count(body.get("usage"), name) for name in counts]
    try:
        safe, reason = verdict(text(body))
    except Unread as unread:
        unread.tokens = (took[0], took[1])
        raise
    return Said(safe, reason, *took)


def _in_anthropic(body: dict[str, Any]) -> object:
    if body.get("type") != "message" or body.get("role") != "assistant":
        raise Unread("reply", "the reply is no message of a model")
    if body.get("stop_reason") != "end_turn":
        raise _ended(body.get("stop_reason"))
    match body.get("content"):
        case [{"type": "text", "text": str(text)}]:
            return text
    raise Unread("reply", "the reply does not hold one text alone")


def _in_openai(body: dict[str, Any]) -> object:
    match body.get("choices"):
        case [{"message": {"role": "assistant"} as message, "finish_reason": ending}]:
            if message.get("refusal") or message.get("tool_calls") or message.get("function_call"):
                raise Unread("refusal", "the model refused, or wanted to call something")
            if ending != "stop":
                raise _ended(ending)
            return message.get("content")
    raise Unread("reply", "the reply does not hold one message of a model")


def _ended(why: object) -> Unread:
    if why in ("refusal", "content_filter"):
        return Unread("refusal", "the model refused to answer")
    return Unread("cut", f"the model did not end by itself: {str(why)[:40]}")


def _envelope(raw: bytes) -> dict[str, Any]:
    try:
        found = json.loads(raw.decode("utf-8"), object_pairs_hook=_once, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise Unread("reply", "the reply is not JSON") from None
    if not isinstance(found, dict):
        raise Unread("reply", "the reply is no JSON object")
    return found


def _once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands there twice")
    return found


def _no_constant(text: str) -> object:
    raise ValueError(f"{text} is no JSON")


def _count(usage: object, name: str) -> int:
    found = usage.get(name) if isinstance(usage, dict) else 0
    return found if isinstance(found, int) and not isinstance(found, bool) and 0 <= found < 10**9 else 0
