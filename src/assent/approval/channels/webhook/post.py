"""One signed request to a webhook, and its answer within bounds. Follows no redirect and knows no question."""

from __future__ import annotations

import asyncio
import http.client
import socket
import ssl
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from urllib.parse import urlsplit

from assent.approval.channels.outbox import Busy, Refused
from assent.contract import StoreError, Value

TIMEOUT = 8.0  # seconds, for all of it
LARGEST = 64 * 1024  # bytes of an answer
WORKERS = 4
FINAL = frozenset({400, 401, 403, 404, 405, 410, 411, 413, 414, 415, 421, 422})
UNSAID = 5.0


class Unable(ConnectionError):
    """The webhook is there, and cannot take it now."""


class Said(Value):
    """What a webhook answered with 2xx."""

    __slots__ = ("headers", "body")

    def __init__(self, headers: Mapping[str, str], body: bytes) -> None:
        self.headers = headers
        self.body = body


class Post:
    """Requests to one address, in threads of their own."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        if not parts.hostname or parts.scheme not in ("https", "http"):
            raise StoreError(f"`{url}` is no address; correct `webhook.url`")
        self._secure = parts.scheme == "https"
        self._host, self._port = parts.hostname, parts.port
        self._target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        self._tls = ssl.create_default_context() if self._secure else None
        self._pool = ThreadPoolExecutor(WORKERS, thread_name_prefix="webhook")
        self._open: set[http.client.HTTPConnection] = set()

    async def send(self, body: bytes, headers: Mapping[str, str]) -> Said:
        """Post it. Raises Busy, Refused, or ConnectionError where nobody is there."""
        connection = self._connection()
        self._open.add(connection)
        loop = asyncio.get_running_loop()
        timer = loop.call_later(TIMEOUT, _cut, connection)
        try:
            return await loop.run_in_executor(self._pool, _exchange, connection, self._target, body, headers)
        except (Busy, Refused, Unable):
            raise
        except Exception as error:
            raise ConnectionError(f"the webhook cannot be reached: {type(error).__name__}") from None
        finally:
            timer.cancel()
            self._open.discard(connection)
            _cut(connection)

    def close(self) -> None:
        """End what is under way: a thread that waits for a silent webhook would hold up the end of the process."""
        for each in self._open:
            _cut(each)
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _connection(self) -> http.client.HTTPConnection:
        if self._tls is not None:
            return http.client.HTTPSConnection(self._host, self._port, timeout=TIMEOUT, context=self._tls)
        return http.client.HTTPConnection(self._host, self._port, timeout=TIMEOUT)


def _exchange(connection: http.client.HTTPConnection, target: str, body: bytes, headers: Mapping[str, str]) -> Said:
    until = time.monotonic() + TIMEOUT
    try:
        connection.request("POST", target, body, dict(headers))
        answer = connection.getresponse()
        if answer.status == 429 or (answer.status == 503 and answer.getheader("Retry-After")):
            raise Busy(_seconds(answer.getheader("Retry-After", "")))
        if 300 <= answer.status < 400:
            raise Refused(f"the webhook answers {answer.status}; redirects are not followed: correct `webhook.url`")
        if answer.status in FINAL:
            raise Refused(f"the webhook refuses the question: {answer.status}")
        if not 200 <= answer.status < 300:
            raise Unable(f"the webhook answers {answer.status}")
        found = b""
        while chunk := answer.read1(LARGEST + 1 - len(found)):
            found += chunk
            if len(found) > LARGEST or time.monotonic() > until:
                raise Unable("the webhook's answer has no end")
        return Said({name.lower(): value for name, value in answer.getheaders()}, found)
    finally:
        connection.close()


def _cut(connection: http.client.HTTPConnection) -> None:
    """End a connection that a thread may be waiting on."""
    with suppress(OSError, AttributeError):
        if connection.sock is not None:
            connection.sock.shutdown(socket.SHUT_RDWR)


def _seconds(value: str) -> float:
    try:
        return max(0.1, float(value))
    except ValueError:
        return UNSAID
