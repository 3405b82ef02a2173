"""The rules of one layer as text, parsed when a call first needs it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from assent.contract import loads
from assent.policy.rules import PATH_WORDS, Origin, Rule, RuleKind, RuleShape
from assent.policy.ruleset import RuleSet

if TYPE_CHECKING:
    from assent.policy.index import CommandIndex


class FrozenRules(RuleSet):
    """One layer's rules; the text of each subject is parsed when it is first needed. Most rules on commands stay rows:
    few are candidates for a command."""

    __slots__ = ("_index", "_parsed", "_texts")

    def __init__(
        self, texts: Mapping[RuleKind, bytes], index: bytes | None, roots: tuple[str, ...], home: str, fold: bool
    ) -> None:
        super().__init__((), roots, home, fold=fold)
        self._texts = texts
        self._index = index
        self._parsed: dict[RuleKind, list[Rule]] = {}
        self.filled = bool(texts)

    def every(self) -> tuple[Rule, ...]:
        every = [rule for subject in self._texts for rule in self.about(subject)]
        return tuple(sorted(every, key=lambda rule: rule.number))

    def about(self, subject: RuleKind) -> list[Rule]:
        rules = self._parsed.get(subject)
        if rules is None:
            text = self._texts.get(subject)
            rules = self._parsed[subject] = list(Rows(subject, text)) if text is not None else []
        return rules

    def _command_index(self) -> CommandIndex:
        if self._index is None:
            return super()._command_index()
        from assent.policy import index

        return index.CommandIndex.of(loads(self._index), Rows(RuleKind.COMMAND, self._texts[RuleKind.COMMAND]))


class Rows:
    """The rules on one subject by position, each parsed on first use."""

    __slots__ = ("_made", "_rows", "_subject")

    def __init__(self, subject: RuleKind, text: bytes) -> None:
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
            rule = self._made[place] = rule_of(self._subject, *self._rows[place])
        return rule


def rule_of(
    subject: RuleKind,
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
    undoable: bool,
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
        words=tuple(spec.split()) if subject is RuleKind.COMMAND else (),
        excepts=tuple(excepts),
        number=number,
        undoable=undoable,
    )
