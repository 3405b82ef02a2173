"""The two APIs of models over HTTP: a request out, its answer read strictly, and the key of the service.

Connects to the configured address and nowhere else: no redirects, no proxies and no certificates of the environment. A
project's files cannot say where the key comes from, and no file of ours ever holds it.

INVARIANT: `safe` comes from the one JSON object that was asked for, whole and alone. Anything else is no answer."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from assent.agents import payload
from assent.approval.patience import in_thread
from assent.contract import Pattern, PayloadError
from assent.contract.classifier import Backend
from assent.contract.launched import LIBRARIES

if TYPE_CHECKING:
    import httpx

TOKENS = 300  # of an answer
LARGEST = 256 * 1024  # bytes of a reply
VERSION = "2023-06-01"  # of the Messages API
CONNECTIONS = 8
LONGEST = 2000  # characters of an answer
REASON = 600  # characters of its reason
FITS = Pattern(r"[\x21-\x7e]{1,4096}")
# Environment variables that name code to load: a keyring, or the folder of the file that names one.
STEERING = ("PYTHON_KEYRING_", "XDG_CONFIG_HOME", "XDG_DATA_HOME")


class Unread(Exception):
    """There is no reliable answer. `code` is a short word for the trail, `tokens` those used anyway."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.tokens = (0, 0)


class Failed(Unread):
    """The model could not be reached, or its service does not work."""


@dataclass(frozen=True, slots=True)
class ModelReply:
    safe: bool
    reason: str
    input_tokens: int
    output_tokens: int


@dataclass(frozen=True, slots=True)
class ModelRequest:
    url: str
    headers: dict[str, str]
    body: dict[str, Any]
    read: Callable[[bytes], ModelReply]


# Sending


def request(backend: Backend, key: str, system: str, text: str) -> ModelRequest:
    asked = {"role": "user", "content": text}
    if backend.api == "anthropic":
        headers = {"anthropic-version": VERSION, **({"x-api-key": key} if key else {})}
        body = {"model": backend.model, "max_tokens": TOKENS, "system": system, "messages": [asked]}
        return ModelRequest(
            f"{backend.url}/v1/messages",
            headers,
            body,
            partial(_read, _in_anthropic, ("input_tokens", "output_tokens")),
        )
    limit = "max_completion_tokens" if backend.url.startswith("https://api.openai.com/") else "max_tokens"
    body = {"model": backend.model, limit: TOKENS, "messages": [{"role": "system", "content": system}, asked]}
    headers = {"authorization": f"Bearer {key}"} if key else {}
    return ModelRequest(
        f"{backend.url}/chat/completions",
        headers,
        body,
        partial(_read, _in_openai, ("prompt_tokens", "completion_tokens")),
    )


def client(timeout: float) -> httpx.AsyncClient:
    """The HTTP client. Raises Failed if the library is missing."""
    try:
        find_package("httpx")
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


def find_package(package: str) -> None:
    """Add the folders of packages that the launcher of a hook names: it starts without them."""
    try:
        __import__(package)
    except ImportError:
        sys.path += [each for each in LIBRARIES if each not in sys.path]


async def send(client: httpx.AsyncClient, request: ModelRequest) -> ModelReply:
    """Raises Failed if the service does not work, Unread if its answer is invalid."""
    import httpx

    try:
        async with client.stream("POST", request.url, headers=request.headers, json=request.body) as reply:
            if reply.status_code != 200:
                raise Failed(f"status-{reply.status_code}", f"the service answered with status {reply.status_code}")
            if reply.headers.get("content-encoding", "identity") != "identity":
                raise Failed("reply", "the reply is compressed, which was not asked for")
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


# Reading


