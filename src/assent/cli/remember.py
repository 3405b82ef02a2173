"""`assent remember`: yeses given in agent programs' own dialogs, as rules that a person may save. Saves none by itself.

Such a dialog has no *always* of ours: the same question comes again. Here a person looks at what was answered, and
ticks what shall hold."""

from __future__ import annotations

import argparse
import os
import sys

from assent.approval.escalation import SavedTally
from assent.cli import remember_offers
from assent.contract import AccessError, AssentError, Call, Decision, Outcome, PayloadError, Value
from assent.contract.approval import Grant, Reach, Scope, Suggestion
from assent.contract.display import one_line
from assent.engine import configure, history, journal
from assent.engine.engine import Engine
from assent.engine.memory import Memory
from assent.engine.request import Request
from assent.facts import digest
from assent.gate import CallGate
from assent.hook.replies import DIALOG
from assent.policy import grants as granting
from assent.policy import rule_width, suggest
from assent.server import peers
from assent.state import hosts
from assent.trail import query
from assent.trail.entries import TrailEntry

Files = tuple[tuple[str, str], ...]

DESCRIPTION = (
    "Turn yeses that were given in agent programs' own dialogs into rules. Shows how far each reaches; a person ticks "
    "the ones to keep. Also puts the offers of another mode that wait after many noes."
)
EPILOG = "Without a terminal it only lists them."
LINES = 6000  # records of the trail that are looked at
SCOPES = {scope.value: scope for scope in Scope if scope.bounds.lasting}
HIDDEN = "‹redacted: "


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--scope", choices=tuple(SCOPES), default="project", help="where a rule shall hold")
    parser.add_argument("--list", action="store_true", help="show what could be remembered, and stop")


class Proposal(Value):
    """Rules that would have settled some of the yeses. `times` is how often, `decision` one of those questions, `files`
    what its call runs, as it is now."""

    __slots__ = ("suggestion", "project", "decision", "shown", "times", "reach", "files")

    def __init__(
        self,
        suggestion: Suggestion,
        project: str,
        decision: Decision,
        shown: str,
        times: int,
        reach: Reach,
        files: Files = (),
    ) -> None:
        self.suggestion = suggestion
        self.project = project
        self.decision = decision
        self.shown = shown
        self.times = times
        self.reach = reach
        self.files = files


def run(options: argparse.Namespace) -> int:
    here = configure.place(os.getcwd(), os.environ)
    memory = Memory(here.state)
    scope = SCOPES[options.scope]
    tally = SavedTally(here.state)
    offers, found = tally.offers(), proposals(memory, here.home, scope)
    if not found:
        print("no yes in a dialog is left that a rule could repeat")
    for number, each in enumerate(found, 1):
        show(number, each)
    asks = not options.list and sys.stdin.isatty()
    if not asks:
        remember_offers.show(offers)
    if not asks or not (found or offers):
        return 0
    why = peers.why_no_person(os.getpid(), hosts.names(here.state))
    if why:
        raise AccessError(f"nothing is saved: {why}; run it in a terminal of your own", code="no-person")
    for offer in offers:
        print(remember_offers.put(memory, tally, offer))
    for number in ticked(len(found)) if found else ():
        save(memory, found[number - 1], scope)
    return 0


# ---------------------------------------------------------------- what was answered


def answered(folder: str) -> list[TrailEntry]:
    """The questions that were answered with yes in a dialog, the newest first."""
    ids: set[str] = set()
    found: list[TrailEntry] = []
    for entry in query.read(folder, newest_first=True, limit=LINES):
        kind, id = entry.text("kind"), entry.text("id")
        if kind == "answer" and (entry.text("channel"), entry.text("outcome")) == (DIALOG, "allow"):
            ids.add(id)
        elif kind == "decision" and id in ids:
            found.append(entry)
    return found


