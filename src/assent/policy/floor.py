"""Layer 1, the floor: denies effects on sensitive paths and on Assent itself, whatever rules, grants and modes say.

A person can pause the protection of Assent itself, except against answering in a person's place."""

from __future__ import annotations

from assent.agents import known
from assent.contract import OR_ANOTHER, Effect, Facts, Invocation, Kind, Layer, Operation, Outcome, Part, Pattern, Via
from assent.policy.rules import Rule
from assent.policy.ruleset import RuleSet
from assent.programs.traits import has

# The forms of the `assent` command that change nothing and answer nothing.
HARMLESS = frozenset({"check", "status", "doctor", "help", "version", "simulate", "export"})
# The forms that a pause allows: they maintain Assent and answer no question.
UPKEEP = frozenset({"install", "uninstall", "import", "policy", "serve", "stop"})
# The first word after these commands decides: `assent policy show`, `assent grants` (which lists).
HARMLESS_WORDS = {
    "pack": ("", frozenset({"list"})),
    "policy": ("show", frozenset({"show", "lint", "test"})),
    "rules": ("show", frozenset({"show", "lint"})),
    "grants": ("list", frozenset({"list"})),
}
BROAD_HOMES = ("/", "/home", "/root", "/Users", "/etc", "/private", "/private/etc", "/var/root")
# Programs that run agents: started with settings of their own, their tool calls pass no hook.
AGENTS = frozenset(known.joined("program", "names"))
ANOTHER_TERMINAL = "this acts on another terminal: its input or its screen"
NAMED_TERMINAL = "this types into a terminal that it names, shows its screen, or loads terminal settings"
ENVIRONMENT = "`ASSENT_"
TERMINAL = "terminal"  # the rules on terminals
OWN = "assent-"  # prefixes of the ids of rules that protect Assent itself
ANSWERED = "assent-server"  # where people answer: not lifted by a pause
CHANGES = (Operation.WRITE, Operation.DELETE)
WHOLES = (Operation.READ, Operation.SEARCH, Operation.WRITE)


def judge_effect(floor: RuleSet, effect: Effect, names: tuple[str, ...], facts: Facts) -> Part | None:
    """DENY on a sensitive path, ASK if a folder that contains one is read as a whole, else nothing."""
    if facts.server is not None:
        from assent.policy import floor_commands

        if effect.target.kind is Kind.HOST and floor_commands.of_address(effect, facts.server):
            return _on_self(effect, floor_commands.CONNECTS)
        if floor_commands.of_path(names, facts.server):
            return _on_self(effect, floor_commands.LOOKS)
    if effect.target.kind is not Kind.PATH or not names:
        return None
    if effect.operation is Operation.LIST and effect.target.pattern:
        names = tuple(map(_listed, names))  # names matched by a glob are not secret
    for rule in floor.reaching_effect(effect, names):
        if not (facts.paused and lifted(rule)):
            return denied(rule, effect)
    if effect.via is Via.TOLD:
        written = Effect(Operation.WRITE, effect.target, effect.where, invocation=effect.invocation)
        return judge_effect(floor, written, names, facts)
    if facts.own and not facts.paused and effect.operation in CHANGES and any(_is_own(name, facts) for name in names):
        return _on_self(effect, "this is part of Assent itself")
    if effect.recursive and effect.operation in WHOLES:
        return _whole_folder(floor, effect, names, facts)
    if effect.target.pattern and effect.operation in WHOLES and any(_hidden_in_home(name, facts) for name in names):
        return _whole_folder(floor, effect, tuple(name.rpartition("/")[0] or "/" for name in names), facts)
    return None


def _on_self(effect: Effect, why: str) -> Part:
    return Part(Outcome.DENY, Layer.FLOOR, "floor.self", why, what=describe(effect), where=effect.where, high=True)


def silent(effect: Effect, names: tuple[str, ...], facts: Facts) -> bool:
    """Whether the floor does not match a path, apart from its rules."""
    if effect.target.pattern or facts.server is not None or (facts.own and effect.operation in CHANGES):
        return False
    if not effect.recursive or effect.operation not in WHOLES:
        return True
    return not any(map(_holds_homes, names)) and not (facts.aliases and _held(names, facts))


def _listed(name: str) -> str:
    """The folder that a glob is matched in."""
    wild = next((at for at, letter in enumerate(name) if letter in "*?[("), len(name))
    return name[:wild].rpartition("/")[0] or "/"


