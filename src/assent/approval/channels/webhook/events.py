"""The events for a webhook, and its answers, as JSON.

Text of an agent is escaped here, so that the receiver can show it as plain text."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

from assent.agents import payload
from assent.approval.channels import excerpt
from assent.approval.channels.remote import SCOPES, signature
from assent.contract import PayloadError, display
from assent.contract.approval import Answer, Held, Resolution, Said, Scope

QUESTION, ENDED = "question", "ended"
EVENT, ANSWER = "event", "answer"  # part of the signed text, against reflected messages
VERSION = "v1"
LONGEST, LINE, MOST_EFFECTS = 1_000_000, 2000, 100  # characters of the call, of anything else; effects
MOST_RULES, LONGEST_RULE, LONGEST_MESSAGE = 20, 2000, 4000
TIMESTAMP, SIGNATURE = "Assent-Timestamp", "Assent-Signature"
ONCE = Scope.ONCE.value
M = TypeVar("M", Said, Scope)
FIELDS = frozenset({"id", "digest", "nonce", "said", "scope", "rules", "message", "who"})


@dataclass(frozen=True, slots=True)
class WebhookAnswer:
    id: str
    digest: str
    nonce: str
    answer: Answer


def head(kind: str, timestamp: str) -> str:
    """The prefix of the body in the signed text."""
    return f"{VERSION}:{kind}:{timestamp}:"


def headers(secret: str, body: bytes, timestamp: int) -> dict[str, str]:
    made = signature(secret, head(EVENT, str(timestamp)), body)
    return {
        "Content-Type": "application/json",
        "User-Agent": "assent",
        TIMESTAMP: str(timestamp),
        SIGNATURE: f"{VERSION}={made}",
    }


def is_whole(held: Held) -> bool:
    """Whether an event has the whole call, and where it runs."""
    call, preview = held.call, held.preview
    named = (call.tool, call.cwd, held.project, preview.path)
    return preview.whole and excerpt.fits(preview.text, LONGEST) and all(excerpt.fits(each, LINE) for each in named)


def question(held: Held, nonce: str, *, deadline: float, behind: int, back: str) -> bytes:
    """`back` is the path that an answer is posted to."""
    part, preview, call = held.decision.deciding, held.preview, held.call
    scopes = SCOPES if held.suggestions else SCOPES[:1]
    return _encoded(
        {
            "event": QUESTION,
            "id": held.id,
            "digest": held.digest,
            "nonce": nonce,
            "deadline": round(deadline, 3),
            "behind": behind,
            "answer_to": back,
            "scopes": [each.value for each in scopes],
            "tool": excerpt.code(call.tool, LINE),
            "runtime": excerpt.code(call.runtime, LINE),
            "session": excerpt.code(call.session, LINE),
            "project": excerpt.code(held.project, LINE),
            "cwd": excerpt.code(call.cwd, LINE),
            "says": excerpt.prose(call.description, LINE),
            "preview": {
                "kind": preview.kind,
                "path": excerpt.code(preview.path, LINE),
                "text": excerpt.code(preview.text, LONGEST),
                "length": preview.length,
            },
            "whole": is_whole(held),
            "effects": [excerpt.code(each, LINE) for each in held.effects[:MOST_EFFECTS]],
            "consequences": [
                {"kind": each.kind, "text": excerpt.prose(each.text, LINE), "cut": each.cut}
                for each in held.consequences[:MOST_EFFECTS]
            ],
            "warnings": [excerpt.prose(each, LINE) for each in held.warnings[:MOST_EFFECTS]],
            "left": max(0, len(held.effects) - MOST_EFFECTS),
            "reason": excerpt.code(part.reason, LINE),
            "code": part.code,
            "rule": excerpt.code(part.rule, LINE),
            "risk": held.decision.risk,
            "mode": held.decision.mode,
            "suggestions": [{"rules": list(each.rules), "width": each.width} for each in held.suggestions],
        }
    )


def ended(resolution: Resolution, nonce: str) -> bytes:
    answer = resolution.answer
    return _encoded(
        {
            "event": ENDED,
            "id": resolution.id,
            "nonce": nonce,
            "allowed": resolution.allowed,
            "ending": resolution.ending.value,
            "reason": display.visible(resolution.reason),
            "said": answer.said.value if answer is not None else "",
            "who": display.visible(answer.who) if answer is not None else "",
            "channel": display.visible(answer.channel) if answer is not None else "",
        }
    )


def read(body: bytes) -> WebhookAnswer:
    """An answer from the bytes that were signed. Raises ValueError with the reason."""
    try:
        found = payload.value(body)
    except PayloadError:
        raise ValueError("the answer is not JSON, or has a field twice") from None
    if not isinstance(found, dict):
        raise ValueError("the answer is not a JSON object")
    if unknown := sorted(set(found) - FIELDS):
        raise ValueError(f"the answer has an unknown field `{display.one_line(unknown[0], 40)}`")
    texts = {name: _text(found, name) for name in ("id", "digest", "nonce", "message", "who")}
    said, scope = _one_of("said", Said, found.get("said")), _one_of("scope", SCOPES, found.get("scope", ONCE))
    answer = Answer(
        said,
        scope=scope,
        rules=_rules(found.get("rules", [])) if scope is not Scope.ONCE else (),
        message=texts["message"][:LONGEST_MESSAGE],
        who=display.one_line(texts["who"], 100),  # none if nobody is named
    )
    return WebhookAnswer(texts["id"], texts["digest"], texts["nonce"], answer)


def _text(found: dict[str, Any], name: str) -> str:
    value = found.get(name, "")
    if not isinstance(value, str):
        raise ValueError(f"`{name}` must be text")
    return value


def _one_of(name: str, members: Iterable[M], value: object) -> M:
    known = {each.value: each for each in members}
    if not isinstance(value, str) or value not in known:
        raise ValueError(f"`{name}` must be one of {', '.join(known)}")
    return known[value]


def _rules(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or len(value) > MOST_RULES or not all(isinstance(each, str) for each in value):
        raise ValueError(f"`rules` must be at most {MOST_RULES} texts")
    if any(len(each) > LONGEST_RULE for each in value):
        raise ValueError(f"a rule may have at most {LONGEST_RULE} characters")
    return tuple(value)


def _encoded(event: dict[str, Any]) -> bytes:
    return json.dumps(event, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
