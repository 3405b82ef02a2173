"""Endpoints for persons: questions, answers, the reach of a rule, offers. Also for answers from remote channels,
admitted only by a signature, which is checked first."""

from __future__ import annotations

import asyncio
import hmac
from typing import TypeVar, assert_never

from assent.approval.channels.slack.remote import Slack
from assent.approval.channels.webhook.channel import BACK, Webhook
from assent.approval.commands import Absent, Late, Mismatch, Partial, Taken, Unknown
from assent.contract import AccessError, AssentError
from assent.contract.approval import Answer, Held, Said, Scope
from assent.server.access import Role
from assent.server.api import shown
from assent.server.api.endpoint import (
    ANY,
    FLAG,
    TEXT,
    TEXTS,
    WHOLE,
    ApiRequest,
    Endpoint,
    HttpReply,
    Refusal,
    listing,
    record,
)

T = TypeVar("T", Said, Scope)

LONGEST_MESSAGE, MOST_RULES, LONGEST_RULE = 4000, 20, 2000
MOST_LISTED, LONGEST_LIST = 500, 4_000_000  # questions in one response, characters of their previews
INTERACTION = 512 * 1024  # bytes: Slack sends the whole message back, encoded
UNSIGNED = Refusal(401, "bad-signature", "this is unsigned, too old, or repeated")
STATUS = {"bad-signature": 401, "stale": 401, "replayed": 409, "unknown": 404, "mismatch": 409, "late": 409}


async def listed(asked: ApiRequest) -> object:
    """The questions that wait, as many as fit into one response; the others are counted."""
    most = asked.query_number("limit", MOST_LISTED, most=MOST_LISTED)
    pending = asked.server.gate.broker.pending()
    held: list[object] = []
    room = LONGEST_LIST
    for each in pending:
        room -= min(len(each.held.preview.text), shown.INLINE)
        if len(held) >= most or (held and room < 0):
            break
        held.append(shown.question(each.held, state=each.state.value, position=each.position, deadline=each.deadline))
        await asyncio.sleep(0)
    return {"now": asked.server.clock(), "held": held, "more": len(pending) - len(held)}


async def answer(asked: ApiRequest) -> object:
    """Take a person's answer. The first one counts; a refusal says why one does not."""
    said = choice(asked, "said", Said)
    scope, rules = choice(asked, "scope", Scope, "once"), rules_of(asked)
    given = Answer(
        said,
        scope=scope,
        rules=rules if scope is not Scope.ONCE else (),
        message=asked.text("message", "")[:LONGEST_MESSAGE],
        who=asked.who,
        channel=asked.channel,
    )
    broker, id = asked.server.gate.broker, asked.path["id"]
    receipt = not_whole(asked, said) or await broker.answer(id, asked.text("digest"), given)
    match receipt:
        case Taken():
            return taken(receipt)
        case Late():
            raise Refusal(409, "late", receipt.words)
        case Mismatch():
            raise Refusal(409, "mismatch", receipt.words)
        case Absent():
            raise Refusal(409, "absent", receipt.words)
        case Partial():
            raise Refusal(409, "not-whole", receipt.words)
        case Unknown():
            raise Refusal(404, "unknown", receipt.words)
        case _:
            assert_never(receipt)


def taken(receipt: Taken) -> dict[str, object]:
    """The response to an answer that counts."""
    return {"counted": True, "words": receipt.words, "note": receipt.note, **shown.ended(receipt.resolution)}


def not_whole(asked: ApiRequest, said: Said) -> Partial | None:
    """The refusal of a yes from somebody who was not sent the whole question."""
    held = next((each.held for each in asked.server.gate.broker.pending() if each.held.id == asked.path["id"]), None)
    if said is not Said.ALLOW or held is None or asked.server.readers.has_all(held, asked.session):
        return None
    return Partial(held.id, possible=held.preview.whole)


async def slack(asked: ApiRequest) -> object:
    place = asked.server.remote.opened.get("slack")
    reply = await place.interact(asked.headers, asked.raw) if isinstance(place, Slack) else None
    if reply is None:
        raise UNSIGNED
    return HttpReply(reply or b"")


async def webhook(asked: ApiRequest) -> object:
    place = asked.server.remote.opened.get("webhook")
    if not isinstance(place, Webhook):
        raise UNSIGNED
    try:
        receipt = await place.take(asked.headers, asked.raw)
    except AccessError as error:
        raise Refusal(STATUS.get(error.code, 403), error.code, str(error)) from None
    except ValueError as error:
        raise Refusal(422, "bad-field", str(error)) from None
    if not isinstance(receipt, Taken):
        raise Refusal(409, "not-whole" if isinstance(receipt, Partial) else "late", receipt.words)
    return taken(receipt)


