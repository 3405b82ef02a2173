"""HTTP/1.1 as uvicorn speaks it, with what it lacks here: who is at the other end, and an end to slow requests.

Reads no request."""

from __future__ import annotations

import asyncio
import os
import socket
from typing import TYPE_CHECKING, Any

from assent.ui.peers import peer_of

if TYPE_CHECKING:
    from uvicorn.protocols.http.h11_impl import H11Protocol as Base
else:
    try:
        from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol as Base
    except ImportError:  # httptools is faster, and optional
        from uvicorn.protocols.http.h11_impl import H11Protocol as Base

PACE = 12.0  # seconds to send a whole request


class Protocol(Base):
    """One connection. `scope["state"]["peer"]` is the process at the other end of a Unix socket, None on TCP."""

    _slow: asyncio.TimerHandle | None = None

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
        self.app_state = {**self.app_state, "peer": peer}
        self._watch()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._arrived():
            self._rest()
        elif self._slow is None and not self.transport.is_closing():
            self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        self._rest()
        super().connection_lost(exc)

    def _arrived(self) -> bool:
        """Whether the request of the moment is here as a whole."""
        return self.cycle is not None and not self.cycle.more_body and not self.cycle.response_complete

    def _watch(self) -> None:
        self._slow = self.loop.call_later(PACE, self._too_slow)

    def _rest(self) -> None:
        if self._slow is not None:
            self._slow.cancel()
            self._slow = None

    def _too_slow(self) -> None:
        self._slow = None
        self.transport.abort()
