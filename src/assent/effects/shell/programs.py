"""Programs: the effects of a command by the tables, the data that flows through it, and the commands it starts.

Expands no words and finds no functions; the effects of programs are data, in `commands`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assent.contract import Effect, Kind, Operation, Pattern, Target
from assent.effects.shell import environment, flows
from assent.effects.shell.command import Arg, CommandEffects, Run
from assent.effects.shell.commands.interpret import interpret
from assent.effects.shell.flows import Stream
from assent.effects.shell.record import ShellJob, Walk, alias_open
from assent.effects.shell.state import DECODED, FETCHED, FROM_FILE, SECRET, SECRET_FILE, UNKNOWN, ShellState, ShellValue
from assent.programs.traits import has

if TYPE_CHECKING:
    from assent.effects.shell.code_files.scripts import ScriptEffects

EXECUTE, FETCH, READ = Operation.EXECUTE, Operation.FETCH, Operation.READ
WRITE, DELETE = Operation.WRITE, Operation.DELETE
_NAMED = ("python", "node")  # programs that find code by other names than paths
_TARS = frozenset({"tar", "gtar", "gnutar", "bsdtar"})
_PLACES = frozenset((EXECUTE, FETCH))
_GIT_PATCHES = (("apply",), ("am",))
_GIT_MOVES = frozenset(
    "checkout switch pull merge rebase clone stash reset restore apply am cherry-pick revert worktree submodule".split()
)
_HOOKED = frozenset(
    "commit merge pull checkout switch worktree rebase cherry-pick revert am push add restore reset stash".split()
)
_ROOT_IF_EMPTY = Pattern(r"\$\{?([A-Za-z_]\w*)\}?/+(?:\*|\.\*?)?")
_MOSTLY_SET = frozenset("HOME PWD TMPDIR TMP TEMP XDG_RUNTIME_DIR GITHUB_WORKSPACE RUNNER_TEMP".split())
# Variables that change where programs look for their own files.
_STEERING = frozenset(
    "PATH HOME TMPDIR XDG_CONFIG_HOME GOPATH GOMODCACHE GOROOT GOBIN GOENV GOFLAGS GOTOOLCHAIN GOWORK GIT_DIR "
    "GIT_WORK_TREE GIT_COMMON_DIR GIT_CEILING_DIRECTORIES".split()
)
_NOWHERE = ("",)
_ENDLESS = frozenset({"/dev/zero", "/dev/urandom", "/dev/random", "/dev/full"})


def command(walk: Walk, job: ShellJob) -> None:
    """A program, read by the tables, in each folder that the shell may be in."""
    name = job.argv[0]
    assert isinstance(name, str)
    argv = tuple(job.argv)
    base = name.rpartition("/")[2] if "/" in name else name
    cwds = job.state.cwds if job.place == "here" else _NOWHERE
    stdin = _incoming(job.stdin, argv, cwds) if has(base, "words-from-input") else None
    kind = flows.family(base)
    if kind and job.place == "here" and any(type(word) is Arg for word in argv):
        argv = _settled(walk, job)
    client = has(base, "database-client")
    given: list[str] = []
    if (kind or client) and (job.stdin.text is not None or job.stdin.files):
        given = _given(walk, job, base, kind)
    if base in _TARS:
        argv = _with_tar_options(walk, job, argv)
    lines = [flows.inline(kind, base, argv, text) for text in given] if kind and given else [argv]
    summary = interpret(lines[0], cwd=cwds[0], home=walk.home, tables=walk.tables, stdin=stdin)
    effects, runs = summary.effects, summary.runs
    if len(cwds) > 1 or len(lines) > 1:
        places = [(line, cwd) for line in lines for cwd in cwds][1:]
        more = [interpret(line, cwd=cwd, home=walk.home, tables=walk.tables, stdin=stdin) for line, cwd in places]
        effects = tuple(dict.fromkeys([*effects, *(effect for found in more for effect in found.effects)]))
        runs = tuple(dict.fromkeys([*runs, *(run for found in more for run in found.runs)]))
    fetches = False
    for effect in effects:
        if effect.operation is FETCH:
            fetches = True
        elif effect.operation is DELETE and effect.recursive and not effect.target.name:
            effects = _emptied(job.state, effect, effects)
    if has(base, "applies-patches") and (base != "git" or summary.subcommand[:1] in _GIT_PATCHES):
        from assent.effects.shell import patching

        effects = (*effects, *patching.patched(walk, job, base, summary, effects))
    if has(base, "own-terminal") and job.stdin is not flows.TERMINAL and job.stdin.text != "":
        effects = (*effects, Effect(EXECUTE, Target(Kind.PROGRAM, base, f"{base}, which types what it reads")))
    if client and given:
        effects, runs = _stated(walk, job, base, given, effects, runs)
    if kind and given and job.stdin.files and lines[0] is not argv:
        effects = (*effects, Effect(EXECUTE, Target(Kind.PROGRAM, base)))  # the file may change before then
    if base == "ssh" and job.stdin is not flows.TERMINAL and "-N" not in summary.flags and summary.operands:
        runs = (*runs, *_remote(walk, job, runs))
    if (job.stdin.text or job.stdin.files) and any(effect.operation in _PLACES for effect in effects):
        effects, runs = _typed(walk, job, base, effects, runs)
    elif job.stdin is not flows.TERMINAL and any(effect.operation is EXECUTE for effect in effects):
        _require_known(walk, job, base)
    if job.env or job.state.passed or summary.obeyed:
        effects = _steered(job, base, summary, effects)
    if kind or fetches or walk.fetched:
        effects = _endangered(walk, job, base, kind, effects, summary.runs)
    script = own = None
    if job.place == "here" and (job.env or job.state.passed or "PATH" in job.state.vars):
        own, effects = _by_environment(walk, job, base, kind, effects)
    if base == "git" and job.place == "here" and not _HOOKED.isdisjoint(summary.subcommand[:1]):
        from assent.effects.shell.code_files import git_hooks

        own = git_hooks.read(walk, job, summary.subcommand, effects)
    runs_file = any(effect.operation is EXECUTE and effect.target.kind is Kind.PATH for effect in effects)
    if runs_file and job.place == "here":
        from assent.effects.shell.code_files import candidates, scripts

        script = candidates.read(walk, job, effects, base if kind or client else scripts.reader_of(base))
        effects = effects if script is None else script.effects
    if job.place == "here" and script is None and ((kind in _NAMED and not runs_file) or has(base, "script-runner")):
        from assent.effects.shell.code_files import tool_files

        script = tool_files.started(walk, job, base, kind)
        effects = effects if script is None else (*effects, *script.effects)
    if own is not None:
        effects = (*effects, *own.effects)
    if walk.code and (helper := walk.code.get("program:")) is not None and not has(base, "starts-nothing"):
        effects = (*effects, Effect(EXECUTE, Target(Kind.PROGRAM, base, f"{base}, which may start {helper.text}")))
    if job.plumbing is not None and job.plumbing.files and _never_stops(base, argv):
        effects = (*effects, Effect(EXECUTE, Target(Kind.PROGRAM, base), dangers=("fills",)))
    if job.stdin.text is not None and len(argv) == 1 + (base == "tee") and has(base, "passes-input"):
        job.writes = job.stdin.text
        if job.plumbing is not None:
            job.plumbing.text = job.stdin.text
    task = None
    if job.place == "here" and len(cwds) == 1 and cwds[0] and has(base, "followed-tasks"):
        from assent.effects.shell.tasks import runners

        task = runners.read(walk, job, base, summary, effects)
        effects = effects if task is None else task.effects
    index = walk.record(job, summary, effects)
    if job.place == "here":
        words = alias_open(argv, base, summary) if has(base, "own-aliases") else argv
        for word in words:
            if type(word) is Arg:
                walk.unsettled.append((words, job.state, *(walk.span or (job.start, job.end))))
                break
    if base[:4] == "git-" and walk.tables.program(base) is None:  # a subcommand named like its own program
        runs = (*runs, Run(argv=("git", base[4:], *argv[1:])))
    if has(base, "moves-files"):
        walk.moved.update(moved_by(job, base, effects))
    for code, advice in summary.gaps:
        code = code if code.startswith("gap.shell.") else "gap.shell." + code[4:]
        walk.gap(code, advice, job.start, job.end)
    stream = None
    passed = job.stdin.taint & (FETCHED | DECODED)
    if walk.sink is not None or fetches or passed or walk.fetched or (job.plumbing is not None and job.plumbing.files):
        stream = _printed(walk, job, base, effects, summary)
    if job.plumbing is not None and job.plumbing.online and job.plumbing.sends:
        _sent_on(walk, job, base, effects, summary, index)
    if script is not None or own is not None:
        from assent.effects.shell.code_files import scripts

        gaps = dict(walk.gaps)
        for path, inside in (*(script.bodies if script is not None else ()), *(own.bodies if own is not None else ())):
            outer = scripts.enter(walk, index, path)
            follow(walk, job, base, inside, files=True)
            scripts.leave(walk, job, outer)
        if base == "git":  # only the visible effects of a hook count
            walk.gaps = gaps
    if task is not None:
        for recipe in task.recipes:
            around = runners.enter(walk, index, recipe)
            follow(walk, job, base, tuple(recipe.runs))
            runners.leave(walk, around)
    if runs:
        before, jobs = len(walk.effects), walk.jobs
        follow(walk, job, base, runs)
        if base == "watch" and walk.jobs > jobs:  # it runs them again and again
            walk.never_ends()
        read = (each.operation is READ and each.target.kind is Kind.PATH for each in walk.effects[before:])
        if stream is not None and any(read):
            stream = Stream(None, stream.taint | FROM_FILE, stream.kind, stream.under)
    elif kind == "shell":
        from assent.effects.shell.commands.readers import shells

        source = job.stdin if shells.shell_reads_stdin(argv) else _piped(walk, argv)
        if source is job.stdin and given:
            for text in given:
                _script_from(walk, job, base, Stream(text))
        elif source is not None and source is not flows.TERMINAL:
            _script_from(walk, job, base, source)
    if stream is not None and walk.sink is not None:
        walk.sink.append(stream)


def _typed(
    walk: Walk, job: ShellJob, base: str, effects: tuple[Effect, ...], runs: tuple[Run, ...]
) -> tuple[tuple[Effect, ...], tuple[Run, ...]]:
    """The effects and runs of a console, including the code on its standard input."""
    from assent.effects.shell.code_files import inputs

    typed = inputs.typed(walk, job, base)
    return (*effects, *typed.effects), (*runs, *typed.runs)


def _never_stops(base: str, argv: tuple[str | Arg, ...]) -> bool:
    """Whether a command prints without end."""
    return base == "yes" or (base in ("cat", "pv", "tee") and any(word in _ENDLESS for word in argv[1:]))


def _require_known(walk: Walk, job: ShellJob, base: str) -> None:
    """Database statements from the unknown output of another command are a gap."""
    from assent.effects.shell.code_files import inputs

    if inputs.is_unread(job, base):
        walk.gap("gap.shell.stdin-script", "give the database statements that can be read", job.start, job.end)


def _with_tar_options(walk: Walk, job: ShellJob, argv: tuple[str | Arg, ...]) -> tuple[str | Arg, ...]:
    """The words of tar, after the options that it takes from the environment."""
    given = dict(job.env).get("TAR_OPTIONS") or job.state.get("TAR_OPTIONS")
    if given is None:
        return argv
    if given.one is None:
        walk.gap("gap.shell.dynamic-script", "write the options of tar on its own line")
        return argv
    words = given.one.split()
    first = argv[1] if len(argv) > 1 else ""
    bundled = isinstance(first, str) and first[:1] not in ("", "-")  # `czf`, which has to be the first word
    return (argv[0], *words, *((f"-{first}", *argv[2:]) if bundled else argv[1:]))


def _settled(walk: Walk, job: ShellJob) -> tuple[str | Arg, ...]:
    """The words of an interpreter's command, with globs resolved to files."""
    from assent.effects.shell.code_files import candidates

    job.argv = candidates.settled(walk, job)
    return job.argv


