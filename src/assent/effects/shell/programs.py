"""Programs: what the tables say about a command, what flows through it, and the commands it starts.

Expands no words and finds no functions; what a program does is data, in `commands`."""

from __future__ import annotations

from assent.contract import Effect, Kind, Operation, Pattern, Target
from assent.effects.paths import path_target
from assent.effects.shell import environment, flows
from assent.effects.shell.command import LISTED, Arg, CommandEffects, Run
from assent.effects.shell.commands.interpret import interpret
from assent.effects.shell.flows import Stream
from assent.effects.shell.record import ShellJob, Walk, alias_open
from assent.effects.shell.state import DECODED, FETCHED, ShellState, Val
from assent.programs.traits import has

EXECUTE, FETCH, READ = Operation.EXECUTE, Operation.FETCH, Operation.READ
WRITE, DELETE = Operation.WRITE, Operation.DELETE
_PLACES = frozenset((EXECUTE, FETCH))
_GIT_PATCHES = (("apply",), ("am",))
_GIT_MOVES = frozenset(
    "checkout switch pull merge rebase clone stash reset restore apply am cherry-pick revert worktree submodule".split()
)
_ROOT_IF_EMPTY = Pattern(r"\$\{?([A-Za-z_]\w*)\}?/+(?:\*|\.\*?)?")
_MOSTLY_SET = frozenset("HOME PWD TMPDIR TMP TEMP XDG_RUNTIME_DIR GITHUB_WORKSPACE RUNNER_TEMP".split())
_NOWHERE = ("",)
_QUOTES = Pattern(r"[\"'\\]")
# What changes where programs look for their own things.
_STEERING = frozenset(
    "PATH HOME XDG_CONFIG_HOME GOPATH GOMODCACHE GOROOT GOBIN GOENV GOFLAGS GOTOOLCHAIN GOWORK GIT_DIR GIT_WORK_TREE "
    "GIT_COMMON_DIR GIT_CEILING_DIRECTORIES".split()
)
_NO_TREE = frozenset(("--cached", "--abort", "--quit", "--skip", "--show-current-patch"))
_STRIP = Pattern(r"(?:-[A-Za-z]*p|--strip=)([0-9]+)")
_FOLDER = Pattern(r"--d(?:i[a-z]*)?|-[A-Za-z0-9]*d")
_GLUED = Pattern(r"(?:--d(?:i[a-z]*)?=|-[A-Za-z0-9]*?d)(.+)")
_MOST_INCOMING = 256
_DELIMITED = Pattern(r"-[a-zA-Z]*[0d]|--null|--delim|--arg-file|--arg-sep|--colsep|-[CaX]|:::")


def command(walk: Walk, job: ShellJob) -> None:
    """A program, judged by the tables, in each folder that the shell may stand in."""
    name = job.argv[0]
    assert isinstance(name, str)
    argv = tuple(job.argv)
    base = name.rpartition("/")[2] if "/" in name else name
    cwds = job.state.cwds if job.place == "here" else _NOWHERE
    stdin = _incoming(job.stdin, argv, cwds) if has(base, "words-from-input") else None
    kind = flows.family(base)
    line = flows.inline(kind, base, argv, job.stdin) if kind and job.stdin.text is not None else argv
    summary = interpret(line, cwd=cwds[0], home=walk.home, tables=walk.tables, stdin=stdin)
    effects, runs = summary.effects, summary.runs
    if len(cwds) > 1:
        more = [interpret(line, cwd=cwd, home=walk.home, tables=walk.tables, stdin=stdin) for cwd in cwds[1:]]
        effects = tuple(dict.fromkeys([*effects, *(effect for found in more for effect in found.effects)]))
        runs = tuple(dict.fromkeys([*runs, *(run for found in more for run in found.runs)]))
    fetches = False
    for effect in effects:
        if effect.operation is FETCH:
            fetches = True
        elif effect.operation is DELETE and effect.recursive and not effect.target.name:
            effects = _emptied(job.state, effect, effects)
    if has(base, "applies-patches") and (base != "git" or summary.subcommand[:1] in _GIT_PATCHES):
        effects = (*effects, *_patch_effects(walk, job, base, summary, effects))
    if has(base, "own-terminal") and job.stdin is not flows.TERMINAL and job.stdin.text != "":
        effects = (*effects, Effect(EXECUTE, Target(Kind.PROGRAM, base, f"{base}, which types what it reads")))
    if job.env or job.state.passed or summary.obeyed:
        effects = _steered(job, base, summary, effects)
    if kind or fetches or walk.fetched:
        effects = _endangered(walk, job, base, kind, effects)
    walk.record(job, summary, effects)
    if job.place == "here":
        words = alias_open(argv, base, summary) if has(base, "own-aliases") else argv
        for word in words:
            if type(word) is Arg:
                walk.unsettled.append((words, job.state, *(walk.span or (job.start, job.end))))
                break
    if base[:4] == "git-" and walk.tables.program(base) is None:  # a subcommand by the name of its own program
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
    if runs:
        follow(walk, job, base, runs)
    elif kind == "shell":
        from assent.effects.shell.commands.readers import shells

        source = job.stdin if shells.shell_reads_stdin(argv) else _piped(walk, argv)
        if source is not None and source is not flows.TERMINAL:
            _script_from(walk, job, base, source)
    if stream is not None and walk.sink is not None:
        walk.sink.append(stream)


