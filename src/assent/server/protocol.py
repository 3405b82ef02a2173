"""HTTP/1.1 as uvicorn speaks it, with what it lacks here: who is at the other end, an end to the slow and the endless.

Reads no request."""

from __future__ import annotations

import asyncio
import os
import socket
from typing import TYPE_CHECKING, Any

from assent.server.peers import Peer, peer_of, uptime

if TYPE_CHECKING:
    from uvicorn.protocols.http.h11_impl import H11Protocol as Base
else:
    try:
        from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol as Base
    except ImportError:  # httptools is faster, and optional
        from uvicorn.protocols.http.h11_impl import H11Protocol as Base

PACE = 12.0  # seconds to send a whole request
TAKING = 20.0  # seconds for an answer to be taken
MOST_HEAD = 128 * 1024  # bytes before a body
# Connections on TCP, where anybody on this machine can open some: the socket of callers is not theirs to fill.
MOST_TCP = 512


class Gathered:
    """A transport that sends the parts of an answer in one go: each sending is a call to the system, and the first one
    would wake a reader that finds no body yet. What belongs to no whole answer is sent in the loop's next round."""

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
        """Send a whole answer."""
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
            if not self._transport.is_closing():  # the other end may be gone since
                self._transport.write(data)

    def close(self) -> None:
        self.flush()
        self._transport.close()

    def abort(self) -> None:
        self._parts.clear()
        self._transport.abort()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


