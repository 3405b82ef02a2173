"""The rules of one layer (deny, ask or allow), indexed to be matched against parts of a call.

INVARIANT: `reaching_*` is for deny and ask and sees every form; `proving_*` is for allow and sees the narrowest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from assent.contract import Effect, Invocation, Kind, Operation, assert_never
from assent.policy import match
from assent.policy.index import CommandIndex, PathIndex
from assent.policy.rules import About, Rule, base

# Targets that no rule names: only `danger(id)` rules match effects on them.
NAMELESS = frozenset(Kind) - {Kind.PATH, Kind.HOST, Kind.AGENT, Kind.TOOL}


class RuleSet:
    """One layer's rules, indexed for a workspace and a home folder. `filled` says that there are any.

    The index of the rules on each subject is made when a part of a call first needs it."""

    __slots__ = (
        "rules",
        "filled",
        "commands",
        "paths",
        "_roots",
        "_home",
        "_fold",
        "_subjects",
        "_dangers",
        "_tools",
        "_wild_tools",
    )

    if TYPE_CHECKING:
        rules: tuple[Rule, ...]
        commands: CommandIndex
        paths: PathIndex
        _subjects: dict[About, list[Rule]]
        _dangers: dict[str, Rule]
        _tools: dict[str, Rule]
        _wild_tools: list[Rule]

    def __init__(self, rules: Iterable[Rule], roots: tuple[str, ...], home: str, *, fold: bool = False) -> None:
        self.rules = tuple(rules)
        self.filled = bool(self.rules)
        self._bind(roots, home, fold)

    def _bind(self, roots: tuple[str, ...], home: str, fold: bool) -> None:
        self._roots = roots
        self._home = home
        self._fold = fold

    def about(self, subject: About) -> list[Rule]:
        return self._subjects.get(subject, [])

    def __getattr__(self, name: str) -> object:
        """Make a part of the index when it is first used."""
        made: object
        match name:
            case "_subjects":
                made = by_subject(self.rules)
            case "commands":
                from assent.policy import index

                made = index.CommandIndex(self.about(About.COMMAND))
            case "paths":
                from assent.policy import index

                made = index.PathIndex(self.about(About.PATH), self._roots, self._home, fold=self._fold)
            case "_dangers":
                made = {rule.spec: rule for rule in reversed(self.about(About.DANGER))}
            case "_tools" | "_wild_tools":
                self._sort_tools()
                return self._tools if name == "_tools" else self._wild_tools
            case _:
                raise AttributeError(name)
        setattr(self, name, made)
        return made

    def _sort_tools(self) -> None:
        self._tools = {}
        self._wild_tools = []
        for rule in self.about(About.TOOL):
            if "*" in rule.tool or (rule.tool.startswith("mcp__") and rule.tool.count("__") == 1):
                self._wild_tools.append(rule)
            else:
                self._tools.setdefault(rule.tool.lower(), rule)

    # -------------------------------------------------------- deny and ask

    def reaching_command(self, invocation: Invocation) -> Iterator[Rule]:
        yield from self.commands.whole
        if not self.commands.filled:
            return
        texts = match.forms(invocation)
        for rule in self.commands.near(invocation.program, invocation.words[1:], texts):
            if match.reaches_command(rule, invocation, texts):
                yield rule

    def reaching_text(self, text: str, *, anywhere: bool) -> Iterator[Rule]:
        """Rules that span operators, on the raw command; where the reading was cut short, all of them."""
        if not self.commands.filled or not (anywhere or self.commands.spans):
            return
        texts = match.raw_forms(text)
        for rule in dict.fromkeys(rule for each in texts for rule in self.commands.in_text(each)):
            if match.reaches_text(rule, texts, anywhere=anywhere):
                yield rule

    def reaching_effect(self, effect: Effect, names: tuple[str, ...]) -> Iterator[Rule]:
        if effect.dangers:
            yield from (self._dangers[danger] for danger in effect.dangers if danger in self._dangers)
        name = effect.target.name
        match effect.target.kind:
            case Kind.PATH:
                yield from self._reaching_path(effect, names)
            case Kind.HOST:
                yield from (rule for rule in self.about(About.HOST) if match.reaches_host(rule, name))
            case Kind.AGENT:
                yield from (rule for rule in self.about(About.AGENT) if match.names_agent(rule, name))
            case Kind.TOOL:
                yield from self.naming_tool(name, aggressive=True)
            case (Kind.PROGRAM | Kind.SERVICE | Kind.REPOSITORY | Kind.TREE | Kind.NOTHING) | (
                Kind.HOOKS | Kind.MODULES | Kind.SETTINGS
            ):
                pass
            case kind:
                assert_never(kind)

    def _reaching_path(self, effect: Effect, names: tuple[str, ...]) -> Iterator[Rule]:
        operation, paths = effect.operation, self.paths
        yield from (rule for rule in paths.whole if match.speaks_of(rule, operation))
        if not paths.filled:
            return
        near = paths.near_pattern if effect.target.pattern else paths.near
        for name in names:
            for glob, rule in near(name):
                if (
                    match.speaks_of(rule, operation)
                    and match.reaches_path(glob, effect, names)
                    and not (rule.excepts and paths.excepts(rule, names))
                ):
                    yield rule
        if effect.recursive and operation is Operation.DELETE:
            yield from self.below(effect, names)

    def in_folder(self, names: tuple[str, ...]) -> Rule | None:
        """A rule on writing something in a folder of such a name, anywhere."""
        return self.paths.beginning_in({name.rpartition("/")[2] for name in names})

    def inside(self, effect: Effect, names: tuple[str, ...]) -> Rule | None:
        """A rule on a path below a folder that is read, filled or copied as a whole."""
        return next(self.below(effect, names), None)

    def below(self, effect: Effect, names: tuple[str, ...]) -> Iterator[Rule]:
        for name in names:
            yield from (rule for _, rule in self.paths.below(name) if match.speaks_of(rule, effect.operation))

    # -------------------------------------------------------- allow

    def proving_command(self, invocation: Invocation) -> Rule | None:
        words = invocation.words
        found = next((rule for rule in self.commands.whole if match.proves_command(rule, invocation)), None)
        if found is not None:
            return found
        near = self.commands.near(base(words[0]) if words else "", words[1:], (" ".join(words),))
        return next((rule for rule in near if match.proves_command(rule, invocation)), None)

    def proving_effect(self, effect: Effect, names: tuple[str, ...]) -> Rule | None:
        name = effect.target.name
        match effect.target.kind:
            case Kind.PATH:
                return self._proving_path(effect, names)
            case Kind.HOST:
                return next((rule for rule in self.about(About.HOST) if match.proves_host(rule, name)), None)
            case Kind.AGENT:
                return next((rule for rule in self.about(About.AGENT) if match.names_agent(rule, name)), None)
            case Kind.TOOL:
                return next(self.naming_tool(name, aggressive=False), None)
            case (Kind.PROGRAM | Kind.SERVICE | Kind.REPOSITORY | Kind.TREE | Kind.NOTHING) | (
                Kind.HOOKS | Kind.MODULES | Kind.SETTINGS
            ):
                return None
            case kind:
                return assert_never(kind)

    def _proving_path(self, effect: Effect, names: tuple[str, ...]) -> Rule | None:
        for rule in self.paths.whole if effect.target.name else ():
            if effect.operation in rule.operations:
                return rule
        for _, rule in self.paths.near(names[0]) if names else ():
            if effect.operation in rule.operations and match.proves_path(self.paths.of(rule), effect, names):
                return rule
        return None

    # -------------------------------------------------------- both

    def naming_tool(self, tool: str, *, aggressive: bool) -> Iterator[Rule]:
        exact = self._tools.get(tool.lower())
        for rule in (exact, *self._wild_tools) if exact is not None else self._wild_tools:
            if match.names_tool(rule, tool, aggressive=aggressive):
                yield rule


def by_subject(rules: Iterable[Rule]) -> dict[About, list[Rule]]:
    found: dict[About, list[Rule]] = {}
    for rule in rules:
        found.setdefault(rule.about, []).append(rule)
    return found
