"""A webhook as a channel of the broker: questions are posted, and signed answers taken, each once. Opens no port."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping

from assent.approval.channels import Question
from assent.approval.channels.outbox import Outbox
from assent.approval.channels.replies import Once, nonce, same, signed, timely
from assent.approval.channels.webhook import events
from assent.approval.channels.webhook.post import Post, Said
from assent.approval.commands import Receipt, Taken
from assent.approval.patience import Tasks
from assent.contract import AccessError
from assent.contract.approval import Held, Resolution

SHOWN = 8.5  # seconds: the broker waits for 10
MOST = 2000
BACK = "/v1/webhook/answer"


class Asked:
    """One question that was posted."""

    __slots__ = ("question", "nonce", "late", "there", "used")

    def __init__(self, question: Question) -> None:
        self.question = question
        self.nonce = nonce()
        self.late = False  # it was given up on, and may still come
        self.there = False
        self.used = False


class WebhookChannel:
    """Questions to one webhook. `told` hears how it stands, `again` is called when a question arrived that was given
    up on, `refused` hears of answers that were not taken."""

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
        self._asked: dict[str, Asked] = {}
        self._tasks = Tasks()
        self.outbox = Outbox(told, at_once=4, first=first)

    # What the broker asks of a channel

    async def show(self, question: Question) -> None:
        id = question.held.id
        asked = self._asked.get(id)
        if asked is None or asked.question.held.digest != question.held.digest:
            if len(self._asked) >= MOST:
                raise RuntimeError(f"{MOST} questions are open at the webhook already")
            asked = self._asked[id] = Asked(question)
        asked.question, asked.late = question, False
        if asked.there:
            return
        current = asked
        try:
            await self.outbox.bring(id, lambda: self._ask(current), SHOWN)
        except BaseException:
            current.late = True
            raise

    async def withdraw(self, id: str, resolution: Resolution) -> None:
        asked = self._asked.pop(id, None)
        if asked is not None:
            self.outbox.put(id, lambda: self._end(asked, resolution))

    def shows_whole(self, held: Held) -> bool:
        """Whether the webhook was told all of a question."""
        return events.is_whole(held)

    async def close(self, seconds: float) -> None:
        """Bring what is still to be told, within this time."""
        await self.outbox.close(seconds)
        await self._tasks.drain(1.0)
        self._post.close()

    # What comes back

    async def take(self, headers: Mapping[str, str], body: bytes) -> Receipt:
        """A signed answer. Raises AccessError where it may not be one, ValueError where it is none.

        INVARIANT: the signature is looked at before anything else, and before the body is read."""
        given = headers.get(events.SIGNATURE.lower(), "").removeprefix(f"{events.VERSION}=")
        timestamp = headers.get(events.TIMESTAMP.lower(), "")
        if not signed(self._secret, events.head(events.ANSWER, timestamp), body, given):
            raise self._refusal("the signature is missing or wrong", "bad-signature")
        if not timely(timestamp, self._clock()):
            raise self._refusal("the answer is too old, or of the future; check the clock", "stale")
        if not self._once.use(given):
            raise self._refusal("this very answer was taken before", "replayed")
        return await self._answer(events.read(body))

    async def _answer(self, reply: events.Reply) -> Receipt:
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

    async def _ask(self, asked: Asked) -> bool:
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

    async def _end(self, asked: Asked, resolution: Resolution) -> bool:
        if asked.there:
            await self._send(events.ended(resolution, asked.nonce))
        return asked.there

    async def _send(self, body: bytes) -> Said:
        return await self._post.send(body, events.headers(self._secret, body, int(self._clock())))

    async def _told(self, said: Said) -> None:
        """An answer may stand in the reply to the question itself. Whatever else stands there is none."""
        if events.SIGNATURE.lower() not in said.headers:
            return
        try:
            await self.take(said.headers, said.body)
        except (AccessError, ValueError) as error:
            self._refused(f"what the webhook replied with is no answer: {error}")
