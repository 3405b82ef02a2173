"""One simple command on its way from its words to what it does. Holds no logic."""

from __future__ import annotations

from assent.effects.shell.command import Arg
from assent.effects.shell.flows import Stream
from assent.effects.shell.redirects import Plumbing
from assent.effects.shell.state import ShellState, Val


class ShellJob:
    """One simple command, its words expanded, in the shell that runs it.

    `external`: no function, alias or state of this shell is in its way. `place`: as in Run. `env`: assignments
    before it. `guesses`: programs that an unknown one may be. `forfeit`: why it may not be what it seems.
    `plumbing`: its redirections."""

    __slots__ = (
        "argv",
        "state",
        "stdin",
        "taint",
        "start",
        "end",
        "source",
        "env",
        "forfeit",
        "guesses",
        "external",
        "place",
        "plumbing",
    )

    def __init__(
        self,
        argv: list[str | Arg] | tuple[str | Arg, ...],
        state: ShellState,
        stdin: Stream,
        taint: int,
        start: int,
        end: int,
        source: str,
    ) -> None:
        self.argv = argv
        self.state = state
        self.stdin = stdin
        self.taint = taint
        self.start = start
        self.end = end
        self.source = source
        self.env: list[tuple[str, Val]] = []
        self.forfeit = state.forfeit
        self.guesses: tuple[str, ...] = ()
        self.external = False
        self.place = "here"
        self.plumbing: Plumbing | None = None

    def inner(self, argv: list[str | Arg] | tuple[str | Arg, ...]) -> ShellJob:
        """A command that this one starts, without its redirections."""
        new = ShellJob(argv, self.state, self.stdin, self.taint, self.start, self.end, self.source)
        new.forfeit = self.forfeit
        new.external = self.external
        new.place = self.place
        new.env = self.env
        return new
