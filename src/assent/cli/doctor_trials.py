"""Tests a guard for `assent doctor`: fires calls at the hook as its settings start it, and starts the agent program
itself, with its own settings, against a fake model on loopback that tries a forbidden call.

The second shows what settings cannot: whether the program calls the hook and obeys it. The program reaches nobody but
the fake model."""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import threading
import urllib.parse
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from assent import agents
from assent.agents import known, probes
from assent.agents.adapter import Rendered
from assent.agents.capabilities import CAPABILITIES, Does
from assent.agents.settings.hooks import Wired
from assent.state import hosts

Json = dict[str, Any]
Answer = tuple[Json, list[Json]]  # whole, and as the events of a stream

HOOK_TIMEOUT = 30.0  # seconds; a decision that asks nobody takes much less
HTTP_TIMEOUT = 2.0
PROGRAM_TIMEOUT = 90.0  # seconds for a program to start, make one call and end
GARBAGE = '{"tool'
# The floor denies it, and there is no such file: if the hook is bypassed, nothing is shown.
FORBIDDEN = "cat .ssh/assent-doctor"
REFUSED = "is protected"  # what the floor says of it
PROMPT = "assent doctor tries whether the hook blocks"
KEY = "no-key-at-all"
RUNTIMES = known.runtimes("rehearsal")
NO_PROXY = {"NO_PROXY": "127.0.0.1,localhost", "no_proxy": "127.0.0.1,localhost"}
LARGEST = 64 * 1024 * 1024
OTHER_ANSWER: Json = {"input_tokens": 10, "totalTokens": 10, "object": "list", "data": [], "models": []}


# ---------------------------------------------------------------- the hook


@dataclass(frozen=True, slots=True)
class HookFailure:
    """`open`: something ran that must not; otherwise something did not run that should."""

    text: str
    open: bool


def try_hook(runtime: str, hook: Wired, folder: str) -> tuple[HookFailure, ...]:
    """The failures of a hook: it must block what is forbidden and what is no event, and let the harmless run. It must
    block the forbidden without the server too, whether one runs now or not."""
    forbidden, harmless = (
        json.dumps(probes.event(runtime, probe, folder)) for probe in (probes.FORBIDDEN, probes.HARMLESS)
    )
    failures = []
    for what, text, expected, alone in (
        ("a call that the floor forbids", forbidden, probes.BLOCKED, False),
        ("garbage", GARBAGE, probes.BLOCKED, False),
        ("a call that only reads", harmless, probes.ALLOWED, False),
        ("without a server, a call that the floor forbids", forbidden, probes.BLOCKED, True),
    ):
        if alone and hook.url:
            continue
        try:
            found, said = fired(runtime, hook, text, folder, alone=alone)
        except OSError as error:
            blocks = hook.blocks and CAPABILITIES[runtime].does["crash"] in (Does.BLOCKS, Does.ENDS)
            return (HookFailure(f"the hook cannot be started: {error}", not blocks),)
        if found != expected:
            shown = f"{what} was {found}, not {expected}{f': {said}' if said else ''}"
            failures.append(HookFailure(shown, found != probes.BLOCKED))
    return tuple(failures)


