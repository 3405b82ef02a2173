"""HTTP/1.1 by uvicorn, plus the process at the other end, time limits and connection limits.

Reads no request."""

from __future__ import annotations

import asyncio
import os
import socket
from collections import Counter
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

from assent.server.peers import Peer, peer_of, uptime

PACE = 12.0  # seconds to send a whole request
TAKING = 20.0  # seconds for an answer to be taken
MOST_HEAD = 128 * 1024  # bytes before a body
# Connections on TCP, where anybody on this machine can open some: they do not count against the socket of callers.
MOST_TCP = 512

UvicornProtocol: Any = AutoHTTPProtocol  # that of httptools, or of h11 if httptools is not installed


class Gathered:
    """A transport that sends the parts of an answer at once: each write is a system call, and the first would wake a
    reader that finds no body yet. Parts that `flush` does not send go out in the loop's next round."""

    __slots__ = ("_transport", "_loop", "_parts")

    def __init__(self, transport: Any, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._parts: list[bytes] = []

    def write(self, data: bytes) -> None:
        if not self._parts:
            self._loop.call_soon(self.flush)
        self._parts.append(data)

    def send(self, data: bytes) -> None:
        if self._parts:
            self._parts.append(data)
            self.flush()
        elif not self._transport.is_closing():
            self._transport.write(data)

    def is_closing(self) -> bool:
        return bool(self._transport.is_closing())

    def flush(self) -> None:
        if self._parts:
            data = b"".join(self._parts)
            self._parts.clear()
            if not self._transport.is_closing():  # the other end may be gone by now
                self._transport.write(data)

    def close(self) -> None:
        self.flush()
        self._transport.close()

    def abort(self) -> None:
        self._parts.clear()
        self._transport.abort()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


class Protocol(UvicornProtocol):  # type: ignore[misc]  # one of two classes
    """One connection. `scope["state"]["peer"]` is the process at the other end of a Unix socket, None on TCP.

    A complete request to one of the application's `immediate` targets is answered at once: to make a task and an ASGI
    exchange for it takes longer than most decisions. All others are left to uvicorn, and so is the rest of one that has
    to wait."""

    connections: Counter[str] = Counter()  # open ones, by `tcp` and `socket`
    waiting: dict[Protocol, None] = {}  # those on TCP without a complete request, the oldest first
    most_on_socket = 4096  # set by the server to what the system allows

    app: Any
    app_state: dict[str, Any]
    _in_head = False
    _head = 0  # bytes since a head began
    _counted = ""
    _peer: Peer | None = None
    _target = b""
    _fields: list[tuple[bytes, bytes]]
    _immediate: bytearray | None = None  # the body of a request that may be answered at once
    _whole = _last = False  # whether that request is complete, and ends the connection
    _used = 0.0  # when something was last answered
    _timers: dict[str, asyncio.TimerHandle]  # slow: the request, stuck: the answer, idle: the connection

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._timers = {}
        peer = None
        found = transport.get_extra_info("socket")
        if found is not None and found.family == socket.AF_UNIX:
            peer = peer_of(found)
            # INVARIANT: only the user and root are served on the socket, whatever the permissions of the file.
            if peer is None or peer.uid not in (os.geteuid(), 0):
                transport.abort()
                return
            peer = Peer(peer.pid, peer.uid, uptime())
        if not self._has_place(peer):
            transport.abort()
            return
        if peer is None:
            Protocol.waiting[self] = None
        self.transport = Gathered(transport, self.loop)
        self.app_state = {**self.app_state, "peer": peer}
        self._peer = peer
        self._start_timer("slow", PACE)

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        super().data_received(data)
        if self._immediate is not None and not self.transport.is_closing():
            self._answer()
            if self._whole:
                self._arrived()
                self._waits_again()
                return
        if self.cycle is not None and not self.cycle.more_body and not self.cycle.response_complete:
            self._arrived()
            return
        self._head += len(data)
        if self._in_head and self._head > MOST_HEAD:
            self.transport.abort()
        elif "slow" not in self._timers and not self.transport.is_closing():
            self._start_timer("slow", PACE)

    # Callbacks of httptools. h11 has its own limits, and reads one request at a time.

    def on_message_begin(self) -> None:
        """A request before the answer to the last one ends the connection: no client of ours sends one, and we would
        not notice a caller that hangs up after it. Data after a request that is answered at once does not count as part
        of it."""
        if self._immediate is not None:
            self.transport.abort()
            return
        self._in_head, self._head = True, 0
        self._target, self._fields = b"", []

    def on_url(self, url: bytes) -> None:
        self._target += url

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._in_head:  # fields after a body are no headers
            self._fields.append((name.lower(), value))

    def on_headers_complete(self) -> None:
        self._in_head = False
        running = self.cycle
        if self._immediate is not None:
            return
        if running is not None and not running.response_complete:
            running.disconnected = True
            running.message_event.set()
            self.transport.abort()
        elif self._may_be_immediate():
            self._immediate, self._whole = bytearray(), False
        else:
            self._begin(self.app)

    def on_body(self, body: bytes) -> None:
        if self._immediate is None:
            super().on_body(body)
        else:
            self._immediate += body

    def on_message_complete(self) -> None:
        if self._immediate is None:
            super().on_message_complete()
        else:
            self._whole = True

    def _may_be_immediate(self) -> bool:
        parser = self.parser
        usual = parser.get_method() == b"POST" and parser.get_http_version() == "1.1" and not parser.should_upgrade()
        if self._target not in self.app.immediate or not usual or self.flow.write_paused:
            return False
        self._last = not parser.should_keep_alive()
        return True

    def _answer(self) -> None:
        """Answer a complete request at once; leave all else to uvicorn."""
        body, self._immediate = bytes(self._immediate or b""), None
        if not self._whole:
            self._begin(self.app, body)
            return
        found = self.app.at_once(self._target, self._fields, body, self._peer, self._receive, last=self._last)
        if not isinstance(found, bytes):
            self._begin(found, body, whole=True)
            return
        self.transport.send(found)
        self.server_state.total_requests += 1
        self._used = self.loop.time()
        if self._last:
            self.transport.close()
        elif "idle" not in self._timers:
            self._timers["idle"] = self.loop.call_later(self.timeout_keep_alive, self._end_if_idle)

    def _end_if_idle(self) -> None:
        """One timer serves many answers: starting and stopping one for each would be much of their cost."""
        left = self._used + self.timeout_keep_alive - self.loop.time()
        running = "slow" in self._timers or (self.cycle is not None and not self.cycle.response_complete)
        del self._timers["idle"]
        if left > 0 or running:
            self._timers["idle"] = self.loop.call_later(max(left, 1.0), self._end_if_idle)
        elif not self.transport.is_closing():
            self.transport.close()

    async def _receive(self) -> Any:
        """The next message, for an answer that uvicorn continues."""
        return await self.cycle.receive()

    def _begin(self, app: Any, body: bytes = b"", *, whole: bool = False) -> None:
        """Hand what was received so far to uvicorn, and let an application answer it."""
        super().on_message_begin()
        super().on_url(self._target)
        for name, value in self._fields:
            super().on_header(name, value)
        own, self.app = self.app, app
        super().on_headers_complete()
        self.app = own
        if body:
            super().on_body(body)
        if whole:
            if self._last:
                self.cycle.keep_alive = False  # the parser does not know that any more
            super().on_message_complete()

    def on_response_complete(self) -> None:
        self.transport.flush()
        self._waits_again()
        self._used = self.loop.time()
        super().on_response_complete()

    def pause_writing(self) -> None:
        super().pause_writing()
        if "stuck" not in self._timers:
            self._start_timer("stuck", TAKING)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._stop_timer("stuck")

    def connection_lost(self, exc: Exception | None) -> None:
        self._arrived()
        for name in tuple(self._timers):
            self._stop_timer(name)
        if self._counted:
            Protocol.connections[self._counted] -= 1
            self._counted = ""
        super().connection_lost(exc)

    def _has_place(self, peer: Peer | None) -> bool:
        """INVARIANT: however many callers wait on the socket, a page on TCP can connect, and the other way round. Idle
        connections keep no page out: when all places on TCP are taken, the oldest without a complete request ends."""
        self._counted = "tcp" if peer is None else "socket"
        Protocol.connections[self._counted] += 1
        taken = Protocol.connections[self._counted]
        if peer is not None:
            return taken <= Protocol.most_on_socket
        oldest = next(iter(Protocol.waiting), None) if taken > MOST_TCP else None
        if oldest is not None:
            del Protocol.waiting[oldest]
            oldest.transport.abort()
        return taken <= MOST_TCP or oldest is not None

    def _waits_again(self) -> None:
        """Without a request under way, a connection on TCP may be ended for another."""
        if self._counted == "tcp" and (self.cycle is None or self.cycle.response_complete):
            Protocol.waiting[self] = None

    def _arrived(self) -> None:
        """A complete request is here, or the connection is gone."""
        Protocol.waiting.pop(self, None)
        self._stop_timer("slow")

    def _start_timer(self, name: str, seconds: float) -> None:
        self._timers[name] = self.loop.call_later(seconds, self.transport.abort)

    def _stop_timer(self, name: str) -> None:
        timer = self._timers.pop(name, None)
        if timer is not None:
            timer.cancel()
