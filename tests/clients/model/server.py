"""Serves a script over HTTP on the loopback of a sandbox, and keeps every request. Knows no wire format itself."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from ..sandbox import Network
from . import anthropic, chat, gemini, responses
from .script import ASIDE, OVER, Json, Request, Step, Turn


@dataclass(frozen=True)
class Wire:
    """One wire format: which requests are turns of the conversation, what they tell, how an answer looks."""

    is_turn: Callable[[Json], bool]
    results: Callable[[Json], Iterable[str]]
    whole: Callable[[Turn, int, Json], Json]
    stream: Callable[[Turn, int, Json], Iterator[Json]]
    ending: str = ""


ANTHROPIC = Wire(anthropic.is_turn, anthropic.results, anthropic.whole, anthropic.stream)
RESPONSES = Wire(responses.is_turn, responses.results, responses.whole, responses.stream)
CHAT = Wire(chat.is_turn, chat.results, chat.whole, chat.stream, "data: [DONE]\n\n")
GEMINI = Wire(gemini.is_turn, gemini.results, gemini.whole, gemini.stream)
# What is asked beside the conversation gets the same answer in every form: counts of tokens, lists of models.
COUNTED = {"input_tokens": 10, "totalTokens": 10}
MODELS: Json = {"object": "list", "data": [], "models": []}


class Model:
    """A model server. Its script moves on only with turns: housekeeping is answered beside it.

    A conversation that does not hold the prompt is a sub-agent's, and has a script of its own."""

    def __init__(self, network: Network, script: Sequence[Step], prompt: str = "", sub: Sequence[Step] = ()) -> None:
        self.requests: list[Request] = []
        self._prompt = json.dumps(prompt)[1:-1]
        self._scripts = {False: list(script), True: list(sub)}
        self._spoke = 0.0
        self._lock = threading.Lock()
        listening = network.inside(lambda: socket.create_server(("127.0.0.1", 0)))
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self), bind_and_activate=False)
        self._server.socket.close()
        self._server.socket = listening
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def silence(self) -> float:
        """Seconds since the model made its last turn."""
        return time.monotonic() - self._spoke if self._spoke else 0.0

    def told(self, *, sub: bool = False) -> list[str]:
        """The tool results that the model read, in the order of its calls; `sub`: in the role of the sub-agent."""
        turns = [request for request in self.requests if request.turn is not None and request.sub is sub]
        return list(turns[-1].results) if turns else []

    def answer(self, wire: Wire, path: str, body: Json) -> tuple[Turn, int]:
        with self._lock:
            results, sub = tuple(wire.results(body)), self._prompt not in json.dumps(body)
            turn = self._next(sub, results) if wire.is_turn(body) else None
            self._spoke = time.monotonic() if turn else self._spoke
            self.requests.append(Request(path, body, turn, sub, results))
            return turn or ASIDE, len(self.requests)

    def _next(self, sub: bool, results: Sequence[str]) -> Turn:
        script = self._scripts[sub]
        step = script.pop(0) if script else OVER
        return step(results) if callable(step) else step


def _wire(path: str) -> Wire | None:
    ends = {"/messages": ANTHROPIC, "/responses": RESPONSES, "/chat/completions": CHAT}
    ends |= {":generateContent": GEMINI, ":streamGenerateContent": GEMINI}
    return next((wire for end, wire in ends.items() if path.endswith(end)), None)


def _handler(model: Model) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_HEAD(self) -> None:
            self._send("application/json", b"")

        def do_GET(self) -> None:
            model.requests.append(Request(self.path, {}, None, False, ()))
            self._json(MODELS)

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")
            path = self.path.partition("?")[0]
            wire = _wire(path)
            if wire is not None:
                self._answer(wire, path, body)
            else:
                model.requests.append(Request(path, body, None, False, ()))
                self._json(COUNTED)

        def _answer(self, wire: Wire, path: str, body: Json) -> None:
            turn, number = model.answer(wire, path, body)
            if not (body.get("stream") or "stream" in path):
                self._json(wire.whole(turn, number, body))
                return
            text = "".join(_event(each) for each in wire.stream(turn, number, body)) + wire.ending
            self._send("text/event-stream", text.encode())

        def _json(self, value: Json) -> None:
            self._send("application/json", json.dumps(value).encode())

        def _send(self, kind: str, content: bytes) -> None:
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing: the requests are kept."""

    return Handler


def _event(value: Json) -> str:
    named = f"event: {value['type']}\n" if "type" in value else ""
    return f"{named}data: {json.dumps(value)}\n\n"
