"""Settings and their binding to a workspace as plain text, and back from it.

A hook is a new process for each call, and parsing rules takes longer than a decision. What comes back is the same
settings (tests/unit/policy/test_frozen.py). Each part is parsed when a call first needs it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from assent.contract import dumps, loads
from assent.policy.modes import Mode
from assent.policy.policy import PathPrefilter, Policy
from assent.policy.rules import PATH_WORDS, About, Origin, Rule, RuleShape
from assent.policy.ruleset import RuleSet, by_subject
from assent.policy.settings import Settings

LAYERS = ("floor", "deny", "ask", "allow")
# Settings that are numbers, texts, flags, tables, or lists of these.
PLAIN = tuple(name for name in Settings.__slots__ if name not in (*LAYERS, "mode", "limit", "classifier"))
INDEX = "index"  # of a layer's rules on commands


def freeze(
    settings: Settings, policy: Policy, roots: tuple[str, ...], home: str, *, fold: bool, trust: bool | None
) -> dict[str, str]:
    """Settings and policy as parts of text, by name. `trust`: whether the folder is trusted, None where no file
    depends on it."""
    paths = policy.paths
    prefilter = {
        "folders": paths.folders,
        "names": sorted(paths.names),
        "heads": sorted(paths.heads),
        "tails": sorted(paths.tails),
        "any_path": paths.all,
    }
    parts = {"settings": dumps(_fields(settings, roots, home, fold, trust)), "prefilter": dumps(prefilter)}
    for layer in LAYERS:
        for subject, rules in by_subject(getattr(settings, layer)).items():
            parts[f"{layer}.{subject.value}"] = dumps([_row(rule) for rule in rules])
            if subject is About.COMMAND:
                from assent.policy import index

                parts[f"{layer}.{INDEX}"] = dumps(index.CommandIndex(rules).plain())
    return parts


def _fields(settings: Settings, roots: tuple[str, ...], home: str, fold: bool, trust: bool | None) -> dict[str, object]:
    backend = settings.classifier
    return {
        "mode": settings.mode.value,
        "limit": settings.limit.value,
        "classifier": backend and {name: getattr(backend, name) for name in backend.__slots__},
        **{name: getattr(settings, name) for name in PLAIN},
        "roots": roots,
        "home": home,
        "fold": fold,
        "trust": trust,
        "seeks": settings.seeks(),
    }


def _row(rule: Rule) -> list[object]:
    """The fields of a rule that do not follow from the others."""
    return [
        *(rule.tool, rule.spec, rule.shape.value, rule.text, rule.source, rule.origin.value, rule.id),
        *(rule.reason, rule.message, rule.advice, rule.excepts, rule.number),
    ]


# ---------------------------------------------------------------- and back


def _tuples(value: object) -> object:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


class FrozenSettings(Settings):
    """Settings whose rules are still text. `trust`: whether the folder is trusted, None where no file depends on it.

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
        rules = self._layer(name).rules
        setattr(self, name, rules)
        return rules

    def seeks(self) -> bool:
        return self._seeks

    def fits(self, roots: tuple[str, ...], home: str, fold: bool) -> bool:
        return self._bound == (roots, home, fold)

    def bind(self, roots: tuple[str, ...], home: str, *, fold: bool = False, mode: Mode | None = None) -> Policy:
        if not self.fits(roots, home, fold):
            return super().bind(roots, home, fold=fold, mode=mode)
        prefilter = loads(self._parts["prefilter"])
        names, heads, tails = set(prefilter["names"]), set(prefilter["heads"]), set(prefilter["tails"])
        return Policy(
            self.mode if mode is None else mode,
            *map(self._layer, LAYERS),
            paths=PathPrefilter(prefilter["folders"], names, heads, tails, prefilter["any_path"]),
            seeks=self._seeks,
        )

    def _layer(self, name: str) -> FrozenRules:
        texts = {about: self._parts[key] for about in About if (key := f"{name}.{about.value}") in self._parts}
        return FrozenRules(texts, self._parts.get(f"{name}.{INDEX}"), *self._bound)


class FrozenRules(RuleSet):
    """One layer's rules; the text of each subject is parsed when it is first needed. Most rules on commands stay rows,
    because few of them are near a command."""

    __slots__ = ("_index", "_texts")

    def __init__(
        self, texts: Mapping[About, bytes], index: bytes | None, roots: tuple[str, ...], home: str, fold: bool
    ) -> None:
        self._texts = texts
        self._index = index
        self._subjects = {}
        self.filled = bool(texts)
        self._bind(roots, home, fold)

    def about(self, subject: About) -> list[Rule]:
        rules = self._subjects.get(subject)
        if rules is None:
            text = self._texts.get(subject)
            rules = self._subjects[subject] = list(Rows(subject, text)) if text is not None else []
        return rules

    def __getattr__(self, name: str) -> object:
        if name == "commands" and self._index is not None:
            from assent.policy import index

            self.commands = index.CommandIndex.of(loads(self._index), Rows(About.COMMAND, self._texts[About.COMMAND]))
            return self.commands
        if name != "rules":
            return super().__getattr__(name)
        every = (rule for subject in self._texts for rule in self.about(subject))
        self.rules = tuple(sorted(every, key=lambda rule: rule.number))
        return self.rules


class Rows:
    """The rules on one subject by their places, each made when it is first used."""

    __slots__ = ("_made", "_rows", "_subject")

    def __init__(self, subject: About, text: bytes) -> None:
        self._subject = subject
        self._rows: list[list[Any]] = loads(text)
        self._made: dict[int, Rule] = {}

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Rule]:
        return (self[place] for place in range(len(self._rows)))

    def __getitem__(self, place: int) -> Rule:
        rule = self._made.get(place)
        if rule is None:
            rule = self._made[place] = _rule(self._subject, *self._rows[place])
        return rule


def _rule(
    subject: About,
    tool: str,
    spec: str,
    shape: str,
    text: str,
    source: str,
    origin: int,
    id: str,
    reason: str,
    message: str,
    advice: str,
    excepts: list[str],
    number: int,
) -> Rule:
    return Rule(
        subject,
        tool,
        spec,
        RuleShape(shape),
        text,
        operations=PATH_WORDS.get(tool, frozenset()),
        source=source,
        origin=Origin(origin),
        id=id,
        reason=reason,
        message=message,
        advice=advice,
        words=tuple(spec.split()) if subject is About.COMMAND else (),
        excepts=tuple(excepts),
        number=number,
    )