def _steered(job: ShellJob, base: str, summary: CommandEffects, effects: tuple[Effect, ...]) -> tuple[Effect, ...]:
    """The effects with EXECUTE where the text sets a variable that is not known to be harmless for the program. One
    that its row says it obeys takes allow rules away, too."""
    state = job.state
    given = dict(job.env)
    for name in summary.obeyed:
        if name in given or name in state.vars:
            job.forfeit = environment.reason(name, job.forfeit)
    passed = state.vars if "*" in state.passed else state.passed
    given.update((name, found) for name in passed if name not in given and (found := state.get(name)) is not None)
    for name, found in given.items():
        if not environment.is_harmless(name, found.values, summary.env):
            return (*effects, Effect(EXECUTE, Target(Kind.PROGRAM, base, f"{base}, told {name}")))
    return effects


def _emptied(state: ShellState, effect: Effect, effects: tuple[Effect, ...]) -> tuple[Effect, ...]:
    """`rm -r "$X"/` where nothing says that X has a value: the guess is the root."""
    match = _ROOT_IF_EMPTY.fullmatch(effect.target.text)
    if match is None or match[1] in _MOSTLY_SET or state.get(match[1]) is not None:
        return effects
    root = Target(Kind.PATH, "/", effect.target.text, certain=False)
    return (*effects, Effect(DELETE, root, recursive=True, dangers=effect.dangers))


def _incoming(stdin: Stream, argv: tuple[str | Arg, ...], cwds: tuple[str, ...]) -> Arg | None:
    """What standard input is worth as words of another command: whole lines, where they replace a mark."""
    if stdin is flows.TERMINAL and "" not in cwds:
        return Arg("<terminal>", kind="paths", under=cwds)  # no name comes, so every one that does lies here
    if stdin.text is not None and not _QUOTES.search(stdin.text):
        options = [word for word in argv if isinstance(word, str) and word[:1] == "-"]
        lines = any(option.startswith(("-I", "-i", "--replace", "-L")) for option in options)
        found = [line.lstrip() for line in stdin.text.split("\n")] if lines else stdin.text.split()
        words = tuple(dict.fromkeys(word for word in found if word))
        if len(words) > _MOST_INCOMING or any(map(_DELIMITED.match, options)):
            return None
        return Arg(stdin.text.strip(), words or ("",))
    if stdin.kind in LISTED:
        return Arg("<stdin>", kind=stdin.kind, under=stdin.under)
    return None


def _endangered(walk: Walk, job: ShellJob, base: str, kind: str, effects: tuple[Effect, ...]) -> tuple[Effect, ...]:
    """The effects with the dangers that lie in where the data of this command comes from."""
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
            out = flows.sends(base, args, job.stdin, job.taint)
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
    """What a program prints, and what that makes of the files that it or its redirections write."""
    stream = flows.output(base, job.argv[1:], effects, summary, job.stdin, job.taint)
    for effect in effects:
        if effect.operation is READ and effect.target.name in walk.fetched:
            stream = Stream(None, stream.taint | walk.fetched[effect.target.name])
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


def steered(job: ShellJob) -> bool:
    """Whether the text itself may have chosen the place that a command tells."""
    state = job.state
    return bool(job.env or job.forfeit or state.opaque or state.aliased) or any(map(state.vars.__contains__, _STEERING))


# ---------------------------------------------------------------- what a command runs in turn


def follow(walk: Walk, job: ShellJob, base: str, runs: tuple[Run, ...]) -> None:
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
            inner = job.inner(job.argv)
            inner.state = state
            inner.place = place
            calls.nested(walk, found.script, inner, found.shell)
        elif found.argv:
            walk.steps += len(found.argv) >> 3  # each command in another reads all the words that are left
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


def _assignment(word: str | Arg) -> tuple[str, Val]:
    name, _, value = (word if isinstance(word, str) else word.prefix).partition("=")
    return name, Val((value,)) if isinstance(word, str) else Val()


