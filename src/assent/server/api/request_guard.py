"""The door of the server: whom a request is from, whether it may come in, and the shape of every answer.

Checks Host (DNS rebinding), Origin and Sec-Fetch-Site (forged requests), size and pace of the body, and the role.
INVARIANT: whatever comes in, the answer is JSON with a status, and the server stays up."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from assent.contract import AccessError, AssentError, PayloadError
from assent.server.access import Person, Role
from assent.server.api.endpoint import ApiRequest, Endpoint, HttpReply, Refusal
from assent.server.eager import Finished, Suspended, run_eagerly

if TYPE_CHECKING:
    from assent.server.state import ServerState

COOKIE = "assent_session"
HEADER, RAW_HEADER = "assent-deadline", b"assent-deadline"  # of an HTTP hook: the seconds that it has
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
CALLER_HEADERS = [(b"x-content-type-options", b"nosniff"), (b"cache-control", b"no-store")]  # no browser is there
ABSENT: Mapping[str, str] = {}
UNREADABLE = frozenset({400, 413, 415})  # statuses for what has no body that can be read


def _no_constant(name: str) -> object:
    raise ValueError(f"{name} is not JSON")


decoder = json.JSONDecoder(parse_constant=_no_constant)
Scope = dict[str, Any]
Fields = Sequence[tuple[bytes, bytes]]
Later = Callable[[Scope, Any, Any], Awaitable[None]]


def head(fields: Fields) -> dict[bytes, bytes]:
    """The headers of a request. One that is given twice counts for nothing where it matters."""
    found: dict[bytes, bytes] = {}
    for name, value in fields:
        found[name] = b"\0twice" if name in found and name in (b"host", b"origin", b"authorization") else value
    return found


class RequestGuard:
    """Who may come in through one server."""

    def __init__(self, house: ServerState) -> None:
        self.house = house

    def check_host(self, headers: Mapping[bytes, bytes], peer: object) -> None:
        """On TCP the request must be meant for us: a foreign name that leads here is somebody's trick."""
        if peer is None and headers.get(b"host", b"").lower() not in self.house.hosts:
            raise Refusal(421, "foreign-host", f"this server answers to http://127.0.0.1:{self.house.port} only")

    def check_origin(self, headers: Mapping[bytes, bytes]) -> None:
        """What a page of another origin sends is refused, also one of another port of this host."""
        origin = headers.get(b"origin")
        if origin is not None and origin.lower() not in self.house.origins:
            raise Refusal(403, "foreign-origin", "this was sent by a page of another origin")
        if headers.get(b"sec-fetch-site", b"none") not in (b"same-origin", b"none"):
            raise Refusal(403, "foreign-origin", "this was sent by a page of another origin")

    def who(self, headers: Mapping[bytes, bytes], peer: object) -> tuple[Role, Person | None, str]:
        """The role of whoever sent a request, the person, and the session's cookie."""
        access = self.house.access
        cookie = cookie_of(headers[b"cookie"]) if b"cookie" in headers else ""
        if cookie:
            person = access.sessions.find(cookie, headers.get(b"assent-key", b"").decode("latin-1"))
            if person is not None:
                return Role.PERSON, person, cookie
        if peer is not None:
            return Role.CALLER, None, cookie
        if access.is_shown(headers.get(b"authorization", b"")) or access.is_caller(bearer(headers)):
            return Role.CALLER, None, cookie
        return Role.NOBODY, None, cookie

    async def serve(self, endpoint: Endpoint, scope: Scope, receive: Any, send: Any) -> None:
        """Answer one request to an endpoint."""
        self.house.metrics.requests += 1
        reply: HttpReply | None
        try:
            asked = await self._admit(endpoint, scope, receive, send)
        except Exception as error:
            reply = self._denied(endpoint, scope.get("path_params", ABSENT), error) or self._instead(error)
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
        """Answer a request that is here as a whole, as far as nothing has to be waited for: the reply, or its rest.
        `shared`: what is seen of the host for one serves all that the loop heard of together."""
        self.house.metrics.requests += 1
        try:
            headers = head(fields)
            role, person, cookie = self._let_in(endpoint, headers, peer)
            check_body(endpoint, headers)
            if len(raw) > endpoint.limit:
                raise too_large(endpoint)
            body, gone = read(raw), partial(hung_up, receive)
        except Exception as error:
            return self._denied(endpoint, path, error) or self._instead(error)
        named = {HEADER: headers[RAW_HEADER].decode("latin-1")} if RAW_HEADER in headers else None
        asked = ApiRequest(
            self.house, role, person, peer, path, ABSENT, body, len(raw), cookie, gone, unheard, headers=named
        )
        if shared:
            self.house.attend()
        try:
            found = run_eagerly(self._replied(endpoint, asked))
        finally:
            self.house.attended()
        if isinstance(found, Finished):
            assert found.value is not None  # nobody answers by itself where nobody listens yet
            return found.value
        return partial(_later, found, peer)

    async def _replied(self, endpoint: Endpoint, asked: ApiRequest) -> HttpReply | None:
        """What an endpoint answers, or what is answered instead; None where it has answered by itself."""
        try:
            found = await endpoint.run(asked)
        except Exception as error:
            return self._instead(error)
        return found if found is None or isinstance(found, HttpReply) else HttpReply(found)

    def _denied(self, endpoint: Endpoint, path: Mapping[str, str], error: Exception) -> HttpReply | None:
        """The denial of a call that cannot be read, to a program that would take a refusal for leave to run it. Whoever
        may not come in is no such program."""
        if endpoint.denial is None or not isinstance(error, Refusal) or error.status not in UNREADABLE:
            return None
        self.house.metrics.refused += 1
        return endpoint.denial(path, error.message)

    def _instead(self, error: Exception) -> HttpReply:
        """What is answered where something was refused, or broke."""
        if isinstance(error, Refusal):
            self.house.metrics.refused += 1
            return refused(error)
        if isinstance(error, AccessError):
            return refused(Refusal(429 if error.code == "slow-down" else 403, error.code, str(error)))
        if isinstance(error, PayloadError):
            return refused(Refusal(422, "bad-call", str(error)))
        if isinstance(error, AssentError):
            return refused(Refusal(409, "not-done", str(error)))
        if isinstance(error, ConnectionError):
            raise error
        # The one net: a fault is told, and the server goes on.
        self.house.fault(error)
        return refused(Refusal(500, "fault", f"something broke inside: {type(error).__name__}"))

    def _let_in(self, endpoint: Endpoint, headers: Mapping[bytes, bytes], peer: Any) -> tuple[Role, Person | None, str]:
        """Who asks, where they may; raises Refusal where they may not."""
        self.check_host(headers, peer)
        self.check_origin(headers)
        role, person, cookie = self.who(headers, peer)
        if role < endpoint.needs and not (endpoint.scraped and self.house.access.is_scraper(bearer(headers))):
            words = "sign in first" if endpoint.needs is Role.PERSON else "show the token of callers"
            raise Refusal(401 if role is Role.NOBODY else 403, "not-allowed", f"you may not do that; {words}")
        return role, person, cookie

    async def _admit(self, endpoint: Endpoint, scope: Scope, receive: Any, send: Any) -> ApiRequest:
        headers = head(scope["headers"])
        peer = scope["state"]["peer"]
        if endpoint.signed:
            return await self._signed(endpoint, headers, peer, receive, send)
        role, person, cookie = self._let_in(endpoint, headers, peer)
        raw = b""
        if endpoint.method not in ("GET", "DELETE"):
            try:
                check_body(endpoint, headers)
            except Refusal:
                await drained(endpoint, receive)
                raise
            raw = await gather(endpoint, receive)  # `protocol` ends what comes too slowly
        body = read(raw)
        path, query = scope.get("path_params", ABSENT), query_of(scope.get("query_string", b""))
        gone = partial(hung_up, receive)
        named = {HEADER: headers[RAW_HEADER].decode("latin-1")} if RAW_HEADER in headers else None
        asked = ApiRequest(
            self.house, role, person, peer, path, query, body, len(raw), cookie, gone, send, headers=named
        )
        asked.client = scope.get("client")
        return asked

    async def _signed(
        self, endpoint: Endpoint, headers: Mapping[bytes, bytes], peer: Any, receive: Any, send: Any
    ) -> ApiRequest:
        """A request that its endpoint knows by a signature. It may come by way of a proxy, under any name of ours; from
        a page it does not come, and whose cookie it brings is not asked."""
        self.check_origin(headers)
        check_length(endpoint, headers)
        raw = await gather(endpoint, receive)
        named = {name.decode("latin-1"): value.decode("latin-1") for name, value in headers.items()}
        return ApiRequest(
            *(self.house, Role.NOBODY, None, peer, ABSENT, ABSENT, {}, len(raw), ""),
            partial(hung_up, receive),
            send,
            raw,
            named,
        )


