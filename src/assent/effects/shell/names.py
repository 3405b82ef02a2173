"""Builtins that set names: read, mapfile, printf -v, getopts, unset, let, wait -p. A subscript in a name is evaluated,
so a name that is not plain is a gap."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from assent.contract import Effect, Kind, Operation, Pattern, Target, re
from assent.effects.shell import arithmetic, calls
from assent.effects.shell.assign import finish
from assent.effects.shell.command import FIRM, LISTED, TOKENS, Arg
from assent.effects.shell.record import ShellJob, Walk
from assent.effects.shell.state import UNKNOWN, Pair, ShellState, ShellValue

_NAME = Pattern(r"[A-Za-z_]\w*")
_READ_VALUED = frozenset("adinNptu")
_MAP_VALUED = frozenset("dnOsuCc")


def could_name(walk: Walk, word: str | Arg, state: ShellState) -> None:
    if isinstance(word, str):
        if "[" in word:
            arithmetic.evaluate_name(walk, ShellValue((word,)), state)
    elif word.kind not in FIRM:
        arithmetic.evaluate_name(walk, ShellValue(word.values, kind=word.kind), state)


def put(walk: Walk, word: str | Arg, found: ShellValue, state: ShellState) -> None:
    could_name(walk, word, state)
    if isinstance(word, str):
        if match := _NAME.match(word):
            walk.assign(match[0], found if match[0] == word else UNKNOWN, state)
        return
    state.aliased = True
    if word.pattern or word.kind not in ("number", "paths", "files"):
        state.forfeit = state.forfeit or "which variable it sets is not known"


def split(args: Sequence[str | Arg], valued: frozenset[str]) -> tuple[dict[str, str | Arg], list[str | Arg]]:
    options: dict[str, str | Arg] = {}
    place = 0
    while place < len(args):
        word = args[place]
        if not isinstance(word, str) or word[:1] != "-" or len(word) < 2:
            break
        place += 1
        if word == "--":
            break
        for at, letter in enumerate(word[1:], 2):
            if letter not in valued:
                options[letter] = ""
                continue
            if at < len(word):
                options[letter] = word[at:]
            elif place < len(args):
                options[letter] = args[place]
                place += 1
            break
    return options, list(args[place:])


def read(walk: Walk, job: ShellJob) -> Pair:
    options, words = split(job.argv[1:], _READ_VALUED)
    arithmetic.zsh_numbers(walk, [options[name] for name in "nNtu" if name in options], job.state)
    arithmetic.zsh_words(walk, job.argv[1:], job.state)
    stdin = job.stdin
    found = ShellValue(taint=stdin.taint)
    if "a" in options:
        words.append(options["a"])
    elif stdin.text is None and stdin.kind in LISTED and len(words) == 1:
        found = ShellValue(kind=stdin.kind, under=stdin.under, taint=stdin.taint)
    elif stdin.text is None and (stdin.kind in TOKENS or stdin.kind == "hashes"):  # of these, one on each line
        found = ShellValue(kind="hash" if stdin.kind == "hashes" else stdin.kind, taint=stdin.taint)
    for word in words or ["REPLY"]:
        put(walk, word, found, job.state)
    return finish(walk, job)


def mapfile(walk: Walk, job: ShellJob) -> Pair:
    """`mapfile` fills an array; `-C` is a command that runs for the lines."""
    options, words = split(job.argv[1:], _MAP_VALUED)
    arithmetic.zsh_words(walk, job.argv[1:], job.state)
    for word in words or ["MAPFILE"]:
        put(walk, word, ShellValue(taint=job.stdin.taint), job.state)
    callback = options.get("C")
    if callback is not None:
        if isinstance(callback, str):
            calls.nested(walk, callback, job.inner(job.argv))
        walk.gap("gap.shell.eval", "`mapfile -C` runs a command: use a loop", job.start, job.end)
        return finish(walk, job, Effect(Operation.EXECUTE, Target(Kind.PROGRAM, "mapfile")))
    return finish(walk, job)


def printf_into(walk: Walk, job: ShellJob, args: list[str | Arg]) -> Pair:
    if args:
        put(walk, args[0], ShellValue(taint=job.taint), job.state)
    arithmetic.zsh_printf(walk, args[1:], job.state)
    return finish(walk, job)


def getopts(walk: Walk, job: ShellJob) -> Pair:
    if len(job.argv) > 2:
        put(walk, job.argv[2], UNKNOWN, job.state)
    walk.assign("OPTARG", UNKNOWN, job.state)
    walk.assign("OPTIND", ShellValue(kind="number"), job.state)
    return finish(walk, job)


def unset(walk: Walk, job: ShellJob) -> Pair:
    """Names and functions that are unset, or may be."""
    functions = references = False
    for word in job.argv[1:]:
        if isinstance(word, str) and word[:1] == "-":
            functions = functions or "f" in word
            references = references or "n" in word
            continue
        could_name(walk, word, job.state)
        if not isinstance(word, str):
            job.state.aliased = True
        elif _NAME.fullmatch(word):
            if references:  # a name that is no reference keeps its value
                walk.assign(word, UNKNOWN, job.state)
                continue
            if not functions:
                _forget(walk, word, job.state)
            job.state.undefine(word)
    return finish(walk, job)


def _forget(walk: Walk, name: str, state: ShellState) -> None:
    """Unset a name; a read-only one keeps its value, and in a function a hidden one may reappear."""
    walk.assign(name, ShellValue() if walk.stack else ShellValue(("",)), state)
    if not walk.stack and name not in state.fixed:
        state.drop(name)


def let(walk: Walk, job: ShellJob) -> Pair:
    for word in job.argv[1:]:
        if isinstance(word, str):
            arithmetic.evaluate(walk, ShellValue((word,)), job.state)
            arithmetic.assign_results(walk, word, job.state)
        else:
            arithmetic.evaluate(walk, ShellValue(word.values, kind=word.kind), job.state)
            job.state.aliased = True
    return finish(walk, job)


def wait(walk: Walk, job: ShellJob) -> Pair:
    args = job.argv[1:]
    for place, word in enumerate(args):
        if isinstance(word, str) and re.fullmatch(r"-[a-z]*p", word) and place + 1 < len(args):
            put(walk, args[place + 1], ShellValue(kind="number"), job.state)
        elif isinstance(word, str) and word.startswith("-p") and len(word) > 2:
            put(walk, word[2:], ShellValue(kind="number"), job.state)
        else:
            could_name(walk, word, job.state)
    return finish(walk, job)


BUILTINS: dict[str, Callable[[Walk, ShellJob], Pair]] = {
    "read": read,
    "mapfile": mapfile,
    "readarray": mapfile,
    "getopts": getopts,
    "unset": unset,
    "let": let,
    "wait": wait,
}
