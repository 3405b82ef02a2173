"""Converts settings and their binding to a workspace to plain text and back.

A hook is a new process for each call, and parsing rules takes longer than a decision. The settings read back are equal
(tests/unit/policy/test_frozen.py). Each part is parsed when a call first needs it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from assent.contract import dumps, loads
from assent.policy.frozen_rules import FrozenRules, rule_of
from assent.policy.modes import Mode
from assent.policy.policy import CommandPrefilter, PathPrefilter, Policy
from assent.policy.rules import Rule, RuleKind
from assent.policy.ruleset import by_subject
from assent.policy.settings import Settings

if TYPE_CHECKING:
    from assent.policy.agent_settings import AgentSettings

LAYERS = ("floor", "deny", "ask", "allow")
# Settings that are numbers, texts, flags, tables, or lists of these.
PLAIN = tuple(
    name for name in Settings.__slots__ if name not in (*LAYERS, "mode", "limit", "classifier", "contain", "agents")
)
INDEX = "index"  # of a layer's rules on commands


def freeze(
    settings: Settings, policy: Policy, roots: tuple[str, ...], home: str, *, fold: bool, trust: bool | None
) -> dict[str, str]:
    """Settings and policy as parts of text, by name. `trust`: whether the folder is trusted, None if no file
    depends on it."""
    paths = policy.paths
    prefilter = {
        "folders": paths.folders,
        "names": sorted(paths.names),
        "heads": sorted(paths.heads),
        "tails": sorted(paths.tails),
        "any_path": paths.all,
        "programs": sorted(policy.commands.programs),
        "needles": policy.commands.needles,
        "any_command": policy.commands.all,
    }
    parts = {"settings": dumps(_fields(settings, roots, home, fold, trust)), "prefilter": dumps(prefilter)}
    if settings.agents:
        parts["agents"] = dumps({name: _agent(said) for name, said in settings.agents.items()})
    for layer in LAYERS:
        for subject, rules in by_subject(getattr(settings, layer)).items():
            parts[f"{layer}.{subject.value}"] = dumps([_row(rule) for rule in rules])
            if subject is RuleKind.COMMAND:
                from assent.policy import index

                parts[f"{layer}.{INDEX}"] = dumps(index.CommandIndex(rules).plain())
    return parts


def _fields(settings: Settings, roots: tuple[str, ...], home: str, fold: bool, trust: bool | None) -> dict[str, object]:
    backend, contain = settings.classifier, settings.contain
    return {
        "mode": settings.mode.value,
        "limit": settings.limit.value,
        "classifier": backend and {name: getattr(backend, name) for name in backend.__slots__},
        "contain": contain and {name: getattr(contain, name) for name in contain.__slots__},
        **{name: getattr(settings, name) for name in PLAIN},
        "roots": roots,
        "home": home,
        "fold": fold,
        "trust": trust,
        "seeks": settings.seeks(),
    }


def _agent(said: AgentSettings) -> list[object]:
    rules = ([[rule.about.value, *_row(rule)] for rule in rules] for rules in (said.deny, said.ask))
    return [said.mode.value if said.mode is not None else None, said.sources, *rules]


def _row(rule: Rule) -> list[object]:
    """The fields of a rule that cannot be derived from the others."""
    return [
        *(rule.tool, rule.spec, rule.shape.value, rule.text, rule.source, rule.origin.value, rule.id),
        *(rule.reason, rule.message, rule.advice, rule.excepts, rule.number, rule.undoable),
    ]


# ---------------------------------------------------------------- and back


def _tuples(value: object) -> object:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def _rows(rows: list[list[Any]]) -> tuple[Rule, ...]:
    return tuple(rule_of(RuleKind(about), *row) for about, *row in rows)


def _agents(text: bytes) -> dict[str, AgentSettings]:
    from assent.policy.agent_settings import AgentSettings

    return {
        name: AgentSettings(
            Mode(mode) if mode is not None else None,
            _rows(deny),
            _rows(ask),
            tuple(sources),
        )
        for name, (mode, sources, deny, ask) in loads(text).items()
    }


class FrozenSettings(Settings):
    """Settings whose rules are still text. `trust`: whether the folder is trusted, None if no file depends on it.

    Malformed parts raise ValueError, KeyError or TypeError."""

    __slots__ = ("trust", "_bound", "_parts", "_seeks")

    def __init__(self, parts: Mapping[str, bytes]) -> None:
        data = loads(parts["settings"])
        self.mode = Mode(data["mode"])
        self.limit = Mode(data["limit"])
        self.classifier = None
        if data["classifier"] is not None:
            from assent.contract.classifier import Backend

            self.classifier = Backend(**data["classifier"])
        self.contain = None
        if data["contain"] is not None:
            from assent.policy.contain_settings import ContainSettings

            self.contain = ContainSettings(**data["contain"])
        self.agents = _agents(parts["agents"]) if "agents" in parts else {}
        for name in PLAIN:
            setattr(self, name, _tuples(data[name]))
        self.trust = data["trust"]
        self._bound = (tuple(data["roots"]), data["home"], data["fold"])
        self._parts = parts
        self._seeks = bool(data["seeks"])

    def __getattr__(self, name: str) -> tuple[Rule, ...]:
        """All rules of a layer, parsed when they are first used."""
        if name not in LAYERS:
            raise AttributeError(name)
        rules = self._layer(name).every()
        setattr(self, name, rules)
        return rules

    def seeks(self) -> bool:
        return self._seeks

    def fits(self, roots: tuple[str, ...], home: str, fold: bool) -> bool:
        return self._bound == (roots, home, fold)

    def bind(
        self, roots: tuple[str, ...], home: str, *, fold: bool = False, mode: Mode | None = None, agent: str = ""
    ) -> Policy:
        if agent in self.agents or not self.fits(roots, home, fold):
            return super().bind(roots, home, fold=fold, mode=mode, agent=agent)
        prefilter = loads(self._parts["prefilter"])
        names, heads, tails = set(prefilter["names"]), set(prefilter["heads"]), set(prefilter["tails"])
        return Policy(
            self.mode if mode is None else mode,
            *map(self._layer, LAYERS),
            paths=PathPrefilter(prefilter["folders"], names, heads, tails, prefilter["any_path"]),
            commands=CommandPrefilter(set(prefilter["programs"]), prefilter["needles"], prefilter["any_command"]),
            seeks=self._seeks,
        )

    def _layer(self, name: str) -> FrozenRules:
        texts = {about: self._parts[key] for about in RuleKind if (key := f"{name}.{about.value}") in self._parts}
        return FrozenRules(texts, self._parts.get(f"{name}.{INDEX}"), *self._bound)
