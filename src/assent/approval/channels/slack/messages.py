"""A question as a message of Slack, and how it ended. Pure: posts nothing and decides nothing.

INVARIANT: text of the agent goes through `display`, and into elements that Slack does not read: see `blocks`."""

from __future__ import annotations

import time
from dataclasses import dataclass

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
LINE, PARAGRAPH = 250, 600  # characters of its context: in a list, in a paragraph
TOOL, FOLDER = 60, 130  # characters of the tool's name, of a folder
OVER = 700  # characters of an answered question
SNIPPET = 100_000  # characters of a change as a file


@dataclass(frozen=True, slots=True)
class Message:
    blocks: list[Block]
    text: str


def question(
    held: Held, ticket: str, *, deadline: float, behind: int = 0, reach: Reach | None = None, soon: bool = False
) -> Message:
    """The question with its buttons. `ticket` comes back with each press. `soon`: its end is near.

    INVARIANT: redrawn, it has the same blocks in the same places: no button moves under a finger."""
    part, risk = held.decision.deciding, f"{held.decision.risk} risk · {held.decision.mode} mode"
    high = "High risk: " if held.decision.risk == "high" else ""
    warned = [excerpt.prose(each, LINE) for each in held.warnings[:MOST_WARNINGS]]
    rule = f"{excerpt.code(part.rule, PARAGRAPH)}  from {excerpt.flat(part.source, LINE)}"
    says = excerpt.prose(held.call.description, PARAGRAPH).replace("\n", "⏎")
    rest = _rest(len(held.warnings) - MOST_WARNINGS)
    found = [
        blocks.header(f"{high}{_title(held)}"),
        blocks.context(_place(held), risk),
        *([_labelled("Look twice"), blocks.bullets([*warned, *rest])] if warned else []),
        *_preview(held.preview),
        _labelled("What it does"),
        blocks.bullets(_effects(held)),
        *([_labelled("What it would cause"), blocks.bullets(_consequences(held))] if held.consequences else []),
        _labelled("Why it asks", f"{excerpt.code(part.reason, PARAGRAPH)} [{part.code}]"),
        *([_labelled("Rule", rule)] if part.rule else []),
        *([_labelled("The agent says", says)] if held.call.description else []),
        *_remembered(held, reach),
        _until(deadline, behind, soon),
        *({"type": "actions", "elements": each} for each in _buttons(held, ticket, reach)),
    ]
    return Message(found, blocks.notified(f"{_title(held)}: {held.preview.text}"))


def over(held: Held, resolution: Resolution) -> Message:
    """A question that has ended: what was asked, and how it ended. No buttons."""
    text = ended(resolution)
    found = [
        blocks.header(text),
        blocks.context(_title(held), _place(held)),
        blocks.preformatted(held.preview.path or held.preview.text, OVER),
    ]
    if not resolution.allowed and resolution.answer is not None and resolution.answer.message:
        found.append(_labelled("Message to the agent", excerpt.prose(resolution.answer.message, PARAGRAPH)))
    return Message(found, blocks.notified(f"{text}: {_title(held)}"))


def stale() -> Message:
    """For the message of an unknown question."""
    text = "This question is over: nothing was decided by pressing here"
    return Message([blocks.header("Over"), blocks.section(text)], text)


def ended(resolution: Resolution) -> str:
    answer = resolution.answer
    by = f" by {excerpt.flat(answer.who, 60)}" if answer is not None and answer.who else ""
    by += f", in {excerpt.flat(answer.channel, 30)}" if answer is not None and answer.channel else ""
    if resolution.ending is Ending.ANSWERED and answer is not None:
        done = words.of_scope(answer.scope).done if resolution.allowed else words.of_answer(answer.said, answer.scope)
        return f"{words.sentence(done)}{by}"
    if resolution.allowed:
        return f"Allowed: {words.ENDINGS[resolution.ending]}{by}"
    return f"Denied: {words.ENDINGS[resolution.ending]}"


