"""Layer 1: what no rule, grant, answer or mode opens. Knows nothing of modes.

Judges effects on sensitive paths and on Assent itself; everything else passes it in silence. While a person has paused
it, what protects Assent itself is lifted, but for what answers in a person's place."""

from __future__ import annotations

from assent.contract.decision import Layer, Outcome, Part
from assent.contract.effect import Effect, Invocation, Kind, Operation
from assent.contract.facts import Facts
from assent.policy.rules import Rule
from assent.policy.ruleset import RuleSet

# The forms of the `assent` command that change nothing and answer nothing.
HARMLESS = frozenset({"check", "status", "doctor", "help", "version", "simulate", "export"})
# The forms that a pause opens: they look after Assent, and answer no question.
UPKEEP = frozenset({"install", "uninstall", "import", "policy", "serve", "stop"})
# The first word after these commands decides: `assent policy show`, `assent grants` (which lists).
HARMLESS_WORDS = {
    "policy": ("show", frozenset({"show", "lint", "test"})),
    "grants": ("list", frozenset({"list"})),
}
BROAD_HOMES = ("/", "/home", "/root", "/Users", "/etc", "/private", "/private/etc", "/var/root")
# Programs that run agents: started with settings of their own, their tool calls pass no hook.
AGENTS = frozenset("claude codex gemini opencode qwen copilot cursor-agent cline oh".split())
ENVIRONMENT = "`ASSENT_"
LIFTED = "assent-"  # how the ids of rules begin that a pause lifts
CHANGES = (Operation.WRITE, Operation.DELETE)
WHOLES = (Operation.READ, Operation.SEARCH, Operation.WRITE)


def judge_effect(floor: RuleSet, effect: Effect, names: tuple[str, ...], facts: Facts) -> Part | None:
    """DENY on a sensitive path, ASK where a folder that holds one is read as a whole, else nothing."""
    if effect.target.kind is not Kind.PATH or not names:
        return None
    for rule in floor.reaching_effect(effect, names):
        if not (facts.paused and rule.id.startswith(LIFTED)):
            return denied(rule, effect)
    if facts.own and not facts.paused and effect.operation in CHANGES and any(_is_own(name, facts) for name in names):
        return Part(
            Outcome.DENY,
            Layer.FLOOR,
            "floor.self",
            "this is part of Assent itself",
            what=describe(effect),
            where=effect.where,
            high=True,
        )
    if effect.recursive and effect.operation in WHOLES:
        return _whole_folder(floor, effect, names)
    if effect.target.pattern and effect.operation in WHOLES and any(_hidden_in_home(name, facts) for name in names):
        return _whole_folder(floor, effect, tuple(name.rpartition("/")[0] or "/" for name in names))
    return None


def silent(effect: Effect, names: tuple[str, ...], facts: Facts) -> bool:
    """Whether the floor has nothing to say of a path, apart from its rules."""
    if effect.target.pattern or (facts.own and effect.operation in CHANGES):
        return False
    return not (effect.recursive and effect.operation in WHOLES and any(map(_holds_homes, names)))


def _hidden_in_home(name: str, facts: Facts) -> bool:
    """A glob over the hidden files of a home folder."""
    folder, _, last = name.rpartition("/")
    return last[:2] in (".*", ".?", ".[") and (folder == facts.home or _holds_homes(folder))


def _is_own(name: str, facts: Facts) -> bool:
    return any(name == own or name.startswith(own + "/") for own in facts.own)


def _whole_folder(floor: RuleSet, effect: Effect, names: tuple[str, ...]) -> Part | None:
    inside = floor.inside(effect, names)
    if inside is None and not any(_holds_homes(name) for name in names):
        return None
    reason = inside.reason if inside else "credentials of the users there"
    return Part(
        Outcome.ASK,
        Layer.FLOOR,
        "floor.holds-sensitive",
        f"`{effect.target.text}` is taken as a whole and holds {reason}",
        what=describe(effect),
        where=effect.where,
        flip="name a folder that holds no credentials",
        high=True,
    )


def _holds_homes(name: str) -> bool:
    parent, _, _ = name.rpartition("/")
    return name in BROAD_HOMES or parent in ("/home", "/Users")


