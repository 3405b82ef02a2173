"""The proxy for clients that speak Streamable HTTP: a server on this machine in front of the real one.

Each connection carries one request. A call that is held keeps its connection open with comments; hanging up withdraws
it. INVARIANT: as in `proxy`, only parsed messages are passed in either direction."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Mapping
from contextlib import suppress

from assent.contract import Call, StoreError, keep
from assent.contract.approval import Verdict
from assent.engine import http
from assent.engine.http import StreamEvent
from assent.engine.http_message import MOST_HEAD, HttpError, MessageHead, written
from assent.mcp import frames
from assent.mcp.calls import CallOrigin, refusal
from assent.mcp.definitions import ToolList
from assent.mcp.frames import INTERNAL, INVALID, BadMessage, Frame, FrameKind
from assent.mcp.judge import McpJudge
from assent.mcp.upstream import JSON, STREAM, ParameterHeaders, events_of, is_message, repeated

PACE = 30.0  # seconds to send a whole request
SIGN = 10.0  # seconds between comments that keep a connection open
HOSTS = ("127.0.0.1", "localhost", "[::1]")
# Headers that are passed on to the server, and back to the client.
ASKING = ("accept", "authorization", "last-event-id", "mcp-protocol-version", "mcp-session-id", "user-agent")
ANSWERING = ("mcp-session-id", "www-authenticate", "retry-after")
CANCELLED = -32800
MOST_SESSIONS = 1000


class Declined(Exception):
    """A request that is not served."""

    def __init__(self, status: int, reason: str, id: object = None, code: int = INVALID) -> None:
        super().__init__(reason)
        self.status = status
        self.body = frames.failure(id, code, reason)


class RequestConnection:
    """The connection of one request. Once it streams, everything goes out as an event."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self._writer = writer
        self._streams = False
        self._begun = False

    async def body(self, head: MessageHead) -> bytes:
        try:
            return await http.whole(http.read_body(self.reader, head, answer=False), frames.LONGEST)
        except HttpError as error:
            raise Declined(413 if "longer" in str(error) else 400, str(error)) from None

    async def gone(self) -> None:
        """Return when the client hung up. One that sends more before its answer is not served further."""
        with suppress(OSError):
            await self.reader.read(1)

    async def answer(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        """The whole answer; in a stream, its last event."""
        if self._streams:
            if body.strip():
                await self.event(StreamEvent(body.rstrip(b"\n"), "message"))
        elif not self._begun:
            self._begun = True
            found = {**headers, "Content-Length": str(len(body)), "Connection": "close"}
            await self._write(written(f"HTTP/1.1 {status} {'OK' if status < 300 else 'No'}", found) + body)

    async def message(self, body: object, status: int = 200) -> None:
        await self.answer(status, {"Content-Type": JSON}, frames.write(body))

    async def stream(self, headers: Mapping[str, str]) -> None:
        if not self._streams:
            self._streams = self._begun = True
            found = {**headers, "Content-Type": STREAM, "Cache-Control": "no-store", "Connection": "close"}
            await self._write(written("HTTP/1.1 200 OK", found))

    async def sign(self) -> None:
        await self.stream({})
        await self._write(b": a person is asked\n\n")

    async def event(self, event: StreamEvent) -> None:
        await self._write(event.written())

    async def _write(self, data: bytes) -> None:
        with suppress(OSError):
            self._writer.write(data)
            await self._writer.drain()


def parse_address(text: str) -> tuple[str, int]:
    """Host and port of `--listen`. Raises StoreError if other machines could connect."""
    host, _, port = text.rpartition(":")
    if host not in (*HOSTS, "") or not port.isdigit() or int(port) > 65535:
        raise StoreError(f"`{text}` is no address of this machine; give 127.0.0.1:PORT")
    return ("::1" if host == "[::1]" else "127.0.0.1"), int(port)


async def serve(
    text: str, url: str, judge: McpJudge, origin: CallOrigin, *, note: Callable[[str], None], stop: asyncio.Future[int]
) -> int:
    """Serve until `stop` has a signal."""
    host, port = parse_address(text)
    address = http.Address(url)
    proxy = HttpProxy(address, judge, origin)
    try:
        server = await asyncio.start_server(proxy.serve, host, port, limit=MOST_HEAD)
    except OSError as error:
        raise StoreError(f"`{text}` cannot be listened on: {error.strerror}; give another port") from None
    proxy.port = server.sockets[0].getsockname()[1]
    note(f"listens on http://{f'[{host}]' if ':' in host else host}:{proxy.port}{address.target}")
    number = await stop
    server.close()
    await proxy.close()
    return 128 + number


class HttpProxy:
    def __init__(self, address: http.Address, judge: McpJudge, origin: CallOrigin) -> None:
        self._address = address
        self._judge = judge
        self._origin = origin
        self._lists: dict[str, ToolList] = {}  # by session
        self._destructive: set[str] = set()
        self.port = 0
        self._held: dict[tuple[str, str], asyncio.Future[Verdict]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection: one request, one answer."""
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        line = RequestConnection(reader, writer)
        try:
            await self._serve(line)
        except Declined as declined:
            await line.message(declined.body, declined.status)
        except BadMessage as error:
            await line.message(error.answer(), 400)
        except (OSError, asyncio.IncompleteReadError):
            pass
        except Exception as error:  # the one net: after a fault nothing is passed on
            await line.message(frames.failure(None, INTERNAL, f"Assent failed inside: {type(error).__name__}"), 500)
        finally:
            self._tasks.discard(task)
            writer.close()

    async def close(self) -> None:
        """Close all connections and withdraw held calls."""
        for task in list(self._tasks):
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=5)

    async def _serve(self, line: RequestConnection) -> None:
        async with asyncio.timeout(PACE):
            method, head = await self._head(line)
            body = await line.body(head) if method == "POST" else b""
        if method != "POST":
            await self._relay(line, method, self._headers(head.headers, None), b"", None)
            return
        if head.kind != JSON:
            raise Declined(415, "send JSON")
        found = frames.read(body)
        if isinstance(found, list):
            await self._batch(line, head, found)
        else:
            await self._message(line, head, found)

    async def _head(self, line: RequestConnection) -> tuple[str, MessageHead]:
        """The head of a request that is meant for us, and not from a page of another origin."""
        try:
            head = await http.read_head(line.reader)
        except HttpError as error:
            raise Declined(400, str(error)) from None
        found = http.REQUEST.fullmatch(head.first) if head is not None else None
        if head is None or found is None:
            raise Declined(400, "this is no request")
        hosts = {f"{each}:{self.port}" for each in HOSTS}
        origin = head.headers.get("origin")
        foreign = origin is not None and origin.lower() not in {f"http://{each}" for each in hosts}
        for wrong, status, reason in (
            (head.headers.get("host", "").lower() not in hosts, 421, "this server answers to its own address only"),
            (foreign, 403, "this was sent by a page of another origin"),
            (found[2] != self._address.target, 404, f"the server is at {self._address.target}"),
            (found[1] not in ("GET", "POST", "DELETE"), 405, "use POST, GET or DELETE"),
        ):
            if wrong:
                raise Declined(status, reason)
        return found[1], head

    async def _batch(self, line: RequestConnection, head: MessageHead, found: list[Frame | BadMessage]) -> None:
        """A batch passes whole or not at all. One with a call does not: its answers would wait for each other."""
        for each in found:
            if isinstance(each, BadMessage):
                raise each
            if self._origin.call(each) is not None:
                raise Declined(400, "send this call by itself, not in a batch", each.body.get("id"))
        data = frames.write([each.body for each in found if isinstance(each, Frame)])
        await self._relay(line, "POST", self._headers(head.headers, None), data, None)

    async def _message(self, line: RequestConnection, head: MessageHead, frame: Frame) -> None:
        session = head.headers.get("mcp-session-id", "")
        call = self._origin.call(frame, self._tools(session))
        if (held := self._held.get((session, frame.cancels))) is not None:
            held.cancel()
            await line.answer(202, {}, b"")
            return
        headers = self._headers(head.headers, frame)  # first: nobody is asked about a call that cannot be passed on
        if call is not None:
            verdict = await self._verdict(line, head, frame, call, session)
            if verdict is None:
                return
            if verdict.allowed is not True:
                await line.message(refusal(frame, verdict.message))
                return
        await self._relay(line, "POST", headers, frames.write(frame.body), frame)

    def _tools(self, session: str) -> ToolList:
        """The tools as listed to the clients of a session; `""`: to those without one."""
        if session not in self._lists:
            keep(self._lists, session, ToolList(self._destructive), MOST_SESSIONS)
        return self._lists[session]

    async def _verdict(
        self, line: RequestConnection, head: MessageHead, frame: Frame, call: Call, session: str
    ) -> Verdict | None:
        """The verdict on a call; None if the client hung up or cancelled it."""
        key = (session, frame.key)
        if key in self._held:
            raise Declined(400, "a request with this id is in progress", frame.body["id"])
        if session:  # whoever knows the id can use the session, so records hold a hash
            call = call.but(session=f"{call.session}-{hashlib.sha256(session.encode()).hexdigest()[:12]}")
        asking = asyncio.ensure_future(self._judge.ask(call, project=self._origin.project))
        self._held[key] = asking
        gone = asyncio.ensure_future(line.gone())
        try:
            while not asking.done():
                await asyncio.wait({asking, gone}, timeout=SIGN, return_when=asyncio.FIRST_COMPLETED)
                if gone.done():
                    return None
                if not asking.done() and STREAM in head.headers.get("accept", ""):
                    await line.sign()
            if not asking.cancelled():
                return asking.result()
            # The response has to end as HTTP does, though nobody waits for it any more.
            await line.message(frames.failure(frame.body["id"], CANCELLED, "the client cancelled this call"))
            return None
        finally:
            self._held.pop(key, None)
            gone.cancel()
            if not asking.done():
                asking.cancel()
                await asyncio.wait({asking}, timeout=5)

    def _headers(self, given: Mapping[str, str], frame: Frame | None) -> dict[str, str]:
        """The headers for the server. Headers that repeat parts of the message are made from the message."""
        found = {"Host": self._address.authority, **{name: given[name] for name in ASKING if name in given}}
        if frame is not None:
            found |= {"Content-Type": JSON, **ParameterHeaders().headers(frame), **repeated(frame, given)}
        return found

    async def _relay(
        self, line: RequestConnection, method: str, headers: Mapping[str, str], body: bytes, frame: Frame | None
    ) -> None:
        id = frame.body.get("id") if frame is not None else None
        tools = self._tools(headers.get("mcp-session-id", ""))
        try:
            exchange = await http.connect(self._address)
        except OSError as error:
            raise Declined(502, f"the server cannot be reached: {error}", id, INTERNAL) from None
        gone = asyncio.ensure_future(line.gone())
        passing = asyncio.ensure_future(self._answer(line, exchange, method, headers, body, Answers(tools, frame)))
        try:
            await asyncio.wait({gone, passing}, return_when=asyncio.FIRST_COMPLETED)
            if passing.done():
                passing.result()
        finally:
            exchange.close()
            for each in (gone, passing):
                each.cancel()

    async def _answer(
        self,
        line: RequestConnection,
        exchange: http.Exchange,
        method: str,
        headers: Mapping[str, str],
        body: bytes,
        answers: Answers,
    ) -> None:
        try:
            if method == "POST":
                headers = {"Content-Type": JSON, **headers}
            await exchange.send(method, self._address.target, headers, body)
            head = exchange.head
            found = {name: head.headers[name] for name in ANSWERING if name in head.headers}
            if head.kind == STREAM and head.status == 200:
                await line.stream(found)
                await _events(line, exchange, answers)
                return
            raw = await http.whole(exchange.body(), frames.LONGEST) if head.kind == JSON else b""
            answer = answers.again(raw) if raw.strip() else b""
        except OSError as error:
            raise Declined(502, f"the server cannot be reached: {error}", answers.id, INTERNAL) from None
        await line.answer(head.status, {**found, **({"Content-Type": JSON} if answer else {})}, answer)


async def _events(line: RequestConnection, exchange: http.Exchange, answers: Answers) -> None:
    async for event in events_of(exchange):
        if is_message(event):
            with suppress(BadMessage):
                again = frames.write(answers.bodies(frames.read(event.data))).rstrip(b"\n")
                await line.event(StreamEvent(again, event.name, event.id, event.retry))
        elif event.id:
            await line.event(StreamEvent(b"", event.name, event.id, event.retry))


class Answers:
    """The server's answers to a request, written again from the parsed values. `asked` is the request, None for a batch
    and for a stream of other messages; the lists of tools among them go to `tools`."""

    def __init__(self, tools: ToolList, asked: Frame | None) -> None:
        self._tools = tools
        self._asked = asked
        self.id = asked.body.get("id") if asked is not None else None

    def again(self, raw: bytes) -> bytes:
        try:
            return frames.write(self.bodies(frames.read(raw)))
        except BadMessage as error:
            return frames.write(frames.failure(self.id, INTERNAL, f"the server's answer cannot be passed on: {error}"))

    def bodies(self, found: Frame | list[Frame | BadMessage]) -> object:
        messages = found if isinstance(found, list) else [found]
        for each in messages:
            if isinstance(each, BadMessage):
                raise each
            self._tools.hear(each)
            self._tools.learn(each, self._asked)
            if self._asked is not None and each.kind is FrameKind.RESPONSE and each.key == self._asked.key:
                self._asked = None  # a client ignores a second answer
        bodies = [each.body for each in messages if isinstance(each, Frame)]
        return bodies if isinstance(found, list) else bodies[0]
