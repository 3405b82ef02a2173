"""Endpoint for persons: putting a question away unanswered, which denies it. Answers nothing."""

from __future__ import annotations

import hmac

from assent.server.access import Role
from assent.server.api.endpoint import FLAG, TEXT, ApiRequest, Endpoint, Refusal, record
from assent.server.api.questions import held_of


async def dismiss(asked: ApiRequest) -> object:
    """Esc, Ctrl-C, a closed terminal: whoever was answering put it away. An answer that came before stands."""
    held, digest = held_of(asked), asked.text("digest")
    if not hmac.compare_digest(held.digest.encode(), digest.encode("utf-8", "surrogatepass")):
        raise Refusal(409, "mismatch", "this is the digest of another question; nothing was put away")
    broker = asked.house.gate.broker
    broker.dismiss(held.id, asked.channel)
    return {"dismissed": all(each.held.id != held.id for each in broker.pending())}


ENDPOINTS = (
    Endpoint(
        "POST",
        "/v1/held/{id}/dismiss",
        dismiss,
        needs=Role.PERSON,
        summary="put a question away unanswered, which denies it and counts as no answer",
        body=record("digest", digest=TEXT),
        gives={200: record("dismissed", dismissed=FLAG)},
    ),
)
