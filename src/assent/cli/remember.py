"""`assent remember`: turns calls that were allowed in agent programs' own dialogs into rules that a person may save.

Such a dialog has no *always* of ours, so the same question comes again. It cannot show offers of another mode either,
so they are shown here."""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import dataclass

from assent.approval.escalation import MODE_WORDS, DenialTracker, Offer, SavedTally
from assent.cli.command import flag, one_of, place, refuse_agents, takes, typed
from assent.contract import AssentError, Call, Decision, Outcome, PayloadError
from assent.contract.approval import Grant, Reach, Scope, Suggestion
from assent.contract.display import one_line
from assent.engine import configure, journal, questions
from assent.engine.engine import Engine, Request
from assent.engine.memory import Memory
from assent.facts import digest
from assent.gate import CallGate
from assent.hook.replies import DIALOG
from assent.policy import grants, rule_width, suggest
from assent.trail import query
from assent.trail.entries import TrailEntry

Files = tuple[tuple[str, str], ...]

DESCRIPTION = (
    "Turn calls that you allowed in agent programs' own dialogs into rules. Shows what each rule would have matched, "
    "and saves the ones that you choose. Also shows offers of another mode, which are made after many denials."
)
EPILOG = "Without a terminal it only lists them."
MOST_RECORDS = 6000  # of the trail that are read
SCOPES = {scope.value: scope for scope in Scope if scope.bounds.lasting}
REDACTED = "‹redacted: "
OFFER_KEYS = {"plan": "p", "full_auto": "f"}
arguments = takes(
    {
        "--scope": one_of(tuple(SCOPES), "where a rule applies (default: project)", default="project"),
        "--list": flag("list what can be remembered, and stop"),
    }
)


@dataclass(frozen=True, slots=True)
class Proposal:
    """Rules that would have settled `times` of the questions. `decision` is of one of them; `files` are those that its
    call runs, as they are now."""

    suggestion: Suggestion
    project: str
    decision: Decision
    shown: str
    reach: Reach
    files: Files
    times: int


def run(options: argparse.Namespace) -> int:
    here, scope = place(), SCOPES[options.scope]
    memory, tally = Memory(here.state), SavedTally(here.state)
    offers, found = tally.offers(), proposals(memory, here.home, scope)
    if not found:
        print("nothing that you allowed in a dialog can be saved as a rule")
    for number, each in enumerate(found, 1):
        show(number, each)
    if options.list or not sys.stdin.isatty():
        for offer in offers:
            show_offer(offer)
    elif found or offers:
        refuse_agents(here.state, "nothing is saved")
        for offer in offers:
            print(put_offer(memory, tally, offer))
        for number in chosen(len(found)) if found else ():
            save(memory, found[number - 1], scope)
    return 0


# ---------------------------------------------------------------- what was allowed


def allowed(folder: str) -> list[TrailEntry]:
    """The questions that were answered with yes in a dialog, the newest first."""
    ids: set[str] = set()
    found: list[TrailEntry] = []
    for entry in query.read(folder, newest_first=True, limit=MOST_RECORDS):
        kind, id = entry.text("kind"), entry.text("id")
        if kind == "answer" and (entry.text("channel"), entry.text("outcome")) == (DIALOG, "allow"):
            ids.add(id)
        elif kind == "decision" and id in ids:
            found.append(entry)
    return found


def proposals(memory: Memory, home: str, scope: Scope) -> list[Proposal]:
    """What can be saved, the most frequent first. Questions that would not be asked any more are left out."""
    gates: dict[str, tuple[Engine, configure.Place] | None] = {}
    found: dict[tuple[str, tuple[str, ...]], Proposal] = {}
    for entry in allowed(memory.trail.folder):
        project = entry.text("project")
        if project not in gates:
            gates[project] = _gate(project)
        opened = gates[project]
        if opened is None:
            continue
        for suggestion, decision, shown, files in suggested(memory, *opened, entry, scope):
            key = (project if scope.bounds.project else "", suggestion.rules)
            known = found.get(key)
            folder, rules = memory.trail.folder, suggestion.rules
            reach = known.reach if known else questions.past_reach(folder, opened[0], rules, home=home)
            files = tuple(dict.fromkeys((*(known.files if known else ()), *files)))
            times = known.times + 1 if known else 1
            found[key] = Proposal(suggestion, project, decision, shown, reach, files, times)
    return sorted(found.values(), key=lambda each: -each.times)