def verdict(text: object) -> tuple[bool, str]:
    """`safe` and `reason` of an answer. Raises Unread for anything but the object that was asked for."""
    if not isinstance(text, str) or len(text) > LONGEST:
        raise Unread("answer", f"the model's answer is not text of at most {LONGEST} characters")
    found = _json(text, Unread("answer", "the model did not answer with one JSON object"))
    if set(found) != {"safe", "reason"}:
        raise Unread("answer", "the model's answer does not have `safe` and `reason` alone")
    safe, reason = found["safe"], found["reason"]
    if not isinstance(safe, bool) or not isinstance(reason, str) or len(reason) > REASON:
        raise Unread("answer", "the model's `safe` is not true or false, or its `reason` no short text")
    return safe, reason


def _read(text: Callable[[dict[str, Any]], object], counts: tuple[str, str], raw: bytes) -> ModelReply:
    """The reply of an API, which has the model's `text` and two `counts` of tokens."""
    body = _json(raw, Unread("reply", "the reply is no JSON object"))
    read, written = (_count(body.get("usage"), name) for name in counts)
    try:
        return ModelReply(*verdict(text(body)), read, written)
    except Unread as unread:
        unread.tokens = (read, written)
        raise


def _in_anthropic(body: dict[str, Any]) -> object:
    if body.get("type") != "message" or body.get("role") != "assistant":
        raise Unread("reply", "the reply is no message of a model")
    if body.get("stop_reason") != "end_turn":
        raise _ended(body.get("stop_reason"))
    match body.get("content"):
        case [{"type": "text", "text": str(text)}]:
            return text
    raise Unread("reply", "the reply does not hold one text alone")


def _in_openai(body: dict[str, Any]) -> object:
    match body.get("choices"):
        case [{"message": {"role": "assistant"} as message, "finish_reason": ending}]:
            if message.get("refusal") or message.get("tool_calls") or message.get("function_call"):
                raise Unread("refusal", "the model refused, or wanted to call something")
            if ending != "stop":
                raise _ended(ending)
            return message.get("content")
    raise Unread("reply", "the reply does not hold one message of a model")


def _ended(why: object) -> Unread:
    if why in ("refusal", "content_filter"):
        return Unread("refusal", "the model refused to answer")
    return Unread("cut", f"the model did not end by itself: {str(why)[:40]}")


def _json(raw: str | bytes, problem: Unread) -> dict[str, Any]:
    """A JSON object without duplicate keys; else raises `problem`."""
    try:
        return payload.read(raw)
    except PayloadError:
        raise problem from None


def _count(usage: object, name: str) -> int:
    found = usage.get(name) if isinstance(usage, dict) else 0
    return found if isinstance(found, int) and not isinstance(found, bool) and 0 <= found < 10**9 else 0


# The key


async def find_key(source: str, environ: Mapping[str, str]) -> str:
    """The key, `""` if the service needs none. Raises Failed if there is none. A keyring may wait for a person to
    unlock it: no longer than for the model."""
    kind, _, name = source.partition(":")
    if kind == "none":
        return ""
    key = (
        environ.get(name, "")
        if kind == "env"
        else await in_thread(partial(_from_keyring, *name.split("/", 1)), "keyring")
    )
    key = key.strip()
    if not key:
        raise Failed("key", f"there is no key in `{source}`; put one there, or set `classifier.key`")
    if FITS.fullmatch(key) is None:
        raise Failed("key", f"what is in `{source}` cannot be a key")
    return key


def _from_keyring(service: str, user: str) -> str:
    """An entry of the keyring. The environment cannot choose the keyring: a repository can set variables."""
    steering = {name: os.environ.pop(name) for name in list(os.environ) if name.startswith(STEERING)}
    try:
        find_package("keyring")
        import keyring

        return keyring.get_password(service, user) or ""
    except ImportError:
        raise Failed("key", "the key is in a keyring; `pip install keyring` to read it") from None
    except Exception as error:  # locked, or no backend
        raise Failed("key", f"the keyring cannot be read: {type(error).__name__}") from None
    finally:
        os.environ.update(steering)
