"""A question as text for a terminal.

INVARIANT: text of the agent goes through `display`; the only escape sequences are this module's own colours.
INVARIANT: no line is wider than the terminal: a line folded by the terminal would begin like our own text."""

from __future__ import annotations

from collections.abc import Iterable
from unicodedata import combining, east_asian_width

from assent.approval.escalation import MODE_WORDS, RULE_WORDS, Offer
from assent.contract.approval import Answer, Held, Preview, Reach, Said, Scope, Suggestion
from assent.contract.display import clip, code, lines, one_line, visible
from assent.contract.words import DENY, MESSAGE, STOP, VERBS, of_answer, of_scope, sentence

KEYS = (
    *((of_scope(scope).key, of_scope(scope).short) for scope in Scope),
    *((DENY.key, DENY.offer), MESSAGE, (STOP.key, STOP.offer)),
    ("d", "details"),
)
BOLD, DIM, RED, GREEN, YELLOW, CYAN = "1", "2", "31", "32", "33", "36"
SHOWN_LINES, SHOWN_TEXT = 40, 4000
CONTEXT = 600  # characters of all else: it must not push the command off the screen
ON = "┊"  # before a continued line


class ScreenStyle:
    """The width of the terminal, and whether it shows colour."""

    def __init__(self, width: int, colour: bool) -> None:
        self.width = max(width, 40)
        self.colour = colour

    def paint(self, text: str, *codes: str) -> str:
        return f"\x1b[{';'.join(codes)}m{text}\x1b[0m" if self.colour and codes else text


def question(held: Held, style: ScreenStyle) -> str:
    call, part = held.call, held.decision.deciding
    rows: list[tuple[str, ...]] = [
        ("does", clip(code("; ".join(held.effects)), CONTEXT) or "nothing that could be seen"),
        *(
            ("causes" if at == 0 else "", clip(visible(each.text), CONTEXT))
            for at, each in enumerate(held.consequences)
        ),
        ("why", clip(f"{code(part.reason)} [{part.code}]", CONTEXT)),
        ("rule", clip(f"{code(part.rule)}  from {part.source}", CONTEXT) if part.rule else ""),
        ("in", clip(code(call.cwd), CONTEXT)),
        ("says", f"{one_line(call.description, 300)}  (the agent's own words)" if call.description else "", DIM),
        *(("look", warning, YELLOW, BOLD) for warning in held.warnings),
    ]
    title = style.paint(
        f"  {_start(code(call.tool), style.width - 32)} {VERBS.get(held.decision.tool, 'wants to run')}", BOLD
    )
    return "\n".join([_rule(held, style), title, *preview(held.preview, style), *_table(rows, style)]) + "\n"


def _rule(held: Held, style: ScreenStyle) -> str:
    who = " · ".join(each for each in (held.call.runtime, held.project.rpartition("/")[2]) if each)
    risk = style.paint("high risk ", RED, BOLD) if held.decision.risk == "high" else ""
    title = f"── Assent asks ── {_start(who, style.width - 36)} "
    rest = "─" * max(3, style.width - sum(map(_cells, title)) - (10 if risk else 0))
    return f"\n{style.paint(title, CYAN)}{risk}{style.paint(rest, CYAN)}"


def is_cut(held: Held) -> bool:
    """Whether the question shows only a part of what would run, or of where."""
    shown, call = held.preview, held.call
    if not shown.whole or len(shown.text) > SHOWN_TEXT or shown.text.count("\n") >= SHOWN_LINES:
        return True
    return len(code(shown.text)) > SHOWN_TEXT or any(len(code(each)) > CONTEXT for each in (shown.path, call.cwd))


def whole(held: Held, style: ScreenStyle) -> str:
    """Everything that would run and where, at any length."""
    cut = "" if held.preview.whole else "it is longer than can be shown, so it cannot be allowed"
    rows = [("tool", code(held.call.tool)), ("in", code(held.call.cwd)), ("cut", cut, RED, BOLD)]
    title = style.paint(f"  all of it, {held.preview.length:,} characters:", BOLD)
    return "\n".join(["", title, *preview(held.preview, style, whole=True), *_table(rows, style)]) + "\n"


def not_whole(style: ScreenStyle) -> str:
    return "\n" + style.paint("  not all of it is shown: press v to see all of it, then answer; n denies it", YELLOW)


def preview(shown: Preview, style: ScreenStyle, *, whole: bool = False) -> list[str]:
    """The command, the diff or the input, escaped, and cut to a screen unless `whole`."""
    path = code(shown.path).replace("\n", "⏎") if whole else one_line(code(shown.path), CONTEXT)
    out = [f"    {piece}" for piece in folded(path, style.width - 5)] if shown.path else []
    text = code(shown.text).split("\n") if whole else lines(code(clip(shown.text, SHOWN_TEXT)), SHOWN_LINES)
    for line in text:
        for at, piece in enumerate(folded(line, style.width - 5)):
            painted = _diff_line(line, piece, style) if shown.kind == "diff" else style.paint(piece, BOLD)
            out.append(f"  {ON if at else ' '} {painted}")
    return out


def _diff_line(line: str, piece: str, style: ScreenStyle) -> str:
    found = {"+": GREEN, "-": RED, "@": CYAN if line.startswith("@@") else ""}.get(line[:1], "")
    return style.paint(piece, found) if found else piece


