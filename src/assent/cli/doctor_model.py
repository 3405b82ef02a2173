"""A model on loopback that makes one shell call and reads what came of it, in the forms that agent programs speak.

Starts no program, and speaks to nobody by itself."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Json = dict[str, Any]
LARGEST = 64 * 1024 * 1024
COUNTED: Json = {"input_tokens": 10, "totalTokens": 10, "object": "list", "data": [], "models": []}


class Prompter:
    """`tool` and `arguments` are the call. `results` is what the program told of it, `spoken` that it asked at all."""

    def __init__(self, tool: str, arguments: Json) -> None:
        self.tool = tool
        self.arguments = arguments
        self.results: list[str] = []
        self.spoken = False
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def next(self, results: list[str], has_tools: bool) -> bool:
        """Whether the answer is the call; else it is a word."""
        self.spoken = True
        self.results = results or self.results
        return has_tools and not results


def _handler(prompter: Prompter) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_HEAD(self) -> None:
            self._send("application/json", b"")

        def do_GET(self) -> None:
            self._send("application/json", json.dumps(COUNTED).encode())

        def do_POST(self) -> None:
            length = min(int(self.headers.get("Content-Length", 0)), LARGEST)
            body = json.loads(self.rfile.read(length) or b"{}")
            path = self.path.partition("?")[0]
            speak = next((each for end, each in FORMS.items() if path.endswith(end)), None)
            if speak is None:
                self._send("application/json", json.dumps(COUNTED).encode())
                return
            whole, events = speak(prompter, body)
            if body.get("stream") or "stream" in path:
                self._send(
                    "text/event-stream", "".join(map(_event, events)).encode() + b"data: [DONE]\n\n" * _ends(path)
                )
            else:
                self._send("application/json", json.dumps(whole).encode())

        def _send(self, kind: str, content: bytes) -> None:
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    return Handler


def _ends(path: str) -> int:
    return 1 if path.endswith("/chat/completions") else 0


def _event(value: Json) -> str:
    named = f"event: {value['type']}\n" if "type" in value else ""
    return f"{named}data: {json.dumps(value)}\n\n"


def _texts(content: object) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else [content]
    return "".join(str(part.get("text") or part.get("content") or "") for part in parts if isinstance(part, dict))


# ---------------------------------------------------------------- the forms


def _anthropic(prompter: Prompter, body: Json) -> tuple[Json, Iterator[Json]]:
    blocks = [
        block
        for message in body.get("messages", [])
        for block in (message["content"] if isinstance(message["content"], list) else [])
    ]
    results = [_texts(block.get("content", "")) for block in blocks if block.get("type") == "tool_result"]
    calls = prompter.next(results, bool(body.get("tools")))
    block: Json = {"type": "text", "text": "done"}
    if calls:
        block = {"type": "tool_use", "id": "toolu_1", "name": prompter.tool, "input": prompter.arguments}
    usage = {"input_tokens": 10, "output_tokens": 10}
    head: Json = {"id": "msg_1", "type": "message", "role": "assistant", "model": body.get("model", ""), "usage": usage}
    reason = "tool_use" if calls else "end_turn"

    def events() -> Iterator[Json]:
        empty: Json = {"input": {}} if calls else {"text": ""}
        started = {**block, **empty}
        given = json.dumps(prompter.arguments)
        delta = {"type": "input_json_delta", "partial_json": given} if calls else {"type": "text_delta", "text": "done"}
        yield {"type": "message_start", "message": {**head, "content": [], "stop_reason": None, "stop_sequence": None}}
        yield {"type": "content_block_start", "index": 0, "content_block": started}
        yield {"type": "content_block_delta", "index": 0, "delta": delta}
        yield {"type": "content_block_stop", "index": 0}
        yield {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": usage}
        yield {"type": "message_stop"}

    return {**head, "content": [block], "stop_reason": reason, "stop_sequence": None}, events()


def _responses(prompter: Prompter, body: Json) -> tuple[Json, Iterator[Json]]:
    given = [item for item in body.get("input", []) if isinstance(item, dict)]
    results = [_texts(item.get("output", "")) for item in given if str(item.get("type")).endswith("call_output")]
    has_tools = bool(body.get("tools")) and "format" not in body.get("text", {})
    item: Json = {"type": "message", "id": "msg_1", "role": "assistant"}
    item["content"] = [{"type": "output_text", "text": "done", "annotations": []}]
    if prompter.next(results, has_tools):
        item = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": prompter.tool}
        item["arguments"] = json.dumps(prompter.arguments)
    usage = {"input_tokens": 10, "output_tokens": 10, "total_tokens": 20}
    whole: Json = {"id": "resp_1", "object": "response", "status": "completed", "usage": usage, "output": [item]}

    def events() -> Iterator[Json]:
        yield {"type": "response.created", "response": {"id": "resp_1"}}
        yield {"type": "response.output_item.done", "output_index": 0, "item": item}
        yield {"type": "response.completed", "response": whole}

    return whole, events()


def _chat(prompter: Prompter, body: Json) -> tuple[Json, Iterator[Json]]:
    told = [message for message in body.get("messages", []) if message.get("role") == "tool"]
    calls = prompter.next([_texts(message.get("content", "")) for message in told], bool(body.get("tools")))
    message: Json = {"role": "assistant", "content": None if calls else "done"}
    if calls:
        named = {"name": prompter.tool, "arguments": json.dumps(prompter.arguments)}
        message["tool_calls"] = [{"index": 0, "id": "call_1", "type": "function", "function": named}]
    reason = "tool_calls" if calls else "stop"
    usage = {"prompt_tokens": 10, "completion_tokens": 10, "total_tokens": 20}
    head: Json = {"id": "chatcmpl-1", "created": 1, "model": body.get("model", ""), "object": "chat.completion"}
    part: Json = {**head, "object": "chat.completion.chunk"}

    def events() -> Iterator[Json]:
        yield {**part, "choices": [{"index": 0, "delta": message, "finish_reason": None}]}
        yield {**part, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}], "usage": usage}

    return {**head, "choices": [{"index": 0, "message": message, "finish_reason": reason}], "usage": usage}, events()


def _contents(prompter: Prompter, body: Json) -> tuple[Json, Iterator[Json]]:
    parts = [part for content in body.get("contents", []) for part in content.get("parts", [])]
    told = [part["functionResponse"].get("response", {}) for part in parts if "functionResponse" in part]
    results = [str(each.get("output") or each.get("error") or json.dumps(each)) for each in told]
    part: Json = {"text": "done"}
    if prompter.next(results, bool(body.get("tools"))):
        part = {"functionCall": {"id": "call_1", "name": prompter.tool, "args": prompter.arguments}}
    content = {"role": "model", "parts": [part]}
    usage = {"promptTokenCount": 10, "candidatesTokenCount": 10, "totalTokenCount": 20}
    whole: Json = {"candidates": [{"index": 0, "content": content, "finishReason": "STOP"}], "usageMetadata": usage}
    return whole, iter((whole,))


FORMS = {
    "/messages": _anthropic,
    "/responses": _responses,
    "/chat/completions": _chat,
    ":generateContent": _contents,
    ":streamGenerateContent": _contents,
}
