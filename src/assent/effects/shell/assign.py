"""Assignments and the declaring builtins. Runs nothing but the substitutions in values."""

from __future__ import annotations

from collections.abc import Sequence

from assent.contract import Effect, Kind, Operation, Pattern, Target, re
from assent.effects.shell import arithmetic, environment
from assent.effects.shell.command import Arg, CommandEffects
from assent.effects.shell.record import ShellJob, Walk
from assent.effects.shell.redirects import plumb
from assent.effects.shell.state import NUMBER, UNKNOWN, USUAL_SPLIT, Pair, ShellState, ShellValue, bounded, either
from assent.effects.shell.tree import Assignment, Literal, Simple, Word
from assent.effects.shell.words import expand, value, value_of

_GIVEN = Pattern(r"([A-Za-z_]\w*)(\[[^]]*\])?(\+)?=")
_NAME = Pattern(r"[A-Za-z_]\w*")
_LIVE = Pattern(r"\$[({]|`|\\[0-7$!]")
_SHELLS_OWN = frozenset(
    """_ RANDOM SRANDOM LINENO SECONDS EPOCHSECONDS EPOCHREALTIME BASHPID BASH_COMMAND BASH_SUBSHELL BASH_REMATCH
    BASH_ARGV0 OPTIND FUNCNAME GROUPS PIPESTATUS DIRSTACK HISTCMD COLUMNS LINES SHLVL PWD OLDPWD UID EUID PPID
    BASH_SOURCE BASH_LINENO BASH_ARGV BASH_ARGC BASH_VERSINFO SHELLOPTS BASHOPTS""".split()
)
_COMPUTED = frozenset(
    "RANDOM SRANDOM LINENO SECONDS EPOCHSECONDS BASHPID BASH_SUBSHELL OPTIND HISTCMD UID EUID".split()
)
_ZSH_TIED = frozenset("path fpath cdpath commands aliases galiases saliases functions options nameddirs".split())
_PROMPTS = frozenset(("PS4", "PS1", "PS0", "PS2", "PROMPT_COMMAND"))


def _as_it_was(walk: Walk, name: str, found: ShellValue) -> bool:
    """Whether a name is set to its own current value: `GOPATH=$(go env GOPATH)`."""
    if found.kind != "place" or name[:2] != "GO":
        return False
    from assent.effects.shell.commands.readers import system

    return found.under == system.go_places(name, walk.home)


def put(walk: Walk, name: str, found: ShellValue, state: ShellState) -> None:
    """Give a name a value in a shell, with all consequences."""
    walk.writes[name] = walk.writes.get(name, 0) + 1
    computes(walk, name, found, state)
    if name in _SHELLS_OWN:
        if name == "DIRSTACK":
            state.stack = ()
        if name == "BASH_ARGV0":
            state.set("0", UNKNOWN)
        if name == "OLDPWD":
            state.old = bounded(found.values) if found.values else ("",)
        found = ShellValue(taint=found.taint)
    elif name in state.fixed:
        found = either(state.get(name), found)
    if state.integers:
        arithmetic.evaluate(walk, found, state)
        found = found if found.values is None else either(found, NUMBER)
    state.set(name, found)
    if name == "IFS":
        state.split = found.values == USUAL_SPLIT
    if (environment.changes(name, found.values) and not _as_it_was(walk, name, found)) or (
        walk.zsh and name in _ZSH_TIED
    ):
        state.forfeit = environment.reason(name, state.forfeit)
    if name in _PROMPTS and (found.values is None or any(map(_LIVE.search, found.values))):
        walk.gap("gap.shell.prompt", f"`{name}` is run by the shell: leave it as it is")
        walk.evaluated(found, state)


def computes(walk: Walk, name: str, found: ShellValue, state: ShellState) -> None:
    """Values of some of the shell's own names are evaluated as arithmetic."""
    if name in _COMPUTED or (walk.zsh and name in arithmetic.ZSH_NUMBERS):
        arithmetic.evaluate(walk, found, state)


def assignment(walk: Walk, node: Assignment, state: ShellState) -> None:
    """`name=value` without a command: it applies to the shell."""
    put(walk, *assigned(walk, node, state), state)


def assigned(walk: Walk, node: Assignment, state: ShellState) -> tuple[str, ShellValue]:
    """The name and its value; visits every substitution inside."""
    name = node.name
    before = state.get(name)
    if node.subscript is not None:
        walk.subscript(name, node.subscript, state)
    if node.items is not None:
        found = _array(walk, node, state)
    else:
        found = ShellValue(("",)) if node.value is None else value(walk, node.value, state)
    if node.subscript is not None:
        kind = "map" if before is not None and before.kind == "map" else ""
        return name, ShellValue(kind=kind, taint=found.taint | (before.taint if before else 0))
    if node.append:
        found = _appended(before, found)
    return name, found


