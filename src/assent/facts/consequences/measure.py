"""Which consequences of a call are measured, and measuring them before a deadline. Decides nothing.

INVARIANT: measuring never raises and never exceeds its time: a measurement that hangs, as on a mount, is abandoned."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from assent.contract import READ_ONLY, Call, Facts, Invocation, Kind, Lowering
from assent.contract.approval import Consequence
from assent.facts.consequences import arguments, deletions, history, installs, pushes, rows, uploads
from assent.facts.consequences.deadline import Deadline
from assent.facts.consequences.words import say

MOST = 12  # consequences in one prompt
MOST_COMMANDS = 20
ORDER = "order"
_QUICK = frozenset({ORDER, arguments.KIND})  # measured from the call alone
_NATIVE = frozenset("bash read write delete move list search fetch agent".split())  # whose arguments are shown whole
_ABANDONED = 4  # measurements that may hang at once; then no other is started
_OWN = 0.8  # the share of the time after which measurements end themselves; the rest is for them to notice

Measurement = tuple[str, Callable[[Deadline], Iterator[Consequence]]]
_hanging: list[object] = []  # threads that did not end in time


def plan(call: Call, lowering: Lowering, facts: Facts) -> list[Measurement]:
    """What to measure of a call. Reads nothing but its arguments."""
    found: list[Measurement] = []
    deletion = deletions.deleted(lowering, facts)
    if deletion:
        found.append((deletions.KIND, _bound(deletions.measure, deletion, facts)))
    for index in uploads.commands(lowering):
        found.append((uploads.KIND, _bound(uploads.measure, index, lowering)))
    for index, command in list(enumerate(lowering.invocations))[:MOST_COMMANDS]:
        found += _of_command(index, command, lowering, facts)
    changing = {each.invocation for each in lowering.effects if each.operation not in READ_ONLY}
    if found and len(changing) > 1:
        found.append((ORDER, lambda _: iter((say(ORDER, "order"),))))
    if lowering.tool not in _NATIVE and not lowering.invocations and call.input:
        found.append((arguments.KIND, lambda _: arguments.measure(call.input)))
    return found


def _of_command(index: int, command: Invocation, lowering: Lowering, facts: Facts) -> Iterator[Measurement]:
    effects = [each for each in lowering.effects if each.invocation == index]
    if command.program == "git" and command.subcommand[:1] == ("push",):
        yield pushes.KIND, _bound(pushes.measure, command, _git_folder(command, index, lowering), facts)
    elif command.program == "git" and command.subcommand[:1] and command.subcommand[0] in history.DROPPING:
        trees = [each.target.name for each in effects if each.target.kind is Kind.TREE]
        if trees or command.subcommand[0] in ("reset", "rebase", "clean") or "--amend" in command.flags:
            folder = _git_folder(command, index, lowering)
            for tree in trees or [""]:
                yield history.KIND, _bound(history.measure, command, tree, folder, facts)
    elif any("install" in each.dangers for each in effects):
        yield installs.KIND, _bound(installs.measure, command, _folder(command), facts)
    elif command.program in rows.PROGRAMS and "-readonly" not in command.words:
        yield rows.KIND, _bound(rows.measure, command, _folder(command), facts)


def _bound(take: Callable[..., Iterator[Consequence]], *given: object) -> Callable[[Deadline], Iterator[Consequence]]:
    """A measurement with all arguments but its deadline. `functools` would cost a hook more to load."""
    return lambda deadline: take(*given, deadline)


def _folder(command: Invocation) -> str:
    return command.cwds[0] if len(command.cwds) == 1 else ""


def _git_folder(command: Invocation, index: int, lowering: Lowering) -> str:
    """The folder that git runs in, by its effects: `-C` may change it."""
    for effect in lowering.effects:
        if effect.invocation == index and effect.target.kind in (Kind.TREE, Kind.HOOKS):
            return effect.target.name.partition(":")[2]
        if effect.invocation == index and effect.target.kind is Kind.REPOSITORY:
            return effect.target.name
    return "" if {"-C", "--git-dir", "--work-tree"} & command.flags else _folder(command)


def measure(planned: list[Measurement], seconds: float) -> tuple[Consequence, ...]:
    """The consequences, as far as they could be measured in this time."""
    import threading  # only prompts need it

    _hanging[:] = [each for each in _hanging if isinstance(each, threading.Thread) and each.is_alive()]
    if len(_hanging) >= _ABANDONED:
        return (say("failed", "late", cut=True),)
    until = time.monotonic() + seconds
    run = _Run(planned, Deadline(seconds * _OWN))
    thread = threading.Thread(target=run.work, name="assent-consequences", daemon=True)
    thread.start()
    thread.join(max(0.0, until - time.monotonic()))
    if thread.is_alive():
        _hanging.append(thread)
    return run.result(ended=not thread.is_alive())


class _Run:
    """Measurements, one after the other; the results so far can be taken at any time."""

    def __init__(self, planned: list[Measurement], deadline: Deadline) -> None:
        self.planned = planned
        self.deadline = deadline
        self.found: list[Consequence] = []

    def work(self) -> None:
        for at, (kind, take) in enumerate(self.planned):
            # Each gets a share of the remaining time, so that a long one leaves time for the others.
            others = sum(1 for other, _ in self.planned[at + 1 :] if other not in _QUICK)
            deadline = self.deadline.part(1 / (1 + others))
            try:
                for each in take(deadline):
                    self.found.append(each)
            except Exception as error:  # a fault costs a line of the prompt, never the prompt
                self.found.append(say(kind, "failed", what=_DOES[kind], why=type(error).__name__))
            if len(self.found) >= MOST:
                return

    def result(self, *, ended: bool) -> tuple[Consequence, ...]:
        found = list(dict.fromkeys(self.found[:MOST]))
        if not ended:
            found.append(say("failed", "late", cut=True))
        return tuple(found)


_DOES = {
    deletions.KIND: "removes",
    uploads.KIND: "sends",
    pushes.KIND: "pushes",
    history.KIND: "drops",
    installs.KIND: "installs",
    rows.KIND: "changes",
    arguments.KIND: "names",
    ORDER: "changes",
}
