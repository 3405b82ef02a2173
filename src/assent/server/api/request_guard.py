"""Admits requests: who sends one, whether they may, and the form of every answer.

Checks Host (DNS rebinding), Origin and Sec-Fetch-Site (forged requests), size and pace of the body, and the role.
INVARIANT: whatever is sent, the answer is JSON with a status, and the server stays up."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Coroutine, Generator, Mapping, Sequence
from functools import partial
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from urllib.parse import parse_qsl

from assent.agents import payload
from assent.contract import AccessError, AssentError, PayloadError
from assent.server.access import Person, Role
from assent.server.api.endpoint import ApiRequest, Endpoint, HttpReply, Refusal

if TYPE_CHECKING:
    from assent.server.state import ServerState

COOKIE = "assent_session"
HEADER, RAW_HEADER = "assent-deadline", b"assent-deadline"  # of an HTTP hook: its time limit in seconds
HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
        "trusted-types 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-embedder-policy": "require-corp",
    "permissions-policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
    "cache-control": "no-store",
}
RAW_HEADERS = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
CALLER_HEADERS = [(b"x-content-type-options", b"nosniff"), (b"cache-control", b"no-store")]  # they are no browsers

ABSENT: Mapping[str, str] = {}
UNREADABLE = frozenset({400, 413, 415})  # statuses for a body that cannot be read


T = TypeVar("T")
Scope = dict[str, Any]
Fields = Sequence[tuple[bytes, bytes]]
Later = Callable[[Scope, Any, Any], Awaitable[None]]
Sender = tuple[Role, Person | None, str]  # the role, the person, and the cookie of the session


def _no_constant(name: str) -> object:
    raise ValueError(f"{name} is not JSON")


decoder = json.JSONDecoder(parse_constant=_no_constant, object_pairs_hook=payload.once)


def head(fields: Fields) -> dict[bytes, bytes]:
    """The headers of a request. Host, Origin and Authorization are invalid if given twice."""
    found: dict[bytes, bytes] = {}
    for name, value in fields:
        found[name] = b"\0twice" if name in found and name in (b"host", b"origin", b"authorization") else value
    return found


class RequestGuard:
    def __init__(self, server: ServerState) -> None:
        self._server = server

    def check_host(self, headers: Mapping[bytes, bytes], peer: object) -> None:
        """On TCP a request must name this server as its host: another name that resolves to it is an attack."""
        if peer is None and headers.get(b"host", b"").lower() not in self._server.hosts:
            raise Refusal(421, "foreign-host", f"this server answers to http://127.0.0.1:{self._server.port} only")

    def check_origin(self, headers: Mapping[bytes, bytes]) -> None:
        """Refuse requests from pages of another origin, including another port of this host."""
        origin, site = headers.get(b"origin"), headers.get(b"sec-fetch-site", b"none")
        foreign = origin is not None and origin.lower() not in self._server.origins
        if foreign or site not in (b"same-origin", b"none"):
            raise Refusal(403, "foreign-origin", "this was sent by a page of another origin")

    def who(self, headers: Mapping[bytes, bytes], peer: object) -> Sender:
        access = self._server.access
        cookie = cookie_of(headers[b"cookie"]) if b"cookie" in headers else ""
        if cookie:
            person = access.sessions.find(cookie, headers.get(b"assent-key", b"").decode("latin-1"))
            if person is not None:
                return Role.PERSON, person, cookie
        if peer is not None or access.is_shown(headers.get(b"authorization", b"")) or access.is_caller(bearer(headers)):
            return Role.CALLER, None, cookie
        return Role.NOBODY, None, cookie

    async def serve(self, endpoint: Endpoint, scope: Scope, receive: Any, send: Any) -> None:
        self._server.metrics.requests += 1
        reply: HttpReply | None
        try:
            asked = await self._admit(endpoint, scope, receive, send)
        except Exception as error:
            reply = self._refused(endpoint, scope.get("path_params", ABSENT), error)
        else:
            reply = await self._replied(endpoint, asked)
        if reply is not None:
            await answer(send, reply, usual(scope["state"]["peer"]))

    def at_once(
        self,
        endpoint: Endpoint,
        path: Mapping[str, str],
        fields: Fields,
        raw: bytes,
        peer: Any,
        receive: Any,
        *,
        shared: bool = False,
    ) -> HttpReply | Later:
        """Answer a complete request up to its first wait: the reply, or an application that continues. `shared`: all
        requests that arrived together share one observation of the host."""
        self._server.metrics.requests += 1
        try:
            headers = head(fields)
            sender = self._let_in(endpoint, headers, peer)
            check_body(endpoint, headers)
            if len(raw) > endpoint.limit:
                raise too_large(endpoint)
            asked = self._request(sender, headers, peer, raw, receive, no_send, path)
        except Exception as error:
            found: HttpReply | Suspended[HttpReply | None] | None = self._refused(endpoint, path, error)
        else:
            if shared:
                self._server.share_moment()
            try:
                found = run_until_wait(self._replied(endpoint, asked))
            finally:
                self._server.moment = None
        assert found is not None  # nobody has hung up before anything was waited for
        return partial(_later, found, peer) if isinstance(found, Suspended) else found

    async def _replied(self, endpoint: Endpoint, asked: ApiRequest) -> HttpReply | None:
        """The reply of an endpoint; None if it has sent one itself, or if the caller hung up."""
        try:
            found = await endpoint.run(asked)
        except Exception as error:
            return self._error(error)
        return found if found is None or isinstance(found, HttpReply) else HttpReply(found)

    def _refused(self, endpoint: Endpoint, path: Mapping[str, str], error: Exception) -> HttpReply | None:
        """The reply to a request that was not admitted. A call that cannot be read is denied in the program's own
        format, if the program would run it on any other refusal."""
        if endpoint.denial is not None and isinstance(error, Refusal) and error.status in UNREADABLE:
            denial = endpoint.denial(path, error.message)
            if denial is not None:
                self._server.metrics.refused += 1
                return denial
        return self._error(error)

    def _error(self, error: Exception) -> HttpReply | None:
        """The reply to an error; None if the caller hung up."""
        if isinstance(error, ConnectionError):
            return None
        if isinstance(error, Refusal):
            self._server.metrics.refused += 1
            return refused(error)
        if isinstance(error, AccessError):
            return refused(Refusal(429 if error.code == "slow-down" else 403, error.code, str(error)))
        if isinstance(error, PayloadError):
            return refused(Refusal(422, "bad-call", str(error)))
        if isinstance(error, AssentError):
            return refused(Refusal(409, "not-done", str(error)))
        # The only catch-all: a fault is reported, and the server goes on.
        self._server.fault(error)
        return refused(Refusal(500, "fault", f"an internal error: {type(error).__name__}"))

    def _let_in(self, endpoint: Endpoint, headers: Mapping[bytes, bytes], peer: Any) -> Sender:
        """Who sends a request to an endpoint. Raises Refusal if they may not."""
        self.check_host(headers, peer)
        self.check_origin(headers)
        sender = self.who(headers, peer)
        role = sender[0]
        if role < endpoint.needs and not (endpoint.scraped and self._server.access.is_scraper(bearer(headers))):
            words = "sign in first" if endpoint.needs is Role.PERSON else "send the caller token"
            raise Refusal(401 if role is Role.NOBODY else 403, "not-allowed", f"you may not do that; {words}")
        return sender

    async def _admit(self, endpoint: Endpoint, scope: Scope, receive: Any, send: Any) -> ApiRequest:
        headers, peer = head(scope["headers"]), scope["state"]["peer"]
        if endpoint.signed:
            return await self._signed(endpoint, headers, peer, receive, send)
        sender = self._let_in(endpoint, headers, peer)
        raw = b""
        if endpoint.method not in ("GET", "DELETE"):
            try:
                check_body(endpoint, headers)
            except Refusal:
                await drained(endpoint, receive)
                raise
            raw = await gather(endpoint, receive)  # `protocol` ends requests that are sent too slowly
        asked = self._request(sender, headers, peer, raw, receive, send, scope.get("path_params", ABSENT))
        asked.query = query_of(scope.get("query_string", b""))
        asked.client = scope.get("client")
        return asked

    def _request(
        self,
        sender: Sender,
        headers: Mapping[bytes, bytes],
        peer: Any,
        raw: bytes,
        receive: Any,
        send: Any,
        path: Mapping[str, str],
    ) -> ApiRequest:
        named = {HEADER: headers[RAW_HEADER].decode("latin-1")} if RAW_HEADER in headers else ABSENT
        role, person, cookie = sender
        gone = partial(hung_up, receive)
        return ApiRequest(
            self._server, role, person, peer, path, read(raw), len(raw), cookie, gone, send, headers=named
        )

    async def _signed(
        self, endpoint: Endpoint, headers: Mapping[bytes, bytes], peer: Any, receive: Any, send: Any
    ) -> ApiRequest:
        """A request that its endpoint admits by a signature. It may come through a proxy, with any Host. Pages never
        send one, and its cookie is ignored."""
        self.check_origin(headers)
        check_length(endpoint, headers)
        raw = await gather(endpoint, receive)
        named = {name.decode("latin-1"): value.decode("latin-1") for name, value in headers.items()}
        gone = partial(hung_up, receive)
        return ApiRequest(
            self._server, Role.NOBODY, None, peer, ABSENT, {}, len(raw), "", gone, send, raw=raw, headers=named
        )


def bearer(headers: Mapping[bytes, bytes]) -> str:
    kind, _, token = headers.get(b"authorization", b"").decode("latin-1").partition(" ")
    return token.strip() if kind.lower() == "bearer" else ""


def cookie_of(raw: bytes) -> str:
    if not raw or len(raw) > 8192:
        return ""
    try:
        found = SimpleCookie(raw.decode("latin-1")).get(COOKIE)
    except CookieError:
        return ""
    return found.value if found is not None else ""


def query_of(raw: bytes) -> Mapping[str, str]:
    try:
        return dict(parse_qsl(raw.decode("ascii"), max_num_fields=20, errors="strict")) if raw else ABSENT
    except ValueError:
        raise Refusal(400, "bad-query", "the query cannot be read") from None


def check_body(endpoint: Endpoint, headers: Mapping[bytes, bytes]) -> None:
    """Raises Refusal if the headers announce a body that is not JSON, or too large."""
    kind = headers.get(b"content-type", b"")
    if kind != b"application/json" and kind.split(b";")[0].strip().lower() != b"application/json":
        raise Refusal(415, "not-json", "send JSON, with `Content-Type: application/json`")
    check_length(endpoint, headers)


def read(raw: bytes) -> dict[str, Any]:
    """The JSON object of a body; an empty one if there is no body."""
    if not raw:
        return {}
    try:
        text = raw.decode("utf-8")
        found, end = decoder.raw_decode(text) if text[0] == "{" else (None, -1)
        if end != len(text):  # with blanks around it, or not an object
            found = decoder.decode(text)
    except PayloadError as error:
        raise Refusal(400, "not-json", f"the body is refused: {error}") from None
    except (ValueError, RecursionError):
        raise Refusal(400, "not-json", "the body is not JSON") from None
    if not isinstance(found, dict):
        raise Refusal(400, "not-json", "the body is not a JSON object")
    return found


def check_length(endpoint: Endpoint, headers: Mapping[bytes, bytes]) -> None:
    declared = headers.get(b"content-length", b"0")
    if declared.isdigit() and int(declared) > endpoint.limit:
        raise too_large(endpoint)


async def gather(endpoint: Endpoint, receive: Any) -> bytes:
    chunks: list[bytes] = []
    size, more = 0, True
    while more:
        message = await receive()
        if message["type"] != "http.request":
            raise Refusal(400, "gone", "the request was not finished")
        chunks.append(message.get("body", b""))
        size += len(chunks[-1])
        more = message.get("more_body", False)
        if size > endpoint.limit:
            if more:
                await drained(endpoint, receive)
            raise too_large(endpoint)
    return b"".join(chunks)


async def drained(endpoint: Endpoint, receive: Any) -> None:
    """Receive and drop the rest of a body, so that a denial is read: a program that is still sending would see a broken
    connection instead."""
    if endpoint.denial is not None:
        while (message := await receive())["type"] == "http.request" and message.get("more_body"):
            pass


def too_large(endpoint: Endpoint) -> Refusal:
    return Refusal(
        413, "too-large", f"the body is larger than {endpoint.limit} bytes; send less", {"connection": "close"}
    )


async def hung_up(receive: Any) -> None:
    """Returns when the sender of a request is gone."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def no_send(message: object) -> None:
    raise RuntimeError("an endpoint that answers at once sends nothing before its reply")


