"""The places elsewhere that one server asks in, Slack and a webhook: made from the files, opened, closed, told of.

Knows who is who; shows nothing and takes no answer itself."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from assent.approval.patience import Tasks
from assent.approval.secrets import FILE as SECRETS_FILE
from assent.approval.secrets import NAMES, Secrets, variable
from assent.contract import display
from assent.contract.errors import AssentError
from assent.engine import configure
from assent.policy.remote_channels import SlackPlace, WebhookPlace, slack_of, webhook_of
from assent.server.slack import INSTALL, Slack
from assent.server.webhook import Webhook

if TYPE_CHECKING:
    from assent.server.state import ServerState

BY_TRANSPORT = {"socket": "slack-app-token", "http": "slack-signing-secret"}


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


def standing(status: Mapping[str, object]) -> list[tuple[str, str, str]]:
    """How the places of a server stand, by what it says of itself: name, state, why."""
    found = status.get("elsewhere")
    listed = found.items() if isinstance(found, dict) else ()
    return [
        (str(name), str(each.get("state", "")), display.one_line(str(each.get("why", "")))) for name, each in listed
    ]


class Elsewhere:
    """The places of one server. Made inside its event loop."""

    def __init__(self, house: ServerState, given: Mapping[str, str], *, config: str = "") -> None:
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