def is_cut(held: Held) -> bool:
    """Whether a message shows only a part of the call or of its effects."""
    shown = held.preview
    return not shown.whole or _context_is_cut(held) or not excerpt.fits(shown.text, blocks.CODE)


def is_too_long(held: Held) -> bool:
    """Whether Slack can show it whole neither in the message nor in the thread."""
    return is_cut(held) and not (held.preview.whole and excerpt.fits(held.preview.text, SNIPPET))


def snippet(held: Held) -> str:
    """The whole text, if the message has only a part; else `""`."""
    if not is_cut(held):
        return ""
    text = excerpt.code(held.preview.text, SNIPPET)
    if not _context_is_cut(held):
        return text
    names = (("Tool", held.call.tool), ("File", held.preview.path), ("In", held.call.cwd))
    caused = tuple(each.text for each in held.consequences)
    lists = (("What it does", held.effects), ("What it would cause", caused), ("Look twice", held.warnings))
    lines = [(title, "\n".join(f"  {line}" for line in each)) for title, each in lists]
    return "\n\n".join(
        [
            text,
            *(f"{title}: {excerpt.code(name, SNIPPET)}" for title, name in names if name),
            *(f"{title}:\n{excerpt.code(listed, SNIPPET)}" for title, listed in lines if listed),
        ]
    )


def bare(held: Held, ticket: str) -> Message:
    """For a question that Slack does not accept: it can be denied here, and answered in other channels."""
    text = "Slack does not accept this question. Read and answer it on Assent's page."
    deny = {"type": "actions", "elements": [blocks.button("Deny", DENY, ticket, style="danger")]}
    return Message([blocks.header(_title(held)), blocks.section(text), deny], blocks.notified(_title(held)))


def offered(held: Held) -> Suggestion | None:
    """The first rules to save, None if no answer to this can be saved."""
    return held.suggestions[0] if held.suggestions else None


def pressed(held: Held) -> Suggestion | None:
    """The rules that a press saves: only those that the message shows whole."""
    found = offered(held)
    return found if found is None or excerpt.fits(_written(found), PARAGRAPH) else None


# ---------------------------------------------------------------- its parts


def _title(held: Held) -> str:
    who = excerpt.flat(held.call.runtime, 40) or "An agent"
    verb = words.VERBS.get(canonical(held.call.tool)) or f"wants to use {excerpt.flat(held.call.tool, TOOL)}"
    return f"{who} {verb}"


def _place(held: Held) -> str:
    folder = excerpt.flat(held.project or held.call.cwd, FOLDER)
    session = excerpt.flat(held.call.session, 20)
    where = f"in {folder}" if folder else "in no project"
    apart = held.call.cwd and held.call.cwd != held.project
    at = f" · at {excerpt.flat(held.call.cwd, FOLDER)}" if apart else ""
    return f"{where}{at}{f' · session {session}' if session else ''}"


def _labelled(label: str, text: str = "") -> Block:
    pieces = [blocks.words(f"{label}: " if text else label, bold=True)]
    return blocks.line(*pieces, *([blocks.words(text)] if text else []))


def _preview(preview: Preview) -> list[Block]:
    cut = not preview.whole or not excerpt.fits(preview.text, blocks.CODE)
    note = f"cut: {preview.length:,} characters in all; more of it is in the thread"
    return [
        *([_labelled("File", excerpt.flat(preview.path, PARAGRAPH))] if preview.path else []),
        blocks.preformatted(preview.text),
        *([blocks.context(note)] if cut else []),
    ]


def _context_is_cut(held: Held) -> bool:
    """Whether the folder, the effects or the warnings are not complete in the message."""
    call, lines = held.call, (*held.effects, *(each.text for each in held.consequences), *held.warnings)
    names = ((call.tool, TOOL), (held.preview.path, PARAGRAPH), (call.cwd, FOLDER), (held.project or call.cwd, FOLDER))
    texts = (*names, *((each, LINE) for each in lines))
    many = max(len(held.effects), len(held.consequences)) > MOST_EFFECTS or len(held.warnings) > MOST_WARNINGS
    return many or not all(excerpt.fits(text, limit) for text, limit in texts)