def bearer(headers: Mapping[bytes, bytes]) -> str:
    """The token that a request shows."""
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
    if not raw:
        return ABSENT
    try:
        return dict(parse_qsl(raw.decode("ascii"), max_num_fields=20, errors="strict"))
    except ValueError:
        raise Refusal(400, "bad-query", "the query cannot be read") from None


def check_body(endpoint: Endpoint, headers: Mapping[bytes, bytes]) -> None:
    """Raises Refusal where a body is announced that is no JSON, or too large."""
    kind = headers.get(b"content-type", b"")
    if kind != b"application/json" and kind.split(b";")[0].strip().lower() != b"application/json":
        raise Refusal(415, "not-json", "send JSON, with `Content-Type: application/json`")
    check_length(endpoint, headers)


def read(raw: bytes) -> dict[str, Any]:
    """The JSON object of a body; none where there is no body."""
    if not raw:
        return {}
    try:
        text = raw.decode("utf-8")
        found, end = decoder.raw_decode(text) if text[0] == "{" else (None, -1)
        if end != len(text):  # with blanks around it, or no object
            found = decoder.decode(text)
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
    message = await receive()
    if message["type"] == "http.request" and not message.get("more_body"):
        body: bytes = message.get("body", b"")
        if len(body) > endpoint.limit:
            raise too_large(endpoint)
        return body
    chunks: list[bytes] = []
    size = 0
    while True:
        if message["type"] != "http.request":
            raise Refusal(400, "gone", "the request was not finished")
        chunks.append(message.get("body", b""))
        size += len(chunks[-1])
        if size > endpoint.limit:
            if message.get("more_body"):
                await drained(endpoint, receive)
            raise too_large(endpoint)
        if not message.get("more_body"):
            return b"".join(chunks)
        message = await receive()


