"""The parts of a receipt and the whole answers made of them, with their codes, reasons and flips."""

from __future__ import annotations

from assent.contract import (
    Decision,
    Effect,
    Facts,
    Gap,
    Invocation,
    Kind,
    Layer,
    Operation,
    Outcome,
    Part,
    assert_never,
)
from assent.contract.packs import PROVED
from assent.policy import modes
from assent.policy.concerns import settling
from assent.policy.floor import describe
from assent.policy.modes import Concern, Mode
from assent.policy.rules import Origin, Rule

ALLOW, ASK, DENY = Outcome.ALLOW, Outcome.ASK, Outcome.DENY
READ_ONLY_PART = Part(ALLOW, Layer.INTRINSIC, "intrinsic.read-only", "it only reads, lists or searches")
INERT_PART = Part(ALLOW, Layer.INTRINSIC, "intrinsic.inert", "it does nothing that needs judging")
VERBS = {ALLOW: "allowed", ASK: "approval required", DENY: "denied"}
NOTHING_PART = Part(ASK, Layer.MODE, "call.nothing-judged", "no part of the call could be judged")


def by_rule(
    rule: Rule,
    outcome: Outcome,
    layer: Layer,
    what: str,
    where: str,
    *,
    code: str = "",
    also: tuple[str, ...] = (),
) -> Part:
    return Part(
        outcome,
        layer,
        code or f"{layer.value}.rule",
        rule.reason or f"{VERBS[outcome]} by the {rule.origin.word} rule `{rule.text}`",
        what=what,
        where=where,
        rule=rule.text,
        source=rule.source,
        flip="" if outcome is ALLOW else flip_for(rule),
        message=rule.message or rule.advice,
        high=outcome is not ALLOW and rule.origin is Origin.SHIPPED,
        also=tuple(text for text in also if text != rule.text) if also else (),
    )


def by_pack(name: str, effect: Effect) -> Part:
    reason = f"the pack `{name}` is on: {PROVED[name]}"
    return Part(
        ALLOW, Layer.ALLOW, "allow.pack", reason, what=describe(effect), where=effect.where, source=f"shipped:{name}"
    )


def flip_for(rule: Rule) -> str:
    match rule.origin:
        case Origin.SHIPPED:
            return f'`[defaults] off = ["{rule.id}"]` in the user configuration'
        case Origin.SESSION:
            return f"withdraw `{rule.text}` for this session"
        case Origin.MANAGED | Origin.USER | Origin.PROJECT | Origin.PACK:
            return f"remove `{rule.text}` from {rule.source or 'the policy'}"
        case origin:
            return assert_never(origin)


CONCERN_CODES = {
    Concern.WRITE_INSIDE: ("mode.write", "it changes a file in the workspace"),
    Concern.DELETE_INSIDE: ("mode.delete", "it deletes a file in the workspace"),
    Concern.CHANGE_OUTSIDE: ("mode.outside-workspace", "it changes a file outside the workspace"),
    Concern.EXECUTE: ("mode.execute", "it runs something that is not proved read-only"),
    Concern.DESTROY: ("mode.destroy", "it destroys data that others share or that cannot be restored"),
    Concern.DELEGATE: ("mode.delegate", "it launches a sub-agent"),
    Concern.FETCH: ("mode.fetch", "it reaches an address on the network"),
    Concern.LOOPBACK: ("mode.fetch", "it sends a request to a server on this machine"),
    Concern.TOOL: ("mode.unknown-tool", "the tool is not one that Assent knows"),
    Concern.GAP: ("mode.unknown-target", "its target is unknown"),
}


SETTLED = {
    Kind.REPOSITORY: ("mode.repository", "git would follow a repository's own settings"),
    Kind.HOOKS: ("mode.hooks", "git would run the repository's hooks"),
    Kind.MODULES: ("mode.modules", "the code may load other modules than it names"),
    Kind.CODE: ("mode.code", "the code that runs may not be the code that was read"),
    Kind.SETTINGS: ("mode.settings", "the program uses settings that are not proved harmless"),
}