def _rest(left: int) -> list[str]:
    return [f"and {left} more, in the thread"] if left > 0 else []


def _effects(held: Held) -> list[str]:
    found = [excerpt.code(each, LINE) for each in held.effects[:MOST_EFFECTS]]
    found += _rest(len(held.effects) - MOST_EFFECTS)
    return found or ["nothing that could be seen: look at the text itself"]


def _consequences(held: Held) -> list[str]:
    found = [excerpt.prose(each.text, LINE) for each in held.consequences[:MOST_EFFECTS]]
    return [*found, *_rest(len(held.consequences) - MOST_EFFECTS)]


def _remembered(held: Held, reach: Reach | None) -> list[Block]:
    if is_too_long(held):
        return [blocks.context(f"too long for Slack: {ELSEWHERE if held.preview.whole else NOWHERE}")]
    found = offered(held)
    if found is None:
        return [blocks.context("this can only be allowed once")]
    if pressed(held) is None:
        return [blocks.context("a rule for this is too long for a message: Edit the rule… shows it, or the page does")]
    rules = excerpt.flat(_written(found), PARAGRAPH) or "this exact call, in the same folder"
    text = f"{rules}  ({excerpt.prose(found.width, LINE)})" if found.rules else rules
    return [_labelled(f"{' and '.join(map(_label, WIDER.values()))} remember", f"{text}{reached(reach, found.rules)}")]


def _label(scope: Scope) -> str:
    return words.sentence(words.of_scope(scope).short)


def _written(found: Suggestion) -> str:
    return " ; ".join(found.rules)


def reached(reach: Reach | None, rules: tuple[str, ...]) -> str:
    """The past reach of rules, as text after them."""
    if reach is None or not rules:
        return ""
    if reach.refusal:
        return f", which may not be saved: {excerpt.prose(reach.refusal, LINE)}"
    text = f"; would have matched {reach.matched} of your last {reach.looked_at} calls"
    return f"{text}, {reach.denied} of which you denied" if reach.denied else text


def _until(deadline: float, behind: int, soon: bool) -> Block:
    fallback = time.strftime("%H:%M:%S UTC", time.gmtime(deadline))
    rest = f" · {behind} more wait behind it" if behind else ""
    return blocks.line(
        blocks.words(
            "⏳ Denied in less than a minute, unless it is answered by "
            if soon
            else "Denied, unless it is answered by "
        ),
        blocks.moment(deadline, fallback),
        blocks.words(f"{rest} "),
    )


def _buttons(held: Held, ticket: str, reach: Reach | None) -> list[list[Block]]:
    """The first row answers, the second opens dialogs. A risky call, or one not whole in the message, needs a
    confirmation; one that Slack cannot show whole can only be denied."""
    if is_too_long(held):
        return [[blocks.button("Deny", DENY, ticket, style="danger"), blocks.button("Deny, say why…", WHY, ticket)]]
    high = held.decision.risk == "high"
    risky = high or is_cut(held)
    title = "High risk" if high else "Not all of it is shown"
    where = " The rest is in the thread." if is_cut(held) else ""
    sure = blocks.confirmation(title, f"Have you read what would run, and do you want it to run?{where}", "Allow it")
    first = [
        blocks.button(
            words.sentence(words.of_scope(Scope.ONCE).offer),
            ONCE,
            ticket,
            style="primary",
            confirm=sure if risky else None,
        )
    ]
    if pressed(held) is not None and not (reach is not None and reach.refusal):
        wider = blocks.confirmation(title, f"Let calls like this one run without asking?{where}", "Allow them")
        first += [
            blocks.button(_label(scope), name, ticket, confirm=wider if risky else None)
            for name, scope in WIDER.items()
        ]
    first.append(blocks.button("Deny", DENY, ticket, style="danger"))
    second = [blocks.button("Deny, say why…", WHY, ticket)]
    if (found := offered(held)) is not None and found.rules:
        second.insert(0, blocks.button("Edit the rule…", EDIT, ticket))
    return [first, second]
