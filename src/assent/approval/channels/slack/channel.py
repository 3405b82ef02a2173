"""Slack as a channel of the broker: a card for each question, posted, changed and closed.

The outbox retries messages that Slack does not accept; the other channels never wait for that."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from assent.approval.channels.remote import FIRST, Outbox, PostingChannel, Refused, SentQuestion, same
from assent.approval.channels.slack import blocks, messages
from assent.approval.channels.slack.messages import Message
from assent.approval.patience import within
from assent.contract import keep
from assent.contract.approval import Held, Reach, Resolution, Scope

TIMEOUT = 6.0  # seconds for a message to be posted: the broker waits for 10
REACH = 2.0  # seconds to find out how far a rule would reach
REACHING = 2  # questions for which that is found out at the same time; others are shown without it
SOON = 60.0  # seconds before its end that a question is shown as urgent
MOST_OVER = 2000  # messages of ended questions
UNFOLDED = {"mrkdwn": False, "unfurl_links": False, "unfurl_media": False}  # more fields of a new message
UNTAKEN = frozenset("invalid_blocks invalid_blocks_format msg_blocks_too_long msg_too_long no_text".split())

Reaches = Callable[[Held, tuple[str, ...], Scope], Awaitable[Reach]]


class WebApi(Protocol):
    """Slack's Web API. Raises RateLimited, Refused, or anything else if it is down."""

    async def call(self, method: str, **fields: Any) -> dict[str, Any]: ...
    async def snippet(self, channel: str, thread: str, name: str, text: str) -> None: ...


@dataclass(eq=False, slots=True)
class Card(SentQuestion):
    """One question in Slack. `where` and `ts` name its message once it is posted."""

    mark: str = ""
    where: str = ""
    ts: str = ""
    whole: bool = False  # all of it is in Slack, in the message or in the thread
    reach: Reach | None = None
    timer: asyncio.TimerHandle | None = None

    @property
    def held(self) -> Held:
        return self.question.held

    @property
    def ticket(self) -> str:
        return f"{self.held.id}.{self.nonce}.{self.mark}"


