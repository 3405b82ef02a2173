"""A project, a gate that asks a function, and the tools behind it."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from assent import Gate, Held
from assent.tools import Result, Toolset

Said = Callable[[Held], bool]


class World:
    def __init__(self, folder: Path, *, mode: str = "auto", deny: Sequence[str] = (), ask: Sequence[str] = ()) -> None:
        self.project = folder / "project"
        (self.project / "src").mkdir(parents=True)
        self.outside = folder / "outside"
        self.outside.mkdir()
        self.asked: list[Held] = []
        self.said: Said = lambda _: True
        self.gate = Gate(
            str(self.project),
            mode=mode,
            files=False,
            deny=deny,
            ask=ask,
            state=str(folder / "state"),
            channels=[self._answer],
        )
        self.tools = Toolset(self.gate, str(self.project), hidden=["HIDDEN_KEY"])

    def _answer(self, held: Held) -> bool:
        self.asked.append(held)
        return self.said(held)

    def file(self, name: str, text: str = "") -> Path:
        path = self.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def call(self, name: str, **given: object) -> Result:
        return self.tools.call_sync(name, given)

    def told(self, name: str, **given: object) -> tuple[str, bool]:
        done = self.call(name, **given)
        return done.text.replace(str(self.project), "PROJECT").replace(str(self.outside), "OUTSIDE"), done.error

    def commands(self) -> list[object]:
        return [each.call.input.get("command") for each in self.asked]

    def close(self) -> None:
        self.tools.close()
        self.gate.close()


def alive(number: int) -> bool:
    """Whether a process still runs; one that only waits to be noticed does not."""
    try:
        os.kill(number, 0)
        state = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return False
    return state != "Z"
