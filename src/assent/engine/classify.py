"""A model's opinion on a call that asks: whether a model may be asked, what it sees, and whether its answer counts.

Connects the scope of the policy, the digest of facts, redaction and the model, which do not know each other. Loaded
only if a model is configured and a call asks."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

from assent.approval.classifier.model import Classifier
from assent.approval.classifier.prompt import Shown
from assent.contract import READ_ONLY, Call, Kind, Lowering, Operation, Outcome, StoreError, dumps, sha256
from assent.contract.classifier import Backend, Opinion
from assent.contract.tools import ALIASES, INERT, canonical
from assent.effects import native, runtimes, shell
from assent.effects.shell import commands
from assent.engine.engine import Judged, Request
from assent.facts import digest
from assent.policy.classifier import in_scope, version
from assent.policy.floor import describe
from assent.state import human_decisions
from assent.trail import redact

if TYPE_CHECKING:
    from assent.engine.memory import Memory

TOO_LONG = "the call is too long for a model to see it whole"
VEILED = "the call has what looks like a secret; no model is shown secrets, so it would not see the call whole"
LARGEST = 200_000  # characters of a call; longer ones are never shown, not even edits
LEAST = 0.5  # minimum seconds for a try
BACKENDS = 4  # cached
FILES = READ_ONLY | {Operation.WRITE}
EDIT = "mode.write"
# Fields for an agent's comments on a call, by their names in runtimes.
COMMENTS = frozenset(
    "description explanation justification reason reasoning rationale thought thoughts thinking purpose intent "
    "toolsummary toolaction".split()
)
NO_COMMENTS = INERT | {"agent"}  # tools whose text is the action
MOST_COMMANDS = 256  # of one call, saved one by one


class Classifiers:
    """The models that one process may ask, rarely more than one."""

    def __init__(self, state: str) -> None:
        self._state = state
        self._made: dict[Backend, Classifier] = {}

    def of(self, backend: Backend) -> Classifier:
        found = self._made.get(backend)
        if found is None:
            while len(self._made) >= BACKENDS:
                self._made.pop(next(iter(self._made))).close()
            from assent.approval.classifier import model

            made = model.Classifier(backend, state=self._state, environ=dict(os.environ))
            found = self._made.setdefault(backend, made)
        return found

    def close(self) -> None:
        for each in self._made.values():
            each.close()
        self._made.clear()


class Inquiry:
    """A call that asks and that a model may judge. `id` is that of its record."""

    __slots__ = (
        "request",
        "judged",
        "started",
        "id",
        "_classifier",
        "_key",
        "_shown",
        "_digest",
        "_patience",
        "_state",
    )

    def __init__(
        self,
        request: Request,
        judged: Judged,
        classifier: Classifier,
        *,
        started: float,
        id: str,
        patience: float,
        state: str,
    ) -> None:
        call, lowering, facts, policy = request.call, judged.lowering, judged.facts, judged.policy
        assert lowering is not None and facts is not None and policy is not None  # noqa: PT018  # `may_judge` said so
        self.request = request
        self.judged = judged
        self.started = started
        self.id = id
        self._classifier = classifier
        self._state = state
        self._patience = patience
        self._shown = shown(call, judged)
        self._digest = digest.digest(without_comments(call, lowering), lowering, facts)
        key = [call.session, call.runtime, self._digest, facts.roots, facts.home, version(policy), self._shown.text]
        self._key = sha256(dumps(key).encode("ascii")).hexdigest()

    def opinion(self) -> Opinion:
        """The model's opinion. Never raises."""
        if (early := self._early()) is not None:
            return early
        try:
            return self._classifier.ask(self._key, self._shown, self._left())
        except Exception as error:  # a fault costs a question to a person
            return self._none("fault", f"an internal error while asking: {type(error).__name__}")

    async def awaited(self) -> Opinion:
        """The same on an event loop. Raises only CancelledError."""
        if (early := self._early()) is not None:
            return early
        try:
            return await self._classifier.asked(self._key, self._shown, self._left())
        except Exception as error:  # as above
            return self._none("fault", f"an internal error while asking: {type(error).__name__}")

    def holds(self, again: Judged) -> bool:
        """Whether a call judged again is still the one that the model judged, and may be judged by a model."""
        if again.lowering is None or again.facts is None or not may_judge(again):
            return False
        call = self.request.call
        if digest.digest(without_comments(call, again.lowering), again.lowering, again.facts) != self._digest:
            return False
        try:
            return not human_decisions.has(self._state, call.session, names(call, again.lowering))
        except StoreError:
            return False

    def _left(self) -> float:
        return self._patience - (time.perf_counter() - self.started)

    def _early(self) -> Opinion | None:
        """An opinion without asking: a cached one, or why the model is not asked."""
        known = self._classifier.known(self._key)
        if known is not None:
            return known
        unseen = _unseen(self._shown, self.judged)
        if unseen is not None:
            return self._none(*unseen)
        return self._none("hurry", "there was no time left to ask the model") if self._left() < LEAST else None

    def _none(self, error: str, reason: str) -> Opinion:
        return Opinion(False, reason, self._classifier.backend.model, error=error)


