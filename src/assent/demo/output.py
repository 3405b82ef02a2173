"""Prints the demo: each call and its end, and the summary with the check of the trail.

INVARIANT: what agents and commands wrote goes through `display` before it is printed."""

from __future__ import annotations

import os
import shutil
import sys
from collections import Counter
from dataclasses import dataclass

from assent.agents import settings
from assent.approval.channels.screen import ScreenStyle, folded
from assent.contract import Outcome
from assent.contract.display import code, one_line
from assent.demo.script import ScratchFolder
from assent.tools import Result
from assent.trail.verify import verify

BOLD, DIM, RED, GREEN, YELLOW, CYAN = "1", "2", "31", "32", "33", "36"
WIDEST = 96
MOST_LINES = 10  # of a result
MARKS = {"allow": ("✓", GREEN), "deny": ("✗", RED)}


class DemoOutput(ScreenStyle):
    """Standard output: colours only in a terminal, no line wider than it, `~` for the scratch home."""

    def __init__(self, home: str) -> None:
        terminal = sys.stdout.isatty()
        colour = terminal and "NO_COLOR" not in os.environ and os.environ.get("TERM", "dumb") != "dumb"
        super().__init__(min(shutil.get_terminal_size().columns if terminal else 80, WIDEST), colour)
        self._home = home

    def say(self, text: str = "", *codes: str, indent: str = "  ") -> None:
        """Print a paragraph, folded to the width."""
        for line in text.split("\n"):
            for piece in folded(line, self.width - len(indent)):
                print(f"{indent}{self.paint(piece.rstrip(), *codes)}".rstrip(), flush=True)

    def title(self, text: str, *, bold: bool = False) -> None:
        line = f"── {text} "
        codes = (BOLD, CYAN) if bold else (CYAN,)
        print("\n" + self.paint(line + "─" * max(self.width - len(line), 2), *codes), flush=True)

    def call(self, tool: str, text: str) -> None:
        first, *more = folded(one_line(code(text), 400), self.width - len(tool) - 7)
        print(f"\n  {self.paint('▸ ' + tool, BOLD, YELLOW)}  {self.paint(first, BOLD)}", flush=True)
        for piece in more:
            print(f"    {' ' * len(tool)}  {self.paint(piece, BOLD)}", flush=True)

    def mark(self, outcome: str, text: str) -> None:
        sign, colour = MARKS[outcome]
        first, *more = folded(text.replace(self._home, "~"), self.width - 5)
        print(f"  {self.paint(f'{sign} {first.rstrip()}', colour)}", flush=True)
        for piece in more:
            print(f"    {self.paint(piece.rstrip(), colour)}", flush=True)

    def result(self, text: str) -> None:
        """Print the first lines of what a call returned."""
        given = code(text).replace(self._home, "~").expandtabs(4).split("\n")
        lines = [piece for line in given for piece in folded(line, self.width - 6)]
        shown = lines if len(lines) <= MOST_LINES else lines[: MOST_LINES - 1]
        for line in shown:
            print(f"    {self.paint('│', DIM)} {self.paint(line, DIM)}".rstrip(), flush=True)
        if len(lines) > len(shown):
            print(self.paint(f"    │ … {len(lines) - len(shown)} more lines", DIM), flush=True)


@dataclass(frozen=True, slots=True)
class FinishedCall:
    tool: str
    shown: str
    result: Result


def ended(done: Result) -> tuple[str, str]:
    """How a call ended: `allow` or `deny`, and why, on one line."""
    verdict = done.verdict
    if verdict is None:
        return "deny", "not run: the call is not valid"
    end, part = verdict.resolution, verdict.decision.deciding
    if end is None:
        why = f"{one_line(code(part.reason), 200)} [{part.code}]"
        return ("allow", f"allowed at once: {why}") if verdict.allowed else ("deny", f"stopped: {why}")
    if end.answer is None:
        return "deny", f"asked, and denied: {one_line(end.reason, 120)}"
    who = f"by {one_line(end.answer.who, 40)} ({one_line(end.answer.channel, 20)})"
    return ("allow", f"asked, and allowed {who}") if verdict.allowed else ("deny", f"asked, and denied {who}")


def summarize(output: DemoOutput, scratch: ScratchFolder, calls: list[FinishedCall]) -> int:
    """Print the summary; return 1 if the trail is not intact."""
    output.title("What happened", bold=True)
    verdicts = [each.result.verdict for each in calls]
    for each, verdict in zip(calls, verdicts, strict=True):
        asked = verdict is not None and verdict.resolution is not None
        output.mark(ended(each.result)[0], f"{each.tool:5} {each.shown}{'  (asked)' if asked else ''}")
    print()
    counts = Counter((each.decision.outcome, each.allowed) for each in verdicts if each is not None)
    yes, no = counts[Outcome.ASK, True], counts[Outcome.ASK, False]
    output.say(f"{counts[Outcome.ALLOW, True]:3}  allowed at once", GREEN)
    output.say(f"{yes + no:3}  asked: {yes} allowed, {no} denied", BOLD)
    output.say(f"{counts[Outcome.DENY, False]:3}  stopped by rules, the floor or the mode; nobody was asked", RED)
    print()
    found = verify(os.path.join(scratch.state, "audit"))
    if found.fault is not None:
        output.say(f"the trail is not intact: {one_line(str(found.fault))}", RED)
    else:
        output.say(
            f"The trail is intact: {found.lines} records, each chained to the one before; hash {found.hash[:16]}…"
        )
    output.say(f"kept in {scratch.folder}" if scratch.keep else "The scratch folder is removed.", DIM)
    print()
    first, *more = settings.RUNTIMES
    output.say(f"Put it before your own agent:  assent install {first}   (or {', '.join(more[:3])}…)", BOLD)
    return 0 if found.fault is None else 1