def _by_environment(
    walk: Walk, job: ShellJob, base: str, kind: str, effects: tuple[Effect, ...]
) -> tuple[ScriptEffects | None, tuple[Effect, ...]]:
    """The program of the project that comes first in PATH, and the effects with a shell's startup files."""
    from assent.effects.shell.code_files import candidates, environment_files

    if kind == "shell":
        effects = (*effects, *environment_files.started(walk, job))
    found = environment_files.program(walk, job, base)
    return candidates.read_any(walk, job, found, "") if found else None, effects


def _given(walk: Walk, job: ShellJob, base: str, kind: str) -> list[str]:
    """The texts on standard input that a program runs."""
    if job.stdin.text is not None:
        return [job.stdin.text]
    from assent.effects.shell.code_files import inputs

    if kind and flows.code_from(kind, job.argv[1:]) != "stdin":
        return []
    return inputs.texts(walk, job, base)


def _stated(
    walk: Walk, job: ShellJob, base: str, given: list[str], effects: tuple[Effect, ...], runs: tuple[Run, ...]
) -> tuple[tuple[Effect, ...], tuple[Run, ...]]:
    """The effects and runs of a database client, including the statements on its input."""
    from assent.effects.shell.code_files import inputs

    stated = inputs.statements(walk, job, base, given)
    return (*effects, *stated.effects), (*runs, *stated.runs)