def inquire(memory: Memory, request: Request, judged: Judged, started: float, id: str) -> Inquiry | None:
    """The question to the model; None if it is not asked about this call. Never raises."""
    call, backend = request.call, request.engine.settings.classifier
    if backend is None or not may_judge(judged):
        return None
    try:
        if _length(call.input) > LARGEST or human_decisions.has(
            memory.state, call.session, names(call, judged.lowering)
        ):
            return None
        classifier, patience = memory.classifiers.of(backend), min(request.patience or backend.timeout, backend.timeout)
        return Inquiry(request, judged, classifier, started=started, id=id, patience=patience, state=memory.state)
    except Exception:  # a fault costs a question to a person
        return None


def may_judge(judged: Judged) -> bool:
    """Whether a model may be asked about a decision."""
    lowering, facts, policy = judged.lowering, judged.facts, judged.policy
    if lowering is None or facts is None or policy is None or judged.decision.outcome is not Outcome.ASK:
        return False
    return in_scope(lowering, facts, policy, judged.decision)


def asked_a_person(state: str, call: Call, lowering: Lowering | None = None) -> None:
    """Note that a person was asked about a call: no model is asked about it in this session any more. Raises
    StoreError."""
    human_decisions.note(state, call.session, names(call, lowering))


def names(call: Call, lowering: Lowering | None = None) -> tuple[str, ...]:
    """The names that a person's answer is final for: the identical call, and each of its commands that does more than
    read, so that other spacing, comments or more commands do not reach a model again. `lowering` is the engine's, if
    known."""
    found = {digest.identity(call): None}
    try:
        lowering = lowering or native.lower(call, _read)
    except Exception:  # only its identity is known, and a person is asked anyway
        return tuple(found)
    busy = {each.invocation for each in lowering.effects if each.operation not in READ_ONLY}
    for index, each in enumerate(lowering.invocations[:MOST_COMMANDS]):
        if index in busy or lowering.gaps:
            found[sha256(dumps(["command", each.words, each.cwds]).encode("ascii")).hexdigest()] = None
    return tuple(found)


def without_comments(call: Call, lowering: Lowering | None) -> Call:
    """The call without the agent's comments. In a tool named by the agent's author they may have a meaning, unless it
    is declared as a shell."""
    tool = canonical(call.tool)
    named = not call.runtime or runtimes.is_known(call.runtime)
    known = named and tool in ALIASES.values() and tool not in NO_COMMENTS
    if not known and not (lowering is not None and _is_declared_shell(lowering)):
        return call
    kept = {key: each for key, each in call.input.items() if str(key).lower().replace("_", "") not in COMMENTS}
    return call if len(kept) == len(call.input) else call.but(input=kept)


def _is_declared_shell(lowering: Lowering) -> bool:
    if lowering.tool != "bash" or not lowering.invocations:
        return False
    return any(each.target.kind is Kind.TOOL and each.operation is Operation.READ for each in lowering.effects)


def _read(call: Call, text: str) -> Lowering:
    return shell.lower(text, cwd=call.cwd, home=call.home, shell=call.shell, tables=commands.shipped)


def shown(call: Call, judged: Judged) -> Shown:
    """The call as the model sees it, without secrets and without the agent's comments."""
    lowering = judged.lowering
    given = dict(without_comments(call, lowering).input)
    effects = dict.fromkeys(map(describe, lowering.effects)) if lowering is not None else {}
    asks = dict.fromkeys(part.reason for part in judged.decision.parts if part.outcome is Outcome.ASK)
    kept, tool, cwd = redact.mapping(given), redact.text(call.tool), redact.text(call.cwd)
    from assent.approval.classifier import prompt

    return prompt.shown(
        tool,
        kept,
        veiled=(kept, tool, cwd) != (redact.mapping(given, clean=True), call.tool, call.cwd),
        lengths={"": _length(given), **{key: len(each) for key, each in given.items() if isinstance(each, str)}},
        cwd=cwd,
        roots=[redact.text(each) for each in (judged.facts.roots if judged.facts is not None else ())],
        effects=[redact.text(each) for each in effects],
        reasons=[redact.text(each) for each in asks],
    )


def unseen(call: Call, judged: Judged) -> tuple[str, str] | None:
    """Why the model is not asked about a call that it cannot see whole: a code and a sentence."""
    return ("long", TOO_LONG) if _length(call.input) > LARGEST else _unseen(shown(call, judged), judged)


def _unseen(shown: Shown, judged: Judged) -> tuple[str, str] | None:
    """INVARIANT: the model sees everything that runs. An agent can make code look like a secret to hide it."""
    if (shown.whole and not shown.veiled) or _only_edits(judged):
        return None
    return ("secret", VEILED) if shown.veiled else ("long", TOO_LONG)


def _length(given: Mapping[str, object]) -> int:
    try:
        return len(dumps(given, ascii=False, default=str))
    except (TypeError, ValueError, RecursionError):
        return len(repr(given))


def _only_edits(judged: Judged) -> bool:
    """Whether a call only writes named files of the workspace: its effect is known without the whole content, and mode
    `auto` allows as much."""
    lowering = judged.lowering
    if lowering is None or lowering.invocations or not lowering.effects:
        return False
    asks = (part.code for part in judged.decision.parts if part.outcome is Outcome.ASK)
    return all(code == EDIT for code in asks) and all(
        each.target.kind is Kind.PATH and each.operation in FILES for each in lowering.effects
    )
