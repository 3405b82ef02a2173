"""What a question looks like in a terminal, as text. Reads no keys and writes to no terminal.

INVARIANT: text of the agent goes through `display`; the only escape sequences are this module's own colours."""

from __future__ import annotations

from textwrap import wrap

from assent.contract.display import clip, code, lines, one_line, visible
from assent.contract.review import Answer, Held, Preview, Reach, Said, Scope, Suggestion
from assent.review.escalation import Offer

KEYS = (
    ("y", "once"),
    ("m", "15 minutes"),
    ("s", "this session"),
    ("p", "always here"),
    ("e", "everywhere"),
    ("n", "no"),
    ("t", "no, and say why"),
    ("x", "no, and stop"),
    ("d", "details"),
)
SCOPE_WORDS = {
    Scope.ONCE: "once",
    Scope.QUARTER: "for 15 minutes",
    Scope.SESSION: "for this session",
    Scope.PROJECT: "always in this project",
    Scope.EVERYWHERE: "always and everywhere",
}
BOLD, DIM, RED, GREEN, YELLOW, CYAN = "1", "2", "31", "32", "33", "36"
SHOWN_LINES, SHOWN_TEXT = 40, 4000


class Look:
    """How wide the terminal is, and whether it shows colour."""

    __slots__ = ("width", "colour")

    def __init__(self, width: int, colour: bool) -> None:
        self.width = max(width, 40)
        self.colour = colour

    def paint(self, text: str, *codes: str) -> str:
        return f"\x1b[{';'.join(codes)}m{text}\x1b[0m" if self.colour and codes else text


def question(held: Held, look: Look) -> str:
    """The whole question: who asks, what it would do, why it is asked, what to look at twice."""
    call = held.call
    out = [_rule(held, look), look.paint(f"  {visible(call.tool)} wants to run", BOLD)]
    out += preview(held.preview, look)
    out += _labelled("does", "; ".join(held.effects) or "nothing that could be seen", look)
    part = held.decision.deciding
    out += _labelled("why", f"{part.reason} [{part.code}]", look)
    if part.rule:
        out += _labelled("rule", f"{part.rule}  from {part.source}", look)
    if call.cwd:
        out += _labelled("in", call.cwd, look)
    if call.description:
        out += _labelled("says", f"{one_line(call.description, 300)}  (the agent's own words)", look, DIM)
    for warning in held.warnings:
        out += _labelled("look", warning, look, YELLOW, BOLD)
    return "\n".join(out) + "\n"


def _rule(held: Held, look: Look) -> str:
    who = " · ".join(each for each in (held.call.runtime, held.project.rpartition("/")[2]) if each)
    risk = look.paint("high risk ", RED, BOLD) if held.decision.risk == "high" else ""
    title = f"── Assent asks ── {one_line(who, 60)} "
    rest = "─" * max(3, look.width - len(title) - (10 if risk else 0))
    return f"\n{look.paint(title, CYAN)}{risk}{look.paint(rest, CYAN)}"


def preview(shown: Preview, look: Look) -> list[str]:
    """The command, the diff or the input, made inert and cut to what a screen holds."""
    out = [f"    {code(shown.path)}"] if shown.path else []
    found = lines(code(clip(shown.text, SHOWN_TEXT)), SHOWN_LINES)
    for line in found:
        painted = _diff_line(line, look) if shown.kind == "diff" else look.paint(line, BOLD)
        out.append(f"    {painted}")
    return out


def _diff_line(line: str, look: Look) -> str:
    if line.startswith("+"):
        return look.paint(line, GREEN)
    if line.startswith("-"):
        return look.paint(line, RED)
    return look.paint(line, CYAN) if line.startswith("@@") else line


def _labelled(label: str, text: str, look: Look, *codes: str) -> list[str]:
    width = max(look.width - 9, 30)
    out = [piece for line in visible(text).split("\n") for piece in wrap(line, width) or [""]]
    return [look.paint(f"  {label if not at else '':<6} {line}", *codes) for at, line in enumerate(out)]


def keys(look: Look) -> str:
    """The line of keys, broken where the terminal is narrow."""
    out, line, length = [], "", 0
    for key, meaning in KEYS:
        wide = len(key) + len(meaning) + 4
        if length + wide > look.width:
            out.append(line)
            line, length = "", 0
        line += f"  {look.paint(key, BOLD, YELLOW)} {meaning} " if look.colour else f"  [{key}] {meaning}"
        length += wide
    return "\n".join(["", *out, line, "> "])


def choices(offered: tuple[Suggestion, ...], scope: Scope, look: Look) -> str:
    """The rules that would repeat the answer."""
    out = ["", f"  Allow {SCOPE_WORDS[scope]}, and which calls?"]
    for number, each in enumerate(offered, 1):
        rules = " ; ".join(each.rules) or "this exact call"
        out.append(f"   {look.paint(str(number), BOLD)} {visible(rules)}  {look.paint(visible(each.width), DIM)}")
    edit = ", r to write the rule yourself" if offered[0].rules else ""
    return "\n".join([*out, f"  1-{len(offered)}, Enter for 1{edit}, Esc to go back", "> "])


def reach(found: Reach, look: Look) -> str:
    """How far rules would have reached, before they are saved."""
    out = [f"\n  would have matched {found.matched} of your last {found.looked_at} calls"]
    if found.denied:
        out.append(look.paint(f"  {found.denied} of them you denied", YELLOW, BOLD))
    if not found.covers:
        out.append(look.paint("  it does not cover this very call, which runs once all the same", YELLOW))
    return "\n".join([*out, "  Enter to save, or change it; Esc to go back", ""])


def refused(reason: str, look: Look) -> str:
    return "\n" + look.paint(f"  not saved: {visible(reason)}", YELLOW) + "\n"


def prompt(label: str, typed: str, *, again: bool = False) -> str:
    """A line that is being typed; `again` writes it over itself."""
    return f"{chr(13) + chr(27) + '[K' if again else ''}  {label}: {visible(typed)}"


def details(held: Held, look: Look) -> str:
    """The whole receipt and the whole input."""
    out = [""]
    for part in held.decision.parts:
        out += _labelled(part.outcome.word, f"{part.what or part.reason} [{part.code}]", look)
    out += _labelled("input", "\n".join(f"{key}: {value}" for key, value in held.call.input.items()), look)
    out += _labelled("id", held.id, look)
    return "\n".join(out) + "\n"


def said(answer: Answer, look: Look) -> str:
    """The answer, repeated."""
    match answer.said:
        case Said.ALLOW:
            return look.paint(f"  allowed {SCOPE_WORDS[answer.scope]}", GREEN)
        case Said.DENY:
            return look.paint("  denied", RED)
        case Said.STOP:
            return look.paint("  denied, and the agent is told to stop", RED)


OFFERED = {"full_auto": "f", "plan": "p"}


def offer(given: Offer, look: Look) -> str:
    """What is offered after many denials."""
    out = ["", look.paint(f"  {given.words}", BOLD), "  Would another mode suit this session better?"]
    words = {"full_auto": "full_auto: stop asking, rules still hold", "plan": "plan: let it read and plan only"}
    out += [f"   {OFFERED[mode]} {words[mode]}" for mode in given.modes if mode in OFFERED]
    out += [f"   {number} always deny {visible(rule)}" for number, rule in enumerate(given.rules, 1)]
    return "\n".join([*out, "   n leave everything as it is", "> "])
