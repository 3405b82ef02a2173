"""Both clients of the server, and servers that misbehave. Tests nothing."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from assent.hook import compiled_client, launcher

Handler = Callable[[socket.socket, bytes], None]
COMMAND = "git status"


def done(out: bytes = b"", err: bytes = b"", status: int = 0) -> bytes:
    return b"done %d %d %d\n%b%b" % (status, len(out), len(err), out, err)


def http(body: bytes, status: bytes = b"200 OK", length: int | None = None) -> bytes:
    size = len(body) if length is None else length
    return b"HTTP/1.1 %b\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n%b" % (status, size, body)


def saying(*pieces: bytes) -> Handler:
    """A server that says something, and hangs up."""

    def handler(line: socket.socket, asked: bytes) -> None:
        for each in pieces:
            line.sendall(each)

    return handler


class Fake:
    """A server over a socket. One handler for each connection in turn; the last one stays."""

    def __init__(self, path: Path, *handlers: Handler) -> None:
        self.asked: list[bytes] = []
        self._handlers = list(handlers)
        self._path = path
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        before = os.umask(0o177)
        self._listener.bind(str(path))
        os.umask(before)
        self._listener.listen(16)
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    @property
    def bodies(self) -> list[dict[str, Any]]:
        return [json.loads(each.partition(b"\r\n\r\n")[2]) for each in self.asked]

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(10)
        self._path.unlink(missing_ok=True)

    def _serve(self) -> None:
        while True:
            try:
                line, _ = self._listener.accept()
            except OSError:
                return
            with line:
                handler = self._handlers.pop(0) if len(self._handlers) > 1 else self._handlers[0]
                try:
                    asked = _request(line)
                    self.asked.append(asked)
                    handler(line, asked)
                except OSError:  # the client has gone
                    continue


def _request(line: socket.socket) -> bytes:
    came = b""
    while b"\r\n\r\n" not in came and (chunk := line.recv(1 << 20)):
        came += chunk
    head, _, body = came.partition(b"\r\n\r\n")
    length = next(int(each.split(b":")[1]) for each in head.split(b"\r\n") if each.startswith(b"Content-Length"))
    while len(body) < length and (chunk := line.recv(1 << 20)):
        body += chunk
    return head + b"\r\n\r\n" + body


class Client:
    """One client, `python` or `compiled`, over a state folder and a project of its own."""

    def __init__(self, kind: str, folder: Path) -> None:
        self.kind = kind
        self.state, self.project = folder / "state", folder / "project"
        self.state.mkdir(mode=0o700)
        self.project.mkdir()
        self.socket = self.state / "server.sock"
        self.environ = {"HOME": str(folder), "PATH": os.environ["PATH"], "CLAUDE_PROJECT_DIR": str(self.project)}
        launcher.write(str(self.state))
        if kind == "compiled":
            compiled_client.write(str(self.state))

    def words(self, runtime: str = "claude", *, deadline: int = 60, socket: Path | None = None) -> list[str]:
        found = launcher.launcher(str(self.state), runtime, socket=str(socket or self.socket), deadline=deadline)
        return list(found if self.kind == "python" else compiled_client.words(found, str(self.state)))

    def payload(self, command: str = COMMAND) -> bytes:
        call = {"tool_name": "Bash", "tool_input": {"command": command}}
        event = {"session_id": "s1", "cwd": str(self.project), "hook_event_name": "PreToolUse", **call}
        return json.dumps(event).encode()

    def run(
        self,
        payload: bytes | None = None,
        *,
        runtime: str = "claude",
        deadline: int = 60,
        socket: Path | None = None,
        environ: Mapping[str, str] | Mapping[bytes, bytes] | None = None,
        **more: Any,
    ) -> subprocess.CompletedProcess[bytes]:
        words = self.words(runtime, deadline=deadline, socket=socket)
        given = self.payload() if payload is None else payload
        env: Any = self.environ if environ is None else environ
        return subprocess.run(
            words, input=given, capture_output=True, env=env, cwd=self.project, timeout=90, check=False, **more
        )

    @property
    def recorded(self) -> int:
        """How many decisions the cold path has made: a server of ours would record elsewhere."""
        trail = self.state / "audit" / "permissions.jsonl"
        return trail.read_text().count('"kind":"decision"') if trail.exists() else 0


def outcome(ran: subprocess.CompletedProcess[bytes]) -> str:
    """How Claude Code reads an answer."""
    if ran.returncode == 2:
        return "block"
    assert ran.returncode == 0, ran
    return str(json.loads(ran.stdout)["hookSpecificOutput"]["permissionDecision"])