def _remote(walk: Walk, job: ShellJob, runs: tuple[Run, ...]) -> tuple[Run, ...]:
    from assent.effects.shell.code_files import inputs

    return inputs.remote_script(walk, job, runs)


def _steered(job: ShellJob, base: str, summary: CommandEffects, effects: tuple[Effect, ...]) -> tuple[Effect, ...]:
    """The effects, with EXECUTE if the text sets a variable that is not known to be harmless for the program. One that
    its row lists as obeyed also lifts allow rules."""
    state = job.state
    given = dict(job.env)
    for name in summary.obeyed:
        if name in given or name in state.vars:
            job.forfeit = environment.reason(name, job.forfeit)
    passed = state.vars if "*" in state.passed else state.passed
    given.update((name, found) for name in passed if name not in given and (found := state.get(name)) is not None)
    for name, found in given.items():
        if not environment.is_harmless(name, found.values, summary.env):
            marks = environment.dangers(base, given)
            return (*effects, Effect(EXECUTE, Target(Kind.PROGRAM, base, f"{base} with {name} set"), dangers=marks))
    return effects


def _emptied(state: ShellState, effect: Effect, effects: tuple[Effect, ...]) -> tuple[Effect, ...]:
    """`rm -r "$X"/` with X possibly unset: the guess is the root."""
    match = _ROOT_IF_EMPTY.fullmatch(effect.target.text)
    if match is None or match[1] in _MOSTLY_SET or state.get(match[1]) is not None:
        return effects
    root = Target(Kind.PATH, "/", effect.target.text, certain=False)
    return (*effects, Effect(DELETE, root, recursive=True, dangers=effect.dangers))