def _piped(walk: Walk, argv: tuple[str | Arg, ...]) -> Stream | None:
    """What the process substitution prints that a shell takes for its script."""
    return next((walk.pipes[word] for word in argv[1:] if isinstance(word, str) and word in walk.pipes), None)


def _script_from(walk: Walk, job: ShellJob, base: str, source: Stream) -> None:
    """A shell that runs what another command prints: known text is walked, the rest is a gap."""
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
    inner.stdin = flows.UNSEEN
    sink, walk.sink = walk.sink, None
    from assent.effects.shell import calls

    calls.nested(walk, source.text, inner, base)
    walk.sink = sink
    walk.leave()


def moved_by(job: ShellJob, base: str, effects: tuple[Effect, ...]) -> list[str]:
    """Paths that a command may put links or other files at, so that facts of them are out of date after it."""
    if base == "git":
        return list(job.state.cwds) if any(word in _GIT_MOVES for word in job.argv[1:4]) else []
    return [
        effect.target.name
        for effect in effects
        if effect.operation is WRITE
        and effect.target.kind is Kind.PATH
        and (effect.recursive or base not in ("cp", "install", "rsync"))
    ]


# ---------------------------------------------------------------- commands that apply a patch


def _patch_effects(
    walk: Walk, job: ShellJob, base: str, summary: CommandEffects, effects: tuple[Effect, ...]
) -> list[Effect]:
    """What a command that applies a patch writes, beside what its row says."""
    if not any(effect.operation is EXECUTE and effect.target.kind is Kind.PROGRAM for effect in effects):
        return []  # it only tells
    from assent.effects import patches

    texts = [word for word in job.argv[1:] if isinstance(word, str) and "\n" in word]
    if job.stdin.text is not None:
        texts.append(job.stdin.text)
    read = [patches.read_patch(text) for text in texts]
    folders = _patch_folders(walk, job, base, effects)
    out = [
        Effect(touch.operation, path_target(path, folder.raw or folder.name, walk.home))
        for touch in dict.fromkeys(touch for touched, _ in read for touch in touched)
        for path in _patched_files(touch.path, base, job.argv)
        for folder in folders
        if folder.name
    ]
    whole = bool(read) and all(sure for _, sure in read) and all(folder.name for folder in folders)
    named = base in ("patch", "gpatch") and bool(summary.operands)  # `patch a.c a.patch`, whatever the patch names
    if not whole and not named and summary.flags.isdisjoint(_NO_TREE):
        out += [Effect(WRITE, folder, recursive=True) for folder in folders]
    return out


def _patched_files(path: str, base: str, argv: list[str | Arg] | tuple[str | Arg, ...]) -> list[str]:
    """The files that a name in a patch may stand for, by how many folders the command takes off."""
    if not path:
        return []
    found = [match[1] for word in argv if isinstance(word, str) and (match := _STRIP.match(word))]
    if base in ("apply_patch", "applypatch"):
        return [path]
    if not found and base != "git":
        return list(dict.fromkeys((path, path.rpartition("/")[2] or path)))
    strip = min(int(found[-1]), 100) if found and len(found[-1]) < 4 else 1
    headers = (path, f"a/{path}", f"b/{path}")
    stripped = ("/".join(header.split("/")[strip:]) for header in headers)
    return list(dict.fromkeys(each for each in (path, *stripped) if each))


def _patch_folders(walk: Walk, job: ShellJob, base: str, effects: tuple[Effect, ...]) -> list[Target]:
    """Where the patch is applied. A folder that cannot be named is a target without a name."""
    bases = [effect.target.raw or effect.target.name for effect in effects if effect.target.kind is Kind.REPOSITORY]
    out: list[Target] = []
    for cwd in (base == "git" and bases) or job.state.cwds:
        for word in _directory_options(job.argv) or ["."]:
            if isinstance(word, str):
                out.append(path_target(word, cwd, walk.home, tilde=False))
            else:
                out.append(Target(Kind.PATH, "", word.text, certain=False))
    return out


def _directory_options(argv: list[str | Arg] | tuple[str | Arg, ...]) -> list[str | Arg]:
    """The values of `-d` and `--directory`; rather one too many than one too few."""
    out: list[str | Arg] = []
    for place, word in enumerate(argv[1:], 2):
        if isinstance(word, Arg):
            if word.prefix.startswith(("--d", "-d")):
                out.append(word)
        elif "\n" in word:
            continue
        elif _FOLDER.fullmatch(word):
            out += argv[place : place + 1]
        elif glued := _GLUED.fullmatch(word):
            out.append(glued[1])
    return out
