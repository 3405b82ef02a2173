"""Makes records of decisions, questions and answers for the trail."""

from __future__ import annotations

from os import urandom

from assent.approval.escalation import Offer
from assent.contract import READ_ONLY, Call, Layer, Lowering, Outcome, Record, keep
from assent.contract.approval import Consequence, Grant, Held, Resolution
from assent.contract.classifier import Opinion
from assent.engine.engine import Judged
from assent.policy.floor import describe

EFFECTS = 20
REMEMBERED, REMEMBERED_LENGTH = 256, 2000  # readings, characters of one


def new_id() -> str:
    """A random UUID (version 4), without the cost of importing `uuid`."""
    raw = bytearray(urandom(16))
    raw[6] = raw[6] & 0x0F | 0x40
    raw[8] = raw[8] & 0x3F | 0x80
    text = raw.hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


_worded: dict[int, tuple[Lowering, tuple[str, ...]]] = {}  # a cache by lowering


def in_words(judged: Judged) -> tuple[str, ...]:
    """The effects of a call in words, each once, the first few of many."""
    lowering = judged.lowering
    if lowering is None:
        return ()
    known = _worded.get(id(lowering))
    if known is not None and known[0] is lowering:
        return known[1]
    found = tuple(dict.fromkeys(describe(effect) for effect in lowering.effects))
    if len(found) > EFFECTS:
        found = (*found[:EFFECTS], f"and {len(found) - EFFECTS} more")
    if 0 < len(lowering.text) <= REMEMBERED_LENGTH and len(lowering.effects) <= EFFECTS:
        keep(_worded, id(lowering), (lowering, found), REMEMBERED)
    return found


def only_reads(judged: Judged) -> bool:
    """Whether a call is allowed, fully known, and only reads."""
    decision, lowering = judged.decision, judged.lowering
    if decision.outcome is not Outcome.ALLOW or lowering is None or lowering.gaps:
        return False
    if all(part.layer is Layer.INTRINSIC for part in decision.parts):
        return True
    return all(effect.operation in READ_ONLY for effect in lowering.effects)


def of_decision(
    call: Call,
    judged: Judged,
    id: str,
    *,
    project: str,
    time: float,
    latency: float,
    opinion: Opinion | None = None,
    copy: str = "",
    consequences: tuple[Consequence, ...] = (),
) -> Record:
    """The record of a decision; with outcome `ask` it is the record of a question. `opinion` is that of a model, if one
    was asked. `copy` of the destroyed files: `kept`, or why there is none. `consequences`: of a question."""
    decision, part = judged.decision, judged.decision.deciding
    settled = part.layer is Layer.CLASSIFIER
    more: dict[str, object] = {"classifier": _of_opinion(opinion, settled)} if opinion is not None else {}
    more |= _of_copy(copy)
    if consequences:
        more["consequences"] = [each.text for each in consequences]
    if decision.contained:
        more["contained"] = decision.contained
    return Record(
        "decision",
        id,
        time,
        runtime=call.runtime,
        session=call.session,
        project=project,
        cwd=call.cwd,
        tool=call.tool,
        input=call.input,
        effects=in_words(judged),
        outcome=decision.outcome.word,
        layer=part.layer.value,
        code=part.code,
        reason=part.reason,
        rule=part.rule,
        source=part.source,
        mode=decision.mode,
        risk=decision.risk,
        latency=latency,
        more=more,
    )


def _of_opinion(opinion: Opinion, settled: bool) -> dict[str, object]:
    """A model's opinion and its cost. `settled`: the call runs because of it."""
    found: dict[str, object] = {"model": opinion.model, "safe": opinion.safe, "settled": settled}
    if opinion.error:
        found["error"] = opinion.error
    if opinion.cached:
        found["cached"] = True
    else:
        tokens = opinion.input_tokens + opinion.output_tokens
        found |= {"latency_ms": round(opinion.seconds * 1000, 3), "tokens": tokens, "cost": opinion.cost}
    return {**found, "said": opinion.reason}