def _incoming(stdin: Stream, argv: tuple[str | Arg, ...], cwds: tuple[str, ...]) -> Arg | None:
    from assent.effects.shell.code_files import inputs

    return inputs.words(stdin, argv, cwds)


def _sends_code(job: ShellJob, runs: tuple[Run, ...]) -> bool:
    from assent.effects.shell.code_files import inputs

    return inputs.sent_code(job, runs)


def _endangered(
    walk: Walk, job: ShellJob, base: str, kind: str, effects: tuple[Effect, ...], runs: tuple[Run, ...]
) -> tuple[Effect, ...]:
    """The effects, with the dangers of the source of this command's data."""
    code: tuple[str, ...] = ()
    out: tuple[str, ...] = ()
    args = job.argv[1:]
    if kind:
        source = flows.code_from(kind, args)
        taint = job.stdin.taint if source == "stdin" else job.taint if source == "args" else 0
        code = flows.code_dangers(taint)
        if kind == "shell" and job.plumbing is not None and job.plumbing.online:
            code = (*code, "reverse-shell")
    if walk.fetched:
        for effect in effects:
            if effect.target.name in walk.fetched and (
                effect.operation is EXECUTE or (kind and effect.operation is READ)
            ):
                code = code or flows.code_dangers(walk.fetched[effect.target.name])
    if any(effect.operation is FETCH for effect in effects):
        if job.taint or job.stdin.taint:
            hosts = [effect.target.name for effect in effects if effect.operation is FETCH]
            out = flows.sends(base, args, job.stdin, job.taint, hosts)
        if out and base == "ssh" and not job.taint and _sends_code(job, runs):
            out = ()
        if flows.hands_out_shell(base, args):
            out = (*out, "reverse-shell")
    if not code and not out:
        return effects
    if code and not any(effect.operation is EXECUTE for effect in effects):
        effects = (*effects, Effect(EXECUTE, Target(Kind.PROGRAM, base)))
    return tuple(
        endangered(effect, code if effect.operation is EXECUTE else out) if effect.operation in _PLACES else effect
        for effect in effects
    )


