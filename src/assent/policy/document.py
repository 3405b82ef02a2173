"""Reads the text of one configuration file. Every mistake in it is an error with a line and a suggestion."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from assent.contract import Arguments, Kind, Lowering, PolicyError, Value, dumps, loads, re
from assent.policy import parse, remote_channels
from assent.policy.agent_settings import AGENT_KEYS, AgentSettings
from assent.policy.modes import Mode, parse_mode
from assent.policy.parse import HOME, ROOT, did_you_mean, parse_rule, with_conditions
from assent.policy.rules import Origin, Rule, RuleKind
from assent.policy.ruleset import RuleSet
from assent.policy.source_lines import SourceLines

if TYPE_CHECKING:
    from assent.policy.tool_settings import Declared

# Settings with what they mean; `keys` has those of remote channels too.
KEYS: dict[str, str] = {
    "mode": "plan, default, auto, full_auto or yolo",
    "max_mode": "the loosest mode that may be used",
    "follow_runtime_mode": "true: follow the agent program into a looser mode",
    "untrusted_mode": "the loosest mode in folders not marked with `assent trust`",
    "allow": "rules that let calls pass",
    "ask": "rules that make a person confirm",
    "deny": "rules that stop calls",
    "packs.on": "shipped packs to switch on",
    "defaults.off": "shipped deny and ask rules to switch off, by id",
    "defaults.lock": "shipped rules that nobody may switch off (managed only; true: all of them)",
    "approval.timeout": "seconds until an unanswered question is denied",
    "approval.unseen": "seconds until a question that nobody can see is denied or left to the program's dialog",
    "approval.route": "where questions go: runtime, broker or both",
    "classifier.on": "true: a model may judge what no rule matches; false in any file: none is asked",
    "classifier.api": "the API of the model: anthropic or openai",
    "classifier.model": "its name",
    "classifier.url": "its address, https or on this machine (default: the provider's own)",
    "classifier.key": "where its key is: env:NAME, keyring:SERVICE/USER or none",
    "classifier.timeout": "seconds to wait for its answer before a person is asked, 1 to 15 (default: 5)",
    "classifier.input_price": "the price of a million tokens that it reads, for `assent audit stats`",
    "classifier.output_price": "the price of a million tokens that it writes",
    "server.start": "true: a hook that finds no server starts one in the background; false in any file: none does",
    "server.idle": "seconds without a call until a background server stops (default: never)",
    "undo.on": "false: no copy is kept of what calls delete or overwrite",
    "undo.max_size": "how much all copies may take (default: 500 MB)",
    "undo.max_files": "how many files one copy may have (default: 50000)",
    "undo.keep": "how long a copy is kept (default: 14 days)",
    "undo.required": "true: what cannot be copied asks in `full_auto` too",
    "contain.on": "true: unproved code runs contained in `auto`, without a question; managed: for everyone",
    "contain.network": "hosts that contained runs may reach, such as `registry.npmjs.org` (default: none)",
    "contain.writable": "folders outside the workspace that contained runs may change",
    "contain.hidden": "more paths that contained runs do not see",
    "contain.limits": "memory, processes and seconds of a contained run",
    "contain.full_auto": "true in any file: code runs contained in `full_auto` too",
    "workspace.extra": "more folders that count as the workspace",
    "commands": "rows that say what your own commands do",
    "agent": "sub-agents by name, each with `mode` (the loosest that it may use), `deny` and `ask`",
    "tools": "tools by name, with the arguments that name what they read, list, search, write, delete or fetch",
    "test": "cases for `assent test`, each a `[[test]]` table; no call is decided by them",
}
RULE_KEYS = ("rule", "when", "reason", "message", "match", "not_match", "expires")
PROJECT_KEYS = ("deny", "ask", "max_mode", "contain.hidden", "contain.limits", "contain.full_auto", "agent", "test")
MANAGED_ONLY = ("defaults.lock",)
SECTIONS = tuple("packs defaults approval classifier server undo contain workspace commands agent tools".split())
TOOL = RuleKind.TOOL
NAMED = ("agent", "commands", "tools")  # sections whose keys are names that people choose
ROUTES = ("runtime", "broker", "both")
# The method of `_DocumentReader` that checks the value of a setting, and the field if that has another name.
READERS = {
    **dict.fromkeys(("mode", "max_mode", "untrusted_mode"), "_mode"),
    **dict.fromkeys(("allow", "ask", "deny"), "_rules"),
    **dict.fromkeys(("packs.on", "defaults.off", "workspace.extra"), "_texts"),
    **dict.fromkeys(("approval.timeout", "approval.unseen", "server.idle"), "_number"),
    **dict.fromkeys(("follow_runtime_mode", "server.start"), "_flag"),
    "defaults.lock": "_lock",
    "approval.route": "_route",
    "commands": "_commands",
    "tools": "_tools",
    "agent": "_agents",
}
FIELDS = {"packs.on": "packs", "agent": "agents", "follow_runtime_mode": "follow_host"}


def keys() -> dict[str, str]:
    """Every setting, with what it means. docs/configuration.md lists the same; a test holds that."""
    return {**KEYS, **remote_channels.keys()}


class Document(Value):
    """The settings of one file. None: not set in the file."""

    __slots__ = (
        "file",
        "origin",
        "mode",
        "max_mode",
        "untrusted_mode",
        "allow",
        "ask",
        "deny",
        "packs",
        "off",
        "lock",
        "timeout",
        "unseen",
        "route",
        "start",
        "idle",
        "follow_host",
        "classifier",
        "undo",
        "contain",
        "extra",
        "commands",
        "tools",
        "agents",
        "remote",
        "examples",
        "lines",
    )

    def __init__(self, file: str, origin: Origin) -> None:
        self.file = file
        self.origin = origin
        self.mode: Mode | None = None
        self.max_mode: Mode | None = None
        self.untrusted_mode: Mode | None = None
        self.allow: tuple[Rule, ...] = ()
        self.ask: tuple[Rule, ...] = ()
        self.deny: tuple[Rule, ...] = ()
        self.packs: tuple[str, ...] = ()
        self.off: tuple[str, ...] = ()
        self.lock: tuple[str, ...] | bool = ()
        self.timeout: int | None = None
        self.unseen: int | None = None
        self.route: str | None = None
        self.start: bool | None = None
        self.idle: int | None = None
        self.follow_host = False
        self.classifier: Mapping[str, object] = {}
        self.undo: Mapping[str, bool | int] = {}
        self.contain: Mapping[str, object] = {}
        self.extra: tuple[str, ...] = ()
        self.commands: Mapping[str, Mapping[str, object]] = {}
        self.tools: Mapping[str, tuple[Declared, str]] = {}  # each with its source
        self.agents: Mapping[str, AgentSettings] = {}
        self.remote: Mapping[str, object] = {}
        self.examples: tuple[Example, ...] = ()
        self.lines: Mapping[str, int] = {}


class Example(Value):
    """A rule's own example, to be checked when the policy is loaded: `wanted` is whether the rule must match."""

    __slots__ = ("rule", "text", "wanted", "kind")

    def __init__(self, rule: Rule, text: str, wanted: bool, kind: str) -> None:
        self.rule = rule
        self.text = text
        self.wanted = wanted
        self.kind = kind


