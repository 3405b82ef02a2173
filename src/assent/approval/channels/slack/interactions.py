"""Answers from Slack, by buttons and dialogs: checked, used once, and given to the broker.

A dialog has its question's ticket, and the rules whose reach it shows: only these are saved at once.
INVARIANT: nothing reaches a question before the workspace, the person and the ticket were checked."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass
from typing import Any

from assent.approval.channels import excerpt
from assent.approval.channels.remote import Once
from assent.approval.channels.slack import blocks, messages
from assent.approval.channels.slack.blocks import Block
from assent.approval.channels.slack.channel import Card, SlackChannel
from assent.approval.commands import Taken
from assent.approval.patience import Tasks
from assent.contract import display
from assent.contract.approval import Answer, Held, Reach, Said, Scope
from assent.contract.words import of_scope

Payload = Mapping[str, Any]
ARMING = 0.35  # seconds in which a new message accepts no yes, as on the page
OVER = "this question is over, or was asked again; look for the newest message"
ANOTHERS = "another server asked this, and Slack sent it to this one; press again, and give each server its own app"
WHISPERS, WHISPER_EVERY = 8, 5.0  # to those who may not answer, at once, then one in so many seconds
NOT_YOU = "you may not answer here; whoever runs this gate lists in `slack.users` who may"
RULE, REASON = "assent_rule", "assent_reason"
SCOPES: dict[Scope, str] = {scope: of_scope(scope).offer for scope in messages.WIDER.values()}
LONGEST_MESSAGE, LONGEST_RULES, MOST_RULES = 2000, 2900, 20
ASKED = 600  # characters of the question in a dialog
RULE_BLOCK, SCOPE_BLOCK, REASON_BLOCK, STOP_BLOCK = "rule", "scope", "reason", "stop"


class Interactions:
    """Handles requests from Slack. `team` gives the valid workspace, `refused` receives people who may not answer."""

    def __init__(
        self,
        channel: SlackChannel,
        *,
        users: tuple[str, ...],
        team: Callable[[], str],
        refused: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._channel = channel
        self._users = frozenset(users)
        self._team = team
        self._refused = refused
        self._once = Once(clock)
        self._clock = clock
        self._whispers, self._whispered = float(WHISPERS), clock()
        self.tasks = Tasks()

    async def take(self, payload: Payload) -> dict[str, object]:
        """Returns the immediate response to Slack, `{}` for none."""
        kind = _text(payload, "type")
        if kind not in ("block_actions", "view_submission"):
            return {}
        if not self._once.use(_text(payload, "trigger_id")):
            self._refused("an interaction came a second time, and was ignored")
            return {}
        user, name = _text(payload, "user", "id"), _text(payload, "user", "username") or _text(payload, "user", "name")
        if not self._may(payload, user):
            self._refused(f"{display.one_line(user, 40)} ({display.one_line(name, 40)}) may not answer in Slack")
            where = _text(payload, "container", "channel_id") or _text(payload, "channel", "id")
            if where and user and self._may_whisper():
                self._channel.whisper(None, where, user, NOT_YOU)
            return {"response_action": "clear"} if kind == "view_submission" else {}
        who = f"{user} ({display.one_line(name, 60)})" if name else user
        if kind == "view_submission":
            return await self._submitted(payload, user, who)
        actions = payload.get("actions")
        if isinstance(actions, list) and len(actions) == 1:  # one press is one action
            self._pressed(payload, actions[0], user, who)
        return {}

    def _may(self, payload: Payload, user: str) -> bool:
        """A listed person of the workspace: guests of a shared channel have another one."""
        team = self._team()
        teams = {_text(payload, "team", "id"), _text(payload, "user", "team_id") or team}
        return bool(team) and teams == {team} and user in self._users

    def _may_whisper(self) -> bool:
        """Whether one more of those who may not answer gets a message: anybody can press forever."""
        now = self._clock()
        self._whispers = min(WHISPERS, self._whispers + (now - self._whispered) / WHISPER_EVERY)
        self._whispered = now
        may = self._whispers >= 1
        self._whispers -= may
        return may

    # Buttons

    def _pressed(self, payload: Payload, action: Payload, user: str, who: str) -> None:
        where, ts = _text(payload, "container", "channel_id"), _text(payload, "container", "message_ts")
        card = self._channel.card(_text(action, "value"))
        name = _text(action, "action_id")
        if card is None:
            ours = self._channel.is_ours(_text(action, "value"))
            self._channel.whisper(None, where, user, OVER if ours else ANOTHERS)
            if ours and where and ts:
                self._channel.strike(where, ts)
            return
        if name in (messages.EDIT, messages.WHY):
            self.tasks.start(self._dialog(card, name, _text(payload, "trigger_id"), user))
            return
        answer = self._answer(card, name, who)
        if answer is not None and answer.said is Said.ALLOW and _just_come(action, ts):
            self._channel.whisper(card, where, user, "it has only just appeared; look at it, then answer")
        elif answer is not None:
            self.tasks.start(self._give(card, answer, user))

    def _answer(self, card: Card, name: str, who: str) -> Answer | None:
        if name == messages.DENY:
            return Answer(Said.DENY, who=who)
        scope = messages.SCOPES.get(name)
        if scope is None:
            return None
        offered = messages.pressed(card.held)
        if scope is Scope.ONCE or offered is None:  # a rule that was never offered counts once
            return Answer(Said.ALLOW, who=who)
        return Answer(Said.ALLOW, scope=scope, rules=offered.rules, who=who)

    async def _dialog(self, card: Card, name: str, trigger: str, user: str) -> None:
        if name == messages.WHY:
            self._channel.open(trigger, reason(card.held, card.ticket))
            return
        offered = messages.offered(card.held)
        rules = offered.rules if offered is not None else ()
        if not fits(rules):
            self._channel.whisper(card, "", user, "this rule cannot be changed here; change it on the page")
            return
        reach = card.reach or await self._reach(card, rules, Scope.SESSION)
        self._channel.open(trigger, rule(card.held, card.ticket, rules, Scope.SESSION, reach))

    # Dialogs

    async def _submitted(self, payload: Payload, user: str, who: str) -> dict[str, object]:
        view = payload.get("view")
        asked = read(view) if isinstance(view, Mapping) else None
        card = self._channel.card(asked.ticket) if asked is not None else None
        if asked is None or card is None:
            return wrong(RULE_BLOCK if asked is not None and asked.kind == RULE else REASON_BLOCK, OVER)
        if asked.kind == RULE:
            return await self._ruled(card, asked, user, who)
        self.tasks.start(
            self._give(card, Answer(Said.STOP if asked.stop else Said.DENY, message=asked.message, who=who), user)
        )
        return {"response_action": "clear"}

    async def _ruled(self, card: Card, asked: Submission, user: str, who: str) -> dict[str, object]:
        """Save a rule whose reach was shown; show that of any other first."""
        rules = typed_rules(card.held, asked.rules)
        if not rules or len(rules) > MOST_RULES or len(asked.rules) > LONGEST_RULES:
            return wrong(RULE_BLOCK, f"write one to {MOST_RULES} rules, one on each line")
        reach = await self._reach(card, rules, asked.scope)
        if reach.refusal:
            return wrong(RULE_BLOCK, reach.refusal)
        first = messages.offered(card.held)
        seen = {mark(rules, asked.scope)}
        if first is not None and first.rules == rules:  # shown with its reach, whichever time is picked
            seen |= {mark(rules, each) for each in SCOPES}
        if asked.shown not in seen:
            return {"response_action": "update", "view": rule(card.held, card.ticket, rules, asked.scope, reach)}
        self.tasks.start(self._give(card, Answer(Said.ALLOW, scope=asked.scope, rules=rules, who=who), user))
        return {"response_action": "clear"}

    async def _reach(self, card: Card, rules: tuple[str, ...], scope: Scope) -> Reach:
        try:
            return await self._channel.reached(card.held, rules, scope)
        except Exception as error:
            return Reach(refusal=f"it is not known what it would have matched: {error or type(error).__name__}")

    # Answers

    async def _give(self, card: Card, answer: Answer, user: str) -> None:
        """Give the answer, once for each card."""
        try:
            receipt = await card.answer(answer)
            words = "somebody answered already; this changed nothing" if receipt is None else receipt.words
            words = receipt.note if isinstance(receipt, Taken) else words
        except Exception as error:
            words = f"this did not count: {type(error).__name__}; answer again"
        if words:
            self._channel.whisper(card, "", user, words)


def _just_come(action: Payload, ts: str) -> bool:
    """Whether a button was pressed right after its message appeared, both by Slack's clock."""
    try:
        return 0 <= float(_text(action, "action_ts")) - float(ts) < ARMING
    except ValueError:
        return False


