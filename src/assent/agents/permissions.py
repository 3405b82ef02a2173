"""A program's own permission settings ⇄ rules of ours, as text. Opens no file, judges no rule.

A program that has them has a `[permissions]` section; its module is imported on first use."""

from __future__ import annotations

from assent.agents import known, module
from assent.contract import Value

LAYERS = ("allow", "ask", "deny")
RUNTIMES = known.runtimes("permissions")


def load(runtime: str) -> Permissions:
    """The permission settings of a program; raises KeyError if there are none."""
    found: Permissions = module(runtime, "permissions").PERMISSIONS
    return found


class Permission(Value):
    """One entry. `layer` is allow, ask or deny; `text` is the entry as written; `rule` the same as a rule of ours, `""`
    if there is none; `note` says that it does nothing, or means something else."""

    __slots__ = ("layer", "text", "rule", "note")

    def __init__(self, layer: str, text: str, rule: str = "", note: str = "") -> None:
        self.layer = layer
        self.text = text
        self.rule = rule
        self.note = note


class Permissions:
    """The permission settings of one program. `places` are its files: `~` is the user's home, a relative path is in the
    project, `*` is any name. `own` are those in the project that its user does not share."""

    def __init__(self, runtime: str) -> None:
        self.runtime = runtime
        self.places = known.lists("permissions", "places")[runtime]
        self.own = known.lists("permissions", "own").get(runtime, ())

    def read(self, text: str, file: str = "") -> tuple[Permission, ...]:
        """The entries of a file, in its order; raises SettingsError if it cannot be read."""
        raise NotImplementedError

    def write(self, rules: tuple[tuple[str, str], ...]) -> tuple[str, tuple[str, ...]]:
        """Rules (layer, text) in the form of the program, as a text to put into its settings, and the rules that it
        cannot express."""
        raise NotImplementedError


def split(text: str) -> tuple[str, str] | None:
    """`Tool(specifier)` as its two halves; None if it is malformed."""
    name, opened, rest = text.strip().partition("(")
    if not opened:
        return (name, "") if name and ")" not in name else None
    return (name, rest[:-1]) if rest.endswith(")") and name else None


def prefix_of(layer: str, text: str) -> str:
    """The command prefix in a rule of ours; `""` if it is of another form, or if it allows only one exact command:
    programs with such rules have no exact ones."""
    halves = split(text)
    prefix = halves[1].removesuffix(":*") if halves and halves[0] == "bash" else ""
    return "" if "*" in prefix or (layer == "allow" and not text.endswith(":*)")) else prefix
