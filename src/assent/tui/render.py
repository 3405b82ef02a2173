"""Renders questions as styled text for the widgets.

INVARIANT: all text of an agent goes through `display` first, and into Textual as text, never as markup."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from rich.cells import cell_len
from textual.content import Content

from assent.agents.capabilities import NAMES
from assent.contract import READ_ONLY, Operation, Part
from assent.contract.approval import Ending, Held, Reach, Said, Scope
from assent.contract.display import code, for_terminal, visible
from assent.contract.escapes import ESCAPE
from assent.contract.words import CALLERS, ENDINGS, TELLING, VERBS, of_answer
from assent.tui.questions import MOST_LINES, InboxQuestion

MOST_PARTS, MOST_EFFECTS, MOST_INPUT = 60, 40, 20_000
SAID = 600  # characters of the agent's own description
HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")
GRAVE = (Operation.DELETE, Operation.EXECUTE, Operation.DESTROY)
VERB_STYLES = {
    "load": "$warning",
    **{each.verb: "$accent" if each in READ_ONLY else "$error" if each in GRAVE else "$warning" for each in Operation},
}
RISKS = {"low": "$success", "medium": "$warning", "high": "$error"}
OUTCOMES = {"allow": "$success", "ask": "$warning", "deny": "$error"}


def marked(shown: str, style: str = "") -> Content:
    """Text that was made inert; the characters that were escaped in it stand out."""
    found = Content.styled(shown, style) if style else Content(shown)
    for match in ESCAPE.finditer(shown):
        found = found.stylize("bold $warning", match.start(), match.end())
    return found


def sentence(text: str, style: str = "") -> Content:
    """A sentence; what is in back-quotes is bold."""
    pieces = prose(text).split("`")
    return Content.assemble(*(marked(each, "bold" if at % 2 else style) for at, each in enumerate(pieces)))


def lines(*given: Content | None) -> Content:
    return Content("\n").join([each for each in given if each is not None])


# ---------------------------------------------------------------- code, line by line


@dataclass(frozen=True, slots=True)
class CodeLine:
    """`kind` is `add`, `del`, `same`, `hunk`, `code` or `note`; `mark` is shown before the line."""

    kind: str
    mark: str
    text: str


STYLES = {
    "add": ("$text-success on $success-muted", "$success on $success-muted"),
    "del": ("$text-error on $error-muted", "$error on $error-muted"),
    "same": ("", "$soft"),
    "hunk": ("$accent", "$accent"),
    "code": ("bold", "$soft"),
    "note": ("$warning", "$warning"),
}


def preview(question: InboxQuestion) -> list[CodeLine]:
    """The lines of the command, the diff or the input: the first ones, or all once it was opened."""
    shown = question.held.preview
    text = for_terminal(code(question.text)).split("\n")
    drawn = text if question.opened else text[:MOST_LINES]
    found = list(_diff(drawn)) if shown.kind == "diff" else list(_plain(drawn, shown.kind))
    if not question.whole:
        words = f"{len(drawn):,} lines of {shown.length:,} characters are shown"
        found.append(CodeLine("note", "…", f"cut: {words}; press w to see all of it, so that it can be allowed"))
    return found


def _plain(text: list[str], kind: str) -> Iterator[CodeLine]:
    for number, line in enumerate(text):
        yield CodeLine("code", "$" if kind == "command" and number == 0 else "", line)


def _diff(text: list[str]) -> Iterator[CodeLine]:
    # INVARIANT: every line is shown. What looks like the head of a file may be a line of one.
    old = new = 1
    for line in text:
        start = HUNK.match(line)
        if start is not None:
            old, new = int(start[1]), int(start[2])
            yield CodeLine("hunk", "", line)
        elif line.startswith("+"):
            yield CodeLine("add", f"{new} +", line[1:])
            new += 1
        elif line.startswith("-"):
            yield CodeLine("del", f"{old} -", line[1:])
            old += 1
        elif not line or line.startswith(" "):
            yield CodeLine("same", f"{new}  ", line[1:])
            old, new = old + 1, new + 1
        else:
            yield CodeLine("hunk", "", line)


def code_rows(given: list[CodeLine], width: int) -> list[Content]:
    """Lines of code in rows of one width. A row that continues a line begins with a mark."""
    edge = max((len(each.mark) for each in given), default=0)
    room = max(width - edge - 1, 8)
    rows: list[Content] = []
    for line in given:
        style, mark_style = STYLES[line.kind]
        whole = marked(line.text, style)
        for number, (start, end) in enumerate(cut(line.text, room)):
            mark = line.mark if number == 0 else "↪"
            fill = " " * (room - cell_len(line.text[start:end]))
            rows.append(Content.assemble((f"{mark:>{edge}} ", mark_style), whole[start:end], (fill, style)))
    return rows


def cut(text: str, room: int) -> Iterator[tuple[int, int]]:
    """The ranges of a line that fit in rows of so many cells."""
    start = used = 0
    for at, character in enumerate(text):
        wide = cell_len(character)
        if used + wide > room:
            yield start, at
            start, used = at, 0
        used += wide
    yield start, len(text)


# ---------------------------------------------------------------- the parts of a question


def head(question: InboxQuestion) -> Content:
    held = question.held
    call, decision = held.call, held.decision
    where = folder(held.project or call.cwd) or "no project"
    out = Content.assemble(
        (runtime(call.runtime), "bold $primary"),
        (f" {title(held)}", "bold"),
        (" in ", "$soft"),
        (where, "bold"),
    )
    badges = Content.assemble(
        (f"{flat(decision.risk, 10)} risk", f"bold {RISKS.get(decision.risk, '')}".strip()),
        (f" · {flat(decision.mode, 12)} mode", "$soft"),
        (f" · in {flat(call.cwd, 60)}" if call.cwd and call.cwd != held.project else "", "$soft"),
        (f" · session {flat(call.session, 14)}" if call.session else "", "$soft"),
        (
            " · waits behind another question, can be answered early" if question.queued and not question.over else "",
            "$accent",
        ),
    )
    return lines(out, badges)


def over(question: InboxQuestion) -> Content:
    ended = question.over
    assert ended is not None
    style = "bold $success" if ended.allowed else "bold $error"
    said = ending(ended.ending, ended.said, ended.scope, ended.allowed)
    by = ""
    if ended.who:
        by = " by you, here" if question.mine else f" by {flat(ended.who, 40)}, elsewhere"
    note = None if question.mine or not ended.reason else sentence(ended.reason, "$soft")
    mark = "✓" if ended.allowed else "✗"
    return lines(Content.assemble((f"{mark} {said}", style), (by, "$soft")), note)


def warnings(held: Held) -> Content:
    return lines(
        *(Content.assemble(("! ", "bold $warning"), sentence(each, "$text-warning")) for each in held.warnings)
    )


def says(held: Held) -> Content:
    text = held.call.description
    return marked(prose(text[:SAID]) + ("…" if len(text) > SAID else ""), "italic $soft")


def effects(held: Held) -> Content:
    if not held.effects:
        return Content.styled("no effects were found: read the text itself", "$warning")
    out = [effect(each, held.project) for each in held.effects[:MOST_EFFECTS]]
    more = len(held.effects) - MOST_EFFECTS
    return lines(*out, Content.styled(f"and {more} more", "$soft") if more > 0 else None)


def consequences(held: Held) -> Content:
    return lines(
        *(
            Content.assemble(("· ", "$warning" if each.cut else "$soft"), sentence(each.text))
            for each in held.consequences
        )
    )


def effect(text: str, project: str) -> Content:
    verb, _, rest = text.partition(" ")
    style = VERB_STYLES.get(verb)
    if style is None:
        return marked(flat(text))
    return Content.assemble((f"{verb:<8} ", f"bold {style}"), marked(flat(within(rest, project))))


def why(held: Held) -> Content:
    part = held.decision.deciding
    rule = flip = None
    if part.rule:
        source = f"  {flat(part.source, 60)}"
        rule = Content.assemble(("rule  ", "$soft"), marked(flat(part.rule, 300), "bold"), (source, "$soft"))
    if part.flip:
        flip = Content.assemble(("flips ", "$soft"), sentence(part.flip, "$soft"))
    return lines(Content.assemble(sentence(part.reason), (f"  [{flat(part.code)}]", "$soft")), rule, flip)


def receipt(held: Held) -> Content:
    """All parts, the rules that were overruled, and the raw input."""
    decision = held.decision
    out = [_part(each) for each in decision.parts[:MOST_PARTS]]
    out += [
        Content.assemble(("lost   ", "$soft"), marked(flat(rule, 200)), (f"  {flat(source, 60)}", "$soft"))
        for rule, source in decision.lost[:MOST_PARTS]
    ]
    raw = for_terminal(code(as_json(held.call.input)[:MOST_INPUT]))
    return lines(
        *out,
        Content.styled("input", "$soft"),
        marked(raw),
        Content.styled(f"id {flat(held.id)}  digest {flat(held.digest, 24)}", "$soft"),
    )


def _part(part: Part) -> Content:
    word = part.outcome.word
    place = " · ".join(flat(each, 60) for each in (part.layer.value, part.code, part.where) if each)
    return lines(
        Content.assemble((f"{word:<6} ", f"bold {OUTCOMES[word]}"), marked(flat(part.what or part.reason, 400))),
        Content.styled(f"       {place}", "$soft"),
    )


def reach(found: Reach, rules: int) -> Content:
    """What rules would have matched, before they are saved."""
    if found.refusal:
        return Content.assemble(("cannot be saved: ", "bold $error"), sentence(found.refusal, "$text-error"))
    if not rules:
        return Content("only this exact call is allowed again, in the same folder")
    if not found.looked_at:
        out = Content.styled("there are no calls in the trail yet to compare it with", "$soft")
    else:
        out = Content.assemble(
            "would have matched ",
            (f"{found.matched:,}", "bold"),
            f" of your last {plural(found.looked_at, 'call')}",
            (f", {found.denied:,} of them you denied" if found.denied else "", "bold $error"),
        )
    if found.covers:
        return out
    return lines(out, Content.styled("it does not match this call, which still runs once", "$warning"))


def flat(text: str, limit: int = 0) -> str:
    """Text of others on one line, shortened to the limit."""
    shown = for_terminal(code(text[: limit * 4 + 400] if limit else text)).replace("\n", "⏎")
    return shown if not limit or len(shown) <= limit else f"{shown[: limit - 1]}…"


def prose(text: str) -> str:
    """A sentence that may quote text of others."""
    return for_terminal(visible(text))


def runtime(name: str) -> str:
    return NAMES.get(name) or CALLERS.get(name) or flat(name, 30) or "an agent"


def folder(path: str) -> str:
    return flat(path.rstrip("/").rpartition("/")[2], 40)


def within(path: str, project: str) -> str:
    """A path relative to its project."""
    return path.removeprefix(f"{project}/") if project else path


def title(held: Held) -> str:
    return VERBS.get(held.decision.tool) or f"wants to use {flat(held.call.tool, 40)}"


def headline(held: Held, limit: int = 160) -> str:
    """The argument that says most about a call, on one line."""
    given = held.call.input
    for name in TELLING:
        value = given.get(name)
        if isinstance(value, str) and value:
            return flat(within(value, held.project), limit)
        if isinstance(value, list | tuple) and value:
            return flat(" ".join(str(each) for each in value), limit)
    return flat(as_json(given), limit) if given else flat(held.call.tool, limit)


def as_json(given: Mapping[str, object]) -> str:
    return json.dumps(given, indent=2, ensure_ascii=False, default=str)


def clock(seconds: float) -> str:
    left = max(0, int(seconds + 0.999))
    if left >= 600:
        return f"{left // 60}m"
    return f"{left // 60}:{left % 60:02}" if left >= 60 else f"{left}s"


def plural(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def ending(how: Ending, said: Said | None, scope: Scope, allowed: bool) -> str:
    if how is Ending.ANSWERED:
        if allowed or said is None:
            said = Said.ALLOW if allowed else Said.DENY
        return of_answer(said, scope)
    words = ENDINGS[how]
    return words if how is Ending.SETTLED and allowed else f"{words}; it did not run"


def next_step(code: str) -> str:
    """What to do after an answer that did not count, by the server's error code."""
    return {
        "late": "if it should still run, tell the agent to try again",
        "unknown": "if it should still run, tell the agent to try again",
        "mismatch": "",
        "not-whole": "",
        "absent": "",
        "not-allowed": "you are signed out: sign in, then answer again",
    }.get(code, "if it still waits, answer again")
