"""When a model that fails is left alone: after some failures in a row, for a while. Asks nobody.

Kept in a small file of Assent's own, since a hook is a process for each call. Where that cannot be read or written, the
model is simply asked again: every failure costs time and a question, never an answer."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable
from time import time

from assent.contract import StoreError
from assent.state.files import held, read, replace_text, state_folder

FILE = "breaker.json"
FAILURES = 5  # in a row
REST = 60.0  # seconds
_LARGEST = 4096


class Breaker:
    """The failures of one backend in a row. `of` names the backend: another one starts anew. Without `state` none are
    counted."""

    def __init__(self, state: str, of: str, *, clock: Callable[[], float] = time) -> None:
        self._state = state
        self._path = os.path.join(state, FILE)
        self._of = of
        self._clock = clock

    def rests(self) -> float:
        """For how many seconds nobody is to be asked; 0 where somebody is."""
        if not self._state:
            return 0.0
        _, until = self._read()
        left = until - self._clock()
        return left if 0 < left <= REST else 0.0  # a clock that was set back does not keep it shut

    def failed(self) -> None:
        """Count a failure; the last one of several begins a rest, and after it each one more."""
        self._change(lambda failures: failures + 1)

    def worked(self) -> None:
        """An answer came."""
        if self._read()[0]:
            self._change(lambda _: 0)

    def _change(self, count: Callable[[int], int]) -> None:
        if not self._state:
            return
        try:
            state_folder(self._state)
            with held(f"{self._path}.lock"):
                failures = count(self._read()[0])
                until = self._clock() + REST if failures >= FAILURES else 0.0
                replace_text(self._path, json.dumps({"of": self._of, "failures": failures, "until": until}))
        except (OSError, StoreError):
            return

    def _read(self) -> tuple[int, float]:
        try:
            found = json.loads(read(self._path, _LARGEST)[0])
            if found["of"] != self._of:
                return 0, 0.0
            failures, until = int(found["failures"]), float(found["until"])
        except (OSError, ValueError, TypeError, KeyError, ArithmeticError):
            return 0, 0.0
        return (failures, until) if math.isfinite(until) else (0, 0.0)
