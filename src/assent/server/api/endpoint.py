"""What an endpoint is: a method and a path, who may use it, what it takes and gives. Routes nothing."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, Any

from assent.contract import Value
from assent.server.access import Person, Role
from assent.server.peers import Peer

if TYPE_CHECKING:
    from assent.server.state import ServerState

Schema = Mapping[str, Any]
SMALL = 64 * 1024  # bytes of a body
LARGE = 8 * 1024 * 1024  # of one that may hold a whole file

TEXT: Schema = {"type": "string"}
FLAG: Schema = {"type": "boolean"}
NUMBER: Schema = {"type": "number"}
WHOLE: Schema = {"type": "integer"}
TEXTS: Schema = {"type": "array", "items": TEXT}
ANY: Schema = {"type": "object"}

encode = json.JSONEncoder(separators=(",", ":")).encode


def record(required: str = "", /, **properties: Schema) -> Schema:
    """A schema of an object; `required` names the properties that must be there."""
    found: dict[str, Any] = {"type": "object", "properties": properties}
    if required:
        found["required"] = required.split()
    return found


def listing(items: Schema) -> Schema:
    return {"type": "array", "items": items}


class Refusal(Exception):
    """The request cannot be served: status, a stable code, words with the next step."""

    def __init__(self, status: int, code: str, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.headers = headers or {}


class HttpReply:
    """An answer that is not a plain 200 with JSON."""

    __slots__ = ("status", "body", "headers", "kind")

    def __init__(
        self,
        body: object,
        *,
        status: int = 200,
        headers: Mapping[str, str] | None = None,
        kind: str = "application/json",
    ) -> None:
        self.body = body
        self.status = status
        self.headers = headers or {}
        self.kind = kind

    def raw(self) -> bytes:
        """The bytes of its body."""
        return self.body if isinstance(self.body, bytes) else encode(self.body).encode()


class ApiRequest:
    """A request that passed the door. `size` is that of its body in bytes. `gone` tells whether whoever asked hung
    up. A signed one is not read yet: it has its bytes and its headers as they came."""

    __slots__ = (
        *("house", "role", "person", "peer", "path", "query", "body", "size", "cookie", "gone", "send", "raw"),
        "headers",
        "client",
    )

    def __init__(
        self,
        house: ServerState,
        role: Role,
        person: Person | None,
        peer: Peer | None,
        path: Mapping[str, str],
        query: Mapping[str, str],
        body: dict[str, Any],
        size: int,
        cookie: str,
        gone: Callable[[], Awaitable[None]],
        send: Callable[[Any], Awaitable[None]],
        raw: bytes = b"",
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self.house = house
        self.role = role
        self.person = person
        self.peer = peer
        self.path = path
        self.query = query
        self.body = body
        self.size = size
        self.cookie = cookie
        self.gone = gone
        self.send = send
        self.raw = raw
        self.headers = headers or {}
        self.client: tuple[str, int] | None = None  # the address at the other end of TCP

    @property
    def who(self) -> str:
        """The person who asks; `""` where it is none."""
        return self.person.who if self.person is not None else ""

    @property
    def session(self) -> str:
        """The session of that person."""
        return self.person.session if self.person is not None else ""

    @property
    def channel(self) -> str:
        """Where that person is."""
        return self.person.channel if self.person is not None else ""

    # The fields of a body, or a refusal that names them

    def text(self, name: str, default: str | None = None) -> str:
        found = self.body.get(name, default)
        if not isinstance(found, str):
            raise Refusal(422, "bad-field", f"`{name}` is text" if found is not None else f"`{name}` is missing")
        return found

    def table(self, name: str) -> dict[str, Any]:
        found = self.body.get(name, {})
        if not isinstance(found, dict):
            raise Refusal(422, "bad-field", f"`{name}` is an object")
        return found

    def texts(self, name: str) -> tuple[str, ...]:
        found = self.body.get(name, [])
        if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
            raise Refusal(422, "bad-field", f"`{name}` is a list of texts")
        return tuple(found)

    def flag(self, name: str) -> bool:
        found = self.body.get(name, False)
        if not isinstance(found, bool):
            raise Refusal(422, "bad-field", f"`{name}` is true or false")
        return found

    def number(self, name: str, default: float, *, most: float) -> float:
        found = self.body.get(name, default)
        if isinstance(found, bool) or not isinstance(found, int | float) or not 0 <= found <= most:
            raise Refusal(422, "bad-field", f"`{name}` is a number from 0 to {most:g}")
        return float(found)

    def asked_number(self, name: str, default: float, *, most: float = 1e11) -> float:
        """A number of the query."""
        try:
            found = float(self.query.get(name) or default)
        except ValueError:
            found = -1.0
        if not 0 <= found <= most:
            raise Refusal(422, "bad-field", f"`{name}` is a number from 0 to {most:g}")
        return found


Run = Callable[[ApiRequest], Coroutine[Any, Any, object]]


class Endpoint(Value):
    """One method on one path. `body` is the schema of what it takes, `gives` of what it gives, by status. `scraped`
    lets in what collects counters too. `signed` says that a signature over the bytes stands in for everything else.
    `prompt` says that it mostly answers without waiting for anything; the one name that its path may then have in it is
    that of a runtime. `denial` makes an answer in a program's own form from the names in the path and the words of
    a refusal, for programs that run a call where they get another; None where there is none."""

    __slots__ = (
        *("method", "path", "run", "needs", "summary", "body", "query", "gives", "limit", "kind", "scraped"),
        *("signed", "prompt", "denial"),
    )

    def __init__(
        self,
        method: str,
        path: str,
        run: Run,
        *,
        needs: Role,
        summary: str,
        body: Schema | None = None,
        query: Mapping[str, str] | None = None,
        gives: Mapping[int, Schema] | None = None,
        limit: int = SMALL,
        kind: str = "application/json",
        scraped: bool = False,
        signed: bool = False,
        prompt: bool = False,
        denial: Callable[[Mapping[str, str], str], HttpReply | None] | None = None,
    ) -> None:
        self.method = method
        self.path = path
        self.run = run
        self.needs = needs
        self.summary = summary
        self.body = body
        self.query = query or {}
        self.gives = gives or {200: ANY}
        self.limit = limit
        self.kind = kind
        self.scraped = scraped
        self.signed = signed
        self.prompt = prompt
        self.denial = denial
