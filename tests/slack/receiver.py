"""A receiver of webhooks on this machine, which keeps what it is sent and replies as it is told. Tests nothing."""

from __future__ import annotations

import hashlib
import hmac
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.slack.standin import until

SECRET = "0123456789abcdef0123456789abcdef"


def signature(kind: str, body: bytes, *, secret: str = SECRET, at: float | None = None) -> dict[str, str]:
    """The headers of a signed request."""
    stamp = str(int(time.time() if at is None else at))
    made = hmac.new(secret.encode(), f"v1:{kind}:{stamp}:".encode() + body, hashlib.sha256).hexdigest()
    return {"Content-Type": "application/json", "Assent-Timestamp": stamp, "Assent-Signature": f"v1={made}"}


def reply(event: dict[str, Any], said: str, **more: object) -> bytes:
    """An answer to a question."""
    return json.dumps(
        {"id": event["id"], "digest": event["digest"], "nonce": event["nonce"], "said": said, **more}
    ).encode()


class Receiver:
    """Keeps events. `status` and `headers` are what it answers with, `says` an answer to give in the response."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []
        self.unsigned = 0
        self.tries = 0
        self.status = 200
        self.headers: dict[str, str] = {}
        self.says = ""
        self.forged = False
        self.delay = 0.0
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                outer.take(self)

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}/questions?for=assent"

    def take(self, request: BaseHTTPRequestHandler) -> None:
        body = request.rfile.read(int(request.headers["Content-Length"]))
        self.tries += 1
        time.sleep(self.delay)
        expected = signature("event", body, at=int(request.headers["Assent-Timestamp"]))
        if not hmac.compare_digest(expected["Assent-Signature"], request.headers["Assent-Signature"]):
            self.unsigned += 1
        event = json.loads(body)
        answer, headers = b"", dict(self.headers)
        if 200 <= self.status < 300:
            self.events.append(event)
            if self.says and event["event"] == "question":
                answer = reply(event, self.says, who="inline")
                headers |= signature("answer", answer, secret="f" * 32 if self.forged else SECRET)
        request.send_response(self.status)
        for name, value in headers.items():
            request.send_header(name, value)
        request.send_header("Content-Length", str(len(answer)))
        request.end_headers()
        request.wfile.write(answer)

    def event(self, kind: str, about: str, *, seconds: float = 15) -> dict[str, Any]:
        """The event of a kind that mentions something, once it is there."""

        def found() -> dict[str, Any] | None:
            return next((each for each in self.events if each["event"] == kind and about in json.dumps(each)), None)

        return until(found, seconds, f"no {kind} about {about}, but {self.events}")

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
