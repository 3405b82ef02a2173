"""The transport to a server with Streamable HTTP, and the headers that repeat parts of a message, for servers that
route by them. Reads messages only as far as the transport requires."""

from __future__ import annotations

import asyncio
import base64
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from assent.contract.display import one_line
from assent.engine import http
from assent.engine.http import EventReader, StreamEvent
from assent.mcp import frames
from assent.mcp.calls import VERSION
from assent.mcp.frames import INTERNAL, INVALID, NO_METHOD, BadMessage, Frame, FrameKind

TRIES = 3  # to resume a broken stream
PAUSE = 1.0  # seconds before that, if the server names none
LONGEST_PAUSE = 30.0
NOTIFYING = 30.0  # seconds for a message that has no answer
LEAVING = 3.0  # seconds to end the session
JSON, STREAM = "application/json", "text/event-stream"
ACCEPT = f"{JSON}, {STREAM}"

NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
MARK = "x-mcp-header"  # in the schema of a tool's parameter
PLAIN = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?")
TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}")
DEEPEST = 8
PARAMETER = "mcp-param-"  # prefix of the headers that repeat an argument

Path = tuple[str, ...]


class Upstream:
    """One session with a server. `deliver` takes its messages."""

    def __init__(
        self,
        url: str,
        headers: Mapping[str, str],
        *,
        deliver: Callable[[bytes], Awaitable[None]],
        note: Callable[[str], None],
    ) -> None:
        self._address = http.Address(url)
        self._given = dict(headers)
        self._deliver = deliver
        self._note = note
        self._session = ""
        self._version = ""
        self._parameters = ParameterHeaders()
        self._posts: dict[str, tuple[Frame, asyncio.Task[None]]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def send(self, frame: Frame) -> None:
        if frame.kind is FrameKind.REQUEST:
            self._posts[frame.key] = (frame, self._spawn(self._ask(frame)))
        elif frame.kind is FrameKind.RESPONSE:
            self._spawn(self._tell(frame))
        elif (post := self._posts.get(frame.cancels)) is not None and stated_version(post[0]):
            post[1].cancel()  # a request without a handshake is cancelled by hanging up
        else:
            await self._tell(frame)

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        if self._session:
            with suppress(OSError):
                async with asyncio.timeout(LEAVING):
                    (await self._open("DELETE", {})).close()

    def _spawn(self, work: Awaitable[None]) -> asyncio.Task[None]:
        task = asyncio.ensure_future(work)
        assert isinstance(task, asyncio.Task)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _tell(self, frame: Frame) -> None:
        try:
            async with asyncio.timeout(NOTIFYING):
                exchange = await self._post(frame)
                exchange.close()
            if exchange.head.status >= 300:
                self._note(f"the server answered `{one_line(frame.method, 60)}` with status {exchange.head.status}")
            elif frame.method == "notifications/initialized":
                self._spawn(self._listen())
        except OSError as error:
            self._note(f"the server cannot be reached: {error}")

    async def _ask(self, frame: Frame) -> None:
        """Send a request, and deliver messages until it is answered."""
        try:
            problem = await self._answered(frame)
        except OSError as error:
            problem = (INTERNAL, f"the server cannot be reached: {error}")
        finally:
            if self._posts.get(frame.key, (None,))[0] is frame:
                del self._posts[frame.key]
        if problem is not None:
            await self._deliver(frames.write(frames.failure(frame.body["id"], *problem)))

    async def _answered(self, frame: Frame) -> tuple[int, str] | None:
        """None once the answer was delivered, else why there is none."""
        exchange = await self._post(frame)
        try:
            head = exchange.head
            if head.status != 200:
                return await self._declined(frame, exchange)
            if frame.method == "initialize":
                self._session = head.headers.get("mcp-session-id", "")
            if head.kind == JSON:
                return await self._one(frame, await http.whole(exchange.body(), frames.LONGEST))
            if head.kind == STREAM:
                return await self._stream(frame, exchange)
            return INTERNAL, f"the server answered with `{one_line(head.kind, 60)}`"
        finally:
            exchange.close()

    async def _declined(self, frame: Frame, exchange: http.Exchange) -> tuple[int, str] | None:
        status = exchange.head.status
        if 300 <= status < 400:
            where = one_line(exchange.head.headers.get("location", ""), 200)
            return INVALID, f"the server is at `{where}`; start the proxy with that address if you trust it"
        if exchange.head.kind == JSON:
            with suppress(BadMessage, OSError):
                said = frames.read(await http.whole(exchange.body(), frames.LONGEST))
                if isinstance(said, Frame) and "error" in said.body:
                    await self._deliver(frames.write({**said.body, "id": frame.body["id"]}))
                    return None
        if status in (401, 403):
            return INVALID, f"the server wants to know who asks (status {status}); start the proxy with --header"
        if status == 404:
            return (INVALID, "the session has ended") if self._session else (NO_METHOD, "not found")
        return INTERNAL, f"the server answered with status {status}"

    async def _one(self, asked: Frame, raw: bytes) -> tuple[int, str] | None:
        try:
            found = frames.read(raw)
        except BadMessage as error:
            self._note(f"a message of the server was dropped: {error}")
            return INTERNAL, f"the server's answer cannot be passed on: {error}"
        answered = False
        for each in found if isinstance(found, list) else [found]:
            if isinstance(each, Frame) and each.kind is FrameKind.RESPONSE and each.key == asked.key:
                answered = True
                self._parameters.learn(asked, each)
                if asked.method == "initialize":
                    self._version = settled_version(each)
        await self._deliver(raw)
        return None if answered else (INTERNAL, "the server did not answer")

    async def _stream(self, asked: Frame, exchange: http.Exchange) -> tuple[int, str] | None:
        """Deliver the events of an answer; a broken stream is resumed if the server supports that."""
        last, pause = "", PAUSE
        for _ in range(TRIES):
            try:
                async for event in events_of(exchange):
                    last, pause = event.id or last, _pause(event, pause)
                    if is_message(event) and await self._one(asked, event.data) is None:
                        return None
            except OSError as error:
                self._note(f"a stream of the server broke: {error}")
            finally:
                exchange.close()
            if not last:
                break
            await asyncio.sleep(pause)
            exchange = await self._open("GET", {"Accept": STREAM, "Last-Event-ID": last})
            if not _streams(exchange):
                exchange.close()
                break
        return INTERNAL, "the server's stream ended without an answer"

    async def _listen(self) -> None:
        """Deliver messages that the server sends on its own."""
        last, pause, failed = "", PAUSE, 0
        while failed < TRIES:
            try:
                exchange = await self._open("GET", {"Accept": STREAM} | ({"Last-Event-ID": last} if last else {}))
                try:
                    if not _streams(exchange):
                        return
                    failed = 0
                    async for event in events_of(exchange):
                        last, pause = event.id or last, _pause(event, pause)
                        if is_message(event):
                            await self._deliver(event.data)
                finally:
                    exchange.close()
            except OSError:
                failed += 1
            await asyncio.sleep(pause)

    async def _post(self, frame: Frame) -> http.Exchange:
        headers = {"Content-Type": JSON, "Accept": ACCEPT, **self._parameters.headers(frame)}
        version = stated_version(frame) or ("" if frame.method == "initialize" else self._version)
        return await self._open("POST", headers, frames.write(frame.body), version=version)

    async def _open(
        self, method: str, headers: Mapping[str, str], body: bytes = b"", *, version: str | None = None
    ) -> http.Exchange:
        found = {"Host": self._address.authority, **self._given, **headers}
        if self._session:
            found["Mcp-Session-Id"] = self._session
        if version or (version is None and self._version):
            found["MCP-Protocol-Version"] = version or self._version
        exchange = await http.connect(self._address)
        try:
            await exchange.send(method, self._address.target, found, body)
        except BaseException:
            exchange.close()
            raise
        return exchange


async def events_of(exchange: http.Exchange) -> AsyncIterator[StreamEvent]:
    reader = EventReader(frames.LONGEST)
    async for data in exchange.body():
        for event in reader.feed(data):
            yield event


def _streams(exchange: http.Exchange) -> bool:
    return exchange.head.status == 200 and exchange.head.kind == STREAM


def is_message(event: StreamEvent) -> bool:
    return bool(event.data.strip()) and event.name in ("", "message")


def _pause(event: StreamEvent, before: float) -> float:
    return before if event.retry is None else min(event.retry / 1000, LONGEST_PAUSE)


def encoded(value: str) -> str:
    if PLAIN.fullmatch(value) and not (value.startswith("=?base64?") and value.endswith("?=")):
        return value
    return f"=?base64?{base64.b64encode(value.encode('utf-8')).decode('ascii')}?="


def stated_version(frame: Frame) -> str:
    """The version of the protocol that a request names; `""` if a handshake settled that."""
    found = frame.meta.get(VERSION)
    return found if isinstance(found, str) and PLAIN.fullmatch(found) else ""


def settled_version(answer: Frame) -> str:
    result = answer.body.get("result")
    found = result.get("protocolVersion") if isinstance(result, dict) else None
    return found if isinstance(found, str) and PLAIN.fullmatch(found) and len(found) <= 64 else ""


class ParameterHeaders:
    """The parameters that a server wants repeated in headers, as it listed its tools."""

    def __init__(self) -> None:
        self._tools: dict[str, dict[Path, str]] = {}

    def learn(self, asked: Frame, answer: Frame) -> None:
        result = answer.body.get("result")
        tools = result.get("tools") if asked.method == "tools/list" and isinstance(result, dict) else None
        for tool in tools if isinstance(tools, list) else ():
            if isinstance(tool, dict) and isinstance(tool.get("name"), str):
                self._tools[tool["name"]] = dict(_marked(tool.get("inputSchema"), ()))

    def headers(self, frame: Frame) -> dict[str, str]:
        found = {"Mcp-Method": encoded(frame.method)} if frame.method else {}
        name = frame.params.get(NAMED.get(frame.method, ""))
        if isinstance(name, str):
            found["Mcp-Name"] = encoded(name)
        if frame.method == "tools/call" and isinstance(name, str):
            for path, token in self._tools.get(name, {}).items():
                if (text := _text(_at(frame.params.get("arguments"), path))) is not None:
                    found[f"Mcp-Param-{token}"] = encoded(text)
        return found


def repeated(frame: Frame, given: Mapping[str, str]) -> dict[str, str]:
    """The client's headers that repeat an argument of its call; the client may know the tool's marked parameters when
    we do not. Raises BadMessage if one differs from the call: a server may act on it."""
    named = {name: value for name, value in given.items() if name.startswith(PARAMETER)}
    if not named or frame.method != "tools/call":
        return {}
    values = {encoded(text) for text in _texts(frame.params.get("arguments"))}
    for name, value in named.items():
        if value not in values:
            raise BadMessage(INVALID, f"the header `{one_line(name, 60)}` differs from the call", frame.body["id"])
    return named


def _texts(value: Any) -> Iterator[str]:
    """Every text, number and boolean in some arguments, as in a header."""
    for inner in value.values() if isinstance(value, dict) else ():
        if (text := _text(inner)) is not None:
            yield text
        if isinstance(inner, float) and inner.is_integer():
            yield str(int(inner))  # as most clients write it
        yield from _texts(inner)


def _marked(schema: Any, path: Path) -> Iterator[tuple[Path, str]]:
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(properties, dict) or len(path) >= DEEPEST:
        return
    for name, inner in properties.items():
        mark = inner.get(MARK) if isinstance(inner, dict) else None
        if isinstance(mark, str) and TOKEN.fullmatch(mark):
            yield (*path, name), mark
        yield from _marked(inner, (*path, name))


def _at(given: Any, path: Path) -> Any:
    for name in path:
        given = given.get(name) if isinstance(given, dict) else None
    return given


def _text(value: Any) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, str | int | float) else None