async def _later(waiting: Suspended[HttpReply | None], peer: object, scope: Scope, receive: Any, send: Any) -> None:
    """The rest of an answer, as an ASGI application."""
    reply = await waiting
    if reply is not None:
        await answer(send, reply, usual(peer))


def refused(refusal: Refusal) -> HttpReply:
    body = {"error": {"code": refusal.code, "message": refusal.message}}
    return HttpReply(body, status=refusal.status, headers=refusal.headers)


def usual(peer: object) -> list[tuple[bytes, bytes]]:
    return RAW_HEADERS if peer is None else CALLER_HEADERS


async def answer(send: Any, reply: HttpReply, more: list[tuple[bytes, bytes]] = RAW_HEADERS) -> None:
    """Send a reply with the headers of every answer."""
    raw = reply.raw()
    headers = [(b"content-type", reply.kind.encode()), (b"content-length", b"%d" % len(raw)), *more]
    headers += [(name.encode(), value.encode()) for name, value in reply.headers.items()]
    await send({"type": "http.response.start", "status": reply.status, "headers": headers})
    await send({"type": "http.response.body", "body": raw})


_heads: dict[tuple[str, bool, bool], tuple[bytes, bytes]] = {}  # the bytes before and after the length


def written(reply: HttpReply, peer: object, *, last: bool) -> bytes:
    """The bytes of an answer of status 200 with the usual headers only: the same that `answer` sends. `last`: the
    connection ends with it."""
    key = (reply.kind, peer is None, last)
    if key not in _heads:
        ends = [(b"connection", b"close")] if last else []
        rest = b"".join(b"\r\n%b: %b" % each for each in (*usual(peer), *ends))
        before = b"HTTP/1.1 200 OK\r\ncontent-type: %b\r\ncontent-length: " % reply.kind.encode()
        _heads[key] = (before, rest + b"\r\n\r\n")
    before, after = _heads[key]
    raw = reply.raw()
    return b"%b%d%b%b" % (before, len(raw), after, raw)