def _array(walk: Walk, node: Assignment, state: ShellState) -> ShellValue:
    """`name=(…)`: its elements, if each is one known text."""
    items: list[ShellValue] = []
    plain = True
    outer, walk.taint = walk.taint, 0
    before = state.get(node.name)
    mapped = before is not None and before.kind == "map"
    for word in node.items or ():
        if word.text[:1] == "[":
            plain = False
            _keyed(walk, word, mapped, state)
            continue
        for one in expand(walk, word, state):
            if isinstance(one, str):
                items.append(ShellValue((one,)))
            elif one.splits or one.pattern:
                plain = False
            else:
                items.append(ShellValue(one.values, kind=one.kind, under=one.under))
    taint, walk.taint = walk.taint, outer | walk.taint
    if mapped:
        return ShellValue(kind="map", taint=taint)
    return ShellValue(items=tuple(items) if plain else None, taint=taint)


def _keyed(walk: Walk, word: Word, mapped: bool, state: ShellState) -> None:
    """`[key]=value` in an array: the key is arithmetic, unless the array is a map."""
    if mapped or not any(type(part) is Literal and "]=" in part.text for part in word.parts):
        value(walk, word, state)
        return
    for place, part in enumerate(word.parts):
        if type(part) is Literal and "]=" in part.text:
            head, _, tail = part.text.partition("]=")
            arithmetic.evaluate_word(walk, Word((*word.parts[:place], Literal(head)), word.text), state)
            value_of(walk, (Literal(tail), *word.parts[place + 1 :]), state)
            return


def _appended(before: ShellValue | None, found: ShellValue) -> ShellValue:
    taint = found.taint | (before.taint if before is not None else 0)
    if before is not None and before.items is not None and found.items is not None:
        return ShellValue(items=before.items + found.items, taint=taint)
    one, two = before.one if before is not None else None, found.one
    if one is None or two is None or found.items is not None or (before is not None and before.items is not None):
        return ShellValue(taint=taint)
    return ShellValue((one + two,), taint=taint)


# ---------------------------------------------------------------- export, declare, local, readonly


def declaration(walk: Walk, node: Simple, name: str, state: ShellState) -> Pair:
    """A declaring builtin as it is written: values in its words are not split."""
    argv: list[str | Arg] = [name]
    given: list[tuple[str, bool, ShellValue]] = []
    for word in node.words[1:]:
        first = word.parts[0] if word.parts else None
        match = _GIVEN.match(first.text) if type(first) is Literal and not first.quoted else None
        if match is None or type(first) is not Literal:
            words = expand(walk, word, state)
            argv += words
            given += _from_words(walk, words, state)
            continue
        rest = first.text[match.end() :]
        found = value_of(walk, ((Literal(rest),) if rest else ()) + word.parts[1:], state)
        walk.taint |= found.taint
        if match[2]:
            arithmetic.evaluate_name(walk, ShellValue((match[1] + match[2],)), state)
            found = ShellValue(taint=found.taint)
        given.append((match[1], match[3] is not None, found))
        one = found.one
        argv.append(match[0] + one if one is not None else Arg(match[0] + word.text[match.end() :], prefix=match[0]))
    for node_given in node.assignments:
        key, found = assigned(walk, node_given, state)
        given.append((key, False, found if node_given.items is not None else either(state.get(key), found)))
    job = ShellJob(argv, state, walk.stdin, walk.taint, node.start, node.end, walk.text[node.start : node.end])
    job.plumbing = plumb(walk, node.redirects, state) if node.redirects else None
    job.place = walk.place
    return declare(walk, job, given)


def builtin(walk: Walk, job: ShellJob) -> Pair:
    """A declaring builtin after `command` or `builtin`: its words are expanded like any others."""
    return declare(walk, job, _from_words(walk, job.argv[1:], job.state))


def _from_words(walk: Walk, words: Sequence[str | Arg], state: ShellState) -> list[tuple[str, bool, ShellValue]]:
    given = []
    for word in words:
        text = word if isinstance(word, str) else word.prefix
        match = _GIVEN.match(text)
        if match is not None:
            if match[2]:
                arithmetic.evaluate_name(walk, ShellValue((match[1] + match[2],)), state)
            known = isinstance(word, str) and not match[2]
            given.append((match[1], match[3] is not None, ShellValue((text[match.end() :],)) if known else UNKNOWN))
    return given


