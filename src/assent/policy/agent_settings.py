"""Settings of single sub-agents: the loosest mode they may use, and more rules. They only tighten."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from assent.contract import Value
from assent.policy.modes import Mode
from assent.policy.rules import Rule

if TYPE_CHECKING:
    from assent.policy.document import Document

AGENT_KEYS = ("mode", "deny", "ask")


class AgentSettings(Value):
    """The settings for calls of one sub-agent, and where its tables are. `mode` None: the mode of the session."""

    __slots__ = ("mode", "deny", "ask", "sources")

    def __init__(
        self,
        mode: Mode | None = None,
        deny: tuple[Rule, ...] = (),
        ask: tuple[Rule, ...] = (),
        sources: tuple[str, ...] = (),
    ) -> None:
        self.mode = mode
        self.deny = deny
        self.ask = ask
        self.sources = sources

    def joined(self, other: AgentSettings) -> AgentSettings:
        """Merge the settings of two files: the stricter mode, and all rules."""
        modes = [mode for mode in (self.mode, other.mode) if mode is not None]
        return AgentSettings(
            min(modes, default=None),
            (*self.deny, *other.deny),
            (*self.ask, *other.ask),
            (*self.sources, *other.sources),
        )


def combined(documents: Sequence[Document]) -> dict[str, AgentSettings]:
    """The settings of each sub-agent by its name in lower case."""
    found: dict[str, AgentSettings] = {}
    for document in documents:
        for name, said in document.agents.items():
            found[name] = found[name].joined(said) if name in found else said
    return found