def endangered(effect: Effect, dangers: tuple[str, ...]) -> Effect:
    if not dangers:
        return effect
    return Effect(
        effect.operation,
        effect.target,
        effect.where,
        invocation=effect.invocation,
        via=effect.via,
        recursive=effect.recursive,
        dangers=tuple(dict.fromkeys((*effect.dangers, *dangers))),
        stays=effect.stays,
        visible=effect.visible,
    )


def _printed(walk: Walk, job: ShellJob, base: str, effects: tuple[Effect, ...], summary: CommandEffects) -> Stream:
    """The output of a program. If it is fetched, so are the files that the program or its redirections write."""
    stream = flows.output(base, job.argv[1:], effects, summary, job.stdin, job.taint)
    for effect in effects:
        if effect.operation is READ and effect.target.name in walk.fetched:
            stream = Stream(None, stream.taint | walk.fetched[effect.target.name])
    if base == "cat" and stream.text is None and not stream.taint & ~(FROM_FILE | SECRET_FILE):
        from assent.effects.shell.code_files import inputs

        stream = Stream(None, stream.taint, stream.kind, stream.under, inputs.printed_files(job, effects))
    if stream.taint & (FETCHED | DECODED):
        bits = stream.taint & (FETCHED | DECODED)
        names = [effect.target.name for effect in effects if effect.operation is WRITE]
        names += job.plumbing.files if job.plumbing is not None else []
        for name in names:
            if name:
                walk.fetched[name] = walk.fetched.get(name, 0) | bits
    if job.plumbing is not None and job.plumbing.quiet:
        return Stream(None, stream.taint)
    return Stream(None, stream.taint) if stream.kind == "place" and steered(job) else stream


def _sent_on(
    walk: Walk, job: ShellJob, base: str, effects: tuple[Effect, ...], summary: CommandEffects, index: int
) -> None:
    """The output of a command goes to a network connection of the shell."""
    taint = flows.output(base, job.argv[1:], effects, summary, job.stdin, job.taint).taint
    if taint & (FROM_FILE | SECRET):
        where = walk.where(job.start, job.end)
        dangers = flows.LEAKS if taint & (SECRET | SECRET_FILE) else ("exfiltration",)
        walk.effects.append(Effect(READ, Target(Kind.PROGRAM, base), where, invocation=index, dangers=dangers))


