"""Slack as a channel of the broker: a card for each question, posted, changed and closed.

The outbox retries what Slack does not take; the other channels never wait for that."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

from assent.approval.channels import Question
from assent.approval.channels.remote import Outbox, Refused, nonce, same
from assent.approval.channels.slack import blocks, messages
from assent.approval.channels.slack.messages import Message
from assent.approval.patience import Tasks, within
from assent.contract.approval import Held, Reach, Resolution, Scope

SHOWN = 6.0  # seconds for a question to be posted: the broker waits for 10
REACH = 2.0  # seconds to find out how far a rule would reach
REACHING = 2  # questions for which that is found out at the same time; others are shown without it
SOON = 60.0  # seconds before its end that a question is shown as urgent
MOST_CARDS = 2000
UNFOLDED = {"mrkdwn": False, "unfurl_links": False, "unfurl_media": False}  # what a new message takes beside
UNTAKEN = frozenset("invalid_blocks invalid_blocks_format msg_blocks_too_long msg_too_long no_text".split())

Reaches = Callable[[Held, tuple[str, ...], Scope], Awaitable[Reach]]


class WebApi(Protocol):
    """Slack's Web API. Raises RateLimited, Refused, or anything else where it is down."""

    async def call(self, method: str, **fields: Any) -> dict[str, Any]: ...
    async def snippet(self, channel: str, thread: str, name: str, text: str) -> None: ...


@dataclass(eq=False, slots=True)
class Card:
    """One question in Slack. `where` and `ts` name its message once it is posted; `used`: it was answered here."""

    question: Question
    mark: str
    nonce: str = field(default_factory=nonce)
    where: str = ""
    ts: str = ""
    late: bool = False  # posting it timed out, and may still succeed
    used: bool = False
    whole: bool = False  # all of it is in Slack, in the message or in the thread
    reach: Reach | None = None
    timer: asyncio.TimerHandle | None = None

    @property
    def held(self) -> Held:
        return self.question.held

    @property
    def ticket(self) -> str:
        return f"{self.held.id}.{self.nonce}.{self.mark}"


