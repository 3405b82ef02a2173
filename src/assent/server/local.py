"""Talks to the server of this user over its socket. Knows nothing of what is said."""

from __future__ import annotations

import http.client
import json
import os
import socket

from assent.contract.errors import AccessError, StoreError
from assent.server.listening import Running, running
from assent.server.peers import peer_of
from assent.state import folders


class Connection(http.client.HTTPConnection):
    """HTTP over a Unix socket."""

    def __init__(self, path: str, timeout: float) -> None:
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)
        found = peer_of(self.sock)
        if found is not None and found.uid not in (os.geteuid(), 0):
            raise ConnectionError("somebody else listens on it")


def server() -> Running | None:
    """The server that lives for this user."""
    return running(state())


def state() -> str:
    """Assent's folder of this user."""
    return folders.assent_home(os.environ, os.environ.get("HOME", "") or os.path.expanduser("~"))


def ask(found: Running, method: str, path: str, body: object = None, *, timeout: float = 10.0) -> dict[str, object]:
    """One request. Raises StoreError where the server does not answer, AccessError where it refuses."""
    connection = Connection(found.socket, timeout)
    try:
        raw = None if body is None else json.dumps(body)
        connection.request(method, path, raw, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        data = json.loads(answer.read())
    except (OSError, ValueError, http.client.HTTPException) as error:
        raise StoreError(f"the server does not answer on `{found.socket}`: {error}; try `assent stop`") from None
    finally:
        connection.close()
    if answer.status >= 400:
        why = data.get("error", {})
        raise AccessError(str(why.get("message", answer.status)), code=str(why.get("code", "")))
    return dict(data)