def steered(job: ShellJob) -> bool:
    """Whether the text itself may have chosen the place that a command prints."""
    state = job.state
    return bool(job.env or job.forfeit or state.opaque or state.aliased) or any(map(state.vars.__contains__, _STEERING))


# ---------------------------------------------------------------- what a command runs in turn


def follow(walk: Walk, job: ShellJob, base: str, runs: tuple[Run, ...], *, files: bool = False) -> None:
    """Walk the commands that a command runs. `files`: these are texts of a file that it runs."""
    if not walk.enter():
        return
    sink, walk.sink = walk.sink, None
    for found in runs:
        walk.step()
        walk.steps += len(job.state.vars) >> 3
        place = "elsewhere" if "elsewhere" in (found.place, job.place) else "here"
        state = job.state.child() if place == "here" else ShellState(("",))
        for name, given in job.env if place == "here" else ():
            state.set(name, given)
            state.export(name)
        if found.cwd is not None:
            state.cwds = (found.cwd,)
        if found.script is not None:
            from assent.effects.shell import calls

            state.positional = calls.positional(found.positional[1:])
            if found.positional:
                state.set("0", calls.as_value(found.positional[0]))
            if walk.files:
                known = files and found.shell == "bash"
                state.set("BASH_SOURCE", calls.as_value(found.positional[0]) if known else UNKNOWN)
            inner = job.inner(job.argv)
            inner.state = state
            inner.place = place
            calls.nested(walk, found.script, inner, found.shell)
        elif found.argv:
            walk.steps += len(found.argv) >> 3  # each nested command reads all remaining words
            inner = job.inner(found.argv)
            inner.state = state
            inner.external = True
            inner.place = place
            if has(base, "words-from-input"):
                inner.taint |= job.stdin.taint
            if base == "env":
                inner.env = []
            inner.env = [*inner.env, *map(_assignment, found.env)]
            walk.run(inner)
    walk.sink = sink
    walk.leave()


def _assignment(word: str | Arg) -> tuple[str, ShellValue]:
    name, _, value = (word if isinstance(word, str) else word.prefix).partition("=")
    return name, ShellValue((value,)) if isinstance(word, str) else ShellValue()


def _piped(walk: Walk, argv: tuple[str | Arg, ...]) -> Stream | None:
    """The output of the process substitution that a shell reads as its script."""
    return next((walk.pipes[word] for word in argv[1:] if isinstance(word, str) and word in walk.pipes), None)


def _script_from(walk: Walk, job: ShellJob, base: str, source: Stream) -> None:
    """A shell that runs the output of another command: known text is walked, the rest is a gap."""
    if source.text is None:
        walk.gap("gap.shell.stdin-script", "give the shell a script that can be read", job.start, job.end)
        return
    if not walk.enter():
        return
    inner = job.inner(job.argv)
    inner.state = job.state.child()
    for name, given in job.env:
        inner.state.set(name, given)
        inner.state.export(name)
    inner.stdin = flows.SCRIPT
    sink, walk.sink = walk.sink, None
    from assent.effects.shell import calls

    calls.nested(walk, source.text, inner, base)
    walk.sink = sink
    walk.leave()


def moved_by(job: ShellJob, base: str, effects: tuple[Effect, ...]) -> list[str]:
    """Paths at which a command may put links or other files: facts about them are out of date after it."""
    if base == "git" and "mv" not in job.argv[1:4]:
        return list(job.state.cwds) if any(word in _GIT_MOVES for word in job.argv[1:4]) else []
    return [
        effect.target.name
        for effect in effects
        if effect.operation is WRITE
        and effect.target.kind is Kind.PATH
        and (effect.recursive or base not in ("cp", "install", "rsync"))
    ]
