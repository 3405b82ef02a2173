"""A webhook as one server asks there. Shows nothing itself; answers come in through `api/signed_answers.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assent.approval.channels.webhook.channel import Post, WebhookChannel
from assent.contract import StoreError
from assent.policy.remote_channels import WebhookPlace
from assent.server.log import LAST, UP, ChannelStatus

if TYPE_CHECKING:
    from assent.server.state import ServerState

SHORTEST = 32  # characters of a secret


class Webhook:
    """A webhook, as this server asks there."""

    def __init__(self, house: ServerState, place: WebhookPlace, secret: str) -> None:
        if len(secret) < SHORTEST:
            raise StoreError("`webhook-secret` is short; take 32 characters or more, as `openssl rand -hex 32` gives")
        self._house = house
        self.standing = ChannelStatus(house, "webhook")
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

    def leave(self) -> None:
        """Wait for nobody there any more."""
        self.channel.outbox.leave()

    async def close(self) -> None:
        await self.channel.close(LAST)

    def _attach(self) -> None:
        self._house.gate.broker.attach(self.channel)