def _text(payload: Payload, *names: str) -> str:
    """A text inside a payload, `""` if there is none."""
    found: Any = payload
    for name in names:
        found = found.get(name) if isinstance(found, Mapping) else None
    return found if isinstance(found, str) else ""


@dataclass(frozen=True, slots=True)
class Submission:
    """The values of a submitted dialog."""

    kind: str
    ticket: str
    _: KW_ONLY
    shown: str = ""
    rules: str = ""
    scope: Scope = Scope.QUARTER
    message: str = ""
    stop: bool = False


def rule(held: Held, ticket: str, rules: tuple[str, ...], scope: Scope, reach: Reach | None) -> Block:
    """The dialog to change the rule to save, with the past reach of this one."""
    options = {each: _option(words, each.value) for each, words in SCOPES.items()}
    radios = {"type": "radio_buttons", "options": [*options.values()], "initial_option": options[scope]}
    typed = {"type": "plain_text_input", "multiline": True, "max_length": 3000, "initial_value": shown(rules)}
    return {
        **_frame(RULE, ticket, "Remember a rule", "Allow", mark(rules, scope)),
        "blocks": [
            blocks.preformatted(held.preview.path or held.preview.text, ASKED),
            _input(SCOPE_BLOCK, "How long", radios),
            _input(RULE_BLOCK, "The rule, one on each line", typed),
            blocks.context(_reach_text(rules, reach)),
            *_others(held, rules),
        ],
    }


