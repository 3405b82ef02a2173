"""A webhook as a channel of the broker: posts signed questions, and takes signed answers, each once."""

from __future__ import annotations

import asyncio
import http.client
import socket
import ssl
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from urllib.parse import urlsplit

from assent.approval.channels import Question
from assent.approval.channels.remote import Once, Outbox, RateLimited, Refused, nonce, same, signed, timely
from assent.approval.channels.webhook import events
from assent.approval.commands import Receipt, Taken
from assent.approval.patience import Tasks
from assent.contract import AccessError, StoreError
from assent.contract.approval import Held, Resolution

SHOWN = 8.5  # seconds: the broker waits for 10
MOST = 2000
BACK = "/v1/webhook/answer"
TIMEOUT = 8.0  # seconds, for all of it
LARGEST = 64 * 1024  # bytes of an answer
WORKERS = 4
FINAL = frozenset({400, 401, 403, 404, 405, 410, 411, 413, 414, 415, 421, 422})
UNSAID = 5.0


@dataclass(eq=False, slots=True)
class PostedQuestion:
    question: Question
    nonce: str = field(default_factory=nonce)
    late: bool = False  # posting it timed out, and may still succeed
    there: bool = False
    used: bool = False


class WebhookChannel:
    """Questions to one webhook. `told` receives its problems, `again` is called when a question arrived late, `refused`
    receives the reasons for answers that were not taken."""

    name = "webhook"

    def __init__(
        self,
        post: Post,
        secret: str,
        *,
        users: tuple[str, ...],
        told: Callable[[str], None],
        again: Callable[[], None],
        refused: Callable[[str], None],
        clock: Callable[[], float] = time.time,
        first: float = 1.0,
    ) -> None:
        self._post = post
        self._secret = secret
        self._users = frozenset(users)
        self._again = again
        self._refused = refused
        self._clock = clock
        self._once = Once(time.monotonic)
        self._asked: dict[str, PostedQuestion] = {}
        self._tasks = Tasks()
        self.outbox = Outbox(told, at_once=4, first=first)

    # What the broker asks of a channel

    async def show(self, question: Question) -> None:
        id = question.held.id
        asked = self._asked.get(id)
        if asked is None or asked.question.held.digest != question.held.digest:
            if len(self._asked) >= MOST:
                raise RuntimeError(f"{MOST} questions are open at the webhook already")
            asked = self._asked[id] = PostedQuestion(question)
        asked.question, asked.late = question, False
        if asked.there:
            return
        try:
            await self.outbox.bring(id, partial(self._ask, asked), SHOWN)
        except BaseException:
            asked.late = True
            raise

    async def withdraw(self, id: str, resolution: Resolution) -> None:
        asked = self._asked.pop(id, None)
        if asked is not None:
            self.outbox.put(id, lambda: self._end(asked, resolution))

    def shows_whole(self, held: Held) -> bool:
        return events.is_whole(held)

    async def close(self, seconds: float) -> None:
        """Deliver what is left, within this time."""
        await self.outbox.close(seconds)
        await self._tasks.drain(1.0)
        self._post.close()

    # What comes back

    async def take(self, headers: Mapping[str, str], body: bytes) -> Receipt:
        """A signed answer. Raises AccessError where it may not be one, ValueError where it is none.

        INVARIANT: the signature is checked before anything else, and before the body is parsed."""
        given = headers.get(events.SIGNATURE.lower(), "").removeprefix(f"{events.VERSION}=")
        timestamp = headers.get(events.TIMESTAMP.lower(), "")
        if not signed(self._secret, events.head(events.ANSWER, timestamp), body, given):
            raise self._refusal("the signature is missing or wrong", "bad-signature")
        if not timely(timestamp, self._clock()):
            raise self._refusal("the answer is too old, or from the future; check the clock", "stale")
        if not self._once.use(given):
            raise self._refusal("this answer was taken before", "replayed")
        return await self._answer(events.read(body))

    async def _answer(self, reply: events.WebhookAnswer) -> Receipt:
        asked = self._asked.get(reply.id)
        if asked is None:
            raise AccessError("no question with this id waits; nothing was changed", code="unknown")
        if not same(asked.nonce, reply.nonce) or not same(asked.question.held.digest, reply.digest):
            raise self._refusal("the answer is to something else than what is asked", "mismatch")
        if self._users and reply.answer.who not in self._users:
            raise self._refusal(f"`{reply.answer.who}` is not among `webhook.users`", "not-listed")
        if asked.used:
            raise AccessError("this question was answered already; nothing was changed", code="late")
        asked.used = True
        receipt: Receipt | None = None
        try:
            receipt = await asyncio.shield(asyncio.ensure_future(asked.question.answer(reply.answer)))
        finally:
            asked.used = isinstance(receipt, Taken)
        return receipt

    def _refusal(self, words: str, code: str) -> AccessError:
        self._refused(words)
        return AccessError(words, code=code)

    # How it is done

    async def _ask(self, asked: PostedQuestion) -> bool:
        held, question = asked.question.held, asked.question
        if asked.there or self._asked.get(held.id) is not asked:
            return False
        body = await asyncio.to_thread(  # it may be long
            events.question, held, asked.nonce, deadline=question.deadline, behind=question.behind, back=BACK
        )
        said = await self._send(body)
        asked.there = True
        if said.body.strip():
            self._tasks.start(self._told(said))
        if asked.late:
            asked.late = False
            self._again()
        return True

    async def _end(self, asked: PostedQuestion, resolution: Resolution) -> bool:
        if asked.there:
            await self._send(events.ended(resolution, asked.nonce))
        return asked.there

    async def _send(self, body: bytes) -> WebhookResponse:
        return await self._post.send(body, events.headers(self._secret, body, int(self._clock())))

    async def _told(self, said: WebhookResponse) -> None:
        """The reply to a question may be an answer, where it is signed."""
        try:
            if events.SIGNATURE.lower() in said.headers:
                await self.take(said.headers, said.body)
        except (AccessError, ValueError) as error:
            self._refused(f"what the webhook replied with is no answer: {error}")


class Unable(ConnectionError):
    """The webhook is reachable, and cannot take the question now."""


@dataclass(frozen=True, slots=True)
class WebhookResponse:
    """What a webhook answered with 2xx."""

    headers: Mapping[str, str]
    body: bytes


class Post:
    """Requests to one address, in separate threads."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        if not parts.hostname or parts.scheme not in ("https", "http"):
            raise StoreError(f"`{url}` is no address; correct `webhook.url`")
        self._host, self._port = parts.hostname, parts.port
        self._target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        self._tls = ssl.create_default_context() if parts.scheme == "https" else None
        self._pool = ThreadPoolExecutor(WORKERS, thread_name_prefix="webhook")
        self._open: set[http.client.HTTPConnection] = set()

    async def send(self, body: bytes, headers: Mapping[str, str]) -> WebhookResponse:
        """Post it. Raises Busy, Refused, or ConnectionError where nobody is there."""
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


def _exchange(
    connection: http.client.HTTPConnection, target: str, body: bytes, headers: Mapping[str, str]
) -> WebhookResponse:
    until = time.monotonic() + TIMEOUT
    try:
        connection.request("POST", target, body, dict(headers))
        answer = connection.getresponse()
        if answer.status == 429 or (answer.status == 503 and answer.getheader("Retry-After")):
            raise RateLimited(_seconds(answer.getheader("Retry-After", "")))
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
        return WebhookResponse({name.lower(): value for name, value in answer.getheaders()}, found)
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