def _of_copy(copy: str) -> dict[str, object]:
    if not copy:
        return {}
    return {"copy": copy} if copy == "kept" else {"copy": "no-copy", "no_copy": copy}


def of_ending(held: Held, resolution: Resolution, *, time: float, copy: str = "") -> Record:
    """The record of how a question ended: the person, the answer and the channel, or why there is none. `copy` as in
    `of_decision`, when the call runs."""
    call = held.call
    late = resolution.ending.value == "unseen" and resolution.waited >= held.unseen
    more = _of_copy(copy) if resolution.allowed else {}
    return _ending(resolution, time, call.runtime, call.session, call.tool, held.project, late=late, copy=more)


def of_dialog(session: str, call: Call | None, resolution: Resolution, *, project: str, time: float) -> Record:
    """The same for a question that an agent program asked in its own dialog."""
    runtime, tool = (call.runtime, call.tool) if call is not None else ("", "")
    return _ending(resolution, time, runtime, session, tool, project)


def _ending(
    resolution: Resolution,
    time: float,
    runtime: str,
    session: str,
    tool: str,
    project: str,
    *,
    late: bool = False,
    copy: dict[str, object] | None = None,
) -> Record:
    """`late`: its time ran out before anybody saw it. A question that nobody could ever see did not time out."""
    answer, more = resolution.answer, copy or {}
    if answer is not None:
        more = {"said": answer.said.value, "rules": list(answer.rules), "message": answer.message, **more}
    return Record(
        "answer",
        resolution.id,
        time,
        runtime=runtime,
        session=session,
        project=project,
        tool=tool,
        outcome="allow" if resolution.allowed else "deny",
        code=f"answer.{resolution.ending.value}",
        reason=resolution.reason,
        who=answer.who if answer is not None else "",
        channel=answer.channel if answer is not None else "",
        scope=answer.scope.value if answer is not None and resolution.allowed else "",
        timed_out=late or resolution.ending.value == "expired",
        latency=resolution.waited,
        more=more or None,
    )


def of_grant(grant: Grant, *, time: float, kind: str = "grant", who: str = "", channel: str = "") -> Record:
    """The record of a grant that was made or revoked; `who` and `channel` say who revokes it, and where."""
    return Record(
        kind,
        grant.id,
        time,
        session=grant.session,
        project=grant.project,
        scope=grant.scope.value,
        rule=" ; ".join(grant.rules),
        who=who or grant.who,
        channel=channel or grant.channel,
        more={"until": grant.until, "shown": grant.shown, "answers": list(grant.answers)},
    )


def of_undo(copy: str, kept: str, *, time: float, who: str, channel: str = "") -> Record:
    """The record of a copy that a person put back; `kept` is the copy of the replaced files."""
    more = {"copy": copy, "kept": kept}
    return Record("event", new_id(), time, code="undo.restored", who=who, channel=channel, more=more)


def of_mode(session: str, mode: str, *, time: float, who: str, channel: str = "", before: str = "") -> Record:
    more = {"before": before}
    return Record("mode", new_id(), time, session=session, mode=mode, who=who, channel=channel, more=more)


def of_offer(offer: Offer, *, time: float, rejected: bool = False, who: str = "", channel: str = "") -> Record:
    """The record of an offer that was made after many denials, or rejected."""
    more: dict[str, object] = {"row": offer.row, "total": offer.total, "modes": list(offer.modes)}
    if rejected:
        more["said"] = "rejected"
    runtime, session = offer.runtime, offer.session
    return Record("offer", offer.id, time, runtime=runtime, session=session, who=who, channel=channel, more=more)


def of_denial(session: str, rule: str, *, time: float, who: str) -> Record:
    return Record("rule", new_id(), time, session=session, rule=rule, outcome="deny", who=who)
