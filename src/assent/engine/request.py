"""What an entry passes to the gate, and what it gets back before a person is asked."""

from __future__ import annotations

from collections.abc import Callable

from assent.contract import Call, Outcome, Value
from assent.engine.engine import Engine, Judged
from assent.facts.links import Links


class Request:
    """A call at the gate. `host_mode` is the mode of the program that makes the call; `headless`: nobody can answer.
    `reopen` gives the engine by the files after a model was asked, `patience` is the time in seconds for asking it
    (0: no limit). `moment`: as in Engine."""

    __slots__ = ("engine", "call", "project", "host_mode", "headless", "reopen", "patience", "moment")

    def __init__(
        self,
        engine: Engine,
        call: Call,
        project: str,
        *,
        host_mode: str = "",
        headless: bool = False,
        reopen: Callable[[], Engine] | None = None,
        patience: float = 0.0,
        moment: Links | None = None,
    ) -> None:
        self.engine = engine
        self.call = call
        self.project = project
        self.host_mode = host_mode
        self.headless = headless
        self.reopen = reopen
        self.patience = patience
        self.moment = moment


class Settled(Value):
    """A call's decision after grants and classifier, as it was recorded under `id`. An ask still waits for a person."""

    __slots__ = ("judged", "id")

    def __init__(self, judged: Judged, id: str) -> None:
        self.judged = judged
        self.id = id

    @property
    def outcome(self) -> Outcome:
        return self.judged.decision.outcome