def _gate(project: str) -> tuple[Engine, configure.Place] | None:
    try:
        return configure.open_gate(place(project), os.environ) if project.startswith("/") else None
    except AssentError:
        return None


def suggested(
    memory: Memory, gate: Engine, here: configure.Place, entry: TrailEntry, scope: Scope
) -> list[tuple[Suggestion, Decision, str, Files]]:
    """The rules for one past question that may be saved, if it would still be asked."""
    given = entry.fields.get("input")
    if not isinstance(given, dict) or REDACTED in entry.text("input"):  # the trail does not hold the call itself
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
    files = tuple(pair for pairs in digest.running(judged.lowering, judged.facts).values() for pair in pairs)
    savable = (each for each in offers if each.rules and not rule_width.unsavable(each.rules, scope, decision))
    return [(each, decision, shown, files) for each in savable]


# ---------------------------------------------------------------- showing and saving rules


def show(number: int, each: Proposal) -> None:
    reach = each.reach
    denied = f", {reach.denied} of them denied by a person" if reach.denied else ""
    print(f"{number:3}  {one_line(' ; '.join(each.suggestion.rules), 110)}")
    print(f"     {each.suggestion.width}; allowed {each.times} times, as for `{one_line(each.shown, 70)}`")
    print(f"     matches {reach.matched} of the last {reach.looked_at} calls{denied}; in {one_line(each.project)}")


def chosen(count: int) -> list[int]:
    """The numbers that the person types."""
    words = typed("\nnumbers to remember, nothing for none> ").replace(",", " ").split()
    if not all(word.isdigit() and 1 <= int(word) <= count for word in words):
        raise PayloadError(f"type numbers from 1 to {count}; nothing was saved")
    return list(dict.fromkeys(int(word) for word in words))


def save(memory: Memory, each: Proposal, scope: Scope) -> None:
    """Save the rules as a grant, after it is recorded."""
    now = memory.clock()
    grant = Grant(
        journal.new_id(),
        scope,
        rules=each.suggestion.rules,
        answers=grants.answered(each.decision),
        project=each.project if scope.bounds.project else "",
        made=now,
        who=memory.who,
        channel="terminal",
        shown=one_line(each.shown, 120),
        files=each.files,
    )
    memory.trail.append(journal.of_grant(grant, time=now))
    memory.grants.add(grant)
    print(f"remembered: {one_line(' ; '.join(grant.rules))}; `assent grants revoke {grant.id[:8]}` revokes it")


# ---------------------------------------------------------------- offers of another mode


def show_offer(offer: Offer) -> None:
    print(f"{one_line(offer.runtime, 40) or 'a program'}, session {one_line(offer.session, 60)}: {offer.words}")
    for mode in offer.modes:
        if mode in OFFER_KEYS:
            print(f"  {OFFER_KEYS[mode]}  {mode}: {MODE_WORDS[mode]}")


def put_offer(memory: Memory, tally: SavedTally, offer: Offer) -> str:
    """Ask the person about one offer; return what changed. Raises StoreError if it cannot be recorded."""
    show_offer(offer)
    key = typed("  p, f, n to keep the mode, nothing to decide later> ").lower()
    mode = next((each for each in offer.modes if OFFER_KEYS.get(each) == key), "")
    if not mode and key != "n":
        return "nothing was changed"
    if not tally.drop(offer):
        return "this offer is not open any more; nothing was changed"
    session = (offer.runtime, offer.session)
    if not mode:
        tally.change(session, DenialTracker.rejected, known=True)
        memory.record(journal.of_offer(offer, time=memory.clock(), rejected=True, who=memory.who, channel="terminal"))
        return "nothing was changed"
    memory.choose_mode(offer.session, mode, who=memory.who, channel="terminal")
    tally.change(session, DenialTracker.accepted, known=True)
    return f"the mode of this session is now `{mode}`"
