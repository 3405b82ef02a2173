"""Endpoints for persons: what waits, answering it, how far a rule would reach, offers."""

from __future__ import annotations

import asyncio
from typing import TypeVar

from assent.approval.commands import Absent, Late, Mismatch, Partial, Taken, Unknown
from assent.contract import AssentError
from assent.contract.approval import Answer, Held, Said, Scope
from assent.server.access import Role
from assent.server.api import shown
from assent.server.api.endpoint import ANY, FLAG, TEXT, TEXTS, WHOLE, ApiRequest, Endpoint, Refusal, listing, record

T = TypeVar("T", Said, Scope)

LONGEST_MESSAGE, MOST_RULES, LONGEST_RULE = 4000, 20, 2000
MOST_LISTED, LONGEST_LIST = 500, 4_000_000  # questions in one answer, characters of what they show


async def listed(asked: ApiRequest) -> object:
    """The questions that wait, as many as one answer carries; the others are counted."""
    most = asked.asked_number("limit", MOST_LISTED, most=MOST_LISTED)
    pending = asked.house.gate.broker.pending()
    held: list[object] = []
    room = LONGEST_LIST
    for each in pending:
        room -= min(len(each.held.preview.text), shown.INLINE)
        if len(held) >= most or (held and room < 0):
            break
        held.append(shown.question(each.held, state=each.state.value, position=each.position, deadline=each.deadline))
        await asyncio.sleep(0)
    return {"now": asked.house.clock(), "held": held, "more": len(pending) - len(held)}


async def answer(asked: ApiRequest) -> object:
    """A person answers. The first answer counts; what does not count says why."""
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
    receipt = not_whole(asked, said) or await asked.house.gate.broker.answer(
        asked.path["id"], asked.text("digest"), given
    )
    match receipt:
        case Taken():
            return {"counted": True, "words": receipt.words, "note": receipt.note, **shown.ended(receipt.resolution)}
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


def not_whole(asked: ApiRequest, said: Said) -> Partial | None:
    """What is said to a yes of somebody to whom not all of the question was sent."""
    held = next((each.held for each in asked.house.gate.broker.pending() if each.held.id == asked.path["id"]), None)
    if said is not Said.ALLOW or held is None or asked.house.readers.has_all(held, asked.session):
        return None
    return Partial(held.id, possible=held.preview.whole)


async def preview(asked: ApiRequest) -> object:
    """The next part of what a question shows. Whoever was sent all of it may allow it."""
    held = held_of(asked)
    start = int(asked.asked_number("from", 0, most=len(held.preview.text)))
    found = await asyncio.to_thread(shown.piece, held, start)
    asked.house.readers.sent(held, asked.session, start, found["next"] or len(held.preview.text))
    return found


async def reach(asked: ApiRequest) -> object:
    """What rules would have matched in the past, and whether they may be saved."""
    held, rules, scope = held_of(asked), rules_of(asked), choice(asked, "scope", Scope, "session")
    try:
        found = await asyncio.to_thread(asked.house.gate.reach, held, rules, scope)
    except AssentError as error:
        return {"matched": 0, "denied": 0, "looked_at": 0, "refusal": str(error), "covers": False}
    return {name: getattr(found, name) for name in found.__slots__}


async def offer(asked: ApiRequest) -> object:
    """Take an offer of another mode up, or turn it down."""
    offers, id = asked.house.gate.broker.offers, asked.text("id")
    if id not in [each.id for each in offers.open()]:
        raise Refusal(404, "unknown", "this offer is not open any more; nothing was changed")
    mode, rule, who, channel = asked.text("mode", ""), asked.text("rule", ""), asked.who, asked.channel
    if mode or rule:
        words = await offers.accept(id, mode=mode, rule=rule, who=who, channel=channel)
    else:
        words = offers.reject(id, who=who, channel=channel)
    return {"words": words}


def held_of(asked: ApiRequest) -> Held:
    id = asked.path["id"]
    for each in asked.house.gate.broker.pending():
        if each.held.id == id:
            return each.held
    raise Refusal(404, "unknown", "this question does not wait any more")


def rules_of(asked: ApiRequest) -> tuple[str, ...]:
    rules = asked.texts("rules")
    if len(rules) > MOST_RULES or any(len(rule) > LONGEST_RULE for rule in rules):
        raise Refusal(422, "bad-field", f"`rules` are at most {MOST_RULES}, of {LONGEST_RULE} characters each")
    return rules


def choice(asked: ApiRequest, name: str, kind: type[T], default: str | None = None) -> T:
    given = asked.text(name, default)
    for each in kind:
        if each.value == given:
            return each
    raise Refusal(422, "bad-field", f"`{name}` is one of {', '.join(each.value for each in kind)}")


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
        summary="more of what a long question shows: a yes counts once all of it was sent",
        query={"from": "the character that it begins with"},
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
        "/v1/offers",
        offer,
        needs=Role.PERSON,
        summary="take up an offer of another mode, or turn it down",
        body=record("id", id=TEXT, mode=TEXT, rule=TEXT),
        gives={200: record("words", words=TEXT)},
    ),
)