def fired(runtime: str, hook: Wired, text: str, folder: str, *, alone: bool = False) -> tuple[str, str]:
    """How the program would read the hook's answer to an event, and what the hook said. `alone`: the hook asks no
    server, as with a mode in its environment, which can only tighten."""
    if hook.url:
        return _posted(runtime, hook, text)
    variable = agents.load(runtime).variable
    environ = {**os.environ, **({variable: text, "PWD": folder} if variable else {})}
    environ.pop("ASSENT_MODE", None)
    if alone:
        environ["ASSENT_MODE"] = "default"
    timeout = min(HOOK_TIMEOUT, hook.timeout or HOOK_TIMEOUT)
    try:
        done = subprocess.run(
            list(hook.words),
            input=b"" if variable else text.encode(),
            capture_output=True,
            cwd=folder,
            env=environ,
            timeout=timeout,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return probes.UNSURE, f"no answer within {timeout:.0f} seconds"
    answer = Rendered(done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace"), done.returncode)
    return probes.understood(runtime, answer), (answer.stderr or answer.stdout).strip()[:200]


def _posted(runtime: str, hook: Wired, text: str) -> tuple[str, str]:
    where = urllib.parse.urlsplit(hook.url)
    unanswered = probes.BLOCKED if hook.blocks else probes.ALLOWED
    connection = http.client.HTTPConnection(where.hostname or "", where.port, timeout=HTTP_TIMEOUT)
    try:
        connection.request("POST", where.path, text, {"Content-Type": "application/json", **dict(hook.headers)})
        answer = connection.getresponse()
        body = answer.read().decode("utf-8", "replace")
    except (OSError, http.client.HTTPException) as error:
        return unanswered, f"the server cannot be reached: {error}"
    finally:
        connection.close()
    if answer.status // 100 != 2:
        return unanswered, f"the server answered {answer.status}"
    return probes.understood(runtime, Rendered(body)), body[:200]


# ---------------------------------------------------------------- the program


def try_program(runtime: str, folder: str) -> tuple[bool | None, str]:
    """Start the program in a folder: whether the hook blocked the forbidden call, and what the program said. None if it
    made no call."""
    program = hosts.program(runtime)
    if not program:
        return None, f"`{hosts.PROGRAMS[runtime]}` is not on the PATH"
    model = FakeModel(*call(runtime))
    try:
        ended = subprocess.run(
            [program, *arguments(runtime, model.url), PROMPT],
            cwd=folder,
            env={**os.environ, **environment(runtime, model.url), **NO_PROXY},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=PROGRAM_TIMEOUT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return None, f"the program did not end within {PROGRAM_TIMEOUT:.0f} seconds"
    except OSError as error:
        return None, f"the program does not start: {error.strerror}"
    finally:
        model.close()
    if model.results:
        said = model.results[0]
        return REFUSED in said, " ".join(said.split())[:200]
    said = " ".join((ended.stderr or ended.stdout).split())[-200:]
    return None, f"{'it made no call' if model.asked else 'it asked no model'}: {said or 'it printed nothing'}"


def call(runtime: str) -> tuple[str, Json]:
    """The forbidden call: a tool of the program, and its arguments."""
    row = known.section("rehearsal")[runtime]
    given = row["arguments"]
    assert isinstance(given, dict)
    return str(row["tool"]), {key: str(value).replace("{forbidden}", FORBIDDEN) for key, value in given.items()}


def arguments(runtime: str, url: str) -> list[str]:
    """The program's arguments for one prompt, with the model's address if it is an argument."""
    since = known.section("rehearsal")[runtime].get("words_since", {})
    assert isinstance(since, dict)
    more = [word for word, version in since.items() if hosts.at_least(hosts.version(runtime), version)]
    # Settings may name another address, and arguments override them.
    given = json.dumps({"env": environment(runtime, url)})
    words = known.lists("rehearsal", "words")[runtime]
    return [*(word.replace("{environment}", given).replace("{url}", url) for word in words), *more]


def environment(runtime: str, url: str) -> dict[str, str]:
    """The model's address, a fake key, and no other traffic."""
    given = known.section("rehearsal")[runtime].get("environment", {})
    assert isinstance(given, dict)
    return {name: str(value).replace("{url}", url).replace("{key}", KEY) for name, value in given.items()}


# ---------------------------------------------------------------- the fake model


class FakeModel:
    """A model on loopback that makes one call: `tool` with `arguments`. `results` are the program's results for it,
    `asked` whether the program asked the model at all."""

    def __init__(self, tool: str, arguments: Json) -> None:
        self.tool, self.arguments = tool, arguments
        self.results: list[str] = []
        self.asked = False
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def takes_turn(self, results: list[str], has_tools: bool) -> bool:
        """Whether the answer is the call; otherwise it is a word."""
        self.asked = True
        self.results = results or self.results
        return has_tools and not results


def _handler(model: FakeModel) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_HEAD(self) -> None:
            self._send(b"")

        def do_GET(self) -> None:
            self._send(json.dumps(OTHER_ANSWER).encode())

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(min(int(self.headers.get("Content-Length", 0)), LARGEST)) or b"{}")
            path = self.path.partition("?")[0]
            answer = next((each for end, each in PROTOCOLS.items() if path.endswith(end)), None)
            whole, events = answer(model, body) if answer is not None else (OTHER_ANSWER, [])
            if answer is not None and (body.get("stream") or "stream" in path):
                done = b"data: [DONE]\n\n" if path.endswith("/chat/completions") else b""
                self._send("".join(map(_event, events)).encode() + done, "text/event-stream")
            else:
                self._send(json.dumps(whole).encode())

        def _send(self, content: bytes, kind: str = "application/json") -> None:
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:
            pass

    return Handler


def _event(value: Json) -> str:
    return (f"event: {value['type']}\n" if "type" in value else "") + f"data: {json.dumps(value)}\n\n"


def _texts(content: object) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else [content]
    return "".join(str(part.get("text") or part.get("content") or "") for part in parts if isinstance(part, dict))


# ---------------------------------------------------------------- the model's protocols


def _anthropic(model: FakeModel, body: Json) -> Answer:
    blocks = [
        block
        for message in body.get("messages", [])
        for block in (message["content"] if isinstance(message["content"], list) else [])
    ]
    results = [_texts(block.get("content", "")) for block in blocks if block.get("type") == "tool_result"]
    block: Json = {"type": "text", "text": "done"}
    start, delta, reason = {**block, "text": ""}, {"type": "text_delta", "text": "done"}, "end_turn"
    if model.takes_turn(results, bool(body.get("tools"))):
        block = {"type": "tool_use", "id": "toolu_1", "name": model.tool, "input": model.arguments}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(model.arguments)}
        start, reason = {**block, "input": {}}, "tool_use"
    usage = {"input_tokens": 10, "output_tokens": 10}
    head: Json = {"id": "msg_1", "type": "message", "role": "assistant", "model": body.get("model", ""), "usage": usage}
    return {**head, "content": [block], "stop_reason": reason, "stop_sequence": None}, [
        {"type": "message_start", "message": {**head, "content": [], "stop_reason": None, "stop_sequence": None}},
        {"type": "content_block_start", "index": 0, "content_block": start},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": usage},
        {"type": "message_stop"},
    ]


def _responses(model: FakeModel, body: Json) -> Answer:
    given = [item for item in body.get("input", []) if isinstance(item, dict)]
    results = [_texts(item.get("output", "")) for item in given if str(item.get("type")).endswith("call_output")]
    text = {"type": "output_text", "text": "done", "annotations": []}
    item: Json = {"type": "message", "id": "msg_1", "role": "assistant", "content": [text]}
    if model.takes_turn(results, bool(body.get("tools")) and "format" not in body.get("text", {})):
        item = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": model.tool}
        item["arguments"] = json.dumps(model.arguments)
    usage = {"input_tokens": 10, "output_tokens": 10, "total_tokens": 20}
    whole: Json = {"id": "resp_1", "object": "response", "status": "completed", "usage": usage, "output": [item]}
    return whole, [
        {"type": "response.created", "response": {"id": "resp_1"}},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": whole},
    ]


def _chat(model: FakeModel, body: Json) -> Answer:
    results = [_texts(each.get("content", "")) for each in body.get("messages", []) if each.get("role") == "tool"]
    message: Json = {"role": "assistant", "content": "done"}
    reason = "stop"
    if model.takes_turn(results, bool(body.get("tools"))):
        named = {"name": model.tool, "arguments": json.dumps(model.arguments)}
        calls = [{"index": 0, "id": "call_1", "type": "function", "function": named}]
        message, reason = {"role": "assistant", "content": None, "tool_calls": calls}, "tool_calls"
    usage = {"prompt_tokens": 10, "completion_tokens": 10, "total_tokens": 20}
    head: Json = {"id": "chatcmpl-1", "created": 1, "model": body.get("model", ""), "object": "chat.completion"}
    part: Json = {**head, "object": "chat.completion.chunk"}
    return {**head, "choices": [{"index": 0, "message": message, "finish_reason": reason}], "usage": usage}, [
        {**part, "choices": [{"index": 0, "delta": message, "finish_reason": None}]},
        {**part, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}], "usage": usage},
    ]


def _contents(model: FakeModel, body: Json) -> Answer:
    parts = [part for content in body.get("contents", []) for part in content.get("parts", [])]
    replies = [part["functionResponse"].get("response", {}) for part in parts if "functionResponse" in part]
    results = [str(each.get("output") or each.get("error") or json.dumps(each)) for each in replies]
    part: Json = {"text": "done"}
    if model.takes_turn(results, bool(body.get("tools"))):
        part = {"functionCall": {"id": "call_1", "name": model.tool, "args": model.arguments}}
    content = {"role": "model", "parts": [part]}
    usage = {"promptTokenCount": 10, "candidatesTokenCount": 10, "totalTokenCount": 20}
    whole: Json = {"candidates": [{"index": 0, "content": content, "finishReason": "STOP"}], "usageMetadata": usage}
    return whole, [whole]


PROTOCOLS = {
    "/messages": _anthropic,
    "/responses": _responses,
    "/chat/completions": _chat,
    ":generateContent": _contents,
    ":streamGenerateContent": _contents,
}