def declare(walk: Walk, job: ShellJob, given: list[tuple[str, bool, ShellValue]]) -> Pair:
    state = job.state
    options = "".join(w[1:] for w in job.argv[1:] if isinstance(w, str) and re.fullmatch(r"[-+][A-Za-z]+", w))
    builtin = job.argv[0]
    names = [w for w in job.argv[1:] if isinstance(w, str) and _NAME.fullmatch(w)]
    local = builtin == "local" or (builtin in ("declare", "typeset") and "g" not in options)
    exports = (builtin == "export" and "n" not in options) or (builtin != "export" and "x" in options)
    fixes = builtin == "readonly" or "r" in options
    effects: tuple[Effect, ...] = ()
    _marks(walk, job, builtin, options, state)
    if "f" in options or "F" in options:
        given, names = [], []
    for name, append, found in given:
        if "n" in options and builtin != "export":
            arithmetic.evaluate_name(walk, found, state)
            if found.values is None or any(environment.changes(target, None) for target in found.values):
                state.forfeit = state.forfeit or f"`{name}` may refer to a name that changes what commands run"
        if local:
            state.save_local(name)
        if append:
            found = _appended(state.get(name), found)
        if set(options) & set("ul") or ("i" in options and not found.numeric):
            found = ShellValue(taint=found.taint)
        if "A" in options:
            found = ShellValue(kind="map", taint=found.taint)
        if builtin == "local" and state.saved is None:
            found = either(state.get(name), found)  # outside of a function it fails
        if "g" in options and state.saved and name in state.saved:
            state.saved[name] = either(state.saved[name], found)
            found = either(state.get(name), found)
        put(walk, name, found, state)
        if fixes:
            state.fixed |= {name}  # declared twice in one command, it keeps its first value
    if fixes:
        state.fixed |= {*names}
    for name in names:
        if local:
            state.save_local(name)
            if "A" in options:
                put(walk, name, ShellValue(kind="map"), state)
            elif builtin == "local" or (state.saved is not None and not exports):
                put(
                    walk,
                    name,
                    UNKNOWN if state.get(name) is None else either(state.get(name), ShellValue(("",))),
                    state,
                )
    if exports:
        for name in [*names, *(name for name, _, _ in given)]:
            state.export(name)
            found_now = state.get(name)
            if found_now is not None and environment.changes(name, found_now.values):
                job.forfeit = environment.reason(name, job.forfeit)
    if not given and not names and all(w in ("-p", "-x", "-px", "-xp") for w in job.argv[1:]):
        effects = (Effect(Operation.READ, Target(Kind.SERVICE, "environment"), dangers=("prints-secret",)),)
    return finish(walk, job, *effects)


def _marks(walk: Walk, job: ShellJob, builtin: str | Arg, options: str, state: ShellState) -> None:
    """Attributes that change how names work from here on, and words that could be any name."""
    if "n" in options and builtin in ("declare", "local", "typeset"):
        state.aliased = True
        if any(isinstance(word, str) and _NAME.fullmatch(word) for word in job.argv[1:]):
            state.forfeit = state.forfeit or "a name is set that may refer to any other"
    if set(options) & set("ulc"):
        state.aliased = True  # the attribute changes assigned values
    if "i" in options:
        state.integers = True
        walk.writes["declare -i"] = walk.writes.get("declare -i", 0) + 1
    for word in job.argv[1:]:
        if isinstance(word, Arg) and not _GIVEN.match(word.prefix):
            arithmetic.evaluate_name(walk, ShellValue(word.values), state)
            state.aliased = True
            job.forfeit = job.forfeit or "the names it sets are not known"
        elif isinstance(word, str) and "[" in word and not _GIVEN.match(word):
            arithmetic.evaluate_name(walk, ShellValue((word,)), state)


def finish(walk: Walk, job: ShellJob, *effects: Effect) -> Pair:
    """Record a builtin with its effects. The states after it are the job's."""
    texts = [word if isinstance(word, str) else word.text for word in job.argv[1:]]
    operands = tuple(text for text in texts if text[:1] != "-" or text == "-")
    walk.record(job, CommandEffects(flags=_flags(job.argv), operands=operands), effects)
    return job.state, job.state


def runs(job: ShellJob, *dangers: str) -> Effect:
    """The effect of a builtin that does more than is modelled."""
    name = job.argv[0]
    return Effect(Operation.EXECUTE, Target(Kind.PROGRAM, name if isinstance(name, str) else ""), dangers=dangers)


def _flags(argv: list[str | Arg] | tuple[str | Arg, ...]) -> frozenset[str]:
    """Every spelling of the options among a builtin's words."""
    out = set()
    for word in argv[1:]:
        if isinstance(word, str) and word[:1] == "-" and len(word) > 1:
            out.add(word)
            if word[1] != "-" and len(word) < 12:
                out.update("-" + letter for letter in word[1:])
    return frozenset(out)
