"""A model in place of the script, over either API; here a scripted stand-in on loopback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

KEY = "sk-demo-0123456789"
# What the model wants, turn by turn; after the last it says that it is done.
TURNS: list[list[tuple[str, dict[str, object]]]] = [
    [("read", {"file_path": "pricing.py"}), ("grep", {"pattern": "discount"})],
    [("bash", {"command": "env; ./x", "description": "Look at the environment"})],
    [
        (
            "edit",
            {
                "file_path": "pricing.py",
                "old_string": "price - percent",
                "new_string": "price - price * percent // 100",
            },
        )
    ],
    [("read", {"file_path": "~/.ssh/id_ed25519"}), ("nonsense", {"a": 1}), ("bash", {"cmd": "ls"})],
    [("bash", {"command": "python3 -m unittest -q"})],
]


class Service:
    """Both APIs of a model that plays a part."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, dict[str, str], dict[str, Any]]] = []
        service = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                service.requests.append((self.path, {k.lower(): v for k, v in self.headers.items()}, body))
                status, answer = service.answer(self.path, len(service.requests) - 1)
                raw = json.dumps(answer).encode()
                self.send_response(status)
                if status == 302:
                    self.send_header("Location", f"http://127.0.0.1:{service.port}/elsewhere")
                self.send_header("Content-Length", str(len(raw)))
                self.end_headers()
                self.wfile.write(raw)

            def log_message(self, *_: object) -> None:
                return

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def answer(self, path: str, turn: int) -> tuple[int, dict[str, object]]:
        if path.startswith("/moved"):
            return 302, {}
        if path.startswith("/broken"):
            return 200, {"odd": True}
        calls = TURNS[turn] if turn < len(TURNS) else []
        text = "I look first. \x1b[31mred" if turn == 0 else "" if calls else "Fixed, and the tests pass."
        if path.endswith("/v1/messages"):
            content: list[dict[str, object]] = [{"type": "text", "text": text}] if text else []
            content += [
                {"type": "tool_use", "id": f"t{turn}-{at}", "name": name, "input": given}
                for at, (name, given) in enumerate(calls)
            ]
            return 200, {"role": "assistant", "content": content}
        message: dict[str, object] = {"role": "assistant", "content": text or None}
        if calls:
            message["tool_calls"] = [
                {"id": f"t{turn}-{at}", "type": "function", "function": {"name": name, "arguments": json.dumps(given)}}
                for at, (name, given) in enumerate(calls)
            ]
        return 200, {"choices": [{"message": message}]}

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def service() -> Iterator[Service]:
    found = Service()
    yield found
    found.close()


def demo(*words: str) -> subprocess.CompletedProcess[str]:
    environ = {"PATH": os.environ["PATH"], "OPENAI_API_KEY": KEY, "ANTHROPIC_API_KEY": KEY, "no_proxy": "127.0.0.1"}
    command = [sys.executable, "-m", "assent", "demo", *words]
    return subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, env=environ, timeout=120, check=False
    )


@pytest.mark.parametrize("model", ["some-model", "claude-x"])
def test_a_model_works_through_the_gate(service: Service, model: str) -> None:
    done = demo("--model", model, "--base-url", f"http://127.0.0.1:{service.port}")
    shown = done.stdout
    assert (done.returncode, done.stderr) == (0, "")
    assert "I look first." in shown
    assert "\x1b" not in shown
    assert "asked: 1 allowed, 2 denied" in shown  # files are changed, nothing is run that nobody has seen
    assert "Ran 2 tests" not in shown
    assert "Fixed, and the tests pass." in shown
    assert "[floor.sensitive-path]" in shown
    assert "there is no tool `nonsense`" in shown
    assert "`bash` has no argument `cmd`" in shown
    assert "Look at the environment  (the agent's own words)" in shown
    assert "The trail is intact" in shown
    # The key goes to the service, and to nothing that runs.
    assert KEY not in shown
    assert all(KEY in (head.get("x-api-key", "") + head.get("authorization", "")) for _, head, _ in service.requests)
    # Every call is answered, each by its id.
    told = json.dumps(service.requests[-1][2]["messages"])
    assert all(f'"t{turn}-{at}"' in told for turn, calls in enumerate(TURNS) for at in range(len(calls)))
    assert KEY not in told
    assert "no other wording gets around this" in told.lower()


def test_a_model_is_not_told_yes_unseen(service: Service) -> None:
    done = demo("--model", "m", "--base-url", f"http://127.0.0.1:{service.port}", "--answer", "yes")
    assert done.returncode == 2
    assert "would run a model's calls unseen" in done.stderr
    assert service.requests == []


def test_a_redirect_is_not_followed(service: Service) -> None:
    done = demo("--model", "m", "--base-url", f"http://127.0.0.1:{service.port}/moved")
    assert done.returncode == 2
    assert "answers 302" in done.stderr
    assert len(service.requests) == 1


def test_an_answer_that_is_none_is_told(service: Service) -> None:
    done = demo("--model", "m", "--api", "anthropic", "--base-url", f"http://127.0.0.1:{service.port}/broken")
    assert done.returncode == 2
    assert "the model's answer cannot be read" in done.stderr
    assert "Traceback" not in done.stderr