class SlackChannel(PostingChannel[Card]):
    """Questions in one channel of Slack. `mark` distinguishes the messages of this server, also of an earlier run, from
    those of others that share the app."""

    name = "slack"
    seconds = TIMEOUT

    def __init__(
        self,
        api: WebApi,
        place: str,
        *,
        reach: Reaches,
        report: Callable[[str], None],
        again: Callable[[], None],
        is_up: Callable[[], bool],
        mark: str = "",
        first: float = FIRST,
    ) -> None:
        super().__init__(partial(Card, mark=mark), Outbox(report, first=first), again)
        self._api = api
        self._place = place
        self._reach = reach
        self._is_up = is_up
        self._mark = mark
        self._over: dict[str, None] = {}  # messages that say how their question ended
        self._reaching = 0

    async def withdraw(self, id: str, resolution: Resolution) -> None:
        card = self._open.get(id)
        if card is not None:
            if card.timer is not None:
                card.timer.cancel()
            self._mark_over(card.ts)
        await super().withdraw(id, resolution)

    def shows_whole(self, held: Held) -> bool:
        card = self._open.get(held.id)
        return card is not None and card.whole

    # For answers

    def card(self, ticket: str) -> Card | None:
        """The open card of a ticket."""
        card = self._open.get(ticket.partition(".")[0])
        return card if card is not None and same(card.ticket, ticket) else None

    def is_ours(self, ticket: str) -> bool:
        """Whether a ticket is of this server, in any run."""
        return same(ticket.rpartition(".")[2], self._mark)

    async def reached(self, held: Held, rules: tuple[str, ...], scope: Scope) -> Reach:
        return await within(REACH, self._reach(held, rules, scope))

    def whisper(self, card: Card | None, where: str, user: str, words: str) -> None:
        """A message for one person only."""
        where = (card.where if card is not None else "") or where
        fields = {"channel": where, "user": user, "text": blocks.notified(words)}
        self._tasks.start(within(TIMEOUT, self._api.call("chat.postEphemeral", **fields)))

    def open(self, trigger: str, view: dict[str, Any]) -> None:
        self._tasks.start(within(TIMEOUT, self._api.call("views.open", trigger_id=trigger, view=view)))

    def strike(self, where: str, ts: str) -> None:
        """Remove the buttons from a message of an unknown question."""
        if ts not in self._over and all(card.ts != ts for card in self._open.values()):
            self._mark_over(ts)
            self.outbox.put(("stale", ts), lambda: self._change(where, ts, messages.stale()))

    # Messages

    async def _prepare(self, sent: Card) -> bool:
        if not self._is_up():  # it is asked for again once Slack is back
            raise ConnectionError("Slack cannot be reached")
        sent.reach = await self._offered_reach(sent.held)
        return self._open.get(sent.held.id) is sent and not sent.sent

    async def _offered_reach(self, held: Held) -> Reach | None:
        found = messages.offered(held)
        if found is None or self._reaching >= REACHING:
            return None
        self._reaching += 1
        try:
            return await self.reached(held, found.rules, Scope.SESSION)
        except Exception:  # then it is not mentioned
            return None
        finally:
            self._reaching -= 1

    async def _post(self, sent: Card) -> None:
        post = partial(self._api.call, "chat.postMessage", channel=self._place, **UNFOLDED)
        bare = False
        try:
            reply = await post(**fields(self._drawn(sent)))
        except Refused as refused:
            if refused.code not in UNTAKEN:
                raise
            bare, reply = True, await post(**fields(messages.bare(sent.held, sent.ticket)))
        sent.where, sent.ts = str(reply.get("channel", "")), str(reply.get("ts", ""))
        if not sent.ts:
            raise Refused("Slack took a message and did not say where it is")
        left = sent.question.deadline - time.time() - SOON
        if left > 1.0:
            sent.timer = asyncio.get_running_loop().call_later(left, self._redraw, sent)
        if messages.is_cut(sent.held):
            self._tasks.start(self._attach(sent))
        else:
            sent.whole = not bare

    def _drawn(self, card: Card, *, soon: bool = False) -> Message:
        question = card.question
        return messages.question(
            card.held, card.ticket, deadline=question.deadline, behind=question.behind, reach=card.reach, soon=soon
        )

    def _redraw(self, card: Card) -> None:
        if self._open.get(card.held.id) is card:
            self.outbox.put(card.held.id, lambda: self._change(card.where, card.ts, self._drawn(card, soon=True)))

    async def _end(self, sent: Card, resolution: Resolution) -> None:
        self._mark_over(sent.ts)
        await self._change(sent.where, sent.ts, messages.over(sent.held, resolution))

    def _mark_over(self, ts: str) -> None:
        """A message says how its question ended, or soon will: no button changes that."""
        keep(self._over, ts, None, MOST_OVER)

    async def _change(self, where: str, ts: str, message: Message) -> bool:
        await self._api.call("chat.update", channel=where, ts=ts, **fields(message))
        return True

    async def _attach(self, card: Card) -> None:
        try:
            text = await asyncio.to_thread(messages.snippet, card.held)  # may be long
            name = "change.diff" if card.held.preview.kind == "diff" else "asked.txt"
            await within(TIMEOUT * 2, self._api.snippet(card.where, card.ts, name, text))
            card.whole = not messages.is_too_long(card.held)
        except Exception:
            words = "the full text could not be posted here; read it on Assent's page before you answer"
            await within(TIMEOUT, self._api.call("chat.postMessage", channel=card.where, thread_ts=card.ts, text=words))


def fields(message: Message) -> dict[str, Any]:
    """A message for the API, not parsed for names or links."""
    return {"blocks": message.blocks, "text": message.text, "parse": "none", "link_names": False}