# ---------------------------------------------------------------- coroutines that mostly wait for nothing


class Suspended(Generic[T]):
    """A coroutine that waits. To be awaited once, in a task, which continues it."""

    __slots__ = ("_coroutine", "_awaited")

    def __init__(self, coroutine: Coroutine[Any, Any, T], awaited: object) -> None:
        self._coroutine = coroutine
        self._awaited = awaited  # what it yielded for its task to wait for

    def __await__(self) -> Generator[object, Any, T]:
        coroutine, awaited = self._coroutine, self._awaited
        try:
            while True:
                try:
                    sent = yield awaited
                except GeneratorExit:
                    coroutine.close()
                    raise
                except BaseException as error:  # it was cancelled, and may handle that
                    awaited = coroutine.throw(error)
                else:
                    awaited = coroutine.send(sent)
        except StopIteration as ended:
            value: T = ended.value
            return value


def run_until_wait(coroutine: Coroutine[Any, Any, T]) -> T | Suspended[T]:
    """Run a coroutine up to its first wait; its result if it never waits. Most never do, and need no task.

    INVARIANT: what runs before the first wait has no task, so it must not need one. A function that does
    (`asyncio.timeout`, and `asyncio.wait_for` of newer Pythons) first gives the loop a turn with `asyncio.sleep(0)`."""
    try:
        return Suspended(coroutine, coroutine.send(None))
    except StopIteration as ended:
        result: T = ended.value
        return result
