"""The definition of an endpoint: method, path, required role, request and response schemas."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Any

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
    needed = {"required": required.split()} if required else {}
    return {"type": "object", "properties": properties, **needed}


def listing(items: Schema) -> Schema:
    return {"type": "array", "items": items}


class Refusal(Exception):
    """The request cannot be served: status, stable code, message with the next step."""

    def __init__(self, status: int, code: str, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status, self.code, self.message, self.headers = status, code, message, headers or {}


@dataclass(slots=True)
class HttpReply:
    """An answer that is not just a 200 with JSON."""

    body: object
    _: KW_ONLY
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    kind: str = "application/json"

    def raw(self) -> bytes:
        return self.body if isinstance(self.body, bytes) else encode(self.body).encode()


@dataclass(slots=True)
class ApiRequest:
    """An admitted request. `size` is the length of its body in bytes. `gone` returns when its sender has hung up. The
    body of a signed request is not parsed: it has `raw` bytes and headers."""

    server: ServerState
    role: Role
    person: Person | None
    peer: Peer | None
    path: Mapping[str, str]
    body: dict[str, Any]
    size: int
    cookie: str
    gone: Callable[[], Awaitable[None]]
    send: Callable[[Any], Awaitable[None]]
    raw: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    client: tuple[str, int] | None = None  # the address at the other end of TCP

    @property
    def who(self) -> str:
        """The person who sent it; `""` if no person did. `session` and `channel` are that person's."""
        return self.person.who if self.person is not None else ""

    @property
    def session(self) -> str:
        return self.person.session if self.person is not None else ""

    @property
    def channel(self) -> str:
        return self.person.channel if self.person is not None else ""

    # The fields of a body, or a refusal that names them

    def text(self, name: str, default: str | None = None) -> str:
        found = self.body.get(name, default)
        if not isinstance(found, str):
            raise Refusal(422, "bad-field", f"`{name}` must be text" if found is not None else f"`{name}` is missing")
        return found

    def table(self, name: str) -> dict[str, Any]:
        found = self.body.get(name, {})
        if not isinstance(found, dict):
            raise Refusal(422, "bad-field", f"`{name}` must be an object")
        return found

    def texts(self, name: str) -> tuple[str, ...]:
        found = self.body.get(name, [])
        if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
            raise Refusal(422, "bad-field", f"`{name}` must be a list of texts")
        return tuple(found)

    def flag(self, name: str) -> bool:
        found = self.body.get(name, False)
        if not isinstance(found, bool):
            raise Refusal(422, "bad-field", f"`{name}` must be true or false")
        return found

    def number(self, name: str, default: float, *, most: float) -> float:
        found = self.body.get(name, default)
        if isinstance(found, bool) or not isinstance(found, int | float) or not 0 <= found <= most:
            raise Refusal(422, "bad-field", f"`{name}` must be a number from 0 to {most:g}")
        return float(found)

    def query_number(self, name: str, default: float, *, most: float = 1e11) -> float:
        try:
            found = float(self.query.get(name) or default)
        except ValueError:
            found = -1.0
        if not 0 <= found <= most:
            raise Refusal(422, "bad-field", f"`{name}` must be a number from 0 to {most:g}")
        return found


Run = Callable[[ApiRequest], Coroutine[Any, Any, object]]


def in_thread(run: Callable[[ApiRequest], object]) -> Run:
    """An endpoint that reads files, and so runs in a thread."""

    async def running(asked: ApiRequest) -> object:
        return await asyncio.to_thread(run, asked)

    return running


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One method on one path. `body` is the request schema, `gives` the response schemas by status. `scraped` also
    admits metrics collectors. `signed`: a signature over the bytes replaces every other proof. `immediate`: it mostly
    answers without waiting; the only name in its path is then `runtime`. `denial` makes an answer in a program's own
    format from the names in the path and the message of a refusal, for programs that run a call on any other answer."""

    method: str
    path: str
    run: Run
    _: KW_ONLY
    needs: Role
    summary: str
    body: Schema | None = None
    query: Mapping[str, str] = field(default_factory=dict)
    gives: Mapping[int, Schema]
    limit: int = SMALL
    kind: str = "application/json"
    scraped: bool = False
    signed: bool = False
    immediate: bool = False
    denial: Callable[[Mapping[str, str], str], HttpReply | None] | None = None
