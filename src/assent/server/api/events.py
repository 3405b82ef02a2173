"""The event stream, which is also the web channel: a question counts as shown when it was sent to a signed-in one.

Each open stream is a channel of the broker. A slow one is closed, and holds nobody up."""

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
SLOW = 20.0  # seconds for one event to be taken
MOST_STREAMS = 64
DRAWN = 60  # sessions that the page draws (`GROUPS` in `inbox.js`)
MOST_WAITING = 20_000  # events that a stream may lag behind
SKIPPED = 500  # lag from which on the live view misses decisions
WAKE = ""  # no event: there is something to look for
MOST_OFFERS = 20  # open offers that a stream is told of at its start, the newest
OFFERED = ("id", "runtime", "session", "modes", "words")


class EventStream:
    """One signed-in event stream."""

    def __init__(self, name: str, hub: Hub, room: int = 0) -> None:
        self.name = name
        self.room = room  # questions that are drawn at a time: only what is drawn counts as shown
        self._hub = hub
        self._events: asyncio.Queue[tuple[str, object, asyncio.Future[None] | None] | None] = asyncio.Queue()
        self._behind: dict[
            str, partial[dict[str, Any]]
        ] = {}  # queued questions, told of when nothing else is to be told

    # What the broker asks of a channel

    async def show(self, question: Question) -> None:
        self._behind.pop(question.held.id, None)
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.put("held", partial(self._timed, question.held, state="shown", deadline=question.deadline), done)
        await done

    async def queued(self, question: Question, position: int) -> None:
        if not self._behind:
            self.put(WAKE, None)
        self._behind[question.held.id] = partial(shown.question, question.held, state="queued", position=position)

    async def withdraw(self, id: str, resolution: Resolution) -> None:
        self._behind.pop(id, None)
        self.put("ended", shown.ended(resolution))

    async def offer(self, offering: Offering) -> None:
        self.put("offer", offered(offering.offer))

    def _timed(self, held: Held, **more: Any) -> dict[str, object]:
        """A question with the time of the moment, which its deadline is to be read by: clocks jump."""
        return {**shown.question(held, **more), "now": self._hub.now()}

    # What the server sends

    def put(self, name: str, data: object, done: asyncio.Future[None] | None = None) -> None:
        """Put an event in line. What is called for its data is called when it is sent: a line of many questions takes
        the room of none."""
        if name == "decision" and self._events.qsize() > SKIPPED:
            return
        if self._events.qsize() > MOST_WAITING:
            self.end()
            return
        self._events.put_nowait((name, data, done))

    def end(self) -> None:
        self._events.put_nowait(None)

    async def run(self, hello: object, send: Any, alive: Any) -> None:
        """Send events until the stream ends. What was told while the first was made comes after it."""
        await self._send(send, "hello", hello)
        while True:
            try:
                event = await self._next()
            except TimeoutError:
                event = ("ping", {"now": self._hub.now()}, None)
            if event is None or not alive():
                return
            name, data, done = event
            if name == WAKE:
                continue
            if isinstance(data, partial):
                data = data()
                await asyncio.sleep(0)  # many in a row hold nobody up
            await self._send(send, name, data)
            if done is not None and not done.done():
                done.set_result(None)

    async def _next(self) -> tuple[str, object, asyncio.Future[None] | None] | None:
        """What is to be told next: a question that is asked waits behind no thousands that are queued."""
        if self._behind and self._events.empty():
            return ("held", self._behind.pop(next(iter(self._behind))), None)
        return await asyncio.wait_for(self._events.get(), PING)

    async def _send(self, send: Any, name: str, data: object) -> None:
        raw = f"event: {name}\ndata: {json.dumps(data, separators=(',', ':'))}\n\n".encode()
        await asyncio.wait_for(send({"type": "http.response.body", "body": raw, "more_body": True}), SLOW)


class Hub:
    """The open streams, and what all of them are told."""

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

    def tell(self, name: str, data: object) -> None:
        for stream in self.streams.values():
            stream.put(name, data)

    def close(self) -> None:
        for stream in self.streams.values():
            stream.put("closed", {})
            stream.end()


def offered(offer: Offer) -> dict[str, object]:
    """An offer, for a surface. Its rules go back as they are, and so are not made visible here."""
    plain: dict[str, object] = shown.safe({name: getattr(offer, name) for name in OFFERED})
    meant = {mode: MODE_WORDS[mode] for mode in offer.modes if mode in MODE_WORDS}
    return {**plain, "rules": list(offer.rules), "meant": meant, "rule_meant": RULE_WORDS}


async def events(asked: ApiRequest) -> object:
    """Keep a stream open: it is a channel as long as it is."""
    house = asked.house
    stream = house.hub.open(asked.channel)
    headers = [(b"content-type", b"text/event-stream; charset=utf-8"), (b"x-accel-buffering", b"no"), *RAW_HEADERS]
    gone = asyncio.ensure_future(asked.gone())
    running: asyncio.Task[None] | None = None
    try:
        await asked.send({"type": "http.response.start", "status": 200, "headers": headers})
        recent = await asyncio.to_thread(house.recent)
        broker = house.gate.broker
        open_now = {
            "alive": [each.held.id for each in broker.pending()],
            "offers": [offered(each) for each in broker.offers.open()[-MOST_OFFERS:]],
        }
        hello = {"now": house.clock(), "version": __version__, **open_now, "recent": recent}
        house.gate.broker.attach(stream)
        running = asyncio.ensure_future(stream.run(hello, asked.send, lambda: house.is_signed_in(asked)))
        await asyncio.wait({running, gone}, return_when=asyncio.FIRST_COMPLETED)
        if running.done() and running.exception() is None:
            await asked.send({"type": "http.response.body", "body": b""})
    finally:
        house.hub.streams.pop(stream.name, None)
        house.gate.broker.detach(stream)
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
