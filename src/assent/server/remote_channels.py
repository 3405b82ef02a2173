"""The remote channels of one server, Slack and a webhook: configured, opened and closed."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING

from assent.approval.channels import Channel
from assent.approval.channels.remote import RemoteChannel
from assent.approval.channels.slack.remote import INSTALL, Slack
from assent.approval.channels.webhook.remote import Webhook
from assent.approval.patience import Tasks
from assent.approval.secrets import NAMES, SECRETS_FILE, Secrets, variable
from assent.contract import AssentError, display
from assent.contract.approval import Held, Reach, Scope
from assent.engine import configure
from assent.policy.remote_channels import SlackPlace, WebhookPlace, places
from assent.server.log import ChannelStatus

if TYPE_CHECKING:
    from assent.server.state import ServerState


# A new channel is a folder of approval/channels/ and its row here. Its settings are in policy/remote_channels.py.
CHANNELS: dict[str, Callable[..., RemoteChannel]] = {"slack": Slack, "webhook": Webhook}


class ChannelHost(ChannelStatus):
    """This server, for one remote channel."""

    @property
    def folder(self) -> str:
        return self._server.state

    def clock(self) -> float:
        return self._server.clock()

    def attach(self, channel: Channel) -> None:
        self._server.gate.broker.attach(channel)

    def reach(self, held: Held, rules: tuple[str, ...], scope: Scope) -> Reach:
        return self._server.gate.reach(held, rules, scope)


def named(state: str, config: str = "") -> dict[str, SlackPlace | WebhookPlace]:
    """The places that the managed and the user's file name. Raises PolicyError."""
    return places(configure.documents(configure.Place("", (), "", state), config=config))


def findings(state: str, environ: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """What keeps a place from being asked in, or its secrets from being secret: words, and what to do."""
    try:
        asked = named(state)
        given = {name: environ.get(variable(name), "") for name in NAMES}
        found = Secrets(given, state)
        for name in (each for place in asked.values() for each in place.secrets):
            if not found.find(name):
                yield f"`{name}` is missing", f"put it into `{os.path.join(state, SECRETS_FILE)}`, see docs/slack.md"
    except AssentError as error:
        yield str(error), "correct it"
        return
    if "slack" in asked and find_spec("slack_sdk") is None:
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


class RemoteChannels:
    """The places of one server. Made inside its event loop."""

    def __init__(self, house: ServerState, given: Mapping[str, str], *, config: str = "") -> None:
        self._house = house
        self._secrets = Secrets(given, house.state)
        self.opened: dict[str, RemoteChannel] = {}
        self.problems: dict[str, str] = {}
        self._tasks = Tasks()
        try:
            self._places = named(house.state, config)
        except AssentError:  # every call is denied with that error, and the greeting says it
            self._places = {}

    def open(self) -> None:
        """Begin to connect, aside: a keyring may wait for somebody to open it. What is missing is told, and stops
        nothing else."""
        for name, place in self._places.items():
            self._tasks.start(self._open(name, place))

    async def _open(self, name: str, place: SlackPlace | WebhookPlace) -> None:
        try:
            secrets = await self._needed(*place.secrets)
            self.opened[name] = CHANNELS[name](ChannelHost(self._house, name), place, *secrets)
        except Exception as error:
            self._off(name, error)

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
        places = self._places.items()
        return [f"{name}: questions go to {place.address} too, as {place.file} says" for name, place in places]

    def leave(self) -> None:
        """Before the broker is closed: nobody waits for a place that hangs."""
        for each in self.opened.values():
            each.leave()

    async def close(self) -> None:
        """After the broker: the places are told how everything ended, within a moment."""
        await self._tasks.drain(0)
        await asyncio.gather(*(each.close() for each in self.opened.values()), return_exceptions=True)

    def states(self) -> dict[str, dict[str, str]]:
        """How each place stands, `up`, `connecting`, `off` or `down`, and why."""
        found = {name: {"state": "connecting", "why": ""} for name in self._places}
        found |= {name: {"state": "off", "why": words} for name, words in self.problems.items()}
        opened = self.opened.items()
        return found | {name: {"state": each.state, "why": each.host.problem} for name, each in opened}

    def _off(self, name: str, error: Exception) -> None:
        words = str(error) if isinstance(error, AssentError) else f"{type(error).__name__}: {error}"
        self.problems[name] = display.one_line(words, 300)
        self._house.log.say(f"{name}: OFF: {words}")
