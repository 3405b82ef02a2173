"""The dialogs behind two buttons: the rule that is remembered, and why something is denied. Pure: opens nothing.

A dialog carries its question's ticket, and the rules whose reach it shows: only these are saved at once."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from assent.approval.channels import excerpt
from assent.approval.channels.slack import blocks, messages
from assent.approval.channels.slack.blocks import Block
from assent.contract import Value, display
from assent.contract.approval import Held, Reach, Scope
from assent.contract.words import of_scope

RULE, REASON = "assent_rule", "assent_reason"
SCOPES = {scope: of_scope(scope).offer for scope in messages.WIDER.values()}
LONGEST_MESSAGE, LONGEST_RULES, MOST_RULES = 2000, 2900, 20
ASKED = 600  # characters of what is asked, in a dialog
RULE_BLOCK, SCOPE_BLOCK, REASON_BLOCK, STOP_BLOCK = "rule", "scope", "reason", "stop"


class Asked(Value):
    """What a dialog was submitted with."""

    __slots__ = ("kind", "ticket", "shown", "rules", "scope", "message", "stop")

    def __init__(
        self,
        kind: str,
        ticket: str,
        *,
        shown: str = "",
        rules: str = "",
        scope: Scope = Scope.QUARTER,
        message: str = "",
        stop: bool = False,
    ) -> None:
        self.kind = kind
        self.ticket = ticket
        self.shown = shown
        self.rules = rules
        self.scope = scope
        self.message = message
        self.stop = stop


def rule(held: Held, ticket: str, rules: tuple[str, ...], scope: Scope, reach: Reach | None) -> Block:
    """The dialog to change the rule that is remembered, with how far this one would have reached."""
    options = [_option(words, each.value) for each, words in SCOPES.items()]
    picked = next(each for each in options if each["value"] == scope.value)
    return {
        **_frame(RULE, ticket, "Remember a rule", "Allow", mark(rules, scope)),
        "blocks": [
            blocks.preformatted(held.preview.path or held.preview.text, ASKED),
            _input(SCOPE_BLOCK, "How long", {"type": "radio_buttons", "options": options, "initial_option": picked}),
            _input(
                RULE_BLOCK,
                "The rule, one on each line",
                {
                    "type": "plain_text_input",
                    "multiline": True,
                    "max_length": 3000,
                    "initial_value": shown(rules),
                },
            ),
            blocks.context(_told(rules, reach)),
            *_others(held, rules),
        ],
    }


def reason(held: Held, ticket: str) -> Block:
    """The dialog to say why something is denied."""
    stop = _option("and stop the agent", "stop")
    typed = {"type": "plain_text_input", "multiline": True, "max_length": LONGEST_MESSAGE}
    return {
        **_frame(REASON, ticket, "Deny, and say why", "Deny", ""),
        "blocks": [
            blocks.preformatted(held.preview.path or held.preview.text, ASKED),
            _input(REASON_BLOCK, "What the agent is told", typed, optional=True),
            _input(STOP_BLOCK, "Also", {"type": "checkboxes", "options": [stop]}, optional=True),
        ],
    }


def read(view: Mapping[str, Any]) -> Asked | None:
    """What a dialog was submitted with; None where it is none of ours."""
    try:
        told = json.loads(view["private_metadata"])
        values = view["state"]["values"]
        kind, ticket = view["callback_id"], str(told["ticket"])
        if kind == RULE:
            picked = values[SCOPE_BLOCK][SCOPE_BLOCK]["selected_option"]["value"]
            typed = values[RULE_BLOCK][RULE_BLOCK]["value"] or ""
            scope = next(each for each in SCOPES if each.value == picked)
            return Asked(kind, ticket, shown=str(told["shown"]), rules=str(typed), scope=scope)
        if kind == REASON:
            message = values[REASON_BLOCK][REASON_BLOCK]["value"] or ""
            stop = bool(values[STOP_BLOCK][STOP_BLOCK]["selected_options"])
            return Asked(kind, ticket, message=str(message)[:LONGEST_MESSAGE].strip(), stop=stop)
    except (KeyError, TypeError, ValueError, StopIteration):
        return None
    return None


def typed_rules(held: Held, typed: str) -> tuple[str, ...]:
    """The rules of a dialog's text. One that was offered goes back as it was offered, not as it was shown."""
    for each in held.suggestions:
        if shown(each.rules).strip() == typed.strip():
            return each.rules
    return tuple(each.strip() for each in typed.splitlines() if each.strip())


def shown(rules: tuple[str, ...]) -> str:
    return "\n".join(map(display.code, rules))


def fits(rules: tuple[str, ...]) -> bool:
    """Whether rules can be changed in a dialog, whole: a part of a rule is another rule."""
    return bool(rules) and sum(map(len, rules)) <= LONGEST_RULES and len(shown(rules)) <= LONGEST_RULES


def mark(rules: tuple[str, ...], scope: Scope) -> str:
    """What stands for rules whose reach was shown."""
    return hashlib.sha256("\0".join((scope.value, *rules)).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def wrong(block: str, words: str) -> dict[str, object]:
    """The dialog stays open, with words at one of its fields."""
    return {"response_action": "errors", "errors": {block: excerpt.prose(words, 300)}}


def again(view: Block) -> dict[str, object]:
    """The dialog is shown anew."""
    return {"response_action": "update", "view": view}


def _told(rules: tuple[str, ...], reach: Reach | None) -> str:
    if reach is None or not rules:
        return "Only the identical call, in the same folder, is let through again."
    if reach.refusal:
        return f"It may not be saved: {excerpt.prose(reach.refusal, 250)}"
    told = messages.reached(reach, rules).removeprefix("; ")
    rest = "" if reach.covers else " It does not cover this very call, which runs once all the same."
    return f"{told[:1].upper()}{told[1:]}.{rest} Allow saves it; a changed rule is shown once more."


def _others(held: Held, rules: tuple[str, ...]) -> list[Block]:
    """Other rules that would do, to copy."""
    others = [each for each in held.suggestions if each.rules and each.rules != rules]
    if not others:
        return []
    texts = ["\n".join((*each.rules, f"    {each.width}")) for each in others]
    return [blocks.context("others that would do:"), blocks.preformatted("\n".join(texts), 1200)]


def _frame(kind: str, ticket: str, title: str, submit: str, shown: str) -> Block:
    return {
        "type": "modal",
        "callback_id": kind,
        "private_metadata": json.dumps({"ticket": ticket, "shown": shown}),
        "title": blocks.plain(title, blocks.TITLE),
        "submit": blocks.plain(submit, blocks.TITLE),
        "close": blocks.plain("Back", blocks.TITLE),
    }


def _input(name: str, label: str, element: Block, *, optional: bool = False) -> Block:
    return {
        "type": "input",
        "block_id": name,
        "label": blocks.plain(label, 200),
        "element": {**element, "action_id": name},
        "optional": optional,
    }


def _option(text: str, value: str) -> Block:
    return {"text": blocks.plain(text, 75), "value": value}
