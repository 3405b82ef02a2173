"""A call as the proofs of packs see it: its effects, the workspace and the history of its session."""

from __future__ import annotations

import os
from collections.abc import Container, Iterator

from assent.contract import Effect, Invocation, Kind, Lowering, Operation, Pattern
from assent.facts.code import replaced
from assent.facts.links import Links
from assent.facts.session_history import SessionHistory
from assent.state.files import read

LONGEST = 16 * 1024 * 1024  # bytes of a file that is read
_ASSIGNS = Pattern(
    r"(?:^|[;&|({\n`!]|\b(?:export|env|declare|typeset|local|readonly|then|do|else|time|command|exec|nohup|sudo)\b)"
    r"(?:\s+-\S+)*\s*[A-Za-z_]\w*(?:\[[^]]*\])?\+?="
)
_HARMLESS = Pattern(r"\b(?:CI|NODE_ENV|NO_COLOR|FORCE_COLOR|DOCKER_BUILDKIT|HUSKY|TERM)=\w*\s+")
RUN = (Kind.PROGRAM, Kind.PATH)


class PackCall:
    """A call and its workspace. `history` is that of the call's session."""

    __slots__ = ("lowering", "roots", "home", "links", "history")

    def __init__(
        self, lowering: Lowering, roots: tuple[str, ...], home: str, links: Links, history: SessionHistory
    ) -> None:
        self.lowering = lowering
        self.roots = roots
        self.home = home
        self.links = links
        self.history = history

    def is_inside(self, path: str) -> bool:
        """Whether a canonical path lies below a root of the workspace."""
        return any(path.startswith(root.rstrip("/") + "/") for root in self.roots)

    def commands(self, programs: Container[str]) -> Iterator[tuple[int, Invocation]]:
        """The commands of these programs that are literal in the call itself, each in one known folder of the
        workspace; none if the call sets variables, which any of them may obey."""
        if self._sets_variables():
            return
        for index, command in enumerate(self.lowering.invocations):
            if command.program not in programs or not command.literal or command.forfeit or len(command.cwds) != 1:
                continue
            if command.within >= 0:
                continue
            folder = self.links.canonical(command.cwds[0]) if command.cwds[0] else ""
            if folder and (folder in self.roots or self.is_inside(folder)):
                yield index, command

    def _sets_variables(self) -> bool:
        reads = any(each.program in (".", "source", "eval") for each in self.lowering.invocations)
        return reads or _ASSIGNS.search(_HARMLESS.sub("", self.lowering.text)) is not None

    def runs(self, index: int, dangers: Container[str]) -> list[Effect]:
        """The EXECUTE effects of a command; nothing if one has other marks than these."""
        found = []
        for effect in self.lowering.effects:
            if effect.invocation != index or effect.operation is not Operation.EXECUTE:
                continue
            if effect.target.kind in RUN:
                if any(mark not in dangers for mark in effect.dangers):
                    return []
                found.append(effect)
        return found

    def runs_before(self, index: int, fine: Container[int]) -> bool:
        """Whether code that runs earlier in the call may change the files that a command uses."""
        if self.lowering.job:
            return True
        return any(
            effect.operation is Operation.EXECUTE
            and effect.target.kind in RUN
            and effect.invocation < index
            and effect.invocation not in fine
            and index not in self.lowering.runners(effect.invocation)
            and effect.invocation not in self.lowering.runners(index)
            for effect in self.lowering.effects
        )

    def are_as_before(self, paths: tuple[str, ...]) -> bool:
        """Whether files are unchanged since the session's start, and stay so in this call."""
        if self.history.job():
            return False
        known = self.history.as_before(paths, self.links)
        return all(
            path in known and not replaced(f"0:{path}", self.lowering, self.links, portable=False) for path in paths
        )

    def text(self, path: str) -> str | None:
        """The text of a file; None if there is none, or it cannot be read."""
        try:
            raw = read(path, LONGEST)[0]
            return raw.decode("utf-8")
        except (OSError, ValueError):
            return None

    def has(self, path: str) -> bool:
        return os.path.lexists(path)
