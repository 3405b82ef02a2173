"""The end of the demo: what became of each call in words, how many of which kind, and the proof of the trail."""

from __future__ import annotations

import os

from assent.agents import settings
from assent.contract import Outcome, Value
from assent.contract.display import code, one_line
from assent.demo.look import BOLD, DIM, GREEN, RED, Look
from assent.demo.workspace import Place
from assent.tools import Result
from assent.trail.verify import verify


class Done(Value):
    """A call and what came of it."""

    __slots__ = ("tool", "shown", "result")

    def __init__(self, tool: str, shown: str, result: Result) -> None:
        self.tool = tool
        self.shown = shown
        self.result = result


def told(done: Result) -> tuple[str, str]:
    """What became of a call: allow or deny, and why, on one line."""
    verdict = done.verdict
    if verdict is None:
        return "deny", "not run: the call makes no sense"
    end, part = verdict.resolution, verdict.decision.deciding
    if end is None:
        why = f"{one_line(code(part.reason), 200)} [{part.code}]"
        return ("allow", f"allowed at once: {why}") if verdict.allowed else ("deny", f"stopped: {why}")
    who = f" by {one_line(end.answer.who, 40)} ({one_line(end.answer.channel, 20)})" if end.answer is not None else ""
    if verdict.allowed:
        return "allow", f"asked, and allowed{who}"
    return (
        "deny",
        f"asked, and denied{who}" if end.answer is not None else f"asked, and denied: {one_line(end.reason, 120)}",
    )


def show(look: Look, place: Place, calls: list[Done]) -> int:
    """Sum up; the exit status is 1 where the trail does not hold."""
    look.title("What happened", strong=True)
    for each in calls:
        outcome, _ = told(each.result)
        by_person = each.result.verdict is not None and each.result.verdict.resolution is not None
        look.mark(outcome, f"{each.tool:5} {each.shown}{'  (asked)' if by_person else ''}")
    print()
    verdicts = [each.result.verdict for each in calls if each.result.verdict is not None]
    asked = [each for each in verdicts if each.decision.outcome is Outcome.ASK]
    yes = sum(each.allowed is True for each in asked)
    at_once = sum(each.allowed is True for each in verdicts) - yes
    stopped = sum(each.decision.outcome is Outcome.DENY for each in verdicts)
    look.say(f"{at_once:3}  allowed at once", GREEN)
    look.say(f"{len(asked):3}  asked: {yes} allowed, {len(asked) - yes} denied", BOLD)
    look.say(f"{stopped:3}  stopped by rules, the floor or the mode; nobody was asked", RED)
    print()
    found = verify(os.path.join(place.state, "audit"))
    if found.fault is not None:
        look.say(f"the trail does not hold: {one_line(str(found.fault))}", RED)
    else:
        look.say(
            f"The trail holds: {found.lines} records, each chained to the one before, proved to {found.hash[:16]}…"
        )
    look.say(f"kept in {place.folder}" if place.keep else "The scratch folder is removed.", DIM)
    print()
    first, *more = settings.RUNTIMES
    look.say(f"Put it before your own agent:  assent install {first}   (or {', '.join(more[:3])}…)", BOLD)
    return 0 if found.fault is None else 1
