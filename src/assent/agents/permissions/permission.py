"""What the permission settings of a runtime give: each entry with a rule of ours, or with why it has none."""

from __future__ import annotations

from assent.agents import known
from assent.contract import Value

LAYERS = ("allow", "ask", "deny")


class Permission(Value):
    """One entry. `layer` is allow, ask or deny; `text` is the entry as written; `rule` the same as a rule of ours, `""`
    where there is none; `note` what is to be said of it: that it does nothing, or means something else."""

    __slots__ = ("layer", "text", "rule", "note")

    def __init__(self, layer: str, text: str, rule: str = "", note: str = "") -> None:
        self.layer = layer
        self.text = text
        self.rule = rule
        self.note = note


class Permissions:
    """The permission settings of one runtime."""

    runtime = ""

    @property
    def places(self) -> tuple[str, ...]:
        """Its files: `~` is the user's home, a relative path is in the project, `*` is any name."""
        return known.lists("permissions", "places")[self.runtime]

    @property
    def own(self) -> tuple[str, ...]:
        """Those in the project that its user keeps to himself: what he answered there."""
        return known.lists("permissions", "own").get(self.runtime, ())

    def read(self, text: str, file: str = "") -> tuple[Permission, ...]:
        """The entries of a file, in its order; raises SettingsError where it cannot be read."""
        raise NotImplementedError

    def write(self, rules: tuple[tuple[str, str], ...]) -> tuple[str, tuple[str, ...]]:
        """Rules (layer, text) in the form of the runtime, as a text to put into its settings, and the rules that it
        cannot express."""
        raise NotImplementedError


def split(text: str) -> tuple[str, str] | None:
    """`Tool(specifier)` as its two halves; None where it is malformed."""
    name, opened, rest = text.strip().partition("(")
    if not opened:
        return (name, "") if name and ")" not in name else None
    return (name, rest[:-1]) if rest.endswith(")") and name else None
