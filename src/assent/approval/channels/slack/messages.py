"""A question as a message of Slack, and how it ended. Pure: posts nothing and decides nothing.

INVARIANT: text of the agent goes through `display`, and into elements that Slack does not read: see `blocks`."""

from __future__ import annotations

import time

from assent.approval.channels import excerpt, remote
from assent.approval.channels.slack import blocks
from assent.approval.channels.slack.blocks import Block
from assent.approval.commands import ELSEWHERE, NOWHERE
from assent.contract import words
from assent.contract.approval import Ending, Held, Preview, Reach, Resolution, Scope, Suggestion
from assent.contract.tools import canonical

SCOPES = {f"assent_{scope.value}": scope for scope in remote.SCOPES}
ONCE, *_ = SCOPES
WIDER = {name: scope for name, scope in SCOPES.items() if scope is not Scope.ONCE}
DENY, EDIT, WHY = "assent_deny", "assent_edit", "assent_why"
MOST_EFFECTS, MOST_WARNINGS = 12, 8
LINE, BESIDE = 250, 600  # characters of what stands beside it: in a list, in a paragraph
TOOL, FOLDER = 60, 130  # characters of the tool's name, of a folder
OVER = 700  # characters of what was asked, once it is answered
SNIPPET = 100_000  # characters of a change as a file


class Message:
    """What is posted: blocks, and the words of the notification."""

    __slots__ = ("blocks", "text")

    def __init__(self, made: list[Block], text: str) -> None:
        self.blocks = made
        self.text = text


def question(
    held: Held, ticket: str, *, deadline: float, behind: int = 0, reach: Reach | None = None, soon: bool = False
) -> Message:
    """The question with its buttons. `ticket` comes back with whatever is pressed. `soon`: its end is near.

    INVARIANT: drawn again, it has the same blocks in the same places: no button moves below somebody's finger."""
    high = "High risk: " if held.decision.risk == "high" else ""
    found = [blocks.header(f"{high}{_title(held)}"), blocks.context(_place(held), _risk(held))]
    if held.warnings:
        found.append(_labelled("Look twice"))
        warned = [excerpt.prose(each, LINE) for each in held.warnings[:MOST_WARNINGS]]
        found.append(blocks.bullets([*warned, *_rest(len(held.warnings) - MOST_WARNINGS)]))
    found += _preview(held.preview)
    found += [_labelled("What it does"), blocks.bullets(_effects(held))]
    part = held.decision.deciding
    found.append(_labelled("Why it asks", f"{excerpt.code(part.reason, BESIDE)} [{part.code}]"))
    if part.rule:
        found.append(_labelled("Rule", f"{excerpt.code(part.rule, BESIDE)}  from {excerpt.flat(part.source, LINE)}"))
    if held.call.description:
        found.append(_labelled("The agent says", excerpt.prose(held.call.description, BESIDE).replace("\n", "⏎")))
    found += _remembered(held, reach)
    found.append(_until(deadline, behind, soon))
    found += [{"type": "actions", "elements": each} for each in _buttons(held, ticket, reach)]
    return Message(found, blocks.notified(f"{_title(held)}: {held.preview.text}"))


def over(held: Held, resolution: Resolution) -> Message:
    """What is left of a question that has ended: what was asked, and what came of it. Nothing to press."""
    told = ended(resolution)
    found = [
        blocks.header(told),
        blocks.context(_title(held), _place(held)),
        blocks.preformatted(held.preview.path or held.preview.text, OVER),
    ]
    if not resolution.allowed and resolution.answer is not None and resolution.answer.message:
        found.append(_labelled("The agent is told", excerpt.prose(resolution.answer.message, BESIDE)))
    return Message(found, blocks.notified(f"{told}: {_title(held)}"))


def stale() -> Message:
    """A message of a question that nobody knows any more."""
    told = "This question is over: nothing was decided by pressing here"
    return Message([blocks.header("Over"), blocks.section(told)], told)


