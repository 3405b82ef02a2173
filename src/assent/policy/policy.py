"""The compiled policy: the mode and the rules of every layer, bound to a workspace. Decides nothing."""

from __future__ import annotations

from collections.abc import Iterable

from assent.policy.modes import Mode
from assent.policy.prefilter import PathPrefilter
from assent.policy.rules import Rule
from assent.policy.ruleset import RuleSet


class Policy:
    """What `decide` needs to know of everyone's rules. `paths` tells which paths none of floor, deny and ask can speak
    of. `seeks`: some that somebody wrote speak of reading files."""

    __slots__ = ("mode", "floor", "deny", "ask", "allow", "paths", "seeks")

    def __init__(
        self,
        mode: Mode,
        floor: RuleSet,
        deny: RuleSet,
        ask: RuleSet,
        allow: RuleSet,
        *,
        paths: PathPrefilter | None = None,
        seeks: bool = True,
    ) -> None:
        self.mode = mode
        self.floor = floor
        self.deny = deny
        self.ask = ask
        self.allow = allow
        self.seeks = seeks
        self.paths = paths or PathPrefilter.over(rules.paths for rules in (floor, deny, ask))


def compile_policy(
    mode: Mode,
    *,
    floor: Iterable[Rule],
    deny: Iterable[Rule],
    ask: Iterable[Rule],
    allow: Iterable[Rule],
    roots: tuple[str, ...],
    home: str,
    fold: bool = False,
    seeks: bool = True,
) -> Policy:
    """Bind rules to the workspace `roots` and the `home` folder."""
    layers = (RuleSet(rules, roots, home, fold=fold) for rules in (floor, deny, ask, allow))
    return Policy(mode, *layers, seeks=seeks)
