"""OpenAI Responses, as Codex speaks it."""

from __future__ import annotations

import json
from collections.abc import Iterator

from .script import Json, Say, Turn

OUTPUTS = ("function_call_output", "custom_tool_call_output")


def is_turn(body: Json) -> bool:
    return bool(body.get("tools"))


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
        fixed = {"type": "function_call", "id": f"fc_{number}_{index}", "call_id": f"call_{number}_{index}"}
        named = {"name": call.tool, "namespace": call.group} if call.group else {"name": call.tool}
        yield fixed | named | {"arguments": json.dumps(dict(call.arguments))}
