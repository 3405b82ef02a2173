"""The places elsewhere that one server asks in, Slack and a webhook: made from the files, opened, closed, told of.

Knows who is who; shows nothing and takes no answer itself."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import platform
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

from assent import configure
from assent.contract import display
from assent.contract.errors import AssentError, StoreError
from assent.contract.record import Record
from assent.contract.review import Held, Reach, Scope
from assent.journal import new_id
from assent.policy.elsewhere import SlackPlace, WebhookPlace, slack_of, webhook_of
from assent.review.channels.replies import Once, signed, timely
from assent.review.channels.slack.channel import SlackChannel
from assent.review.channels.slack.interactions import Interactions
from assent.review.channels.webhook.channel import WebhookChannel
from assent.review.channels.webhook.post import Post
from assent.review.patience import Tasks
from assent.review.secrets import FILE as SECRETS_FILE
from assent.review.secrets import NAMES, Secrets, variable
from assent.ui.access import Bucket

if TYPE_CHECKING:
    from assent.review.channels.slack.line import Line
    from assent.ui.house import House

LAST = 4.0  # seconds for a place to be told that everything has ended
TOLD, TOLD_EVERY = 8, 10.0  # refusals that are told at once, then one in so many seconds
UP = "up"
BY_TRANSPORT = {"socket": "slack-app-token", "http": "slack-signing-secret"}
INSTALL = "it needs slack-sdk; install it with `pip install 'assent[slack]'`"


def places(state: str, config: str = "") -> tuple[SlackPlace | None, WebhookPlace | None]:
    """The places that the managed and the user's file name. Raises PolicyError."""
    found = configure.documents(configure.Place("", (), "", state), config=config)
    return slack_of(found), webhook_of(found)


