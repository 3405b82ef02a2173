"""OpenAI Responses, as Codex uses it."""

from __future__ import annotations

import json
from collections.abc import Iterator

from .script import Json, Say, Turn

OUTPUTS = ("function_call_output", "custom_tool_call_output")


def is_turn(body: Json) -> bool:
    """A title is asked for by a schema, with the tools there. The newest models get their tools in a message."""
    if "format" in body.get("text", {}):
        return False
    return bool(body.get("tools")) or any(item.get("type") == "additional_tools" for item in body["input"])


def results(body: Json) -> Iterator[str]:
    for item in body["input"]:
        if isinstance(item, dict) and item.get("type") in OUTPUTS:
            yield _text(item["output"])


def _text(output: str | Json | list[Json]) -> str:
    if isinstance(output, str):
        return output
    parts = output if isinstance(output, list) else [output]
    return "".join(part.get("text") or part.get("content") or "" for part in parts)


def whole(turn: Turn, number: int, body: Json) -> Json:
    usage = {"input_tokens": 10, "output_tokens": 10, "total_tokens": 20}
    fixed = {"id": f"resp_{number}", "object": "response", "status": "completed", "usage": usage}
    return fixed | {"model": body.get("model", ""), "output": list(_items(turn, number))}


def stream(turn: Turn, number: int, body: Json) -> Iterator[Json]:
    ended = whole(turn, number, body)
    yield {"type": "response.created", "response": {"id": ended["id"]}}
    for index, item in enumerate(ended["output"]):
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    yield {"type": "response.completed", "response": ended}


def _items(turn: Turn, number: int) -> Iterator[Json]:
    if isinstance(turn, Say):
        content = [{"type": "output_text", "text": turn.text, "annotations": []}]
        yield {"type": "message", "id": f"msg_{number}", "role": "assistant", "content": content}
        return
    for index, call in enumerate(turn.calls):
        named = {"name": call.tool, "id": f"fc_{number}_{index}", "call_id": f"call_{number}_{index}"}
        named |= {"namespace": call.group} if call.group else {}
        if call.text:
            yield named | {"type": "custom_tool_call", "input": call.text}
        else:
            yield named | {"type": "function_call", "arguments": json.dumps(dict(call.arguments))}
