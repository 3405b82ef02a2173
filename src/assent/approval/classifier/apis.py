"""The two ways to speak to a model, over HTTP: a request out, the bytes of the reply back. Reads no answer.

Goes to the configured address and nowhere else: no redirects, no proxies and no certificates of the environment."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from assent.approval.classifier import answer
from assent.approval.classifier.answer import Said, Unread
from assent.contract import Value
from assent.contract.classifier import Backend
from assent.contract.launched import LIBRARIES

if TYPE_CHECKING:
    import httpx

TOKENS = 300  # that an answer may take
LARGEST = 256 * 1024  # bytes of a reply
VERSION = "2023-06-01"  # of the Messages API
CONNECTIONS = 8


class Failed(Unread):
    """The model could not be reached, or its service does not work."""


class Request(Value):
    """What is sent."""

    __slots__ = ("url", "headers", "body", "read")

    def __init__(self, url: str, headers: dict[str, str], body: dict[str, Any], read: Callable[[bytes], Said]) -> None:
        self.url = url
        self.headers = headers
        self.body = body
        self.read = read


def request(backend: Backend, key: str, system: str, text: str) -> Request:
    """The request for one answer."""
    if backend.api == "anthropic":
        headers = {"anthropic-version": VERSION, **({"x-api-key": key} if key else {})}
        body = {
            "model": backend.model,
            "max_tokens": TOKENS,
            "system": system,
            "messages": [{"role": "user", "content": text}],
        }
        return Request(f"{backend.url}/v1/messages", headers, body, answer.of_anthropic)
    limit = "max_completion_tokens" if backend.url.startswith("https://api.openai.com/") else "max_tokens"
    messages = [{"role": "system", "content": system}, {"role": "user", "content": text}]
    body = {"model": backend.model, limit: TOKENS, "messages": messages}
    headers = {"authorization": f"Bearer {key}"} if key else {}
    return Request(f"{backend.url}/chat/completions", headers, body, answer.of_openai)


def client(timeout: float) -> httpx.AsyncClient:
    """A client that goes where it is told. Raises Failed where the library is missing."""
    try:
        look_for("httpx")
        import httpx
    except ImportError:
        raise Failed("library", "httpx is not installed; install `assent[classifier]`") from None
    return httpx.AsyncClient(
        trust_env=False,
        follow_redirects=False,
        timeout=timeout,
        limits=httpx.Limits(max_connections=CONNECTIONS),
        headers={"accept": "application/json", "accept-encoding": "identity", "user-agent": "assent"},
    )


def look_for(package: str) -> None:
    """Look where the launcher of a hook says that packages are: it starts without them."""
    try:
        __import__(package)
    except ImportError:
        sys.path += [each for each in LIBRARIES if each not in sys.path]


async def send(client: httpx.AsyncClient, request: Request) -> Said:
    """One request, one answer. Raises Failed where the service does not work, Unread where its answer is none."""
    import httpx

    try:
        async with client.stream("POST", request.url, headers=request.headers, json=request.body) as reply:
            if reply.status_code != 200:
                raise Failed(f"status-{reply.status_code}", f"the service answered with status {reply.status_code}")
            if reply.headers.get("content-encoding", "identity") != "identity":
                raise Failed("reply", "the reply is packed, which was not asked for")
            raw = bytearray()
            async for chunk in reply.aiter_raw():
                raw += chunk
                if len(raw) > LARGEST:
                    raise Failed("reply", f"the reply is longer than {LARGEST} bytes")
    except httpx.TimeoutException:
        raise Failed("timeout", "the model did not answer in time") from None
    except httpx.HTTPError as error:
        raise Failed("connection", f"the service cannot be reached: {type(error).__name__}") from None
    return request.read(bytes(raw))
