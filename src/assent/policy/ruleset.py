"""The rules of one layer (deny, ask or allow), indexed to be matched against parts of a call.

INVARIANT: `reaching_*` is for deny and ask and sees every form; `proving_*` is for allow and sees the narrowest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from assent.contract import Arguments, Effect, Invocation, Kind, Operation, assert_never
from assent.policy import match
from assent.policy.index import CommandIndex, PathIndex
from assent.policy.rules import Rule, RuleKind, base

# Targets that no rule names: only `danger(id)` rules match effects on them.
NAMELESS = frozenset(Kind) - {Kind.PATH, Kind.HOST, Kind.AGENT, Kind.TOOL}


class RuleSet:
    """One layer's rules, indexed for a workspace and a home folder. `filled`: there are any.

    The index of the rules on each subject is built on first use."""

    __slots__ = (
        *("filled", "_rules", "_roots", "_home", "_fold", "_subjects"),
        *("_commands", "_paths", "_dangers", "_tools", "_wild_tools"),
    )

    def __init__(self, rules: Iterable[Rule], roots: tuple[str, ...], home: str, *, fold: bool = False) -> None:
        self._rules: tuple[Rule, ...] | None = tuple(rules)
        self.filled = bool(self._rules)
        self._roots = roots
        self._home = home
        self._fold = fold
        self._subjects: dict[RuleKind, list[Rule]] | None = None
        self._commands: CommandIndex | None = None
        self._paths: PathIndex | None = None
        self._dangers: dict[str, Rule] | None = None
        self._tools: dict[str, list[Rule]] | None = None
        self._wild_tools: list[Rule] = []

    def every(self) -> tuple[Rule, ...]:
        """All rules of the layer, in order."""
        return self._rules or ()

    def about(self, subject: RuleKind) -> list[Rule]:
        if self._subjects is None:
            self._subjects = by_subject(self.every())
        return self._subjects.get(subject, [])

    @property
    def commands(self) -> CommandIndex:
        if self._commands is None:
            self._commands = self._command_index()
        return self._commands

    def _command_index(self) -> CommandIndex:
        from assent.policy import index

        return index.CommandIndex(self.about(RuleKind.COMMAND))

    @property
    def paths(self) -> PathIndex:
        if self._paths is None:
            from assent.policy import index

            self._paths = index.PathIndex(self.about(RuleKind.PATH), self._roots, self._home, fold=self._fold)
        return self._paths

    def _sort_tools(self) -> dict[str, list[Rule]]:
        tools: dict[str, list[Rule]] = {}
        for rule in self.about(RuleKind.TOOL):
            if "*" in rule.tool or (rule.tool.startswith("mcp__") and rule.tool.count("__") == 1):
                self._wild_tools.append(rule)
            else:
                tools.setdefault(rule.tool.lower(), []).append(rule)
        return tools

    # -------------------------------------------------------- deny and ask

    def reaching_command(self, invocation: Invocation) -> list[Rule]:
        commands = self.commands
        found = list(commands.whole)
        if commands.filled:
            texts = match.forms(invocation)
            for rule in commands.near(invocation.program, invocation.words[1:], texts):
                if match.reaches_command(rule, invocation, texts):
                    found.append(rule)
        return found

    def reaching_text(self, text: str, *, anywhere: bool) -> list[Rule]:
        """Rules that span operators, on the raw command; if the reading was cut short, all of them."""
        if not self.commands.filled or not (anywhere or self.commands.spans):
            return []
        texts = match.raw_forms(text)
        near = dict.fromkeys(rule for each in texts for rule in self.commands.in_text(each))
        return [rule for rule in near if match.reaches_text(rule, texts, anywhere=anywhere)]

    def reaching_effect(self, effect: Effect, names: tuple[str, ...], given: Arguments | None = None) -> list[Rule]:
        found = self._on_dangers(effect.dangers) if effect.dangers else []
        name = effect.target.name
        match effect.target.kind:
            case Kind.PATH:
                self._reaching_path(effect, names, found)
            case Kind.HOST:
                found += [rule for rule in self.about(RuleKind.HOST) if match.reaches_host(rule, name)]
            case Kind.AGENT:
                found += [rule for rule in self.about(RuleKind.AGENT) if match.names_agent(rule, name)]
            case Kind.TOOL:
                found += self.naming_tool(name, given, aggressive=True)
            case (Kind.PROGRAM | Kind.SERVICE | Kind.REPOSITORY | Kind.TREE | Kind.NOTHING) | (
                Kind.HOOKS | Kind.MODULES | Kind.SETTINGS | Kind.CODE
            ):
                pass
            case kind:
                assert_never(kind)
        return found

    def _on_dangers(self, dangers: tuple[str, ...]) -> list[Rule]:
        if self._dangers is None:
            self._dangers = {rule.spec: rule for rule in reversed(self.about(RuleKind.DANGER))}
        known = self._dangers
        return [known[danger] for danger in dangers if danger in known]

    def _reaching_path(self, effect: Effect, names: tuple[str, ...], found: list[Rule]) -> None:
        operation, paths = effect.operation, self.paths
        for rule in paths.whole:
            if match.speaks_of(rule, operation):
                found.append(rule)
        if not paths.filled:
            return
        for name in names:
            for glob, rule in paths.near_pattern(name) if effect.target.pattern else paths.near(name):
                if (
                    match.speaks_of(rule, operation)
                    and match.reaches_path(glob, effect, name)
                    and not (rule.excepts and paths.excepts(rule, names))
                ):
                    found.append(rule)
        if effect.recursive and operation is Operation.DELETE:
            found += self.below(effect, names)

    def in_folder(self, names: tuple[str, ...]) -> Rule | None:
        """A rule on writing something in a folder of such a name, at any depth."""
        return self.paths.beginning_in({name.rpartition("/")[2] for name in names})

    def inside(self, effect: Effect, names: tuple[str, ...]) -> Rule | None:
        """A rule on a path below a folder that is read, filled or copied as a whole."""
        found = self.below(effect, names)
        return found[0] if found else None

    def below(self, effect: Effect, names: tuple[str, ...]) -> list[Rule]:
        operation, paths = effect.operation, self.paths
        return [rule for name in names for _, rule in paths.below(name) if match.speaks_of(rule, operation)]

    # -------------------------------------------------------- allow

    def proving_command(self, invocation: Invocation) -> Rule | None:
        words = invocation.words
        found = next((rule for rule in self.commands.whole if match.proves_command(rule, invocation)), None)
        if found is not None:
            return found
        near = self.commands.near(base(words[0]) if words else "", words[1:], (" ".join(words),))
        return next((rule for rule in near if match.proves_command(rule, invocation)), None)

    def proving_commands(self, invocation: Invocation) -> Iterator[Rule]:
        """Every rule that proves a command and is not on the whole tool."""
        words = invocation.words
        near = self.commands.near(base(words[0]) if words else "", words[1:], (" ".join(words),))
        return (rule for rule in near if match.proves_command(rule, invocation))

    def proving_effect(self, effect: Effect, names: tuple[str, ...], given: Arguments | None = None) -> Rule | None:
        name = effect.target.name
        match effect.target.kind:
            case Kind.PATH:
                return self._proving_path(effect, names)
            case Kind.HOST:
                return next((rule for rule in self.about(RuleKind.HOST) if match.proves_host(rule, name)), None)
            case Kind.AGENT:
                return next((rule for rule in self.about(RuleKind.AGENT) if match.names_agent(rule, name)), None)
            case Kind.TOOL:
                return next(self.naming_tool(name, given, aggressive=False), None)
            case (Kind.PROGRAM | Kind.SERVICE | Kind.REPOSITORY | Kind.TREE | Kind.NOTHING) | (
                Kind.HOOKS | Kind.MODULES | Kind.SETTINGS | Kind.CODE
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

    def naming_tool(self, tool: str, given: Arguments | None, *, aggressive: bool) -> Iterator[Rule]:
        """The rules on a tool that match its arguments; None: the arguments are unknown."""
        if self._tools is None:
            self._tools = self._sort_tools()
        if aggressive and not (tool.isascii() and tool.isprintable() and " " not in tool):
            from assent.policy.condition_values import folded  # names that some program may read as a plain one

            tool = folded(tool)
        exact = self._tools.get(tool.lower(), ())
        for rule in (*exact, *self._wild_tools) if exact else self._wild_tools:
            if match.names_tool(rule, tool, given, aggressive=aggressive):
                yield rule


def by_subject(rules: Iterable[Rule]) -> dict[RuleKind, list[Rule]]:
    found: dict[RuleKind, list[Rule]] = {}
    for rule in rules:
        found.setdefault(rule.about, []).append(rule)
    return found
