"""A webhook as a remote channel of a server. Answers come through `server/api/questions.py`."""

from __future__ import annotations

from typing import Protocol

from assent.approval.channels.remote import LAST, UP, RemoteHost
from assent.approval.channels.webhook.channel import Post, WebhookChannel
from assent.contract import StoreError

SHORTEST = 32  # characters of a secret


class WebhookSettings(Protocol):
    """The section `webhook` of the settings."""

    url: str
    users: tuple[str, ...]


class Webhook:
    def __init__(self, host: RemoteHost, place: WebhookSettings, secret: str) -> None:
        if len(secret) < SHORTEST:
            raise StoreError("`webhook-secret` is short; take 32 characters or more, as `openssl rand -hex 32` gives")
        self.host = host
        self.channel = WebhookChannel(
            Post(place.url),
            secret,
            users=place.users,
            told=lambda words: host.report("line", words, ""),
            again=lambda: host.attach(self.channel),
            refused=host.refused,
        )
        host.attach(self.channel)

    @property
    def state(self) -> str:
        return "down" if self.host.problem else UP

    def leave(self) -> None:
        self.channel.outbox.leave()

    async def close(self) -> None:
        await self.channel.close(LAST)
