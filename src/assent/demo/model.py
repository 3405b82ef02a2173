"""A model instead of the script, at an OpenAI-compatible or an Anthropic endpoint. Runs no call.

The key comes from the environment, and is sent to that endpoint alone."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import urllib.error
import urllib.request
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import urlsplit

from assent.contract import StoreError
from assent.contract.display import one_line

KEYS = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY")
MOST_TURNS = 25
MOST_TOKENS = 4096
TIMEOUT = 180.0  # seconds for an answer
LARGEST = 8 * 1024 * 1024
VERSION = "2023-06-01"
TASK = "The tests of this project fail. Find out why, fix it, and check that they pass."
SYSTEM = (
    "You are a coding agent in a small project. Use the tools; each call passes a permission gate, and a person may be "
    "asked. When a call is refused, read why and try another way, or say that you could not."
)
Body = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ToolRequest:
    """A call that the model asks for."""

    id: str
    name: str
    input: dict[str, object]


@dataclass(frozen=True, slots=True)
class ModelTurn:
    """One answer of the model."""

    text: str
    calls: list[ToolRequest]


class ModelApi(Protocol):
    """The messages so far, in the form of one kind of endpoint."""

    def request(self, model: str, tools: list[dict[str, object]]) -> tuple[str, dict[str, str], Body]: ...

    def read(self, answer: Body) -> ModelTurn: ...

    def add_result(self, call: ToolRequest, text: str, error: bool) -> None: ...


@dataclass(frozen=True, slots=True)
class Conversation:
    api: ModelApi
    model: str
    task: str

    async def turns(self, tools: list[dict[str, object]]) -> AsyncIterator[ModelTurn]:
        """The model's answers, until one asks for no call. Raises StoreError if it does not answer."""
        for _ in range(MOST_TURNS):
            answer = await asyncio.to_thread(_post, *self.api.request(self.model, tools))
            try:
                found = self.api.read(answer)
            except (KeyError, TypeError, ValueError, IndexError, AttributeError):
                raise StoreError("the model's answer cannot be read; check --api and --base-url") from None
            yield found
            if not found.calls:
                return


def converse(options: argparse.Namespace) -> Conversation:
    """The conversation that the options describe. Raises StoreError if something is missing."""
    kind = options.api or ("anthropic" if options.model.startswith("claude") else "openai")
    base = options.base_url.rstrip("/")
    if base and urlsplit(base).scheme not in ("http", "https"):
        raise StoreError(f"`{options.base_url}` is not an address; write http://… or https://…")
    variable = KEYS[0] if kind == "anthropic" else KEYS[1]
    key = os.environ.get(variable, "")
    if not key and not base:
        raise StoreError(f"{variable} is not set; set it, or name a server of your own with --base-url")
    task = options.task or TASK
    api: ModelApi = Anthropic(base, key, task) if kind == "anthropic" else OpenAI(base, key, task)
    return Conversation(api, options.model, task)


class OpenAI:
    """Chat completions, which many servers offer."""

    def __init__(self, base: str, key: str, task: str) -> None:
        self._url, self._key = f"{base or 'https://api.openai.com/v1'}/chat/completions", key
        self._messages: list[Body] = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": task}]

    def request(self, model: str, tools: list[dict[str, object]]) -> tuple[str, dict[str, str], Body]:
        headers = {"authorization": f"Bearer {self._key}"} if self._key else {}
        listed = [{"type": "function", "function": each} for each in tools]
        return self._url, headers, {"model": model, "messages": self._messages, "tools": listed}

    def read(self, answer: Body) -> ModelTurn:
        message = answer["choices"][0]["message"]
        self._messages.append(message)
        called = [(each["id"], each["function"]) for each in message.get("tool_calls") or []]
        calls = [ToolRequest(id, each["name"], _input(each["arguments"])) for id, each in called]
        return ModelTurn(str(message.get("content") or ""), calls)

    def add_result(self, call: ToolRequest, text: str, error: bool) -> None:
        self._messages.append({"role": "tool", "tool_call_id": call.id, "content": text})


class Anthropic:
    """The Messages API."""

    def __init__(self, base: str, key: str, task: str) -> None:
        self._url, self._key = f"{base or 'https://api.anthropic.com'}/v1/messages", key
        self._messages: list[Body] = [{"role": "user", "content": task}]

    def request(self, model: str, tools: list[dict[str, object]]) -> tuple[str, dict[str, str], Body]:
        headers = {"anthropic-version": VERSION, **({"x-api-key": self._key} if self._key else {})}
        listed = [
            {"name": each["name"], "description": each["description"], "input_schema": each["parameters"]}
            for each in tools
        ]
        body = {
            "model": model,
            "max_tokens": MOST_TOKENS,
            "system": SYSTEM,
            "messages": self._messages,
            "tools": listed,
        }
        return self._url, headers, body

    def read(self, answer: Body) -> ModelTurn:
        content = answer["content"]
        self._messages.append({"role": "assistant", "content": content})
        text = "\n".join(str(each["text"]) for each in content if each["type"] == "text")
        calls = [
            ToolRequest(each["id"], each["name"], _input(each["input"]))
            for each in content
            if each["type"] == "tool_use"
        ]
        return ModelTurn(text, calls)

    def add_result(self, call: ToolRequest, text: str, error: bool) -> None:
        result = {"type": "tool_result", "tool_use_id": call.id, "content": text, "is_error": error}
        last = self._messages[-1]
        if last["role"] == "user":  # the results of one answer belong together
            last["content"].append(result)
        else:
            self._messages.append({"role": "user", "content": [result]})


def _input(value: object) -> dict[str, object]:
    """Arguments as the model gave them; the tools refuse what is not an object."""
    found = json.loads(value or "{}") if isinstance(value, str) else value
    return found if isinstance(found, dict) else {"arguments": found}


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """INVARIANT: the key is sent to the address that was given, and to no other."""

    def redirect_request(self, *_: Any) -> None:
        return None


def _post(url: str, headers: dict[str, str], body: Body) -> Body:
    sent = {"content-type": "application/json", "user-agent": "assent-demo", **headers}
    request = urllib.request.Request(url, json.dumps(body).encode(), sent)
    try:
        with urllib.request.build_opener(_NoRedirects).open(request, timeout=TIMEOUT) as answer:
            found = json.loads(answer.read(LARGEST))
    except urllib.error.HTTPError as error:
        said = error.read(2000).decode("utf-8", "replace")
        raise StoreError(f"the model's service answers {error.code}: {one_line(said, 300)}") from None
    except (OSError, ValueError) as error:
        raise StoreError(f"the model's service at `{url}` does not answer: {one_line(str(error), 200)}") from None
    if not isinstance(found, dict):
        raise StoreError("the model's answer is not an object; check --api and --base-url")
    return found
