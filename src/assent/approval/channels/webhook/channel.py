"""A webhook as a remote channel of a server: posts signed questions, and takes signed answers, each once.

Answers come through `server/api/questions.py`."""

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

from assent.approval.channels.remote import (
    UP,
    Once,
    Outbox,
    PostingChannel,
    RateLimited,
    Refused,
    RemoteHost,
    SentQuestion,
    retry_after,
    same,
    signed,
    timely,
)
from assent.approval.channels.webhook import events
from assent.approval.commands import Receipt
from assent.contract import AccessError, StoreError
from assent.contract.approval import Held, Resolution

BACK = "/v1/webhook/answer"
TIMEOUT = 8.0  # seconds, for all of it
LARGEST = 64 * 1024  # bytes of an answer
WORKERS = 4
FINAL = frozenset({400, 401, 403, 404, 405, 410, 411, 413, 414, 415, 421, 422})
UNSAID = 5.0  # seconds to wait if the webhook does not say how long
SHORTEST = 32  # characters of a secret
Reply = tuple[Mapping[str, str], bytes]  # headers and body of a 2xx


class Webhook(PostingChannel[SentQuestion]):
    name = "webhook"
    seconds = 8.5  # the broker waits for 10

    def __init__(self, host: RemoteHost, secret: str, *, url: str, users: tuple[str, ...]) -> None:
        if len(secret) < SHORTEST:
            raise StoreError(
                "`webhook-secret` is short; take 32 characters or more, such as `openssl rand -hex 32` prints"
            )
        outbox = Outbox(lambda words: host.report("line", words, ""), at_once=4)
        super().__init__(SentQuestion, outbox, lambda: host.attach(self))
        self.host = host
        self._requests = Requests(url)
        self._secret = secret
        self._users = frozenset(users)
        self._once = Once(time.monotonic)
        host.attach(self)

    @property
    def state(self) -> str:
        return "down" if self.host.problem else UP

    def shows_whole(self, held: Held) -> bool:
        return events.is_whole(held)

    async def close(self) -> None:
        await super().close()
        self._requests.close()

    # Answers

    async def take(self, headers: Mapping[str, str], body: bytes) -> Receipt:
        """A signed answer. Raises AccessError if it is not permitted, ValueError if it is malformed.

        INVARIANT: the signature is checked before anything else, and before the body is parsed."""
        given = headers.get(events.SIGNATURE.lower(), "").removeprefix(f"{events.VERSION}=")
        timestamp = headers.get(events.TIMESTAMP.lower(), "")
        if not signed(self._secret, events.head(events.ANSWER, timestamp), body, given):
            raise self._refusal("the signature is missing or wrong", "bad-signature")
        if not timely(timestamp, self.host.clock()):
            raise self._refusal("the answer is too old, or from the future; check the clock", "stale")
        if not self._once.use(given):
            raise self._refusal("this answer was already received", "replayed")
        return await self._answer(events.read(body))

    async def _answer(self, reply: events.WebhookAnswer) -> Receipt:
        asked = self._open.get(reply.id)
        if asked is None:
            raise AccessError("no question with this id waits; nothing was changed", code="unknown")
        if not same(asked.nonce, reply.nonce) or not same(asked.question.held.digest, reply.digest):
            raise self._refusal("the answer does not match the question", "mismatch")
        if self._users and reply.answer.who not in self._users:
            raise self._refusal(f"`{reply.answer.who}` is not among `webhook.users`", "not-listed")
        receipt = await asked.answer(reply.answer)
        if receipt is None:
            raise AccessError("this question was answered already; nothing was changed", code="late")
        return receipt

    def _refusal(self, words: str, code: str) -> AccessError:
        self.host.refused(words)
        return AccessError(words, code=code)

    # Questions

    async def _post(self, sent: SentQuestion) -> None:
        question = sent.question
        body = await asyncio.to_thread(  # it may be long
            events.question, question.held, sent.nonce, deadline=question.deadline, behind=question.behind, back=BACK
        )
        headers, reply = await self._send(body)
        if reply.strip():
            self._tasks.start(self._take_reply(headers, reply))

    async def _end(self, sent: SentQuestion, resolution: Resolution) -> None:
        await self._send(events.ended(resolution, sent.nonce))

    async def _send(self, body: bytes) -> Reply:
        return await self._requests.send(body, events.headers(self._secret, body, int(self.host.clock())))

    async def _take_reply(self, headers: Mapping[str, str], body: bytes) -> None:
        """The reply to a question may be an answer, if it is signed."""
        try:
            if events.SIGNATURE.lower() in headers:
                await self.take(headers, body)
        except (AccessError, ValueError) as error:
            self.host.refused(f"the webhook's reply is not an answer: {error}")


class Unable(ConnectionError):
    """The webhook is reachable, but cannot accept the question now."""


class Requests:
    """Requests to one address, in separate threads."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        if not parts.hostname or parts.scheme not in ("https", "http"):
            raise StoreError(f"`{url}` is not an address; correct `webhook.url`")
        self._host, self._port = parts.hostname, parts.port
        self._target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        self._tls = ssl.create_default_context() if parts.scheme == "https" else None
        self._pool = ThreadPoolExecutor(WORKERS, thread_name_prefix="webhook")
        self._open: set[http.client.HTTPConnection] = set()

    async def send(self, body: bytes, headers: Mapping[str, str]) -> Reply:
        """Post it. Raises RateLimited, Refused, or ConnectionError if nobody listens."""
        connection = self._connection()
        self._open.add(connection)
        loop = asyncio.get_running_loop()
        timer = loop.call_later(TIMEOUT, _cut, connection)
        try:
            return await loop.run_in_executor(self._pool, _exchange, connection, self._target, body, headers)
        except (RateLimited, Refused, Unable):
            raise
        except Exception as error:
            raise ConnectionError(f"the webhook cannot be reached: {type(error).__name__}") from None
        finally:
            timer.cancel()
            self._open.discard(connection)
            _cut(connection)

    def close(self) -> None:
        """Abort requests: a thread that waits for a silent webhook would delay the end of the process."""
        for each in self._open:
            _cut(each)
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _connection(self) -> http.client.HTTPConnection:
        if self._tls is not None:
            return http.client.HTTPSConnection(self._host, self._port, timeout=TIMEOUT, context=self._tls)
        return http.client.HTTPConnection(self._host, self._port, timeout=TIMEOUT)


def _exchange(connection: http.client.HTTPConnection, target: str, body: bytes, headers: Mapping[str, str]) -> Reply:
    until = time.monotonic() + TIMEOUT
    try:
        connection.request("POST", target, body, dict(headers))
        answer = connection.getresponse()
        if answer.status == 429 or (answer.status == 503 and answer.getheader("Retry-After")):
            raise RateLimited(retry_after(answer.getheader("Retry-After"), least=0.1, default=UNSAID))
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
                raise Unable("the webhook's answer is too long or too slow")
        return {name.lower(): value for name, value in answer.getheaders()}, found
    finally:
        connection.close()


def _cut(connection: http.client.HTTPConnection) -> None:
    """End a connection that a thread may be waiting on."""
    with suppress(OSError, AttributeError):
        if connection.sock is not None:
            connection.sock.shutdown(socket.SHUT_RDWR)