def _hidden_in_home(name: str, facts: Facts) -> bool:
    """A glob over the hidden files of a home folder."""
    folder, _, last = name.rpartition("/")
    return last[:2] in (".*", ".?", ".[") and (folder == facts.home or _holds_homes(folder))


def _is_own(name: str, facts: Facts) -> bool:
    return any(name == own or name.startswith(own + "/") for own in facts.own)


def _held(names: tuple[str, ...], facts: Facts) -> tuple[str, ...]:
    """The guarded paths that some folders contain under another name."""
    return tuple(usual for name in names for real, usual in facts.aliases if real.startswith(name.rstrip("/") + "/"))


def _whole_folder(floor: RuleSet, effect: Effect, names: tuple[str, ...], facts: Facts) -> Part | None:
    inside = floor.inside(effect, names)
    held = _held(names, facts) if facts.aliases and inside is None else ()
    if held:
        inside = next(iter(floor.reaching_effect(effect, held)), None) or floor.inside(effect, held)
    if inside is None and not any(_holds_homes(name) for name in names):
        return None
    return Part(
        Outcome.ASK,
        Layer.FLOOR,
        "floor.holds-sensitive",
        f"`{effect.target.text}` is read or copied as a whole, and contains "
        + (inside.reason if inside else "credentials of the users there"),
        what=describe(effect),
        where=effect.where,
        flip="name a folder without credentials",
        high=True,
    )


def _holds_homes(name: str) -> bool:
    return name in BROAD_HOMES or name.rpartition("/")[0] in ("/home", "/Users")


def denied(rule: Rule, effect: Effect) -> Part:
    return Part(
        Outcome.DENY,
        Layer.FLOOR,
        code_of(rule),
        f"`{effect.target.text}` is protected, or contains something that is: {rule.reason}"
        if effect.recursive
        else f"`{effect.target.text}` is protected: {rule.reason}",
        what=describe(effect),
        where=effect.where,
        rule=rule.text,
        source=rule.source,
        high=True,
    )


def lifted(rule: Rule) -> bool:
    """Whether a pause lifts the rule."""
    return rule.id.startswith(OWN) and rule.id != ANSWERED


def code_of(rule: Rule) -> str:
    if rule.id.startswith(OWN):
        return "floor.self"
    return "floor.terminal" if rule.id.startswith(TERMINAL) else "floor.sensitive-path"


def checks_command(invocation: Invocation, facts: Facts) -> bool:
    """Whether the floor checks a command by more than its rules."""
    special = invocation.program in AGENTS or has(invocation.program, "judged-by-floor")
    return special or facts.server is not None or bool(invocation.forfeit)


def judge_command(floor: RuleSet, invocation: Invocation, facts: Facts) -> Part | None:
    """DENY on a command that answers for a person, changes or ends Assent, bypasses it, or types into a terminal; ASK
    if it names the terminal of another session."""
    paused = facts.paused
    why = _answers(invocation, paused) or _acts(invocation, facts)
    if not why and not paused:
        why = _unhooked(invocation)
    code, text, source = "floor.self", "", ""
    outcome, terminal = Outcome.DENY, Outcome.ALLOW
    if not why:
        terminal = _terminal(invocation)
        if terminal is Outcome.DENY:
            why, code = ANOTHER_TERMINAL, "floor.terminal"
    if not why:
        judged = has(invocation.program, "tmux")  # checked per command, unlike its rules
        rules = (each for each in floor.reaching_command(invocation) if not (judged and each.id == TERMINAL))
        rule = next((each for each in rules if not (paused and lifted(each))), None)
        if rule is not None:
            why, code, text, source = f"this acts on {rule.reason}", code_of(rule), rule.text, rule.source
        elif terminal is Outcome.ASK:
            why, code, outcome = NAMED_TERMINAL, "floor.terminal", terminal
        else:
            return None
    return Part(
        outcome,
        Layer.FLOOR,
        code,
        why,
        what=f"run `{' '.join(invocation.words)}`",
        where=f"command[{invocation.start}:{invocation.start + len(invocation.source)}]",
        rule=text,
        source=source,
        high=True,
    )


def _unhooked(invocation: Invocation) -> str:
    """Why a command in a changed environment would bypass Assent; `""` if it would not."""
    if invocation.forfeit.startswith(ENVIRONMENT):
        return "this sets Assent's own environment"
    is_agent = invocation.program in AGENTS
    if is_agent and invocation.forfeit:
        return f"an agent would start without its hooks: {invocation.forfeit}"
    if not is_agent and not has(invocation.program, "agent-starter"):
        return ""
    from assent.policy import floor_commands

    return floor_commands.unhooked(invocation)


