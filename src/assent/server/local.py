"""Sends requests to the server of this user over its socket."""

from __future__ import annotations

import json
import os
from typing import Any

from assent.contract import AccessError, StoreError
from assent.engine import http_message
from assent.server.listening import Running, running
from assent.state import files


def server() -> Running | None:
    return running(state())


def state() -> str:
    return files.assent_home(os.environ, os.environ.get("HOME", "") or os.path.expanduser("~"))


def ask(found: Running, method: str, path: str, body: object = None, *, timeout: float = 10.0) -> dict[str, Any]:
    """Send one request. Raises StoreError if the server does not answer, AccessError if it refuses."""
    raw = b"" if body is None else json.dumps(body).encode()
    try:
        status, answer = http_message.request(found.socket, method, path, raw, seconds=timeout)
    except OSError as error:
        raise StoreError(f"the server does not answer on `{found.socket}`: {error}; try `assent stop`") from None
    return answered(status, answer)


def answered(status: int, raw: bytes) -> dict[str, Any]:
    """The content of an answer. Raises AccessError with the server's code for a refusal, StoreError if it cannot be
    read."""
    found = table(raw)
    if status < 400:
        return found
    why = found.get("error", {})
    raise AccessError(str(why.get("message", f"refused ({status})")), code=str(why.get("code", "")))


def table(raw: bytes) -> dict[str, Any]:
    """The JSON object in some bytes. Raises StoreError if there is none."""
    try:
        found = json.loads(raw)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise StoreError("the server's answer cannot be read; is it another version?")
    return found
