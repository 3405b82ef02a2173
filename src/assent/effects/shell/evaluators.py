"""Builtins that run text, files or other commands: eval, source, exec, trap, command, builtin, and the hooks of
completion and editing."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from assent.contract import Effect, Kind, Operation, Pattern, Target, re
from assent.effects.paths import path_target
from assent.effects.shell import calls, flows, names, simple
from assent.effects.shell.assign import finish, runs
from assent.effects.shell.command import Arg, Run
from assent.effects.shell.flows import Stream
from assent.effects.shell.record import ShellJob, Walk
from assent.effects.shell.redirects import unnamed
from assent.effects.shell.state import UNKNOWN, Pair, ShellState, either, join

if TYPE_CHECKING:
    from assent.effects.shell.code_files.scripts import ScriptEffects

EXECUTE, READ = Operation.EXECUTE, Operation.READ
_LIVE = Pattern(r"[$`<>~]")
_LAST_SIGNALS = Pattern(r"(?i)exit|0|(?:sig)?(?:int|term|hup|quit)|1|2|3|15")  # not raised by the text itself
_COMPLETES = frozenset("oAGWFCXPS")
_MOST_TEXTS = 16
_KEEPS_FOLDER = Pattern(r"(?:.*/)?activate")


def eval_(walk: Walk, job: ShellJob) -> Pair:
    """`eval`: its words, joined by spaces, are a script of this shell."""
    texts = _joined([word for word in job.argv[1:] if word != "--"])
    state = job.state
    dangers = flows.code_dangers(job.taint)
    if texts is None:
        walk.gap("gap.shell.eval", "write the command out instead of building it for `eval`", job.start, job.end)
        return _lost(walk, job, runs(job, *dangers))
    finish(walk, job, *([runs(job, *dangers)] if dangers else []))
    if len(texts) == 1:
        return _under(walk, job, texts[0])
    for text in texts:
        inner = job.inner(job.argv)
        inner.state = state.fork()
        calls.nested(walk, text, inner)
    state.blur()
    return state, state


def _under(walk: Walk, job: ShellJob, text: str) -> Pair:
    """Walk a text in this shell, with the assignments before its command in force while it runs."""
    state = job.state
    if not job.env:
        return calls.nested(walk, text, job.inner(job.argv))
    split, before = state.split, [(name, state.get(name)) for name, _ in job.env]
    for name, found in job.env:
        walk.assign(name, found, state)
    walk.stack.append(("", walk.forks))  # unsetting one of them uncovers the hidden value, as in a function
    pair = calls.nested(walk, text, job.inner(job.argv))
    walk.stack.pop()
    for after in pair:
        if after is not None:
            after.split = after.split and split
            for name, old in before:
                after.set(name, either(old, after.get(name)))
    return pair


def _joined(words: list[str | Arg]) -> list[str] | None:
    """Every text that words joined by spaces can be; None if one of them is not known."""
    texts = [""]
    for word in words:
        if isinstance(word, Arg) and (word.values is None or word.pattern or word.splits):
            return None
        values = (word,) if isinstance(word, str) else word.values or ()
        texts = [f"{text} {value}" if text else value for text in texts for value in values]
        if len(texts) > _MOST_TEXTS:
            return None
    return texts


def source(walk: Walk, job: ShellJob) -> Pair:
    """`source file`: code that runs in this shell, and can change everything in it."""
    state = job.state
    args = [word for word in job.argv[1:] if word != "--"]
    if not args:
        return finish(walk, job)
    file = args[0]
    stream = _streamed(walk, job, file)
    if stream is not None:
        return _sourced(walk, job, stream)
    targets = (
        [path_target(file, cwd, walk.home, tilde=False) for cwd in state.cwds]
        if isinstance(file, str)
        else [path_target(v, state.cwds[0], walk.home, tilde=False, pattern=file.pattern) for v in file.values]
        if file.values is not None
        else [unnamed(file, walk, state.cwds[0])]
    )
    effects = []
    for target in targets:
        dangers = flows.code_dangers(walk.fetched.get(target.name, 0))
        effects += [Effect(READ, target), Effect(EXECUTE, target, dangers=dangers)]
    cwds = state.cwds
    if not isinstance(file, str) or not _KEEPS_FOLDER.fullmatch(file):
        from assent.effects.shell.code_files import candidates

        script = candidates.read(walk, job, tuple(effects), walk.shell or "sh")
        if script is not None and script.bodies:
            # Without a slash another file of that name, on PATH, comes first.
            exact = isinstance(file, str) and "/" in file
            return _walked(walk, job, script, script.effects if exact else tuple(effects))
    out = _lost(walk, job, *effects)
    if isinstance(file, str) and _KEEPS_FOLDER.fullmatch(file):
        state.cwds = cwds
    return out


def _walked(walk: Walk, job: ShellJob, script: ScriptEffects, effects: tuple[Effect, ...]) -> Pair:
    """Walk a file of code in this shell, with each text that it may have."""
    from assent.effects.shell.code_files import scripts

    finish(walk, job, *effects)
    index = len(walk.invocations) - 1
    ok: ShellState | None = None
    fail: ShellState | None = None
    for path, runs_inside in script.bodies:
        around = scripts.enter(walk, index, path)
        for run in runs_inside:
            inner = job.inner(job.argv)
            inner.env, inner.state = job.env, job.state.fork()
            won, lost = _in_file(walk, inner, run)
            ok, fail = join(ok, won), join(fail, lost)
        scripts.leave(walk, job, around)
    return ok, fail


def _in_file(walk: Walk, job: ShellJob, run: Run) -> Pair:
    """One text of a sourced file. While it runs, its arguments replace the shell's own, but not in every shell;
    `return` leaves it."""
    state, bash = job.state, walk.shell == "bash"
    source, before, words = state.get("BASH_SOURCE"), state.positional, run.positional[1:]
    given = before if not words else calls.positional(words) if bash else None
    state.positional = given
    state.set("BASH_SOURCE", calls.as_value(run.positional[0]) if bash else UNKNOWN)
    walk.escapes.append(("file", []))
    ok, fail = _under(walk, job, run.script or "")
    for left in walk.escapes.pop()[1]:
        ok, fail = join(ok, left.fork()), join(fail, left.fork())
    for after in {id(each): each for each in (ok, fail) if each is not None}.values():
        after.reset("BASH_SOURCE", source)
        if words:
            after.positional = before if after.positional is given and given is not None else None
    return ok, fail


def _lost(walk: Walk, job: ShellJob, *effects: Effect) -> Pair:
    """Record code that ran in this shell and was not read."""
    out = finish(walk, job, *effects)
    job.state.blur()
    return out


def _streamed(walk: Walk, job: ShellJob, file: str | Arg) -> Stream | None:
    """The content of a stream that is read as a file: stdin, or the output of a process substitution."""
    if file in ("/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"):
        return job.stdin
    if isinstance(file, str) and file.startswith("/dev/fd/"):
        return walk.pipes.get(file, flows.UNSEEN)
    return None


def _sourced(walk: Walk, job: ShellJob, stream: Stream) -> Pair:
    effect = Effect(EXECUTE, Target(Kind.PROGRAM, "source"), dangers=flows.code_dangers(stream.taint | job.taint))
    if stream.text is None:
        walk.gap("gap.shell.stdin-script", "source a file that can be read", job.start, job.end)
        return _lost(walk, job, effect)
    finish(walk, job, effect)
    return calls.nested(walk, stream.text, job.inner(job.argv))


def exec_(walk: Walk, job: ShellJob) -> Pair:
    """`exec command` replaces the shell; redirections without a command apply from here on."""
    args = list(job.argv[1:])
    named: list[Effect] = []
    while args and isinstance(args[0], str) and re.fullmatch(r"-[cl]*a?|--", args[0]):
        option = args.pop(0)
        if isinstance(option, str) and option.endswith("a") and args:
            args.pop(0)
            named = [runs(job)]  # a program may choose what it does by its name, as busybox and git do
        if option == "--":
            break
    finish(walk, job, *named)
    if args:
        inner = job.inner(args)
        inner.external = True
        inner.plumbing = None
        simple.within(walk, inner)
    elif job.plumbing is not None:
        if job.plumbing.opened:
            job.state.sockets = tuple(dict.fromkeys((*job.state.sockets, *job.plumbing.opened)))
        if job.plumbing.stdin is not None:
            if walk.stdin is flows.SCRIPT:
                walk.gap("gap.shell.stdin-script", "the shell goes on reading its script elsewhere", job.start, job.end)
            walk.stdin = job.plumbing.stdin.shared()
    return job.state, job.state


def trap(walk: Walk, job: ShellJob) -> Pair:
    args = list(job.argv[1:])
    if args[:1] == ["--"]:
        args = args[1:]
    out = finish(walk, job)
    if len(args) < 2 or args[0] in ("-", "", "-l", "-p"):
        return out
    text = args[0]
    ends = all(isinstance(signal, str) and _LAST_SIGNALS.fullmatch(signal) for signal in args[1:])
    if not isinstance(text, str) and (text.values is None or text.pattern):
        walk.gap("gap.shell.eval", "write out what the trap runs", job.start, job.end)
        return out
    for one in (text,) if isinstance(text, str) else text.values or ():
        calls.trap(walk, one, job, ends)
    return out


def command(walk: Walk, job: ShellJob) -> Pair:
    """`command program`: as without it, but skips functions. `-v` and `-V` only look it up."""
    args = list(job.argv[1:])
    while args and isinstance(args[0], str) and args[0][:1] == "-" and len(args[0]) > 1:
        option = str(args.pop(0))
        if option == "--":
            break
        if re.fullmatch(r"-p?[vV]+p?", option):
            if walk.sink is not None:
                walk.sink.append(_printed_stream(walk, job, args) if option == "-v" else Stream(None, 0, "word"))
            return finish(walk, job)
        if option != "-p":
            walk.gap("gap.shell.wrapper-option", f"`{option}` is not an option of `command`", job.start, job.end)
    finish(walk, job)
    if args and isinstance(args[0], Arg):
        return simple.within(walk, job.inner(args))
    return _plain(walk, job, args)


def _printed_stream(walk: Walk, job: ShellJob, args: list[str | Arg]) -> Stream:
    """The output of `command -v name`: the path of the program."""
    name = args[0] if len(args) == 1 and isinstance(args[0], str) else ""
    from assent.effects.shell import programs
    from assent.effects.shell.commands.readers import system

    found = system.program_places(name, walk.home) if name and not programs.steered(job) else ()
    return Stream(None, 0, "place", found) if found and name not in job.state.functions else Stream(None, 0, "word")


def builtin(walk: Walk, job: ShellJob) -> Pair:
    """`builtin name`: the builtin, even if a function has its name."""
    finish(walk, job)
    return _plain(walk, job, [word for word in job.argv[1:] if word != "--"])


def _plain(walk: Walk, job: ShellJob, args: list[str | Arg]) -> Pair:
    """A command that no function or alias replaces."""
    if not args:
        return job.state, job.state
    inner = job.inner(args)
    handler = walk.builtin(args[0]) if isinstance(args[0], str) else None
    if handler is None:
        inner.external = True
        return simple.within(walk, inner)
    if not walk.enter():
        return job.state, job.state
    out = handler(walk, inner)
    walk.leave()
    return out


def jobs(walk: Walk, job: ShellJob) -> Pair:
    out = finish(walk, job)
    if len(job.argv) > 2 and job.argv[1] == "-x":
        simple.within(walk, job.inner(job.argv[2:]))
    return out


def completion(walk: Walk, job: ShellJob) -> Pair:
    """`complete` and `compgen`: words that are expanded, functions and commands that are run."""
    options, _ = names.split(job.argv[1:], _COMPLETES)
    acts = any(not isinstance(word, str) and word.values is None for word in job.argv[1:])
    command = options.get("C")
    if command is not None:
        acts = True
        calls.nested(walk, command if isinstance(command, str) else command.text, job.inner(job.argv))
    if "F" in options:
        acts = True
        simple.within(walk, job.inner([options["F"]]))
    text = options.get("W", "")
    if not isinstance(text, str) or _LIVE.search(text):
        acts = True
        walk.evaluated(calls.as_value(text), job.state)
    if acts:
        walk.gap("gap.shell.eval", "completion runs what it is given", job.start, job.end)
    return finish(walk, job, *([runs(job)] if acts else []))


def acts(walk: Walk, job: ShellJob) -> Pair:
    """`bind`, `fc`: what they run or change is not modelled, unless they have nothing to do."""
    plain = all(word in ("-l", "-p", "-P", "-v", "-V", "-s", "-S") for word in job.argv[1:]) and job.argv[1:]
    return finish(walk, job, *([] if plain and "-s" not in job.argv else [runs(job)]))


BUILTINS: dict[str, Callable[[Walk, ShellJob], Pair]] = {
    "eval": eval_,
    "source": source,
    ".": source,
    "exec": exec_,
    "trap": trap,
    "command": command,
    "builtin": builtin,
    "jobs": jobs,
    "complete": completion,
    "compgen": completion,
    "bind": acts,
    "fc": acts,
}