def proposals(memory: Memory, home: str, scope: Scope) -> list[Proposal]:
    """What could be saved, the most often answered first; what is settled by now is left out."""
    gates: dict[str, tuple[Engine, configure.Place] | None] = {}
    found: dict[tuple[str, tuple[str, ...]], Proposal] = {}
    for entry in answered(memory.trail.folder):
        project = entry.text("project")
        if project not in gates:
            gates[project] = _gate(project)
        opened = gates[project]
        if opened is None:
            continue
        for suggestion, decision, shown, files in suggested(memory, *opened, entry, scope):
            key = (project if scope.bounds.project else "", suggestion.rules)
            known = found.get(key)
            times = known.times + 1 if known else 1
            reach = known.reach if known else history.reach(memory.trail.folder, opened[0], suggestion.rules, home=home)
            files = tuple(dict.fromkeys((*(known.files if known else ()), *files)))
            found[key] = Proposal(suggestion, project, decision, shown, times, reach, files)
    return sorted(found.values(), key=lambda each: -each.times)


def _gate(project: str) -> tuple[Engine, configure.Place] | None:
    if not project.startswith("/"):
        return None
    try:
        return configure.open_gate(configure.place(project, os.environ), os.environ)
    except AssentError:
        return None


def suggested(
    memory: Memory, gate: Engine, here: configure.Place, entry: TrailEntry, scope: Scope
) -> list[tuple[Suggestion, Decision, str, Files]]:
    """The rules for one past question that may be saved, if it would still be asked."""
    given = entry.fields.get("input")
    if not isinstance(given, dict) or HIDDEN in entry.text("input"):  # the trail does not hold the call itself
        return []
    call = Call(
        entry.text("tool"),
        given,
        cwd=entry.text("cwd"),
        roots=here.roots,
        home=here.home,
        runtime=entry.text("runtime"),
    )
    judged = CallGate(memory).judge(Request(gate, call, here.project))
    decision = judged.decision
    if decision.outcome is not Outcome.ASK or not (judged.lowering and judged.facts and judged.policy):
        return []
    offers = suggest.suggest_rules(judged.lowering, judged.facts, judged.policy, decision)
    shown = str(given.get("command") or given.get("file_path") or entry.text("tool"))
    running = digest.running(judged.lowering, judged.facts)
    files = tuple(pair for pairs in running.values() for pair in pairs)
    savable = (each for each in offers if each.rules and not rule_width.unsavable(each.rules, scope, decision))
    return [(each, decision, shown, files) for each in savable]


# ---------------------------------------------------------------- showing and saving


def show(number: int, each: Proposal) -> None:
    reach = each.reach
    denied = f", {reach.denied} of them denied by a person" if reach.denied else ""
    print(f"{number:3}  {one_line(' ; '.join(each.suggestion.rules), 110)}")
    print(f"     {each.suggestion.width}; {each.times} yes, as for `{one_line(each.shown, 70)}`")
    print(f"     of the last {reach.looked_at} calls it speaks of {reach.matched}{denied}; in {one_line(each.project)}")


def ticked(count: int) -> list[int]:
    """The numbers that a person types."""
    try:
        typed = input("\nnumbers to remember, nothing for none> ").replace(",", " ").split()
    except EOFError:
        return []
    if not all(word.isdigit() and 1 <= int(word) <= count for word in typed):
        raise PayloadError(f"type numbers from 1 to {count}; nothing was saved")
    return list(dict.fromkeys(int(word) for word in typed))


def save(memory: Memory, each: Proposal, scope: Scope) -> None:
    """Keep the rules as a grant, on record first."""
    now = memory.clock()
    grant = Grant(
        journal.new_id(),
        scope,
        rules=each.suggestion.rules,
        answers=granting.answered(each.decision),
        project=each.project if scope.bounds.project else "",
        made=now,
        who=memory.who,
        channel="terminal",
        shown=one_line(each.shown, 120),
        files=each.files,
    )
    memory.trail.append(journal.of_grant(grant, time=now))
    memory.grants.add(grant)
    print(f"remembered: {one_line(' ; '.join(grant.rules))}; `assent grants revoke {grant.id[:8]}` takes it back")
