"""OpenAI Chat Completions, as opencode and most others use it."""

from __future__ import annotations

import json
from collections.abc import Iterator

from .script import Json, Say, Turn

_USAGE = {"prompt_tokens": 10, "completion_tokens": 10, "total_tokens": 20}


def is_turn(body: Json) -> bool:
    return bool(body.get("tools"))


def results(body: Json) -> Iterator[str]:
    for message in body["messages"]:
        if message["role"] == "tool":
            yield _text(message["content"])


def _text(content: str | list[Json]) -> str:
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def whole(turn: Turn, number: int, body: Json) -> Json:
    choice = {"index": 0, "message": _message(turn, number), "finish_reason": _reason(turn)}
    return _head("chat.completion", number, body) | {"choices": [choice], "usage": _USAGE}


def stream(turn: Turn, number: int, body: Json) -> Iterator[Json]:
    head = _head("chat.completion.chunk", number, body)
    delta = _message(turn, number)
    for index, call in enumerate(delta.get("tool_calls", [])):
        call["index"] = index
    yield head | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    yield head | {"choices": [{"index": 0, "delta": {}, "finish_reason": _reason(turn)}], "usage": _USAGE}


def _head(kind: str, number: int, body: Json) -> Json:
    return {"id": f"chatcmpl-{number}", "object": kind, "created": 1, "model": body.get("model", "")}


def _reason(turn: Turn) -> str:
    return "stop" if isinstance(turn, Say) else "tool_calls"


def _message(turn: Turn, number: int) -> Json:
    if isinstance(turn, Say):
        return {"role": "assistant", "content": turn.text}
    calls = [
        {
            "id": f"call_{number}_{index}",
            "type": "function",
            "function": {"name": call.tool, "arguments": json.dumps(dict(call.arguments))},
        }
        for index, call in enumerate(turn.calls)
    ]
    return {"role": "assistant", "content": None, "tool_calls": calls}
