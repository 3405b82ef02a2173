"""The remote channels of one server, such as Slack and a webhook: configured, opened and closed."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Iterator, Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING

from assent.approval.channels import Channel
from assent.approval.channels.remote import RemoteChannel
from assent.approval.channels.slack.remote import Slack
from assent.approval.channels.webhook.channel import Webhook
from assent.approval.patience import Tasks, in_thread
from assent.approval.secrets import SECRETS_FILE, Secrets, variable
from assent.contract import AssentError, Record, StoreError, display
from assent.contract.approval import Held, Reach, Scope
from assent.engine import configure, journal
from assent.policy.remote_channels import RemotePlace, places, secret_names
from assent.server.access import Bucket

if TYPE_CHECKING:
    from assent.server.state import ServerState


# A new channel is a folder of approval/channels/ and its row here.
CHANNELS: dict[str, Callable[..., RemoteChannel]] = {"slack": Slack, "webhook": Webhook}
REFUSALS, REFUSAL_EVERY = 8, 10.0  # reported at once, then one in so many seconds


class ChannelHost:
    """This server, for one remote channel. Reports its problems in the terminal, and its refusals also in the trail."""

    def __init__(self, server: ServerState, name: str) -> None:
        self._server, self._name = server, name
        self._problems: dict[str, str] = {}
        self._bucket = Bucket(time.monotonic, REFUSALS, REFUSAL_EVERY)

    @property
    def problem(self) -> str:
        """What is wrong, on one line; `""` if nothing is."""
        return display.one_line(next((each for each in self._problems.values() if each), ""), 300)

    def report(self, part: str, words: str, fine: str) -> None:
        """Report the problem of a part, or that it has none (`""`), each time that changes."""
        before, self._problems[part] = self._problems.get(part), words
        if before != words and (words or before is not None or fine):
            self._server.log.say(f"{self._name}: {display.one_line(words or fine or 'works again', 300)}")

    def refused(self, words: str) -> None:
        """Report and record a refusal. Their rate is limited, since anybody can cause them."""
        if self._bucket.take() > 0:
            return
        reason = f"refused: {display.one_line(words, 300)}"
        self._server.log.say(f"{self._name}: {reason}")
        record = Record("event", journal.new_id(), self._server.clock(), channel=self._name, reason=reason)
        asyncio.get_running_loop().run_in_executor(None, self._record, record)

    def _record(self, record: Record) -> None:
        try:
            self._server.gate.memory.record(record)
        except AssentError as error:
            self._server.log.say(f"a refusal was not recorded: {error}")

    @property
    def folder(self) -> str:
        return self._server.state

    def clock(self) -> float:
        return self._server.clock()

    def attach(self, channel: Channel) -> None:
        self._server.gate.broker.attach(channel)

    def reach(self, held: Held, rules: tuple[str, ...], scope: Scope) -> Reach:
        return self._server.gate.reach(held, rules, scope)


def named(state: str, config: str = "") -> dict[str, RemotePlace]:
    """The remote channels that the managed and the user's file configure. Raises PolicyError."""
    return places(configure.documents(configure.Place("", (), "", state), config=config))


def findings(state: str, environ: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """What keeps a remote channel from working, or its secrets from being secret: the problem, and what to do."""
    try:
        asked = named(state)
        given = {name: environ.get(variable(name), "") for name in secret_names()}
        found = Secrets(given, state, tuple(given))
        for name in (each for place in asked.values() for each in place.secrets):
            if not found.find(name):
                yield f"`{name}` is missing", f"put it into `{os.path.join(state, SECRETS_FILE)}`, see docs/slack.md"
    except AssentError as error:
        yield str(error), "correct it"
        return
    for name, place in asked.items():
        if "module" in place.known and find_spec(place.known["module"]) is None:
            yield f"{name}: {place.known['install']}", "install it, and restart the server"
    for name, value in given.items():
        if value:
            words = f"{variable(name)} is in this environment, where an agent started from it can read it"
            yield words, f"put it into `{os.path.join(state, SECRETS_FILE)}`"


def channel_states(status: Mapping[str, object]) -> list[tuple[str, str, str]]:
    """Name, state and reason of each remote channel, from the status of a server."""
    found = status.get("elsewhere")
    listed = found.items() if isinstance(found, dict) else ()
    return [
        (str(name), str(each.get("state", "")), display.one_line(str(each.get("why", "")))) for name, each in listed
    ]


class RemoteChannels:
    """The remote channels of one server. Created inside its event loop."""

    def __init__(self, server: ServerState, given: Mapping[str, str], *, config: str = "") -> None:
        self._server = server
        self._secrets = Secrets(given, server.state, secret_names())
        self.opened: dict[str, RemoteChannel] = {}
        self.problems: dict[str, str] = {}
        self._tasks = Tasks()
        try:
            self._places = named(server.state, config)
        except AssentError:  # every call is denied with that error, and the greeting says it
            self._places = {}

    def open(self) -> None:
        """Start to connect, in tasks: a keyring may wait for somebody to unlock it. What is missing is reported, and
        stops nothing else."""
        for name, place in self._places.items():
            self._tasks.start(self._open(name, place))

    async def _open(self, name: str, place: RemotePlace) -> None:
        try:
            secrets = await self._needed(*place.secrets)
            self.opened[name] = CHANNELS[name](ChannelHost(self._server, name), *secrets, **place.values)
        except ImportError as error:
            self._off(name, StoreError(place.known.get("install", str(error))))
        except Exception as error:
            self._off(name, error)

    async def _needed(self, *names: str) -> list[str]:
        """Secrets by name, found in a thread that the end of the server does not wait for."""
        return await in_thread(lambda: [self._secrets.need(name) for name in names], "secrets")

    def lines(self) -> list[str]:
        """The channels that questions are also sent to, for the greeting."""
        places = self._places.items()
        return [f"{name}: questions go to {place.address} too, as {place.file} says" for name, place in places]

    def leave(self) -> None:
        """Called before the broker is closed: nobody waits for a channel that hangs."""
        for each in self.opened.values():
            each.leave()

    async def close(self) -> None:
        """Called after the broker is closed: the channels receive how everything ended, for a few seconds."""
        await self._tasks.drain(0)
        await asyncio.gather(*(each.close() for each in self.opened.values()), return_exceptions=True)

    def states(self) -> dict[str, dict[str, str]]:
        """The state of each channel, `up`, `connecting`, `off` or `down`, and why."""
        found = {name: {"state": "connecting", "why": ""} for name in self._places}
        found |= {name: {"state": "off", "why": words} for name, words in self.problems.items()}
        opened = self.opened.items()
        return found | {name: {"state": each.state, "why": each.host.problem} for name, each in opened}

    def _off(self, name: str, error: Exception) -> None:
        words = str(error) if isinstance(error, AssentError) else f"{type(error).__name__}: {error}"
        self.problems[name] = display.one_line(words, 300)
        self._server.log.say(f"{name}: OFF: {words}")