def ended(resolution: Resolution) -> str:
    """How a question ended, in a line."""
    answer = resolution.answer
    by = f" by {excerpt.flat(answer.who, 60)}" if answer is not None and answer.who else ""
    by += f", in {excerpt.flat(answer.channel, 30)}" if answer is not None and answer.channel else ""
    if resolution.ending is Ending.ANSWERED and answer is not None:
        if resolution.allowed:
            return f"{words.sentence(words.of_scope(answer.scope).done)}{by}"
        return f"{words.sentence(words.of_answer(answer.said, answer.scope))}{by}"
    if resolution.allowed:
        return f"Allowed: {words.of_ending(resolution.ending)}{by}"
    return f"Denied: {words.of_ending(resolution.ending)}"


def is_cut(held: Held) -> bool:
    """Whether a message shows a part only of what would run, or of what it does."""
    shown = held.preview
    return not shown.whole or _beside_is_cut(held) or not excerpt.fits(shown.text, blocks.CODE)


def is_too_long(held: Held) -> bool:
    """Whether Slack shows it whole nowhere, neither in the message nor in the thread."""
    return is_cut(held) and not (held.preview.whole and excerpt.fits(held.preview.text, SNIPPET))


def snippet(held: Held) -> str:
    """All of it, where the message has only a part; else `""`."""
    if not is_cut(held):
        return ""
    text = excerpt.code(held.preview.text, SNIPPET)
    if not _beside_is_cut(held):
        return text
    for title, name in (("Tool", held.call.tool), ("File", held.preview.path), ("In", held.call.cwd)):
        if name:
            text += f"\n\n{title}: {excerpt.code(name, SNIPPET)}"
    for title, each in (("What it does", held.effects), ("Look twice", held.warnings)):
        if each:
            told = "\n".join(f"  {line}" for line in each)
            text += f"\n\n{title}:\n{excerpt.code(told, SNIPPET)}"
    return text


def bare(held: Held, ticket: str) -> Message:
    """What is left where Slack does not take the question as it is: it can be denied, and is looked at elsewhere."""
    told = "Slack does not take this question as it is. Look at it on Assent's page, and answer there."
    made = [
        blocks.header(_title(held)),
        blocks.section(told),
        {"type": "actions", "elements": [blocks.button("Deny", DENY, ticket, style="danger")]},
    ]
    return Message(made, blocks.notified(_title(held)))


def offered(held: Held) -> Suggestion | None:
    """The rules that are remembered first, None where no answer to this is remembered."""
    return held.suggestions[0] if held.suggestions else None


def pressed(held: Held) -> Suggestion | None:
    """The rules that a press remembers: none but those that the message shows whole."""
    found = offered(held)
    return found if found is None or excerpt.fits(_written(found), BESIDE) else None


# ---------------------------------------------------------------- its parts


def _title(held: Held) -> str:
    who = excerpt.flat(held.call.runtime, 40) or "An agent"
    verb = words.VERBS.get(canonical(held.call.tool)) or f"wants to use {excerpt.flat(held.call.tool, TOOL)}"
    return f"{who} {verb}"


def _place(held: Held) -> str:
    folder = excerpt.flat(held.project or held.call.cwd, FOLDER)
    session = excerpt.flat(held.call.session, 20)
    where = f"in {folder}" if folder else "in no project"
    beside = held.call.cwd and held.call.cwd != held.project
    at = f" · at {excerpt.flat(held.call.cwd, FOLDER)}" if beside else ""
    return f"{where}{at}{f' · session {session}' if session else ''}"


def _risk(held: Held) -> str:
    return f"{held.decision.risk} risk · {held.decision.mode} mode"


def _labelled(label: str, text: str = "") -> Block:
    pieces = [blocks.words(f"{label}: " if text else label, bold=True)]
    return blocks.line(*pieces, *([blocks.words(text)] if text else []))


def _preview(preview: Preview) -> list[Block]:
    found = []
    if preview.path:
        found.append(_labelled("File", excerpt.flat(preview.path, BESIDE)))
    found.append(blocks.preformatted(preview.text))
    if not preview.whole or not excerpt.fits(preview.text, blocks.CODE):
        found.append(blocks.context(f"cut: {preview.length:,} characters in all; more of it is in the thread"))
    return found