def reason(held: Held, ticket: str) -> Block:
    stop = _option("and stop the agent", "stop")
    typed = {"type": "plain_text_input", "multiline": True, "max_length": LONGEST_MESSAGE}
    return {
        **_frame(REASON, ticket, "Deny, and say why", "Deny", ""),
        "blocks": [
            blocks.preformatted(held.preview.path or held.preview.text, ASKED),
            _input(REASON_BLOCK, "Message to the agent", typed, optional=True),
            _input(STOP_BLOCK, "Also", {"type": "checkboxes", "options": [stop]}, optional=True),
        ],
    }


def read(view: Mapping[str, Any]) -> Submission | None:
    """None if the dialog is not ours."""
    with suppress(KeyError, TypeError, ValueError, StopIteration):
        metadata = json.loads(view["private_metadata"])
        values = view["state"]["values"]
        kind, ticket = view["callback_id"], str(metadata["ticket"])
        if kind == RULE:
            picked = values[SCOPE_BLOCK][SCOPE_BLOCK]["selected_option"]["value"]
            typed = values[RULE_BLOCK][RULE_BLOCK]["value"] or ""
            scope = next(each for each in SCOPES if each.value == picked)
            return Submission(kind, ticket, shown=str(metadata["shown"]), rules=str(typed), scope=scope)
        if kind == REASON:
            message = values[REASON_BLOCK][REASON_BLOCK]["value"] or ""
            stop = bool(values[STOP_BLOCK][STOP_BLOCK]["selected_options"])
            return Submission(kind, ticket, message=str(message)[:LONGEST_MESSAGE].strip(), stop=stop)
    return None


def typed_rules(held: Held, typed: str) -> tuple[str, ...]:
    """An offered rule is saved as it was offered, not as it was shown."""
    offered = next((each.rules for each in held.suggestions if shown(each.rules).strip() == typed.strip()), None)
    return offered or tuple(each.strip() for each in typed.splitlines() if each.strip())


def shown(rules: tuple[str, ...]) -> str:
    return "\n".join(map(display.code, rules))


def fits(rules: tuple[str, ...]) -> bool:
    """Whether rules can be changed in a dialog, whole: a part of a rule is another rule."""
    return bool(rules) and sum(map(len, rules)) <= LONGEST_RULES and len(shown(rules)) <= LONGEST_RULES


def mark(rules: tuple[str, ...], scope: Scope) -> str:
    """The digest of rules whose reach was shown."""
    return hashlib.sha256("\0".join((scope.value, *rules)).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def wrong(block: str, words: str) -> dict[str, object]:
    return {"response_action": "errors", "errors": {block: excerpt.prose(words, 300)}}


def _reach_text(rules: tuple[str, ...], reach: Reach | None) -> str:
    if reach is None or not rules:
        return "Only the identical call, in the same folder, is allowed again."
    if reach.refusal:
        return f"It may not be saved: {excerpt.prose(reach.refusal, 250)}"
    text = messages.reached(reach, rules).removeprefix("; ")
    rest = "" if reach.covers else " It does not cover this call, which still runs once."
    return f"{text[:1].upper()}{text[1:]}.{rest} Allow saves it; a changed rule is shown once more."


def _others(held: Held, rules: tuple[str, ...]) -> list[Block]:
    """Alternative rules, to copy."""
    others = [each for each in held.suggestions if each.rules and each.rules != rules]
    text = "\n".join("\n".join((*each.rules, f"    {each.width}")) for each in others)
    return [blocks.context("other rules:"), blocks.preformatted(text, 1200)] if others else []


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
