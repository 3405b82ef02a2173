"""A decision as a receipt for a person, as JSON for a program, and as a message for an agent.

Text from the agent is shown through `contract/display.py`: control and invisible characters are written as escapes."""

from __future__ import annotations

from assent.contract import Decision, Outcome, Part
from assent.contract.display import one_line

SHOWN_PARTS = 6
SHOWN_TEXT = 300
# How a reason code begins → what the agent should do instead of trying again.
INSTEAD = {
    "floor.": "no other wording gets around this; continue without it, and say that you could not do it",
    "mode.plan": "keep reading, and write down the plan; the change can be made when the person leaves plan mode",
    "contain.failed": "wait for the answer; only the person's yes lets this run outside",
    "headless.ask": "continue without it, or finish and list it as a step for the person",
    "policy.load": "tell the person that the policy has an error; nothing can run until it is fixed",
}


def in_words(decision: Decision, call: str = "") -> str:
    """The receipt for a person, a few lines."""
    part = decision.deciding
    lines = [f"{decision.outcome.name}  {one_line(call, SHOWN_TEXT)}" if call else decision.outcome.name]
    lines.append(f"  why    {part.reason} [{part.code}]")
    if part.what:
        lines.append(f"  part   {one_line(part.what, SHOWN_TEXT)}" + (f"  ({part.where})" if part.where else ""))
    if part.rule:
        lines.append(f"  rule   {one_line(part.rule)}  from {part.source}")
    lines += [f"  also   {one_line(text)}" for text in part.also]
    others = other_parts(decision)
    lines += [
        f"  {label} {other.outcome.word}: {one_line(other.what or other.reason, 120)} [{other.code}]"
        for label, other in zip(("also  ", *["      "] * SHOWN_PARTS), others[:SHOWN_PARTS], strict=False)
    ]
    if len(others) > SHOWN_PARTS:
        lines.append(f"         and {len(others) - SHOWN_PARTS} more")
    lines += [f"  lost   {one_line(text)}  from {source}" for text, source in decision.lost[:SHOWN_PARTS]]
    if part.message:
        lines.append(f"  advice {one_line(part.message)}")
    if part.flip and decision.outcome is not Outcome.ALLOW:
        lines.append(f"  flip   {one_line(part.flip)}")
    if decision.contained:
        lines.append(f"  runs   contained: {decision.contained}")
    lines.append(f"  mode   {decision.mode}, risk {decision.risk}, layer {part.layer.value}")
    return "\n".join(lines)


def other_parts(decision: Decision) -> list[Part]:
    """The other parts that did not simply pass, strictest first, each once."""
    seen = {(decision.deciding.what, decision.deciding.code)}
    out: list[Part] = []
    for part in sorted(decision.parts, key=lambda each: -each.outcome):
        if part.outcome is not Outcome.ALLOW and (part.what, part.code) not in seen:
            seen.add((part.what, part.code))
            out.append(part)
    return out


def as_json(decision: Decision) -> dict[str, object]:
    part = decision.deciding
    return {
        "outcome": decision.outcome.word,
        "code": part.code,
        "reason": part.reason,
        "layer": part.layer.value,
        "part": part.what,
        "where": part.where,
        "rule": part.rule,
        "source": part.source,
        "lost": [{"rule": text, "source": source} for text, source in decision.lost],
        "flip": part.flip,
        "message": part.message,
        "mode": decision.mode,
        "risk": decision.risk,
        "tool": decision.tool,
        "parts": [
            {"outcome": each.outcome.word, "code": each.code, "part": each.what, "where": each.where}
            for each in decision.parts
        ],
        **({"contained": decision.contained} if decision.contained else {}),
    }


def to_agent(decision: Decision) -> str:
    """The text for the agent: what was stopped, why, and what to do instead of trying again."""
    part = decision.deciding
    if decision.outcome is Outcome.ALLOW:
        return "allowed"
    what = f": {one_line(part.what, SHOWN_TEXT)}" if part.what else ""
    verb = "was not run" if decision.outcome is Outcome.DENY else "waits for a person's assent"
    steps = part.message or _instead(decision)
    return f"This call {verb}{what}. Reason: {part.reason} [{part.code}]. {steps[:1].upper()}{steps[1:]}."


def _instead(decision: Decision) -> str:
    if decision.outcome is Outcome.ASK:
        return "wait for the answer; do not try it in another form"
    return next(
        (step for code, step in INSTEAD.items() if decision.deciding.code.startswith(code)),
        "do not try it again in another form; choose another way, or ask the person",
    )
