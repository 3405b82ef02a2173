"""Endpoints for answers from remote channels. Only a signature admits them, and it is checked first."""

from __future__ import annotations

from assent.approval.channels.slack.remote import Slack
from assent.approval.channels.webhook.channel import BACK
from assent.approval.channels.webhook.remote import Webhook
from assent.approval.commands import Partial, Taken
from assent.contract import AccessError
from assent.server.access import Role
from assent.server.api.endpoint import FLAG, TEXT, TEXTS, ApiRequest, Endpoint, HttpReply, Refusal, record
from assent.server.api.questions import taken

INTERACTION = 512 * 1024  # bytes: Slack sends the whole message back, encoded
UNSIGNED = Refusal(401, "bad-signature", "this is not signed, too old, or a repetition")
STATUS = {"bad-signature": 401, "stale": 401, "replayed": 409, "unknown": 404, "mismatch": 409, "late": 409}


async def slack(asked: ApiRequest) -> object:
    """A button or a dialog in Slack."""
    place = asked.server.remote.opened.get("slack")
    reply = await place.interact(asked.headers, asked.raw) if isinstance(place, Slack) else None
    if reply is None:
        raise UNSIGNED
    return HttpReply(reply or b"")


async def webhook(asked: ApiRequest) -> object:
    """A signed answer."""
    place = asked.server.remote.opened.get("webhook")
    if not isinstance(place, Webhook):
        raise UNSIGNED
    try:
        receipt = await place.channel.take(asked.headers, asked.raw)
    except AccessError as error:
        raise Refusal(STATUS.get(error.code, 403), error.code, str(error)) from None
    except ValueError as error:
        raise Refusal(422, "bad-field", str(error)) from None
    if not isinstance(receipt, Taken):
        raise Refusal(409, "not-whole" if isinstance(receipt, Partial) else "late", receipt.words)
    return taken(receipt)


ENDPOINTS = (
    Endpoint(
        "POST",
        "/v1/slack/interact",
        slack,
        needs=Role.NOBODY,
        summary="a button or a dialog in Slack, with Slack's signature",
        gives={200: TEXT},
        limit=INTERACTION,
        signed=True,
    ),
    Endpoint(
        "POST",
        BACK,
        webhook,
        needs=Role.NOBODY,
        summary="an answer of the webhook, with its signature",
        body=record(
            "id digest nonce said",
            id=TEXT,
            digest=TEXT,
            nonce=TEXT,
            said=TEXT,
            scope=TEXT,
            rules=TEXTS,
            message=TEXT,
            who=TEXT,
        ),
        gives={200: record("counted words", counted=FLAG, words=TEXT, note=TEXT)},
        signed=True,
    ),
)