async def dismiss(asked: ApiRequest) -> object:
    """Esc, Ctrl-C, a closed terminal: dismiss a question without an answer. An earlier answer still counts."""
    held, digest = held_of(asked), asked.text("digest")
    if not hmac.compare_digest(held.digest.encode(), digest.encode("utf-8", "surrogatepass")):
        raise Refusal(409, "mismatch", "this is the digest of another question; nothing was dismissed")
    broker = asked.server.gate.broker
    broker.dismiss(held.id, asked.channel)
    return {"dismissed": all(each.held.id != held.id for each in broker.pending())}


async def preview(asked: ApiRequest) -> object:
    """The next part of a long preview. A person to whom all parts were sent may allow the call."""
    held = held_of(asked)
    start = int(asked.query_number("from", 0, most=len(held.preview.text)))
    found = await asyncio.to_thread(shown.piece, held, start)
    asked.server.readers.sent(held, asked.session, start, found["next"] or len(held.preview.text))
    return found


async def reach(asked: ApiRequest) -> object:
    held, rules, scope = held_of(asked), rules_of(asked), choice(asked, "scope", Scope, "session")
    try:
        found = await asyncio.to_thread(asked.server.gate.reach, held, rules, scope)
    except AssentError as error:
        return {"matched": 0, "denied": 0, "looked_at": 0, "refusal": str(error), "covers": False}
    return {name: getattr(found, name) for name in found.__slots__}


async def offer(asked: ApiRequest) -> object:
    offers, id = asked.server.gate.broker.offers, asked.text("id")
    if id not in [each.id for each in offers.open()]:
        raise Refusal(404, "unknown", "this offer is no longer open; nothing was changed")
    mode, rule, who, channel = asked.text("mode", ""), asked.text("rule", ""), asked.who, asked.channel
    if mode or rule:
        return {"words": await offers.accept(id, mode=mode, rule=rule, who=who, channel=channel)}
    return {"words": offers.reject(id, who=who, channel=channel)}


def held_of(asked: ApiRequest) -> Held:
    for each in asked.server.gate.broker.pending():
        if each.held.id == asked.path["id"]:
            return each.held
    raise Refusal(404, "unknown", "this question no longer waits")


def rules_of(asked: ApiRequest) -> tuple[str, ...]:
    rules = asked.texts("rules")
    if len(rules) > MOST_RULES or any(len(rule) > LONGEST_RULE for rule in rules):
        raise Refusal(422, "bad-field", f"`rules` must be at most {MOST_RULES}, of {LONGEST_RULE} characters each")
    return rules


def choice(asked: ApiRequest, name: str, kind: type[T], default: str | None = None) -> T:
    given = asked.text(name, default)
    for each in kind:
        if each.value == given:
            return each
    raise Refusal(422, "bad-field", f"`{name}` must be one of {', '.join(each.value for each in kind)}")


ENDED = {"allowed": FLAG, **dict.fromkeys("id ending reason said scope who channel".split(), TEXT)}

ENDPOINTS = (
    Endpoint(
        "GET",
        "/v1/held",
        listed,
        needs=Role.PERSON,
        summary="what waits for a person, and how many more",
        query={"limit": f"how many at most, up to {MOST_LISTED}"},
        gives={200: record("now held more", now={"type": "number"}, held=listing(ANY), more=WHOLE)},
    ),
    Endpoint(
        "GET",
        "/v1/held/{id}/preview",
        preview,
        needs=Role.PERSON,
        summary="the next part of a long preview: a yes counts once all of it was sent",
        query={"from": "its first character"},
        gives={200: record("text next whole", text=TEXT, next=WHOLE, whole=FLAG)},
    ),
    Endpoint(
        "POST",
        "/v1/held/{id}/answer",
        answer,
        needs=Role.PERSON,
        summary="answer a question, bound to its digest",
        body=record(
            "digest said",
            digest=TEXT,
            said={"enum": [each.value for each in Said]},
            scope={"enum": [each.value for each in Scope]},
            rules=TEXTS,
            message=TEXT,
        ),
        gives={200: record("counted words", counted=FLAG, words=TEXT, note=TEXT, **ENDED)},
    ),
    Endpoint(
        "POST",
        "/v1/held/{id}/reach",
        reach,
        needs=Role.PERSON,
        summary="what rules would have matched in the past, and whether they may be saved",
        body=record("rules", rules=TEXTS, scope={"enum": [each.value for each in Scope]}),
        gives={
            200: record(
                "matched denied looked_at refusal covers",
                matched=WHOLE,
                denied=WHOLE,
                looked_at=WHOLE,
                refusal=TEXT,
                covers=FLAG,
            )
        },
    ),
    Endpoint(
        "POST",
        "/v1/held/{id}/dismiss",
        dismiss,
        needs=Role.PERSON,
        summary="dismiss a question without an answer, which denies the call",
        body=record("digest", digest=TEXT),
        gives={200: record("dismissed", dismissed=FLAG)},
    ),
    Endpoint(
        "POST",
        "/v1/offers",
        offer,
        needs=Role.PERSON,
        summary="accept an offer of another mode, or reject it",
        body=record("id", id=TEXT, mode=TEXT, rule=TEXT),
        gives={200: record("words", words=TEXT)},
    ),
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