class SlackChannel:
    """Questions in one channel of Slack. `again` is called when a question arrived late. `mark` distinguishes the
    messages of this server, also of an earlier run, from those of others that share the app."""

    name = "slack"

    def __init__(
        self,
        api: WebApi,
        place: str,
        *,
        reach: Reaches,
        told: Callable[[str], None],
        again: Callable[[], None],
        is_up: Callable[[], bool],
        mark: str = "",
        first: float = 1.0,
    ) -> None:
        self._api = api
        self._place = place
        self._reach = reach
        self._again = again
        self._is_up = is_up
        self._mark = mark
        self.outbox = Outbox(told, first=first)
        self._cards: dict[str, Card] = {}
        self._over: dict[str, None] = {}  # messages that say how their question ended
        self._reaching = 0
        self._tasks = Tasks()

    # What the broker asks of a channel

    async def show(self, question: Question) -> None:
        held = question.held
        card = self._cards.get(held.id)
        if card is None or card.held.digest != held.digest:
            if len(self._cards) >= MOST_CARDS:
                raise RuntimeError(f"{MOST_CARDS} questions are open in Slack already")
            card = self._cards[held.id] = Card(question, self._mark)
        card.question, card.late = question, False
        if card.ts:
            return
        if not self._is_up():  # it is asked for again once Slack is back
            raise ConnectionError("Slack cannot be reached")
        card.reach = await self._reached(held)
        if self._cards.get(held.id) is not card or card.ts:
            return
        try:
            await self.outbox.bring(held.id, lambda: self._post(card), SHOWN)
        except BaseException:
            card.late = True
            raise

    async def withdraw(self, id: str, resolution: Resolution) -> None:
        card = self._cards.pop(id, None)
        if card is not None:
            if card.timer is not None:
                card.timer.cancel()
            self._said(card.ts)
            self.outbox.put(id, lambda: self._close(card, resolution))

    def shows_whole(self, held: Held) -> bool:
        card = self._cards.get(held.id)
        return card is not None and card.whole

    # What those who take answers ask

    def card(self, ticket: str) -> Card | None:
        """The open card of a ticket."""
        card = self._cards.get(ticket.partition(".")[0])
        return card if card is not None and same(card.ticket, ticket) else None

    def is_ours(self, ticket: str) -> bool:
        """Whether a ticket is of this server, in whatever run."""
        return same(ticket.rpartition(".")[2], self._mark)

    async def reached(self, held: Held, rules: tuple[str, ...], scope: Scope) -> Reach:
        return await within(REACH, self._reach(held, rules, scope))

    def whisper(self, card: Card | None, where: str, user: str, words: str) -> None:
        """A message that one person sees."""
        where = (card.where if card is not None else "") or where
        fields = {"channel": where, "user": user, "text": blocks.notified(words)}
        self._tasks.start(within(SHOWN, self._api.call("chat.postEphemeral", **fields)))

    def open(self, trigger: str, view: dict[str, Any]) -> None:
        self._tasks.start(within(SHOWN, self._api.call("views.open", trigger_id=trigger, view=view)))

    def strike(self, where: str, ts: str) -> None:
        """Remove the buttons from a message of an unknown question."""
        if ts not in self._over and all(card.ts != ts for card in self._cards.values()):
            self._said(ts)
            self.outbox.put(("stale", ts), lambda: self._change(where, ts, messages.stale()))

    async def close(self, seconds: float) -> None:
        """Deliver what is left, within this time."""
        await self.outbox.close(seconds)
        await self._tasks.drain(1.0)

    # How it is done

    async def _reached(self, held: Held) -> Reach | None:
        found = messages.offered(held)
        if found is None or self._reaching >= REACHING:
            return None
        self._reaching += 1
        try:
            return await self.reached(held, found.rules, Scope.SESSION)
        except Exception:  # then nothing is said of it
            return None
        finally:
            self._reaching -= 1

    async def _post(self, card: Card) -> bool:
        if card.ts or self._cards.get(card.held.id) is not card:
            return False
        post = partial(self._api.call, "chat.postMessage", channel=self._place, **UNFOLDED)
        bare = False
        try:
            sent = await post(**fields(self._drawn(card)))
        except Refused as refused:
            if refused.code not in UNTAKEN:
                raise
            bare, sent = True, await post(**fields(messages.bare(card.held, card.ticket)))
        card.where, card.ts = str(sent.get("channel", "")), str(sent.get("ts", ""))
        if not card.ts:
            raise Refused("Slack took a message and did not say where it is")
        self._watch(card)
        if messages.is_cut(card.held):
            self._tasks.start(self._attach(card))
        else:
            card.whole = not bare
        if card.late:
            card.late = False
            self._again()
        return True

    def _drawn(self, card: Card, *, soon: bool = False) -> Message:
        question = card.question
        return messages.question(
            card.held, card.ticket, deadline=question.deadline, behind=question.behind, reach=card.reach, soon=soon
        )

    def _watch(self, card: Card) -> None:
        left = card.question.deadline - time.time() - SOON
        if left > 1.0:
            card.timer = asyncio.get_running_loop().call_later(left, self._redraw, card)

    def _redraw(self, card: Card) -> None:
        if self._cards.get(card.held.id) is card:
            self.outbox.put(card.held.id, lambda: self._change(card.where, card.ts, self._drawn(card, soon=True)))

    async def _close(self, card: Card, resolution: Resolution) -> bool:
        if not card.ts:
            return False
        self._said(card.ts)
        return await self._change(card.where, card.ts, messages.over(card.held, resolution))

    def _said(self, ts: str) -> None:
        """A message says how its question ended, or soon will: no button changes that."""
        self._over[ts] = None
        while len(self._over) > MOST_CARDS:
            del self._over[next(iter(self._over))]

    async def _change(self, where: str, ts: str, message: Message) -> bool:
        await self._api.call("chat.update", channel=where, ts=ts, **fields(message))
        return True

    async def _attach(self, card: Card) -> None:
        try:
            text = await asyncio.to_thread(messages.snippet, card.held)  # may be long
            name = "change.diff" if card.held.preview.kind == "diff" else "asked.txt"
            await within(SHOWN * 2, self._api.snippet(card.where, card.ts, name, text))
            card.whole = not messages.is_too_long(card.held)
        except Exception:
            words = "all of it could not be put here; look at it on Assent's page before you answer"
            await within(SHOWN, self._api.call("chat.postMessage", channel=card.where, thread_ts=card.ts, text=words))


def fields(message: Message) -> dict[str, Any]:
    """A message for the API, not parsed for names or links."""
    return {"blocks": message.blocks, "text": message.text, "parse": "none", "link_names": False}