def by_mode(concern: Concern, mode: Mode, effect: Effect, facts: Facts) -> Part:
    outcome = modes.settle(concern, mode)
    code, reason = CONCERN_CODES[Concern.EXECUTE if effect.target.kind is Kind.MODULES else concern]
    if effect.target.kind in SETTLED and concern is Concern.EXECUTE:
        why = (settling(effect.target, facts) or {}).get(effect.target.name) or "it was not checked"
        code, reason = SETTLED[effect.target.kind]
        reason = f"{reason}: {why}"
    elif concern is Concern.DELETE_INSIDE and effect.target.kind is Kind.TREE:
        reason = "git discards commits or changes"
    elif concern is Concern.CHANGE_OUTSIDE and effect.target.kind is Kind.PATH and not effect.target.name:
        code, reason = "mode.unknown-target", "it changes a file that it does not name"
    elif concern is Concern.DESTROY and effect.operation is not Operation.DESTROY:
        code, reason = "mode.irreversible", "the tool's name or arguments say that it sends, pays or destroys"
    elif concern is Concern.TOOL and effect.target.name.lower().startswith("mcp__"):
        code, reason = "mode.mcp-tool", "it calls a tool of an MCP server"
    if outcome is ALLOW:
        code = "mode.allow"
    elif outcome is DENY:
        code = "mode.plan.unknown" if concern in (Concern.GAP, Concern.TOOL) else "mode.plan.mutation"
        reason = f"plan mode changes nothing, and {reason}"
    return Part(
        outcome,
        Layer.MODE,
        code,
        reason,
        what=describe(effect),
        where=effect.where,
        flip="" if outcome is ALLOW else PLAN_FLIP if outcome is DENY else FLIPS[concern],
        high=effect.operation is Operation.DELETE or concern is Concern.DESTROY,
    )


def by_gap(gap: Gap, mode: Mode) -> Part:
    outcome = modes.settle(Concern.GAP, mode)
    return Part(
        outcome,
        Layer.MODE,
        gap.code if outcome is not DENY else "mode.plan.unknown",
        f"could not be read: {gap.advice or gap.code}",
        what=gap.text or "part of the call",
        where=gap.where,
        flip=gap.advice or "write it in a simpler form",
    )


def _flip(concern: Concern) -> str:
    looser = next((mode for mode in Mode if modes.settle(concern, mode) is ALLOW), Mode.YOLO)
    return "name the target" if concern is Concern.GAP else f"mode `{looser.word}`, or an allow rule that covers it"


FLIPS = {concern: _flip(concern) for concern in Concern}
PLAN_FLIP = "a looser mode than plan; in `default` a person is asked"


def place(invocation: Invocation) -> str:
    return f"command[{invocation.start}:{invocation.start + len(invocation.source)}]"


def nobody_answers(decision: Decision) -> Decision:
    """Deny an ask in a run where nobody can answer."""
    part = decision.deciding
    reason = f"nobody can be asked in this run, and {part.reason}"
    denied = part.but(outcome=DENY, layer=Layer.HEADLESS, code="headless.ask", reason=reason, also=())
    return decision.but(DENY, denied, decision.parts)


CONFIRM = "call.confirm"
CONTAIN_FAILED = "contain.failed"


def to_confirm(decision: Decision) -> Decision:
    """Turn the allow of a call whose sender wants a confirmation into an ask that no grant settles."""
    part = Part(ASK, Layer.ASK, CONFIRM, "the calling program wants a person to confirm it")
    return Decision(ASK, part, (*decision.parts, part), mode=decision.mode, risk=decision.risk, tool=decision.tool)


# Ranks of reasons among parts with the same outcome: the highest is shown.
GRAVITY = {Layer.LOAD: 5, Layer.FLOOR: 4, Layer.DENY: 3, Layer.ASK: 2}
GRAVE_CODES = {"mode.delete": 1, "mode.outside-workspace": 2, "mode.destroy": 3, "mode.irreversible": 3}


def gravest(parts: list[Part]) -> Part:
    """The part that decides: the strictest; among equally strict ones the gravest. If everything is allowed, the first
    part that a layer decided."""
    deciding = parts[0]
    for part in parts:
        same = part.outcome is deciding.outcome and part.outcome is not ALLOW
        if part.outcome > deciding.outcome or (same and _gravity(part) > _gravity(deciding)):
            deciding = part
    if deciding.outcome is ALLOW and deciding.layer is Layer.INTRINSIC:
        return next((part for part in parts if part.layer is not Layer.INTRINSIC), deciding)
    return deciding


def _gravity(part: Part) -> tuple[int, int, int]:
    if part.rule == "danger(broad-delete)":  # the loss of a whole root says more than one sensitive file
        return 6, 1, 0
    return GRAVITY.get(part.layer, 1), int(part.high), GRAVE_CODES.get(part.code, 0)
