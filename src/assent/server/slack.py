"""Slack as one server asks there: its channel, its line, what comes by signed HTTP. Shows nothing itself."""

from __future__ import annotations

import asyncio
import hashlib
import json
import platform
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

from assent.approval.channels.remote import Once, signed, timely
from assent.approval.channels.slack.channel import SlackChannel
from assent.approval.channels.slack.connection import SlackConnection
from assent.approval.channels.slack.interactions import Interactions
from assent.contract import AssentError, StoreError
from assent.contract.approval import Held, Reach, Scope
from assent.policy.remote_channels import SlackPlace
from assent.server.log import LAST, UP, ChannelStatus

if TYPE_CHECKING:
    from assent.server.state import ServerState

INSTALL = "it needs slack-sdk; install it with `pip install 'assent[slack]'`"


class Slack:
    """Slack, as this server asks there."""

    def __init__(self, house: ServerState, place: SlackPlace, token: str, other: str) -> None:
        app_token, self._signing = (other, "") if place.transport == "socket" else ("", other)
        try:
            from assent.approval.channels.slack.connection import SlackApi, SlackConnection
        except ImportError:
            raise StoreError(INSTALL) from None
        self._house = house
        self._place = place
        self.standing = ChannelStatus(house, "slack")
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
        self._line: SlackConnection = SlackConnection(
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

    def leave(self) -> None:
        """Wait for nobody there any more."""
        self.channel.outbox.leave()

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
        self._house.gate.broker.attach(self.channel)

    async def _reach(self, held: Held, rules: tuple[str, ...], scope: Scope) -> Reach:
        try:
            return await asyncio.to_thread(self._house.gate.reach, held, rules, scope)
        except AssentError as error:
            return Reach(refusal=str(error), covers=False)


def _payload(body: bytes) -> Mapping[str, object] | None:
    """The payload of an interaction, which is JSON in a form."""
    try:
        found = parse_qs(body.decode("utf-8"), max_num_fields=5, errors="strict").get("payload", [])
        payload = json.loads(found[0]) if len(found) == 1 else None
    except (ValueError, RecursionError):
        return None
    return payload if isinstance(payload, dict) else None