def _beside_is_cut(held: Held) -> bool:
    """Whether where it runs, what it does, or what to look at twice, is not all in the message."""
    call, limits = held.call, ((held.call.tool, TOOL), (held.preview.path, BESIDE), (held.call.cwd, FOLDER))
    if not all(excerpt.fits(text, limit) for text, limit in limits) or not excerpt.fits(
        held.project or call.cwd, FOLDER
    ):
        return True
    if len(held.effects) > MOST_EFFECTS or len(held.warnings) > MOST_WARNINGS:
        return True
    return not all(excerpt.fits(each, LINE) for each in (*held.effects, *held.warnings))


def _rest(left: int) -> list[str]:
    return [f"and {left} more, in the thread"] if left > 0 else []


def _effects(held: Held) -> list[str]:
    found = [excerpt.code(each, LINE) for each in held.effects[:MOST_EFFECTS]]
    found += _rest(len(held.effects) - MOST_EFFECTS)
    return found or ["nothing that could be seen: look at the text itself"]


def _remembered(held: Held, reach: Reach | None) -> list[Block]:
    """What the buttons beside "once" would remember."""
    if is_too_long(held):
        return [blocks.context(f"too long for Slack: {ELSEWHERE if held.preview.whole else NOWHERE}")]
    found = offered(held)
    if found is None:
        return [blocks.context("no answer to this is remembered: it can be allowed once")]
    if pressed(held) is None:
        return [blocks.context("a rule for this is too long for a message: Edit the rule… shows it, or the page does")]
    rules = excerpt.flat(_written(found), BESIDE) or "this exact call, in the same folder"
    told = f"{rules}  ({excerpt.prose(found.width, LINE)})" if found.rules else rules
    return [_labelled(f"{' and '.join(map(_label, WIDER.values()))} remember", f"{told}{reached(reach, found.rules)}")]


def _label(scope: Scope) -> str:
    return words.sentence(words.of_scope(scope).short)


def _written(found: Suggestion) -> str:
    return " ; ".join(found.rules)


def reached(reach: Reach | None, rules: tuple[str, ...]) -> str:
    """How far rules would have reached, to stand behind them."""
    if reach is None or not rules:
        return ""
    if reach.refusal:
        return f", which may not be saved: {excerpt.prose(reach.refusal, LINE)}"
    told = f"; would have matched {reach.matched} of your last {reach.looked_at} calls"
    return f"{told}, {reach.denied} of which you denied" if reach.denied else told


def _until(deadline: float, behind: int, soon: bool) -> Block:
    fallback = time.strftime("%H:%M:%S UTC", time.gmtime(deadline))
    rest = f" · {behind} more wait behind it" if behind else ""
    return blocks.line(
        blocks.words(
            "⏳ In less than a minute denied, unless answered by " if soon else "Denied unless it is answered by "
        ),
        blocks.moment(deadline, fallback),
        blocks.words(f"{rest} "),
    )


def _buttons(held: Held, ticket: str, reach: Reach | None) -> list[list[Block]]:
    """The first row answers, the second opens dialogs. What is risky, or not whole in the message, is asked about once
    more; what Slack shows whole nowhere can be denied only."""
    if is_too_long(held):
        return [[blocks.button("Deny", DENY, ticket, style="danger"), blocks.button("Deny, say why…", WHY, ticket)]]
    high = held.decision.risk == "high"
    risky = high or is_cut(held)
    title = "High risk" if high else "Not all of it is shown"
    where = " The rest is in the thread." if is_cut(held) else ""
    sure = blocks.confirmation(title, f"You have read what would run, and want it to run?{where}", "Allow it")
    first = [
        blocks.button(
            words.sentence(words.of_scope(Scope.ONCE).offer),
            ONCE,
            ticket,
            style="primary",
            confirm=sure if risky else None,
        )
    ]
    savable = pressed(held) is not None and not (reach is not None and reach.refusal)
    if savable:
        wider = blocks.confirmation(
            title, f"Calls like this one would run without being asked about?{where}", "Allow them"
        )
        first += [
            blocks.button(_label(scope), name, ticket, confirm=wider if risky else None)
            for name, scope in WIDER.items()
        ]
    first.append(blocks.button("Deny", DENY, ticket, style="danger"))
    second = [blocks.button("Deny, say why…", WHY, ticket)]
    found = offered(held)
    if found is not None and found.rules:
        second.insert(0, blocks.button("Edit the rule…", EDIT, ticket))
    return [first, second]
