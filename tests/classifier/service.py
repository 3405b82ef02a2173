"""A stand-in for a model's service: both APIs over real HTTP on this machine, with faults on demand. Tests nothing."""

from __future__ import annotations

import json
import socket
import ssl
import threading
import time
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

SAFE = '{"safe": true, "reason": "an ordinary task"}'
UNSAFE = '{"safe": false, "reason": "it is not clear what this does"}'
KEY = "test-key-1234"
TOKENS = (700, 20)


class Asked:
    """One request that came."""

    def __init__(self, path: str, headers: Mapping[str, str], body: Mapping[str, Any]) -> None:
        self.path = path
        self.headers = headers
        self.body = body

    @property
    def system(self) -> str:
        if "system" in self.body:
            return str(self.body["system"])
        return str(next(each["content"] for each in self.body["messages"] if each["role"] == "system"))

    @property
    def text(self) -> str:
        """What the model is told of the call."""
        return str(next(each["content"] for each in self.body["messages"] if each["role"] == "user"))

    @property
    def data(self) -> str:
        """What is between the two lines."""
        begin, _, rest = self.text.partition(" data begins ===\n")
        word = begin.rpartition(" ")[2]
        return rest.partition(f"\n=== {word} data ends ===")[0]


Answering = Callable[[Asked], str]


class Service:
    """A model that replies with `answers`: a text, or a function of the request. Other fields are faults."""

    def __init__(self, answers: str | Answering = SAFE, *, certificate: tuple[str, str] | None = None) -> None:
        self.answers = answers
        self.asked: list[Asked] = []
        self.delay = 0.0  # seconds until it answers
        self.drip = 0.0  # seconds between two bytes of the answer
        self.status = 200
        self.cut = False  # the connection breaks in the middle of the answer
        self.headers: dict[str, str] = {}
        self.raw: bytes | None = None  # in place of the reply
        self.reply: Callable[[dict[str, Any]], object] | None = None  # alters it
        service = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                service._answer(self)

            def log_message(self, *_: object) -> None:
                pass

        class Quiet(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 64

            def handle_error(self, *_: object) -> None:
                """Ignore callers that hung up."""

        self._server = Quiet(("127.0.0.1", 0), Handler)
        self.url = f"http{'s' if certificate else ''}://127.0.0.1:{self._server.server_port}"
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate)
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def __enter__(self) -> Service:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def config(self, api: str = "anthropic", **more: object) -> str:
        """The section of a configuration file that names it."""
        url = self.url if api == "anthropic" else f"{self.url}/v1"
        table = {"on": True, "api": api, "model": "small-1", "url": url, "key": "env:CLASSIFIER_KEY", **more}
        return "\n[classifier]\n" + "".join(f"{name} = {json.dumps(value)}\n" for name, value in table.items())

    def _answer(self, handler: BaseHTTPRequestHandler) -> None:
        length = int(handler.headers.get("content-length", "0"))
        headers = {name.lower(): value for name, value in handler.headers.items()}
        asked = Asked(handler.path, headers, json.loads(handler.rfile.read(length)))
        self.asked.append(asked)
        said = self.answers if isinstance(self.answers, str) else self.answers(asked)
        time.sleep(self.delay)
        reply: object = _anthropic(said) if handler.path.endswith("/v1/messages") else _openai(said)
        if self.reply is not None:
            assert isinstance(reply, dict)
            reply = self.reply(reply)
        body = self.raw if self.raw is not None else json.dumps(reply).encode()
        handler.send_response(self.status)
        for name, value in {"content-type": "application/json", **self.headers}.items():
            handler.send_header(name, value)
        handler.send_header("content-length", str(len(body)))
        handler.end_headers()
        if self.cut:
            handler.wfile.write(body[: len(body) // 2])
            handler.wfile.flush()
            handler.connection.shutdown(socket.SHUT_RDWR)
            return
        for at in range(0, len(body), 1 if self.drip else len(body) or 1):
            handler.wfile.write(body[at : at + (1 if self.drip else len(body))])
            handler.wfile.flush()
            time.sleep(self.drip)


def _anthropic(said: str) -> dict[str, Any]:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "small-1",
        "content": [{"type": "text", "text": said}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": TOKENS[0], "output_tokens": TOKENS[1]},
    }


def _openai(said: str) -> dict[str, Any]:
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "model": "small-1",
        "choices": [
            {"index": 0, "message": {"role": "assistant", "content": said, "refusal": None}, "finish_reason": "stop"}
        ],
        "usage": {"prompt_tokens": TOKENS[0], "completion_tokens": TOKENS[1], "total_tokens": sum(TOKENS)},
    }