def _table(rows: Iterable[tuple[str, ...]], style: ScreenStyle) -> list[str]:
    """Rows of a label, a text and colours; those without a text are left out."""
    return [line for label, text, *codes in rows if text for line in _labelled(label, text, style, *codes)]


def _labelled(label: str, text: str, style: ScreenStyle, *codes: str) -> list[str]:
    width = max(style.width - 10, 20)
    out = [piece for line in visible(text).expandtabs(4).split("\n") for piece in folded(line, width)]
    return [style.paint(f"  {label if not at else '':<6} {line}", *codes) for at, line in enumerate(out)]


def folded(text: str, width: int) -> list[str]:
    """A line in pieces that each fit into so many cells, split at a blank where there is one. Nothing is omitted."""
    out, piece, cells, blank = [], "", 0, 0
    for each in text:
        wide = _cells(each)
        if cells + wide > width:
            at = blank if blank > width // 2 else len(piece)
            out.append(piece[:at])
            piece = piece[at:]
            cells, blank = sum(map(_cells, piece)), 0
        piece += each
        cells += wide
        blank = len(piece) if each == " " else blank
    return [*out, piece]


def _start(text: str, width: int) -> str:
    """As much of a name as fits."""
    first, *more = folded(one_line(text), width)
    return f"{first}…" if more else first


def _cells(character: str) -> int:
    wide = not character.isascii() and east_asian_width(character) in "WFA"
    return 0 if combining(character) else 2 if wide else 1


def keys(style: ScreenStyle, *, cut: bool = False) -> str:
    """The line of keys, broken if the terminal is narrow. `cut`: there is more to see."""
    out, line, length = [], "", 0
    for key, meaning in (*KEYS, ("v", "see all of it")) if cut else KEYS:
        wide = len(key) + len(meaning) + 5
        if length + wide > style.width:
            out.append(line)
            line, length = "", 0
        line += f"  {style.paint(key, BOLD, YELLOW)} {meaning} " if style.colour else f"  [{key}] {meaning}"
        length += wide
    return "\n".join(["", *out, line, "> "])


def choices(offered: tuple[Suggestion, ...], scope: Scope, style: ScreenStyle) -> str:
    out = ["", f"  {sentence(of_scope(scope).offer)}: which calls?"]
    for number, each in enumerate(offered, 1):
        first, *more = folded(one_line(code(" ; ".join(each.rules))) or "this exact call", style.width - 6)
        out.append(f"   {style.paint(str(number), BOLD)} {first}")
        out += [f"   {ON} {piece}" for piece in more]
        out += [style.paint(f"     {piece}", DIM) for piece in folded(one_line(code(each.width)), style.width - 6)]
    edit = ", r to write the rule yourself" if offered[0].rules else ""
    return "\n".join([*out, f"  1-{len(offered)}, Enter for 1{edit}, Esc to go back", "> "])


def reach(found: Reach, style: ScreenStyle) -> str:
    lines = (
        f"\n  would have matched {found.matched} of your last {found.looked_at} calls",
        style.paint(f"  {found.denied} of them you denied", YELLOW, BOLD) if found.denied else "",
        "" if found.covers else style.paint("  it does not cover this call, which still runs once", YELLOW),
        "  Enter to save, or change it; Esc to go back",
    )
    return "\n".join([*filter(None, lines), ""])


def refused(reason: str, style: ScreenStyle) -> str:
    pieces = folded(one_line(f"not saved: {reason}"), style.width - 3)
    return "\n" + "\n".join(style.paint(f"  {piece}", YELLOW) for piece in pieces) + "\n"


def prompt(label: str, typed: str, style: ScreenStyle, *, again: bool = False) -> str:
    """A line that is being typed; `again` rewrites its end in place."""
    pieces = folded(one_line(code(typed)), style.width - len(label) - 6)
    if again:
        return f"\r\x1b[K  {label}: {'…' if len(pieces) > 1 else ''}{pieces[-1]}"
    return "\n".join(f"  {ON if at else label:>{len(label)}}: {piece}" for at, piece in enumerate(pieces))


def details(held: Held, style: ScreenStyle) -> str:
    parts = [(part.outcome.word, f"{code(part.what or part.reason)} [{part.code}]") for part in held.decision.parts]
    given = "\n".join(f"{key}: {code(str(value))}" for key, value in held.call.input.items())
    return "\n".join(["", *_table([*parts, ("input", given), ("id", held.id)], style)]) + "\n"


def said(answer: Answer, style: ScreenStyle) -> str:
    return style.paint(f"  {of_answer(answer.said, answer.scope)}", GREEN if answer.said is Said.ALLOW else RED)


OFFERED = {"plan": "p", "full_auto": "f"}


def offer(given: Offer, style: ScreenStyle) -> str:
    rules = [f"   {at} {one_line(code(rule), 200)}\n     {RULE_WORDS}" for at, rule in enumerate(given.rules, 1)]
    modes = [f"   {OFFERED[mode]} {mode}\n     {MODE_WORDS[mode]}" for mode in given.modes if mode in OFFERED]
    title = [style.paint(f"  {given.words}", BOLD), "  Would another mode suit this session better?"]
    return "\n".join(["", *title, *rules, *modes, "   n leave everything as it is", "> "])
