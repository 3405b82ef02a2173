"""How the demo looks in a terminal: colours only where there is one, no line wider than it. Knows nothing of calls.

INVARIANT: what agents and commands wrote goes through `display` before it comes here as text."""

from __future__ import annotations

import os
import shutil
import sys

from assent.approval.channels import screen
from assent.approval.channels.screen import folded
from assent.contract.display import code, one_line

BOLD, DIM, RED, GREEN, YELLOW, CYAN = "1", "2", "31", "32", "33", "36"
WIDEST = 96
SHOWN = 10  # lines of a result
MARKS = {"allow": ("✓", GREEN), "ask": ("?", YELLOW), "deny": ("✗", RED)}


class Look:
    """One place to print to."""

    def __init__(self, width: int, colour: bool, home: str = "") -> None:
        self._home = home
        self.screen = screen.ScreenStyle(min(width, WIDEST), colour)
        self.width = self.screen.width

    @classmethod
    def of_terminal(cls, home: str = "") -> Look:
        seen = sys.stdout.isatty()
        colour = seen and "NO_COLOR" not in os.environ and os.environ.get("TERM", "dumb") != "dumb"
        return cls(shutil.get_terminal_size().columns if seen else 80, colour, home)

    def paint(self, text: str, *codes: str) -> str:
        return self.screen.paint(text, *codes)

    def short(self, text: str) -> str:
        """Text with `~` for the long name of the scratch home."""
        return text.replace(self._home, "~") if self._home else text

    def say(self, text: str = "", *codes: str, by: str = "  ") -> None:
        """A paragraph, folded to the width."""
        for line in text.split("\n"):
            for piece in folded(line, self.width - len(by)):
                print(f"{by}{self.paint(piece.rstrip(), *codes)}".rstrip())
        sys.stdout.flush()

    def title(self, text: str, *, strong: bool = False) -> None:
        line = f"── {text} "
        print("\n" + self.paint(line + "─" * max(self.width - len(line), 2), *((BOLD, CYAN) if strong else (CYAN,))))
        sys.stdout.flush()

    def call(self, tool: str, text: str) -> None:
        """What the agent wants to do."""
        first, *more = folded(one_line(code(text), 400), self.width - len(tool) - 7)
        print(f"\n  {self.paint('▸ ' + tool, BOLD, YELLOW)}  {self.paint(first, BOLD)}")
        for piece in more:
            print(f"    {' ' * len(tool)}  {self.paint(piece, BOLD)}")
        sys.stdout.flush()

    def mark(self, outcome: str, text: str) -> None:
        sign, colour = MARKS[outcome]
        first, *more = folded(self.short(text), self.width - 5)
        print(f"  {self.paint(f'{sign} {first.rstrip()}', colour)}")
        for piece in more:
            print(f"    {self.paint(piece.rstrip(), colour)}")
        sys.stdout.flush()

    def result(self, text: str, *codes: str) -> None:
        """What came of a call, the first lines of it."""
        lines = [
            piece for line in self.short(code(text)).expandtabs(4).split("\n") for piece in folded(line, self.width - 6)
        ]
        shown = lines if len(lines) <= SHOWN else lines[: SHOWN - 1]
        for line in shown:
            print(f"    {self.paint('│', DIM)} {self.paint(line, *(codes or (DIM,)))}".rstrip())
        if len(lines) > len(shown):
            print(self.paint(f"    │ … {len(lines) - len(shown)} lines more", DIM))
        sys.stdout.flush()