def read_document(text: str, file: str, origin: Origin, *, today: str = "") -> Document:
    """Parse one file; `today` (YYYY-MM-DD) ends rules that have expired."""
    return _DocumentReader(text, file, origin, today).read(parse_table(text, file))


def parse_table(text: str, file: str) -> dict[str, object]:
    """The table that a TOML text is. Raises PolicyError with file and line."""
    import tomllib  # slower than a decision, which uses a snapshot

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = re.search(r"at line (\d+)", str(error))
        message = re.sub(r" \(at .*\)$", "", str(error))
        raise PolicyError(
            f"not valid TOML: {message[:1].lower()}{message[1:]}",
            file=file,
            line=int(found[1]) if found else text.count("\n") + 1,
            suggestion="strings need quotes, lists need commas",
        ) from None


def document_of(table: Mapping[str, object], file: str, origin: Origin, *, text: str = "", today: str = "") -> Document:
    """The settings of a table, with the text it was parsed from, if any."""
    return _DocumentReader(text, file, origin, today).read(table)


class _DocumentReader:
    def __init__(self, text: str, file: str, origin: Origin, today: str) -> None:
        self.lines = SourceLines(text)
        self.document = Document(file, origin)
        self.today = today
        self.key_lines: dict[str, int] = {}

    def read(self, table: Mapping[str, object]) -> Document:
        for key, value in table.items():
            is_section = key in SECTIONS or (key not in KEYS and key in remote_channels.settings())
            (self._section if is_section else self._setting)(key, value)
        if lacking := remote_channels.missing(self.document.remote):
            section, _, name = lacking.partition(".")
            line = min(self.key_lines[key] for key in self.document.remote if key.startswith(f"{section}."))
            raise self._at(f"`[{section}]` has no `{name}`", line, f"add `{name}`, or remove the section")
        # INVARIANT: only its reader assigns to a Document.
        self.document.lines = self.key_lines
        return self.document

    def _section(self, name: str, value: object) -> None:
        if not isinstance(value, dict):
            raise self._error(f"`{name}` must be a table", name, f"write `[{name}]` and its keys below")
        if name in NAMED:
            self._setting(name, value)
            return
        for key, inner in value.items():
            self._setting(f"{name}.{key}", inner)

    def _setting(self, key: str, value: object) -> None:
        self.key_lines[key] = self.lines.of_key(key)
        if key not in KEYS and key not in keys():
            sections = (*SECTIONS, *remote_channels.settings())
            known = [name for name in KEYS if "." not in name] + list(sections) if "." not in key else list(keys())
            raise self._error(f"unknown setting `{key}`", key, did_you_mean(key, known))
        if self.document.origin is Origin.PROJECT and key not in PROJECT_KEYS:
            raise self._error(
                f"a project file may not set `{key}`: it can only tighten ({', '.join(PROJECT_KEYS)})",
                key,
                f"put `{key}` into ~/.assent/config.toml",
            )
        if key in MANAGED_ONLY and self.document.origin is not Origin.MANAGED:
            raise self._error(f"only the managed policy may set `{key}`", key, "put it into /etc/assent/policy.toml")
        section, _, name = key.rpartition(".")
        document = self.document
        if section == "classifier":
            document.classifier = {**document.classifier, name: self._classifier(key, value)}
        elif section == "undo":
            document.undo = {**document.undo, name: self._undo(key, value)}
        elif section == "contain":
            document.contain = {**document.contain, name: self._contain(key, value)}
        elif key == "test":
            self._tests(value)
        elif key not in KEYS:
            document.remote = {**document.remote, key: self._remote(key, value)}
        else:
            setattr(document, FIELDS.get(key, name), getattr(self, READERS[key])(key, value))

    def _remote(self, key: str, value: object) -> object:
        problem, suggestion = remote_channels.objection(key, value)
        if problem:
            raise self._error(problem, key, suggestion)
        return value

    def _tests(self, value: object) -> None:
        """`assent test` reads what is in the tables: a mistake there must not stop every call."""
        if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
            raise self._error("`test` must be a list of tables", "test", "write `[[test]]` and its keys below")

    def _flag(self, key: str, value: object) -> bool:
        if not isinstance(value, bool):
            raise self._error(f"`{key}` must be true or false", key, f"write `{key} = true`")
        return value

    # -------------------------------------------------------- rules

    def _rules(self, key: str, value: object) -> tuple[Rule, ...]:
        if not isinstance(value, list):
            raise self._error(f"`{key}` must be a list of rules", key, _in_a_list(key, value, "bash(ls:*)"))
        return tuple(rule for item in value if (rule := self._rule(key, item)) is not None)

    def _rule(self, key: str, item: object) -> Rule | None:
        table: dict[str, object] = item if isinstance(item, dict) else {"rule": item}
        text = table.get("rule")
        if not isinstance(text, str):
            raise self._error(f"a rule in `{key}` must be text", key, 'write `"tool(specifier)"` or `{ rule = "…" }`')
        line = self.lines.of_text(text)
        for name in table:
            if name not in RULE_KEYS:
                raise self._at(f"unknown key `{name}` in a rule", line, did_you_mean(name, RULE_KEYS))
        for name in ("reason", "message", "when"):
            if not isinstance(table.get(name, ""), str):
                raise self._at(f"`{name}` of a rule must be text", line, f'write `{name} = "…"`')
        if self._expired(table.get("expires"), line):
            return None
        try:
            rule = parse_rule(
                with_conditions(text, str(table["when"])) if "when" in table else text,
                source=f"{self.document.file}:{line}",
                origin=self.document.origin,
                reason=str(table.get("reason", "")),
                message=str(table.get("message", "")),
            )
            if key == "allow" and rule.about is TOOL and rule.spec:
                from assent.policy.conditions import check_believed  # of few rules

                check_believed(rule.tool, rule.spec)
        except PolicyError as error:
            raise self._at(error.message, line, error.suggestion) from None
        for name, wanted in (("match", True), ("not_match", False)):
            examples = self._examples(
                name, table.get(name, []), line, conditions=rule.about is TOOL and bool(rule.spec)
            )
            self.document.examples += tuple(Example(rule, example, wanted, key) for example in examples)
        return rule

    def _examples(self, name: str, value: object, line: int, *, conditions: bool) -> list[str]:
        """The examples of a rule; with conditions, they are tables of arguments, here as JSON."""
        if conditions:
            if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
                raise self._at(
                    f"`{name}` of a rule with conditions is a list of arguments",
                    line,
                    f"write `{name} = [{{ amount = 500 }}]`",
                )
            return [dumps(item, default=str, ascii=False, spaced=True) for item in value]
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise self._at(f"`{name}` of a rule must be a list of texts", line, _in_a_list(name, value, "…"))
        return [str(item) for item in value]

    def _expired(self, value: object, line: int) -> bool:
        if value is None:
            return False
        text = str(value)[:10]
        if re.fullmatch(r"\d{4}-\d\d-\d\d", text) is None:
            raise self._at("`expires` of a rule must be a date", line, "write `expires = 2027-01-31`")
        return bool(self.today) and text < self.today

    def _commands(self, key: str, value: object) -> Mapping[str, Mapping[str, object]]:
        if not isinstance(value, dict) or not all(isinstance(row, dict) for row in value.values()):
            raise self._error("`commands` must have a table for each command", key, 'write `[commands."tool list"]`')
        return value

    def _tools(self, key: str, value: object) -> Mapping[str, tuple[Declared, str]]:
        from assent.policy import tool_settings

        found = {}
        for name, table in value.items() if isinstance(value, dict) else ():
            line = self.lines.of_table(key, name)
            try:
                found[name.lower()] = tool_settings.declared(name, table), f"{self.document.file}:{line}"
            except PolicyError as error:
                raise self._at(error.message, line, error.suggestion) from None
        return found

    def _agents(self, key: str, value: object) -> Mapping[str, AgentSettings]:
        found = {}
        for name, table in value.items() if isinstance(value, dict) else ():
            line = self.lines.of_table(key, name)
            if not isinstance(table, dict) or not name:
                raise self._at(f"`agent.{name}` is a table", line, "write `[agent.explore]` and `mode` below")
            for each in table:
                if each not in AGENT_KEYS:
                    raise self._at(f"unknown key `{each}` of the agent `{name}`", line, did_you_mean(each, AGENT_KEYS))
            word = self._text("mode", table.get("mode", ""))
            mode = parse_mode(word, file=self.document.file, line=line) if "mode" in table else None
            deny, ask = (self._rules(each, table.get(each, [])) for each in ("deny", "ask"))
            found[name.lower()] = AgentSettings(mode, deny, ask, (f"{self.document.file}:{line}",))
        return found

    def _classifier(self, key: str, value: object) -> object:
        from assent.policy import classifier

        try:
            return classifier.value(key.rpartition(".")[2], value)
        except ValueError as error:
            raise self._error(f"`{key}` {error.args[0]}", key, error.args[1]) from None

    def _undo(self, key: str, value: object) -> bool | int:
        from assent.policy import undo_settings

        try:
            return undo_settings.value(key.rpartition(".")[2], value)
        except ValueError as error:
            raise self._error(f"`{key}` {error.args[0]}", key, error.args[1]) from None

    def _contain(self, key: str, value: object) -> object:
        from assent.policy import contain_settings

        project = self.document.origin is Origin.PROJECT
        try:
            return contain_settings.value(key.rpartition(".")[2], value, project=project)
        except ValueError as error:
            raise self._error(f"`{key}` {error.args[0]}", key, error.args[1]) from None

    # -------------------------------------------------------- values

    def _text(self, key: str, value: object) -> str:
        if not isinstance(value, str):
            raise self._error(f"`{key}` must be text", key, f'write `{key.rpartition(".")[2]} = "…"`')
        return value

    def _texts(self, key: str, value: object) -> tuple[str, ...]:
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise self._error(f"`{key}` must be a list of texts", key, _in_a_list(key.rpartition(".")[2], value, "…"))
        return tuple(value)

    def _number(self, key: str, value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 86400:
            raise self._error(f"`{key}` must be a number of seconds from 1 to 86400", key, "write for example `300`")
        return value

    def _route(self, key: str, value: object) -> str:
        text = self._text(key, value)
        if text not in ROUTES:
            raise self._error(f"`{key}` cannot be `{text}`", key, did_you_mean(text, ROUTES))
        return text

    def _lock(self, key: str, value: object) -> tuple[str, ...] | bool:
        return value if isinstance(value, bool) else self._texts(key, value)

    def _mode(self, key: str, value: object) -> Mode:
        return parse_mode(self._text(key, value), file=self.document.file, line=self.key_lines[key])

    # -------------------------------------------------------- errors

    def _error(self, message: str, key: str, suggestion: str) -> PolicyError:
        return self._at(message, self.lines.of_key(key), suggestion)

    def _at(self, message: str, line: int, suggestion: str) -> PolicyError:
        return PolicyError(message, file=self.document.file, line=line, suggestion=suggestion)


def _in_a_list(key: str, value: object, example: str) -> str:
    """What to write in place of a value that is no list: a text most likely means its only item."""
    text = value if isinstance(value, str) and value.isprintable() and not set(value) & set("`'\"\\") else example
    return f'write `{key} = ["{text}"]`'


def check_example(
    example: Example, lower: Callable[[str], Lowering], only_reads: Callable[[str], bool] | None = None
) -> None:
    """Raise PolicyError if an example shows that its rule does not mean what its author thinks.

    `lower` reads a shell command in the folder ROOT; `only_reads`: as in Arguments."""
    if holds(example, lower, only_reads) == example.wanted:
        return
    file, _, line = example.rule.source.rpartition(":")
    verb = "does not match" if example.wanted else "matches"
    raise PolicyError(
        f"the rule `{example.rule.text}` {verb} its own example `{example.text}`",
        file=file,
        line=int(line) if line.isdigit() else 0,
        suggestion="correct the rule or the example",
    )


def holds(example: Example, lower: Callable[[str], Lowering], only_reads: Callable[[str], bool] | None = None) -> bool:
    """Whether the rule matches the example: a command, a path, a host, a tool, an agent, or arguments of a tool."""
    rule, text = example.rule, example.text
    narrow = example.kind == "allow" and rule.about is not RuleKind.DANGER
    rules = RuleSet((rule,), (ROOT,), HOME)
    if rule.about is TOOL and rule.spec:
        from assent.policy.conditions import presumed

        given = Arguments(loads(text), only_reads or (lambda _: False), presumed(rule.spec))
        server = rule.tool.startswith("mcp__") and rule.tool.count("__") == 1
        tool = f"{rule.tool}__x" if server else rule.tool.replace("*", "x")
        return _any(rules.naming_tool(tool, given, aggressive=not narrow))
    if rule.about is RuleKind.COMMAND:
        commands = lower(text).invocations
        if narrow:
            return bool(commands) and all(map(rules.proving_command, commands))
        return _any(*map(rules.reaching_command, commands), rules.reaching_text(text, anywhere=False))
    effects = parse.example(rule, text, lower)
    names = [(each.target.name,) if each.target.kind is Kind.PATH else () for each in effects]
    if narrow:
        return all(map(rules.proving_effect, effects, names))
    return _any(*map(rules.reaching_effect, effects, names))


def _any(*found: Iterable[Rule]) -> bool:
    return any(True for each in found for _ in each)
