"""Anthropic Messages, as Claude Code uses it."""

from __future__ import annotations

import json
from collections.abc import Iterator

from .script import Json, Say, Turn


def is_turn(body: Json) -> bool:
    """Titles, topics and checks of the quota come without tools."""
    return bool(body.get("tools"))


def results(body: Json) -> Iterator[str]:
    for message in body["messages"]:
        for block in message["content"] if isinstance(message["content"], list) else []:
            if block["type"] == "tool_result":
                yield _text(block.get("content", ""))


def _text(content: str | list[Json]) -> str:
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def whole(turn: Turn, number: int, body: Json) -> Json:
    return _message(body, number) | {
        "content": list(_blocks(turn, number)),
        "stop_reason": "end_turn" if isinstance(turn, Say) else "tool_use",
    }


def stream(turn: Turn, number: int, body: Json) -> Iterator[Json]:
    yield {"type": "message_start", "message": _message(body, number)}
    for index, block in enumerate(_blocks(turn, number)):
        yield {"type": "content_block_start", "index": index, "content_block": block | _EMPTY[block["type"]]}
        yield {"type": "content_block_delta", "index": index, "delta": _delta(block)}
        yield {"type": "content_block_stop", "index": index}
    reason = "end_turn" if isinstance(turn, Say) else "tool_use"
    yield {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": _USAGE}
    yield {"type": "message_stop"}


def _delta(block: Json) -> Json:
    if block["type"] == "text":
        return {"type": "text_delta", "text": block["text"]}
    return {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}


_EMPTY: dict[str, Json] = {"text": {"text": ""}, "tool_use": {"input": {}}}
_USAGE = {"input_tokens": 10, "output_tokens": 10}


def _message(body: Json, number: int) -> Json:
    fixed: Json = {"type": "message", "role": "assistant", "content": [], "stop_reason": None, "stop_sequence": None}
    return fixed | {"id": f"msg_{number}", "model": body["model"], "usage": _USAGE}


def _blocks(turn: Turn, number: int) -> Iterator[Json]:
    if isinstance(turn, Say):
        yield {"type": "text", "text": turn.text}
        return
    for index, call in enumerate(turn.calls):
        identity = f"toolu_{number}_{index}"
        yield {"type": "tool_use", "id": identity, "name": call.tool, "input": dict(call.arguments)}
