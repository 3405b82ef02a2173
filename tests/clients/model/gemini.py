"""Gemini generateContent and streamGenerateContent, as Gemini CLI uses them."""

from __future__ import annotations

import json
from collections.abc import Iterator

from .script import Json, Say, Turn


def is_turn(body: Json) -> bool:
    return bool(body.get("tools"))


def results(body: Json) -> Iterator[str]:
    for content in body["contents"]:
        for part in content["parts"]:
            if "functionResponse" in part:
                response = part["functionResponse"]["response"]
                yield str(response.get("output") or response.get("error") or json.dumps(response))


def whole(turn: Turn, number: int, body: Json) -> Json:
    content = {"role": "model", "parts": list(_parts(turn, number))}
    usage = {"promptTokenCount": 10, "candidatesTokenCount": 10, "totalTokenCount": 20}
    return {"candidates": [{"index": 0, "content": content, "finishReason": "STOP"}], "usageMetadata": usage}


def stream(turn: Turn, number: int, body: Json) -> Iterator[Json]:
    yield whole(turn, number, body)


def _parts(turn: Turn, number: int) -> Iterator[Json]:
    if isinstance(turn, Say):
        yield {"text": turn.text}
        return
    for index, call in enumerate(turn.calls):
        named = {"id": f"call_{number}_{index}", "name": call.tool, "args": dict(call.arguments)}
        yield {"functionCall": named}
