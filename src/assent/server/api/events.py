"""Event streams. Each open stream is a channel of the broker: a question counts as shown once it was sent to one.

A stream that is too slow is closed."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from functools import partial
from typing import Any

from assent import __version__
from assent.approval.channels import Offering, Question
from assent.approval.escalation import MODE_WORDS, RULE_WORDS, Offer
from assent.contract.approval import Held, Resolution
from assent.server.access import WEB, Role
from assent.server.api import shown
from assent.server.api.endpoint import TEXT, ApiRequest, Endpoint, Refusal
from assent.server.api.request_guard import RAW_HEADERS

STREAM = "text/event-stream"
PING = 12.0  # seconds of silence before a ping
SLOW = 20.0  # seconds for the client to take one event
MOST_STREAMS = 64
DRAWN = 60  # sessions that the page draws (`GROUPS` in `inbox.js`)
MOST_WAITING = 20_000  # events in the queue of a stream
SKIPPED = 500  # length of the queue from which decisions are dropped
WAKE = ""  # no event: a question waits in `_queued`
MOST_OFFERS = 20  # newest open offers sent at the start of a stream
OFFERED = ("id", "runtime", "session", "modes", "words")


class EventStream:
    def __init__(self, name: str, hub: Hub, room: int = 0) -> None:
        self.name = name
        self.room = room  # questions that the surface draws at a time: only those count as shown
        self._hub = hub
        self._events: asyncio.Queue[tuple[str, object, asyncio.Future[None] | None] | None] = asyncio.Queue()
        self._queued: dict[str, partial[dict[str, Any]]] = {}  # questions sent when no other event waits
        self._left = False

    # The methods of a channel

    async def show(self, question: Question) -> None:
        self._queued.pop(question.held.id, None)
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.put("held", partial(self._timed, question.held, state="shown", deadline=question.deadline), done)
        await done

    async def queued(self, question: Question, position: int) -> None:
        if not self._queued:
            self.put(WAKE, None)
        self._queued[question.held.id] = partial(shown.question, question.held, state="queued", position=position)

    async def withdraw(self, id: str, resolution: Resolution) -> None:
        self._queued.pop(id, None)
        self.put("ended", shown.ended(resolution))

    async def offer(self, offering: Offering) -> None:
        self.put("offer", offered(offering.offer))

    def _timed(self, held: Held, **more: Any) -> dict[str, object]:
        """A question with the current time, to compare its deadline with: clocks jump."""
        return {**shown.question(held, **more), "now": self._hub.now()}

    # Sending

    def put(self, name: str, data: object, done: asyncio.Future[None] | None = None) -> None:
        """Queue an event. Data that is a `partial` is made when it is sent: a queue of many questions takes little
        memory."""
        waiting = self._events.qsize()
        if name == "decision" and waiting > SKIPPED:
            return
        self._events.put_nowait((name, data, done) if waiting <= MOST_WAITING else None)

    def end(self) -> None:
        self._events.put_nowait(None)

    def leave(self) -> None:
        """The reader is gone. A cancellation alone may not end `run`: `wait_for` loses it if an event comes at the same
        time."""
        self._left = True
        self.end()

    async def run(self, hello: object, send: Any, alive: Any) -> None:
        """Send events until the stream ends, `hello` first."""
        await self._send(send, "hello", hello)
        while True:
            try:
                event = await self._next()
            except TimeoutError:
                event = ("ping", {"now": self._hub.now()}, None)
            if event is None or self._left or not alive():
                return
            name, data, done = event
            if name == WAKE:
                continue
            if isinstance(data, partial):
                data = data()
                await asyncio.sleep(0)  # so that many in a row block nobody
            await self._send(send, name, data)
            if done is not None and not done.done():
                done.set_result(None)

    async def _next(self) -> tuple[str, object, asyncio.Future[None] | None] | None:
        """The next event: questions that are asked come before those that are queued."""
        if self._queued and self._events.empty():
            return ("held", self._queued.pop(next(iter(self._queued))), None)
        return await asyncio.wait_for(self._events.get(), PING)

    async def _send(self, send: Any, name: str, data: object) -> None:
        raw = f"event: {name}\ndata: {json.dumps(data, separators=(',', ':'))}\n\n".encode()
        await asyncio.wait_for(send({"type": "http.response.body", "body": raw, "more_body": True}), SLOW)


class Hub:
    def __init__(self, now: Any) -> None:
        self.now = now
        self.streams: dict[str, EventStream] = {}
        self._count = 0

    def open(self, channel: str) -> EventStream:
        if len(self.streams) >= MOST_STREAMS:
            raise Refusal(503, "too-many", f"{MOST_STREAMS} pages are open already; close one")
        self._count += 1
        stream = EventStream(f"{channel}-{self._count}", self, DRAWN if channel == WEB else 0)
        self.streams[stream.name] = stream
        return stream

    def send(self, name: str, data: object) -> None:
        for stream in self.streams.values():
            stream.put(name, data)

    def close(self) -> None:
        for stream in self.streams.values():
            stream.put("closed", {})
            stream.end()


def offered(offer: Offer) -> dict[str, object]:
    """An offer, for a surface. Its rules are sent back to us, so they stay unchanged."""
    plain: dict[str, object] = shown.safe({name: getattr(offer, name) for name in OFFERED})
    meant = {mode: MODE_WORDS[mode] for mode in offer.modes if mode in MODE_WORDS}
    return {**plain, "rules": list(offer.rules), "meant": meant, "rule_meant": RULE_WORDS}


async def events(asked: ApiRequest) -> object:
    """Open a stream, a channel of the broker until it ends."""
    server, broker = asked.server, asked.server.gate.broker
    stream = server.hub.open(asked.channel)
    headers = [(b"content-type", b"text/event-stream; charset=utf-8"), (b"x-accel-buffering", b"no"), *RAW_HEADERS]
    gone = asyncio.ensure_future(asked.gone())
    running: asyncio.Task[None] | None = None
    try:
        await asked.send({"type": "http.response.start", "status": 200, "headers": headers})
        recent = await asyncio.to_thread(server.recent)
        hello = {
            "now": server.clock(),
            "version": __version__,
            "alive": [each.held.id for each in broker.pending()],
            "offers": [offered(each) for each in broker.offers.open()[-MOST_OFFERS:]],
            "recent": recent,
        }
        broker.attach(stream)
        alive = partial(server.access.sessions.awake, asked.cookie)
        running = asyncio.ensure_future(stream.run(hello, asked.send, alive))
        await asyncio.wait({running, gone}, return_when=asyncio.FIRST_COMPLETED)
        if running.done() and running.exception() is None:
            await asked.send({"type": "http.response.body", "body": b""})
    finally:
        server.hub.streams.pop(stream.name, None)
        broker.detach(stream)
        stream.leave()
        for each in (running, gone):
            if each is not None:
                each.cancel()
                with suppress(asyncio.CancelledError, Exception):
                    await each
    return None


ENDPOINTS = (
    Endpoint(
        "GET",
        "/v1/events",
        events,
        needs=Role.PERSON,
        summary="server-sent events: hello, held, ended, decision, offer, offer-ended, changed, ping, closed",
        gives={200: TEXT},
        kind=STREAM,
    ),
)
