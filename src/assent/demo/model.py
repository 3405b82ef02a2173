"""A model in place of the script: speaks to an OpenAI-compatible or an Anthropic endpoint, and asks for calls of tools.

Runs no call. The key comes from the environment, and goes nowhere but to that endpoint."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import urllib.error
import urllib.request
from collections.abc import AsyncIterator
from typing import Any, Protocol
from urllib.parse import urlsplit

from assent.contract import StoreError, Value
from assent.contract.display import one_line

KEYS = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY")
TURNS = 25
TOKENS = 4096
PATIENCE = 180.0  # seconds for an answer
LARGEST = 8 * 1024 * 1024
VERSION = "2023-06-01"
TASK = "The tests of this project fail. Find out why, fix it, and check that they pass."
SYSTEM = (
    "You are a coding agent in a small project. Use the tools; each call passes a permission gate, and a person may be "
    "asked. When a call is refused, read why and go on another way, or say that you could not."
)
Body = dict[str, Any]


class Wanted(Value):
    """A call that the model asks for."""

    __slots__ = ("id", "name", "given")

    def __init__(self, id: str, name: str, given: dict[str, object]) -> None:
        self.id = id
        self.name = name
        self.given = given


class Part(Value):
    """One answer of the model."""

    __slots__ = ("text", "calls")

    def __init__(self, text: str, calls: list[Wanted]) -> None:
        self.text = text
        self.calls = calls


class Api(Protocol):
    """How a kind of endpoint is spoken to."""

    def request(self, model: str, tools: list[dict[str, object]]) -> tuple[str, dict[str, str], Body]: ...

    def read(self, answer: Body) -> Part: ...

    def tell(self, call: Wanted, text: str, error: bool) -> None: ...


class Talk:
    """A conversation with a model."""

    def __init__(self, api: Api, model: str, task: str) -> None:
        self._api = api
        self._model = model
        self.task = task

    async def turns(self, tools: list[dict[str, object]]) -> AsyncIterator[Part]:
        """What the model says, until it wants nothing more. Raises StoreError where it does not answer."""
        for _ in range(TURNS):
            answer = await asyncio.to_thread(_post, *self._api.request(self._model, tools))
            try:
                part = self._api.read(answer)
            except (KeyError, TypeError, ValueError, IndexError, AttributeError):
                raise StoreError("the model's answer cannot be read; check --api and --base-url") from None
            yield part
            if not part.calls:
                return

    def tell(self, call: Wanted, text: str, error: bool) -> None:
        """What came of a call."""
        self._api.tell(call, text, error)


def talk(options: argparse.Namespace) -> Talk:
    """The conversation that the options ask for. Raises StoreError where something is missing."""
    kind = options.api or ("anthropic" if options.model.startswith("claude") else "openai")
    base = options.base_url.rstrip("/")
    if base and urlsplit(base).scheme not in ("http", "https"):
        raise StoreError(f"`{options.base_url}` is no address; write http://… or https://…")
    variable = KEYS[0] if kind == "anthropic" else KEYS[1]
    key = os.environ.get(variable, "")
    if not key and not base:
        raise StoreError(f"{variable} is not set; set it, or name a server of your own with --base-url")
    task = options.task or TASK
    api: Api = Anthropic(base, key, task) if kind == "anthropic" else OpenAI(base, key, task)
    return Talk(api, options.model, task)


class OpenAI:
    """Chat completions, as many servers speak them."""

    def __init__(self, base: str, key: str, task: str) -> None:
        self._url = f"{base or 'https://api.openai.com/v1'}/chat/completions"
        self._key = key
        self._messages: list[Body] = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": task}]

    def request(self, model: str, tools: list[dict[str, object]]) -> tuple[str, dict[str, str], Body]:
        headers = {"authorization": f"Bearer {self._key}"} if self._key else {}
        listed = [{"type": "function", "function": each} for each in tools]
        return self._url, headers, {"model": model, "messages": self._messages, "tools": listed}

    def read(self, answer: Body) -> Part:
        message = answer["choices"][0]["message"]
        self._messages.append(message)
        wanted = message.get("tool_calls") or []
        return Part(
            str(message.get("content") or ""),
            [Wanted(each["id"], each["function"]["name"], _given(each["function"]["arguments"])) for each in wanted],
        )

    def tell(self, call: Wanted, text: str, error: bool) -> None:
        self._messages.append({"role": "tool", "tool_call_id": call.id, "content": text})


class Anthropic:
    """The Messages API."""

    def __init__(self, base: str, key: str, task: str) -> None:
        self._url = f"{base or 'https://api.anthropic.com'}/v1/messages"
        self._key = key
        self._messages: list[Body] = [{"role": "user", "content": task}]

    def request(self, model: str, tools: list[dict[str, object]]) -> tuple[str, dict[str, str], Body]:
        headers = {"anthropic-version": VERSION, **({"x-api-key": self._key} if self._key else {})}
        listed = [
            {"name": each["name"], "description": each["description"], "input_schema": each["parameters"]}
            for each in tools
        ]
        body = {"model": model, "max_tokens": TOKENS, "system": SYSTEM, "messages": self._messages, "tools": listed}
        return self._url, headers, body

    def read(self, answer: Body) -> Part:
        content = answer["content"]
        self._messages.append({"role": "assistant", "content": content})
        text = "\n".join(str(each["text"]) for each in content if each["type"] == "text")
        calls = [
            Wanted(each["id"], each["name"], _given(each["input"])) for each in content if each["type"] == "tool_use"
        ]
        return Part(text, calls)

    def tell(self, call: Wanted, text: str, error: bool) -> None:
        result = {"type": "tool_result", "tool_use_id": call.id, "content": text, "is_error": error}
        last = self._messages[-1]
        if last["role"] == "user":  # the results of one answer belong together
            last["content"].append(result)
        else:
            self._messages.append({"role": "user", "content": [result]})


def _given(value: object) -> dict[str, object]:
    """Arguments as the model gave them; what is no object is refused by the tools themselves."""
    found = json.loads(value or "{}") if isinstance(value, str) else value
    return found if isinstance(found, dict) else {"arguments": found}


class _Stay(urllib.request.HTTPRedirectHandler):
    """INVARIANT: the key goes to the address that was named, and nowhere else."""

    def redirect_request(self, *_: Any) -> None:
        return None


def _post(url: str, headers: dict[str, str], body: Body) -> Body:
    sent = {"content-type": "application/json", "user-agent": "assent-demo", **headers}
    request = urllib.request.Request(url, json.dumps(body).encode(), sent)
    try:
        with urllib.request.build_opener(_Stay).open(request, timeout=PATIENCE) as answer:
            found = json.loads(answer.read(LARGEST))
    except urllib.error.HTTPError as error:
        said = error.read(2000).decode("utf-8", "replace")
        raise StoreError(f"the model's service answers {error.code}: {one_line(said, 300)}") from None
    except (OSError, ValueError) as error:
        raise StoreError(f"the model's service at `{url}` does not answer: {one_line(str(error), 200)}") from None
    if not isinstance(found, dict):
        raise StoreError("the model's answer is no object; check --api and --base-url")
    return found