async def drained(endpoint: Endpoint, receive: Any) -> None:
    """Let the rest of a body come, and keep nothing of it, where a denial has to be heard: who still sends would hear
    of a broken connection instead."""
    if endpoint.denial is not None:
        while (message := await receive())["type"] == "http.request" and message.get("more_body"):
            pass


def too_large(endpoint: Endpoint) -> Refusal:
    return Refusal(
        413, "too-large", f"the body is larger than {endpoint.limit} bytes; send less", {"connection": "close"}
    )


async def hung_up(receive: Any) -> None:
    """Returns when whoever asked is gone."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def unheard(message: object) -> None:
    raise RuntimeError("whoever is answered at once cannot be told anything before")


async def _later(waiting: Suspended[HttpReply | None], peer: object, scope: Scope, receive: Any, send: Any) -> None:
    """The rest of an answer, as an application of ASGI."""
    reply = await waiting
    if reply is not None:
        await answer(send, reply, usual(peer))


def refused(refusal: Refusal) -> HttpReply:
    body = {"error": {"code": refusal.code, "message": refusal.message}}
    return HttpReply(body, status=refusal.status, headers=refusal.headers)


def usual(peer: object) -> list[tuple[bytes, bytes]]:
    """The headers that all answers to somebody have."""
    return RAW_HEADERS if peer is None else CALLER_HEADERS


async def answer(send: Any, reply: HttpReply, more: list[tuple[bytes, bytes]] = RAW_HEADERS) -> None:
    """Send a reply with the headers that all have."""
    raw = reply.raw()
    headers = [(b"content-type", reply.kind.encode()), (b"content-length", b"%d" % len(raw)), *more]
    if reply.headers:
        headers += [(name.encode(), value.encode()) for name, value in reply.headers.items()]
    await send({"type": "http.response.start", "status": reply.status, "headers": headers})
    await send({"type": "http.response.body", "body": raw})


_around: dict[tuple[str, bool, bool], tuple[bytes, bytes]] = {}  # what stands before and behind the length


def written(reply: HttpReply, peer: object, *, last: bool) -> bytes:
    """The bytes of an answer of status 200 without headers of its own: the same as `answer` sends. `last` says that the
    connection ends with it."""
    key = (reply.kind, peer is None, last)
    if key not in _around:
        ends = [(b"connection", b"close")] if last else []
        rest = b"".join(b"\r\n%b: %b" % each for each in (*usual(peer), *ends))
        before = b"HTTP/1.1 200 OK\r\ncontent-type: %b\r\ncontent-length: " % reply.kind.encode()
        _around[key] = (before, rest + b"\r\n\r\n")
    before, behind = _around[key]
    raw = reply.raw()
    return b"%b%d%b%b" % (before, len(raw), behind, raw)