class Protocol(Base):
    """One connection. `scope["state"]["peer"]` is the process at the other end of a Unix socket, None on TCP.

    A request to one of the application's `prompt` targets that is here as a whole is answered on the spot: to make a
    task and a whole exchange of messages for it takes longer than most decisions. All others go uvicorn's way, and so
    does the rest of one that has to be waited for."""

    on_tcp = on_socket = 0  # connections, of all
    waiting: dict[Protocol, None] = {}  # those on TCP that have no whole request under way, the oldest first
    most_on_socket = 4096  # set by the server to what the system allows: those on TCP have places of their own

    _slow: asyncio.TimerHandle | None = None
    _stuck: asyncio.TimerHandle | None = None
    _in_head = False
    _head = 0  # bytes that came since a head began
    _counted = ""
    _peer: Peer | None = None
    _target = b""
    _fields: list[tuple[bytes, bytes]]
    _prompt: bytearray | None = None  # the body of a request that may be answered on the spot
    _idle: asyncio.TimerHandle | None = None
    _used = 0.0  # when something was last answered
    _whole = _last = False  # whether it is here to its end, and ends the connection

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        peer = None
        found = transport.get_extra_info("socket")
        if found is not None and found.family == socket.AF_UNIX:
            peer = peer_of(found)
            # INVARIANT: nobody but the user, or root, is heard on the socket, whatever the permissions of the file.
            if peer is None or peer.uid not in (os.geteuid(), 0):
                transport.abort()
                return
            peer = Peer(peer.pid, peer.uid, uptime())
        if not self._has_place(peer):
            transport.abort()
            return
        if peer is None:
            Protocol.waiting[self] = None
        self.transport = Gathered(transport, self.loop)  # type: ignore[assignment]  # it has all that is asked of it
        self.app_state = {**self.app_state, "peer": peer}
        self._peer = peer
        self._watch()

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        super().data_received(data)
        if self._prompt is not None and not self.transport.is_closing():
            self._answer()
            if self._whole:
                self._rest()
                self._waits_again()
                return
        if self._arrived():
            self._rest()
            return
        self._head += len(data)
        if self._in_head and self._head > MOST_HEAD:
            self.transport.abort()
        elif self._slow is None and not self.transport.is_closing():
            self._watch()

    # What httptools tells; h11 has limits of its own, and reads one request at a time

    def on_message_begin(self) -> None:
        """A request that comes before the last one has its answer ends the connection: no client of ours sends one,
        and of a caller that hangs up behind it nothing would be heard. One that is answered on the spot has all that
        came: what stands behind it does not take its place."""
        if self._prompt is not None:
            self.transport.abort()
            return
        self._in_head, self._head = True, 0
        self._target, self._fields = b"", []

    def on_url(self, url: bytes) -> None:
        self._target += url

    def on_header(self, name: bytes, value: bytes) -> None:
        """What stands behind a body is no header."""
        if self._in_head:
            self._fields.append((name.lower(), value))

    def on_headers_complete(self) -> None:
        self._in_head = False
        running = self.cycle
        if self._prompt is not None:
            return
        if running is not None and not running.response_complete:
            running.disconnected = True
            running.message_event.set()
            self.transport.abort()
        elif self._is_prompt():
            self._prompt, self._whole = bytearray(), False
        else:
            self._begin(self.app)

    def on_body(self, body: bytes) -> None:
        if self._prompt is None:
            super().on_body(body)  # type: ignore[misc]  # mixed in with one of two protocols
        else:
            self._prompt += body

    def on_message_complete(self) -> None:
        if self._prompt is None:
            super().on_message_complete()  # type: ignore[misc]  # as above
        else:
            self._whole = True

    def _is_prompt(self) -> bool:
        """Whether a request may be answered on the spot, once it is here."""
        parser = self.parser  # type: ignore[attr-defined]  # that of httptools
        if self._target not in self.app.prompt or parser.get_method() != b"POST":
            return False
        if parser.get_http_version() != "1.1" or parser.should_upgrade() or self.flow.write_paused:
            return False
        self._last = not parser.should_keep_alive()
        return True

    def _answer(self) -> None:
        """Answer on the spot what is here as a whole; all else takes uvicorn's way."""
        body, self._prompt = bytes(self._prompt or b""), None
        if not self._whole:
            self._begin(self.app, body)
            return
        found = self.app.at_once(self._target, self._fields, body, self._peer, self._receive, last=self._last)
        if not isinstance(found, bytes):
            self._begin(found, body, whole=True)
            return
        self.transport.send(found)  # type: ignore[attr-defined]  # see Gathered
        self.server_state.total_requests += 1
        self._used = self.loop.time()
        if self._last:
            self.transport.close()
        elif self._idle is None:
            self._idle = self.loop.call_later(self.timeout_keep_alive, self._tire)

    def _tire(self) -> None:
        """End a connection that was not used for a while. One timer looks after many answers: to set and to stop one
        for each is a good part of what they cost."""
        self._idle = None
        left = self._used + self.timeout_keep_alive - self.loop.time()
        running = self._slow is not None or (self.cycle is not None and not self.cycle.response_complete)
        if left > 0 or running:
            self._idle = self.loop.call_later(max(left, 1.0), self._tire)
        elif not self.transport.is_closing():
            self.transport.close()

    async def _receive(self) -> Any:
        """What comes next, for an answer that takes uvicorn's way after all."""
        return await self.cycle.receive()

    def _begin(self, app: Any, body: bytes = b"", *, whole: bool = False) -> None:
        """Let uvicorn hear what was heard so far, and an application answer it."""
        super().on_message_begin()  # type: ignore[misc]  # as above
        super().on_url(self._target)  # type: ignore[misc]  # as above
        for name, value in self._fields:
            super().on_header(name, value)  # type: ignore[misc]  # as above
        own, self.app = self.app, app
        super().on_headers_complete()  # type: ignore[misc]  # as above
        self.app = own
        if body:
            super().on_body(body)  # type: ignore[misc]  # as above
        if whole:
            if self._last:
                self.cycle.keep_alive = False  # the parser knows that no more
            super().on_message_complete()  # type: ignore[misc]  # as above

    def on_response_complete(self) -> None:
        self.transport.flush()  # type: ignore[attr-defined]  # see Gathered
        self._waits_again()
        self._used = self.loop.time()
        super().on_response_complete()

    def pause_writing(self) -> None:
        super().pause_writing()
        if self._stuck is None:
            self._stuck = self.loop.call_later(TAKING, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._flows()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._idle is not None:
            self._idle.cancel()
            self._idle = None
        self._rest()
        self._flows()
        if self._counted:
            setattr(Protocol, self._counted, getattr(Protocol, self._counted) - 1)
            self._counted = ""
        super().connection_lost(exc)

    def _has_place(self, peer: Peer | None) -> bool:
        """INVARIANT: however many callers wait on the socket, a page on TCP gets in, and the other way round."""
        self._counted = "on_tcp" if peer is None else "on_socket"
        taken = getattr(Protocol, self._counted) + 1
        setattr(Protocol, self._counted, taken)
        if peer is not None:
            return bool(taken <= Protocol.most_on_socket)
        return taken <= MOST_TCP or self._makes_room()

    def _makes_room(self) -> bool:
        """Where all places on TCP are taken, whoever has waited longest without a whole request leaves.

        INVARIANT: connections that say nothing, however many, keep no page out: who comes and asks is the newest."""
        oldest = next(iter(Protocol.waiting), None)
        if oldest is None:
            return False
        oldest._leave()
        return True

    def _waits_again(self) -> None:
        """It has no request under way: on TCP it may be told to leave."""
        if self._counted == "on_tcp" and (self.cycle is None or self.cycle.response_complete):
            Protocol.waiting[self] = None

    def _leave(self) -> None:
        Protocol.waiting.pop(self, None)
        self.transport.abort()

    def _arrived(self) -> bool:
        """Whether the request of the moment is here as a whole."""
        return self.cycle is not None and not self.cycle.more_body and not self.cycle.response_complete

    def _watch(self) -> None:
        self._slow = self.loop.call_later(PACE, self._too_slow)

    def _rest(self) -> None:
        Protocol.waiting.pop(self, None)  # it has a whole request, or is gone
        if self._slow is not None:
            self._slow.cancel()
            self._slow = None

    def _flows(self) -> None:
        if self._stuck is not None:
            self._stuck.cancel()
            self._stuck = None

    def _too_slow(self) -> None:
        self._slow = None
        self.transport.abort()