def _acts(invocation: Invocation, facts: Facts) -> str:
    if facts.server is None:
        return ""
    from assent.policy import floor_commands

    why = floor_commands.of_command(invocation, facts.server)
    return "" if why == floor_commands.ENDS and facts.paused else why


def _terminal(invocation: Invocation) -> Outcome:
    if not has(invocation.program, "reaches-terminals"):
        return Outcome.ALLOW
    from assent.policy import floor_commands

    return floor_commands.reaches(invocation)


# Code that imports a module of Assent outside its public API; and files that are its command.
_OFFERED = r"(?!(?:agents|api|contract|effects|policy|programs|sdk|tools|__version__)\b)[a-z_]"
_INSIDE = Pattern(
    rf"\b(?:from|import)\s[^\n;]*\bassent\s*\.\s*{_OFFERED}"
    rf"|\bfrom\s+assent\s+import\s(?:[^\n;]*[,(])?\s*{_OFFERED}"
    r"|\bassent\.(?:approval|cli|contain|demo|engine|facts|gate|hook|mcp|server|state|team|trail|tui|__main__)\b"
    r"|\b(?:run_module|run_path|import_module|__import__)\W+assent\W"
)
_OURS = Pattern(r"(?:.*/)?assent(?:/__main__\.py|/?)")

PERSONS_ONLY = "only a person may run this Assent command"


def _answers(invocation: Invocation, paused: bool) -> str:
    words = invocation.words
    if has(invocation.program, "maybe-python"):
        found = _as_module(words)
        if found < 0:
            return PERSONS_ONLY if any(map(_INSIDE.search, words)) else ""
        rest = words[found:]
    elif invocation.program in ("assent", "assent-hook"):
        rest = words[1:]
    elif invocation.program == "assent-contain":
        return PERSONS_ONLY  # it runs a ticket, which only our answers name
    else:
        return ""
    return "" if _harmless(rest, paused) else PERSONS_ONLY


def _harmless(rest: tuple[str, ...], paused: bool) -> bool:
    """Whether the words of `assent` change nothing and answer nothing."""
    verb = next((word for word in rest if not word.startswith("-")), "help")
    if verb in HARMLESS_WORDS:
        default, harmless = HARMLESS_WORDS[verb]
        if next((word for word in rest[rest.index(verb) + 1 :] if not word.startswith("-")), default) in harmless:
            return True
    return verb in HARMLESS or (paused and verb in UPKEEP)


def _as_module(words: tuple[str, ...]) -> int:
    """Where the words of `assent` begin after an interpreter that runs it as a module; -1 if it does not."""
    value = False
    for place, word in enumerate(words[1:], 1):
        if value or word[:2] == "--":
            value = False
            continue
        if word[:1] != "-" or word == "-":
            return place + 1 if _OURS.fullmatch(word) else -1
        letters, module, name = word[1:].partition("m")
        if "c" in letters:
            return -1
        if "X" in letters or "W" in letters:
            value = word[-1:] in ("X", "W")
        elif module:
            rest = place + 1 if name else place + 2
            name = name or "".join(words[place + 1 : rest])
            return rest if name == "assent" or name.startswith("assent.") else -1
    return -1


VERBS = {operation: operation.verb for operation in Operation}
# Words for effects on such targets, if the operation does not say it.
DESCRIPTIONS = {
    Kind.HOOKS: "run git's hooks in {}",
    Kind.MODULES: "load modules from {}",
    Kind.CODE: "run {}",
    Kind.SETTINGS: "run {}, which uses settings files",
    Kind.TREE: "run git {}",
}


def describe(effect: Effect) -> str:
    """An effect in words."""
    target, runs = effect.target, effect.operation is Operation.EXECUTE
    name = target.text or target.name or "an unknown target"
    if target.kind is Kind.REPOSITORY:
        return f"run git in {name}" if runs else f"write git's store in {name}"
    if target.kind is Kind.SETTINGS and OR_ANOTHER in target.name:
        return f"change {name}, or another file with that ending"
    if target.kind in DESCRIPTIONS:
        return DESCRIPTIONS[target.kind].format(name)
    if target.kind is Kind.TOOL and not runs:
        return f"call {name}"
    return f"{VERBS[effect.operation]} {name}" + (" and all below it" if effect.recursive and not runs else "")