def findings(state: str, environ: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """What keeps a place from being asked in, or its secrets from being secret: words, and what to do."""
    try:
        slack, webhook = places(state)
        given = {name: environ.get(variable(name), "") for name in NAMES}
        found = Secrets(given, state)
        needed = [] if slack is None else ["slack-bot-token", BY_TRANSPORT[slack.transport]]
        needed += [] if webhook is None else ["webhook-secret"]
        for name in needed:
            if not found.find(name):
                yield f"`{name}` is missing", f"put it into `{os.path.join(state, SECRETS_FILE)}`, see docs/slack.md"
    except AssentError as error:
        yield str(error), "correct it"
        return
    if slack is not None and find_spec("slack_sdk") is None:
        yield f"slack: {INSTALL}", "install it, and start the server anew"
    for name, value in given.items():
        if value:
            words = f"{variable(name)} is in this environment, where an agent that is started from it can read it"
            yield words, f"put it into `{os.path.join(state, SECRETS_FILE)}`"


class Elsewhere:
    """The places of one server. Made inside its event loop."""

    def __init__(self, house: House, given: Mapping[str, str], *, config: str = "") -> None:
        self._house = house
        self._secrets = Secrets(given, house.state)
        self.slack: Slack | None = None
        self.webhook: Webhook | None = None
        self.problems: dict[str, str] = {}
        self._tasks = Tasks()
        try:
            self._slack, self._webhook = places(house.state, config)
        except AssentError:  # every call is denied with that error, and the greeting says it
            self._slack = self._webhook = None

    def open(self) -> None:
        """Begin to connect, aside: a keyring may wait for somebody to open it. What is missing is told, and stops
        nothing else."""
        if self._slack is not None:
            self._tasks.start(self._open_slack(self._slack))
        if self._webhook is not None:
            self._tasks.start(self._open_webhook(self._webhook))

    async def _open_slack(self, place: SlackPlace) -> None:
        other = BY_TRANSPORT[place.transport]
        try:
            tokens = await self._needed("slack-bot-token", other)
            self.slack = Slack(self._house, place, *tokens)
        except Exception as error:
            self._off("slack", error)

    async def _open_webhook(self, place: WebhookPlace) -> None:
        try:
            (secret,) = await self._needed("webhook-secret")
            self.webhook = Webhook(self._house, place, secret)
        except Exception as error:
            self._off("webhook", error)

    async def _needed(self, *names: str) -> list[str]:
        """Secrets by name, found in a thread that the end of the server does not wait for."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[list[str]] = loop.create_future()

        def tell(found: list[str], error: Exception | None) -> None:
            if not done.done():
                done.set_result(found) if error is None else done.set_exception(error)

        def find() -> None:
            found: list[str] = []
            problem: Exception | None = None
            try:
                found = [self._secrets.need(name) for name in names]
            except Exception as error:
                problem = error
            with suppress(RuntimeError):  # the server has ended
                loop.call_soon_threadsafe(tell, found, problem)

        threading.Thread(target=find, name="secrets", daemon=True).start()
        return await done

    def lines(self) -> list[str]:
        """Where else will be asked, for the greeting."""
        found = []
        if self._slack is not None:
            found.append(f"slack: questions go to {self._slack.channel} too, as {self._slack.file} says")
        if self._webhook is not None:
            host = urlsplit(self._webhook.url).netloc
            found.append(f"webhook: questions go to {host} too, as {self._webhook.file} says")
        return found

    def leave(self) -> None:
        """Before the broker is closed: nobody waits for a place that hangs."""
        for each in (self.slack, self.webhook):
            if each is not None:
                each.channel.outbox.leave()

    async def close(self) -> None:
        """After the broker: the places are told how everything ended, within a moment."""
        await self._tasks.drain(0)
        waits = [each.close() for each in (self.slack, self.webhook) if each is not None]
        if waits:
            await asyncio.gather(*waits, return_exceptions=True)

    def states(self) -> dict[str, dict[str, str]]:
        """How each place stands, `up`, `connecting`, `off` or `down`, and why."""
        named = (("slack", self._slack), ("webhook", self._webhook))
        found = {name: {"state": "connecting", "why": ""} for name, place in named if place is not None}
        found |= {name: {"state": "off", "why": words} for name, words in self.problems.items()}
        for each in (self.slack, self.webhook):
            if each is not None:
                found[each.channel.name] = {"state": each.state, "why": each.standing.problem}
        return found

    def _off(self, name: str, error: Exception) -> None:
        words = str(error) if isinstance(error, AssentError) else f"{type(error).__name__}: {error}"
        self.problems[name] = display.one_line(words, 300)
        self._house.voice.say(f"{name}: OFF: {words}")


class Standing:
    """How one place stands, and who hears of it."""

    def __init__(self, house: House, name: str) -> None:
        self._house = house
        self._name = name
        self._problems: dict[str, str] = {}
        self._bucket = Bucket(time.monotonic, TOLD, TOLD_EVERY)

    @property
    def problem(self) -> str:
        """What is wrong, on one line; `""` where nothing is."""
        return display.one_line(next((each for each in self._problems.values() if each), ""), 300)

    def told(self, part: str, words: str, fine: str) -> None:
        """A part of a place has a problem, or `""`. Said once, when it changes."""
        before, self._problems[part] = self._problems.get(part), words
        if before != words and (words or before is not None or fine):
            self._house.voice.say(f"{self._name}: {display.one_line(words or fine or 'works again', 300)}")

    def refused(self, words: str) -> None:
        """Somebody was not heard. It is said and recorded, but not without end: anybody can knock."""
        if self._bucket.take() > 0:
            return
        house, shown = self._house, display.one_line(words, 300)
        house.voice.say(f"{self._name}: refused: {shown}")
        record = Record("event", new_id(), house.clock(), channel=self._name, reason=f"refused: {shown}")
        asyncio.get_running_loop().run_in_executor(None, _record, house, record)


def _record(house: House, record: Record) -> None:
    try:
        house.desk.memory.record(record)
    except AssentError as error:
        house.voice.say(f"a refusal was not recorded: {error}")


class Slack:
    """Slack, as this server asks there."""

    def __init__(self, house: House, place: SlackPlace, token: str, other: str) -> None:
        app_token, self._signing = (other, "") if place.transport == "socket" else ("", other)
        try:
            from assent.review.channels.slack.line import Line, SlackApi
        except ImportError:
            raise StoreError(INSTALL) from None
        self._house = house
        self._place = place
        self.standing = Standing(house, "slack")
        self._used = Once(time.monotonic)
        api = SlackApi(token, place.api)
        self.channel = SlackChannel(
            api,
            place.channel,
            reach=self._reach,
            told=lambda words: self.standing.told("messages", words, ""),
            again=self._attach,
            is_up=lambda: self._line.is_up,
            mark=hashlib.sha256(f"{platform.node()}:{house.state}".encode()).hexdigest()[:12],
        )
        self.interactions = Interactions(
            self.channel, users=place.users, team=lambda: self._line.team, refused=self.standing.refused
        )
        self._line: Line = Line(
            api, app_token, self.interactions.take, team=place.team, told=self._told, up=self._attach
        )
        self._connected = False
        self._line.open()

    @property
    def state(self) -> str:
        if not self._connected:
            return "connecting" if not self.standing.problem.startswith("OFF") else "off"
        return "down" if self.standing.problem or not self._line.is_up else UP

    async def interact(self, headers: Mapping[str, str], body: bytes) -> Mapping[str, object] | None:
        """A signed interaction over HTTP; None where it is not signed, is old, or came before.

        INVARIANT: the signature is looked at before anything else, and before the body is read."""
        timestamp = headers.get("x-slack-request-timestamp", "")
        given = headers.get("x-slack-signature", "").removeprefix("v0=")
        if not signed(self._signing, f"v0:{timestamp}:", body, given):
            self.standing.refused("an interaction without Slack's signature")
            return None
        if not timely(timestamp, self._house.clock()) or not self._used.use(given):
            self.standing.refused("an interaction that is old, or came before")
            return None
        payload = _payload(body)
        return {} if payload is None else await self.interactions.take(payload)

    async def close(self) -> None:
        await self.interactions.settled(1.0)
        await self.channel.close(LAST)
        await self._line.close()

    def _told(self, words: str) -> None:
        place, line = self._place, self._line
        people = "1 person" if len(place.users) == 1 else f"{len(place.users)} people"
        fine = f"connected as {line.bot} in workspace {line.team}; asks in {place.channel}, {people} may answer"
        self.standing.told("line", words, fine)

    def _attach(self) -> None:
        """Slack is there, or there again: it gets to see everything that waits."""
        self._connected = True
        self.channel.outbox.hurry()
        self._house.desk.broker.attach(self.channel)

    async def _reach(self, held: Held, rules: tuple[str, ...], scope: Scope) -> Reach:
        try:
            return await asyncio.to_thread(self._house.desk.reach, held, rules, scope)
        except AssentError as error:
            return Reach(refusal=str(error), covers=False)


class Webhook:
    """A webhook, as this server asks there."""

    def __init__(self, house: House, place: WebhookPlace, secret: str) -> None:
        if len(secret) < 32:
            raise StoreError("`webhook-secret` is short; take 32 characters or more, as `openssl rand -hex 32` gives")
        self._house = house
        self.standing = Standing(house, "webhook")
        self.channel = WebhookChannel(
            Post(place.url),
            secret,
            users=place.users,
            told=lambda words: self.standing.told("line", words, ""),
            again=self._attach,
            refused=self.standing.refused,
        )
        self._attach()

    @property
    def state(self) -> str:
        return "down" if self.standing.problem else UP

    async def close(self) -> None:
        await self.channel.close(LAST)

    def _attach(self) -> None:
        self._house.desk.broker.attach(self.channel)


def _payload(body: bytes) -> Mapping[str, object] | None:
    """The payload of an interaction, which is JSON in a form."""
    try:
        found = parse_qs(body.decode("utf-8"), max_num_fields=5, errors="strict").get("payload", [])
        payload = json.loads(found[0]) if len(found) == 1 else None
    except (ValueError, RecursionError):
        return None
    return payload if isinstance(payload, dict) else None