def denied(rule: Rule, effect: Effect) -> Part:
    return Part(
        Outcome.DENY,
        Layer.FLOOR,
        code_of(rule),
        f"`{effect.target.text}` is protected, or holds what is: {rule.reason}"
        if effect.recursive
        else f"`{effect.target.text}` is protected: {rule.reason}",
        what=describe(effect),
        where=effect.where,
        rule=rule.text,
        source=rule.source,
        high=True,
    )


def code_of(rule: Rule) -> str:
    if rule.id.startswith(LIFTED):
        return "floor.self"
    return "floor.terminal" if rule.id.startswith("terminal") else "floor.sensitive-path"


def judge_command(floor: RuleSet, invocation: Invocation, facts: Facts) -> Part | None:
    """DENY on a command that answers for a person, changes Assent or ends it, passes it by, or types elsewhere."""
    paused = facts.paused
    why = _answers(invocation, paused) or ("" if paused else _unhooked(invocation) or _ends(invocation, facts.server))
    rule: Rule | None = None
    if not why:
        found = floor.reaching_command(invocation)
        rule = next((each for each in found if not (paused and each.id.startswith(LIFTED))), None)
        if rule is None:
            return None
    return Part(
        Outcome.DENY,
        Layer.FLOOR,
        "floor.self" if rule is None else code_of(rule),
        why or (f"this acts on {rule.reason}" if rule is not None else ""),
        what=f"run `{' '.join(invocation.words)}`",
        where=f"command[{invocation.start}:{invocation.start + len(invocation.source)}]",
        rule=rule.text if rule else "",
        source=rule.source if rule else "",
        high=True,
    )


def _unhooked(invocation: Invocation) -> str:
    """Why a command in a changed environment would pass Assent by; `""` where it would not."""
    if invocation.forfeit.startswith(ENVIRONMENT):
        return "this sets the environment of Assent itself"
    if invocation.forfeit and invocation.program in AGENTS:
        return f"an agent would start without its hooks: {invocation.forfeit}"
    return ""


ANSWERING = ("assent", "python", "pypy")  # how programs begin that may be Assent's own command


def _ends(invocation: Invocation, server: str) -> str:
    """Why a command would end the server, named by its number; `""` where it would not."""
    named = bool(server) and invocation.program == "kill"
    return "this ends the server of Assent" if named and any(w.lstrip("-") == server for w in invocation.words) else ""


PERSONS_ONLY = "only a person may run this command of Assent"


def _answers(invocation: Invocation, paused: bool) -> str:
    words = invocation.words
    if invocation.program.startswith(("python", "pypy")):
        found = _as_module(words)
        if found < 0:
            return ""
        rest = words[found:]
    elif invocation.program == "assent":
        rest = words[1:]
    else:
        return ""
    return "" if _harmless(rest, paused) else PERSONS_ONLY


def _harmless(rest: tuple[str, ...], paused: bool) -> bool:
    """Whether the words of `assent` change nothing and answer nothing."""
    verb = next((word for word in rest if not word.startswith("-")), "help")
    if verb in HARMLESS_WORDS:
        default, harmless = HARMLESS_WORDS[verb]
        after = rest[rest.index(verb) + 1 :]
        if next((word for word in after if not word.startswith("-")), default) in harmless:
            return True
    return verb in HARMLESS or (paused and verb in UPKEEP)


def _as_module(words: tuple[str, ...]) -> int:
    """Where the words of `assent` begin behind an interpreter that runs it as a module; -1 where it does not."""
    value = False
    for place, word in enumerate(words[1:], 1):
        if value or word[:2] == "--":
            value = False
            continue
        if word[:1] != "-" or word == "-":
            return -1
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


def describe(effect: Effect) -> str:
    """An effect in words."""
    target = effect.target
    name = target.text or target.name or "an unknown target"
    whole = " and all below it" if effect.recursive else ""
    if target.kind is Kind.REPOSITORY:
        return f"run git in {name}" if effect.operation is Operation.EXECUTE else f"write git's store in {name}"
    if target.kind is Kind.HOOKS:
        return f"run git's hooks in {name}"
    if target.kind is Kind.MODULES:
        return f"load modules from {name}"
    if target.kind is Kind.TREE:
        return f"run git {name}"
    if effect.operation is Operation.EXECUTE:
        return f"run {name}"
    return f"{effect.operation.value} {name}{whole}"
