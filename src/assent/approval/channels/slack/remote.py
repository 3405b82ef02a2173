"""Slack as a remote channel of a server: the channel, its connection, and signed HTTP requests."""

from __future__ import annotations

import asyncio
import hashlib
import json
import platform
import time
from collections.abc import Mapping
from urllib.parse import parse_qs

from assent.approval.channels.remote import UP, Once, RemoteHost, signed, timely
from assent.approval.channels.slack.channel import SlackChannel
from assent.approval.channels.slack.interactions import Interactions
from assent.contract import AssentError
from assent.contract.approval import Held, Reach, Scope


class Slack:
    """`other` is the app token, or the signing secret if answers come by HTTP. The rest are its settings."""

    def __init__(
        self,
        host: RemoteHost,
        token: str,
        other: str,
        *,
        channel: str,
        users: tuple[str, ...],
        team: str,
        transport: str,
        api: str,
    ) -> None:
        from assent.approval.channels.slack.connection import SlackApi, SlackConnection

        app_token, self._signing = (other, "") if transport == "socket" else ("", other)
        self.host = host
        self._address, self._users = channel, users
        self._used = Once(time.monotonic)
        self._was_connected = False
        client = SlackApi(token, api)
        self.channel = SlackChannel(
            client,
            channel,
            reach=self._reach,
            report=lambda words: host.report("messages", words, ""),
            again=self._attach,
            is_up=lambda: self._connection.is_up,
            mark=hashlib.sha256(f"{platform.node()}:{host.folder}".encode()).hexdigest()[:12],
        )
        self.interactions = Interactions(
            self.channel, users=users, team=lambda: self._connection.team, refused=host.refused
        )
        self._connection = SlackConnection(
            client, app_token, self.interactions.take, team=team, report=self._report, up=self._attach
        )

    @property
    def state(self) -> str:
        if not self._was_connected:
            return "connecting" if not self.host.problem.startswith("OFF") else "off"
        return "down" if self.host.problem or not self._connection.is_up else UP

    async def interact(self, headers: Mapping[str, str], body: bytes) -> Mapping[str, object] | None:
        """A signed interaction over HTTP; None if it is not signed, is old, or came before.

        INVARIANT: the signature is checked before anything else, and before the body is parsed."""
        timestamp = headers.get("x-slack-request-timestamp", "")
        given = headers.get("x-slack-signature", "").removeprefix("v0=")
        if not signed(self._signing, f"v0:{timestamp}:", body, given):
            self.host.refused("an interaction without Slack's signature")
            return None
        if not timely(timestamp, self.host.clock()) or not self._used.use(given):
            self.host.refused("an interaction that is old or repeated")
            return None
        payload = _payload(body)
        return {} if payload is None else await self.interactions.take(payload)

    def leave(self) -> None:
        self.channel.leave()

    async def close(self) -> None:
        await self.interactions.tasks.drain(1.0)
        await self.channel.close()
        await self._connection.close()

    def _report(self, words: str) -> None:
        line, number = self._connection, len(self._users)
        people = "1 person" if number == 1 else f"{number} people"
        fine = f"connected as {line.bot} in workspace {line.team}; asks in {self._address}, {people} may answer"
        self.host.report("line", words, fine)

    def _attach(self) -> None:
        """Slack is connected or reconnected: it receives all waiting questions."""
        self._was_connected = True
        self.channel.outbox.hurry()
        self.host.attach(self.channel)

    async def _reach(self, held: Held, rules: tuple[str, ...], scope: Scope) -> Reach:
        try:
            return await asyncio.to_thread(self.host.reach, held, rules, scope)
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
