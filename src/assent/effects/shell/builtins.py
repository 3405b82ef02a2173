"""The shell's own commands that only change folders, print or set state. Those that run text are in `evaluators`, those
that set names in `names`. Each handler records its command and returns the states after it."""

from __future__ import annotations

from collections.abc import Callable

from assent.contract import DOTALL, Effect, Kind, Operation, Pattern, Target, re
from assent.effects.paths import normal, path_target
from assent.effects.shell import arithmetic, assign, calls, evaluators, names, simple
from assent.effects.shell.assign import finish, runs
from assent.effects.shell.command import Arg, CommandEffects, temporary
from assent.effects.shell.flows import Stream
from assent.effects.shell.record import ShellJob, Walk
from assent.effects.shell.state import COMPUTED, DECODED, SECRET, Pair, ShellState, bounded

EXECUTE, READ, WRITE = Operation.EXECUTE, Operation.READ, Operation.WRITE


# ---------------------------------------------------------------- printing


def echo(walk: Walk, job: ShellJob) -> Pair:
    if job.plumbing is not None:
        text = _echoed(job.argv[1:])
        job.plumbing.text = text if walk.shell == "bash" or "\\" not in (text or "") else None
    if walk.sink is not None:
        walk.sink.append(_printed_stream(walk, job, _echoed(job.argv[1:])))
    elif job.plumbing is None and job.taint & SECRET and job.place == "here":
        where = walk.where(job.start, job.end)
        walk.effects.append(Effect(READ, Target(Kind.PROGRAM, "echo"), where, dangers=("prints-secret",)))
    return finish(walk, job)


def _printed_stream(walk: Walk, job: ShellJob, text: str | None) -> Stream:
    if job.plumbing is not None and job.plumbing.quiet:
        return Stream(None, job.taint)
    if text is None:
        return Stream(None, job.taint | COMPUTED)
    if "\\" in text and walk.shell != "bash":
        return Stream(None, job.taint | DECODED)
    return Stream(text, job.taint)


def _echoed(args: list[str | Arg] | tuple[str | Arg, ...]) -> str | None:
    end = "\n"
    place = 0
    while place < len(args):
        option = args[place]
        if not isinstance(option, str) or not re.fullmatch(r"-[neE]+", option):
            break
        if "n" in option:
            end = ""
        if "e" in option and any("\\" in arg for arg in args[place:] if isinstance(arg, str)):
            return None
        place += 1
    rest = args[place:]
    if not all(isinstance(arg, str) for arg in rest):
        return None
    return " ".join(str(arg) for arg in rest) + end


def printf(walk: Walk, job: ShellJob) -> Pair:
    """`printf`; with `-v` it sets a name instead of printing."""
    args = list(job.argv[1:])
    if args and isinstance(args[0], str) and args[0].startswith("-v"):
        return names.printf_into(walk, job, [args[0][2:], *args[1:]] if len(args[0]) > 2 else args[1:])
    if len(args) > 1 and isinstance(args[0], Arg) and args[0].values is None and not args[0].prefix:
        names.could_name(walk, args[1], job.state)
    args = args[1:] if args[:1] == ["--"] else args
    if job.plumbing is not None:
        job.plumbing.text = _formatted(args)
    out = finish(walk, job)
    arithmetic.zsh_printf(walk, args, job.state)
    if walk.sink is not None:
        text = _formatted(args)
        stream = _printed_stream(walk, job, text) if text is None or "\\" not in text else Stream(text, job.taint)
        if args and isinstance(args[0], str) and re.search(r"\\[x0-7]|%b", args[0]):
            stream = Stream(stream.text, stream.taint | DECODED)
        numbers = all(isinstance(arg, Arg) and arg.kind == "number" for arg in args[1:])
        if text is None and len(args) == 2 and numbers and isinstance(args[0], str) and _NUMBER.fullmatch(args[0]):
            stream = Stream(None, 0, "number")
        walk.sink.append(stream)
    return out


_NUMBER = Pattern(r"%0?[0-9]*[du](?:\\n)?")
_DIRECTIVE = Pattern(r"%(.)|\\(x[0-9A-Fa-f]{1,2}|[0-7]{1,3}|.)|[^%\\]+", DOTALL)
_DECIMAL = Pattern(r"0|-?[1-9][0-9]{0,17}")
_ESCAPES = {"n": "\n", "t": "\t", "\\": "\\", '"': '"', "'": "'", "a": "\a", "b": "\b", "r": "\r", "e": "\x1b"}


def _formatted(args: list[str | Arg]) -> str | None:
    """What `printf` prints, for `%s`, `%d` and plain escapes; None for the rest."""
    if not args or not all(isinstance(arg, str) for arg in args):
        return None
    form, rest = str(args[0]), [str(arg) for arg in args[1:]]
    out = ""
    for _ in range(64):
        took = 0
        for match in _DIRECTIVE.finditer(form):
            if match[1]:
                if match[1] == "%":
                    out += "%"
                    continue
                if match[1] not in "sd":
                    return None
                given = rest[took] if took < len(rest) else "" if match[1] == "s" else "0"
                if match[1] == "d" and not _DECIMAL.fullmatch(given):
                    return None
                out += given
                took += 1
            elif match[2]:
                escape = _escape(match[2])
                if escape is None:
                    return None
                out += escape
            else:
                out += match[0]
        rest = rest[took:]
        if not rest or not took:
            return out
    return None


def _escape(text: str) -> str | None:
    if text[0] == "x" and len(text) > 1:
        return chr(int(text[1:], 16))
    return chr(int(text, 8) & 255) if text[0] in "01234567" else _ESCAPES.get(text)


def pwd(walk: Walk, job: ShellJob) -> Pair:
    if walk.sink is not None:
        cwds = job.state.cwds
        known = len(cwds) == 1 and cwds[0] and ".." not in cwds[0] and len(job.argv) == 1
        walk.sink.append(
            Stream(cwds[0] + "\n" if known else None, 0, "" if known else "paths", cwds if "" not in cwds else ())
        )
    return finish(walk, job)


def test(walk: Walk, job: ShellJob) -> Pair:
    arithmetic.evaluate_test(walk, list(job.argv[1:]), job.taint, job.state)
    return finish(walk, job)


# ---------------------------------------------------------------- folders


def cd(walk: Walk, job: ShellJob) -> Pair:
    finish(walk, job)
    return _move(walk, job, job.argv[1:])


def _move(walk: Walk, job: ShellJob, args: list[str | Arg] | tuple[str | Arg, ...]) -> Pair:
    state = job.state
    walk.moves += 1
    words = list(args)
    while words and isinstance(words[0], str) and re.fullmatch(r"-[LPe@]+", words[0]):
        walk.physical = walk.physical or "P" in words[0]
        words.pop(0)
    if words[:1] == ["--"]:
        words = words[1:]
    ok = state.fork()
    steered = any(name in ("CDPATH", "HOME", "OLDPWD", "PWD") for name, _ in job.env)
    ok.move(("",) if steered else bounded(tuple(_reached(walk, state, words))))
    here = normal(ok.cwds[0]) if len(ok.cwds) == 1 and walk.files and not walk.physical else ""
    if here[:1] == "/" and walk.files[-1].startswith(here.rstrip("/") + "/"):
        ok.move((here,))  # the file being walked exists, so this does not fail
        return ok, None
    return ok, state


def _reached(walk: Walk, state: ShellState, words: list[str | Arg]) -> list[str]:
    """The folders that `cd` may lead to."""
    if not words:
        found = walk.home_of(state)
        return list(found.values) if found.values is not None and all(found.values) else [""]
    word = words[0]
    if len(words) == 1 and isinstance(word, Arg) and word.kind == "place" and (made := temporary(word)):
        # If `mktemp` printed nothing, `cd ""` stays, and `cd` without a word goes home.
        stays = () if "" not in word.under else _reached(walk, state, []) if word.splits else state.cwds
        return [*made, *stays]
    if len(words) > 1 or (isinstance(word, Arg) and (word.values is None or word.pattern)):
        return [""]
    texts = (word,) if isinstance(word, str) else word.values or ()
    out: list[str] = []
    for text in texts:
        if text == "-":
            out += state.old or ("",)
        elif text[:1] == "-":
            out.append("")
        elif text == "":
            out += state.cwds
        elif (text[0] != "/" and text.partition("/")[0] not in (".", "..") and state.get("CDPATH") is not None) or (
            text[0] in "+~" and walk.zsh
        ):
            out.append("")
        else:
            out += [_joined(cwd, text, walk.home) for cwd in state.cwds]
    return out


def _joined(cwd: str, text: str, home: str) -> str:
    """The shell collapses `..` before `cd`, but follows links first if that folder is missing, or with `-P`. So `..`
    is kept: a target below has both readings, its name and its raw path."""
    found = path_target(text, cwd, home, tilde=False)
    return found.raw or found.name


def pushd(walk: Walk, job: ShellJob) -> Pair:
    finish(walk, job)
    state = job.state
    words = [word for word in job.argv[1:] if word not in ("-q", "--")]
    if len(words) == 1 and not (isinstance(words[0], str) and re.fullmatch(r"[-+]\d*", words[0])):
        before = state.cwds
        ok, fail = _move(walk, job, words)
        assert ok is not None
        ok.stack = (*state.stack, before)
        return ok, fail
    return _lost(walk, state)


def popd(walk: Walk, job: ShellJob) -> Pair:
    finish(walk, job)
    state = job.state
    if len(job.argv) > 1 or not state.stack:
        return _lost(walk, state)
    walk.moves += 1
    ok = state.fork()
    ok.move(state.stack[-1])
    ok.stack = state.stack[:-1]
    return ok, state


def _lost(walk: Walk, state: ShellState) -> Pair:
    walk.moves += 1
    ok = state.fork()
    ok.move(("",))
    ok.stack = ()
    return ok, state


# ---------------------------------------------------------------- leaving


def leave(walk: Walk, job: ShellJob) -> Pair:
    """`exit`: nothing follows, if it certainly runs."""
    out = finish(walk, job)
    args = job.argv[1:]
    arithmetic.zsh_numbers(walk, args, job.state)
    sure = not job.env and job.plumbing is None and len(args) <= 1
    if sure and all(
        (isinstance(arg, str) and arg.isdigit()) or (isinstance(arg, Arg) and arg.kind == "number") for arg in args
    ):
        return None, None
    return out


def skip(walk: Walk, job: ShellJob) -> Pair:
    out = finish(walk, job)
    arithmetic.zsh_numbers(walk, job.argv[1:], job.state)
    walk.escape(job.state, job.argv[0] == "return", len(job.argv) > 1)
    return out


# ---------------------------------------------------------------- the shell itself


def settings(walk: Walk, job: ShellJob) -> Pair:
    """`set`: options of the shell, and its arguments."""
    state = job.state
    args = list(job.argv[1:])
    arithmetic.zsh_words(walk, args, state)
    if not args:
        effect = Effect(READ, Target(Kind.SERVICE, "environment"), dangers=("prints-secret",))
        walk.record(job, CommandEffects(), (effect,))
        return state, state
    while args:
        arg = args[0]
        if not isinstance(arg, str):
            state.positional = None
            break
        if arg in ("--", "-"):
            if arg == "--" or args[1:]:
                state.positional = calls.positional(args[1:])
            break
        if arg[:1] not in "-+" or len(arg) < 2:
            state.positional = calls.positional(args)
            break
        args.pop(0)
        option = args.pop(0) if "o" in arg[1:] and args else ""
        walk.physical = walk.physical or "P" in arg or option == "physical"
        if "a" in arg or option == "allexport":
            state.passed |= {"*"}
        if "k" in arg or not isinstance(option, str) or option in ("keyword", "posix"):
            state.forfeit = state.forfeit or f"`set {arg}` changes how commands are read"
            return finish(walk, job, runs(job))
    return finish(walk, job)


# Settings that do not change the meaning of any command, whether on or off.
_TAME = frozenset(
    """nullglob failglob globstar extglob inherit_errexit expand_aliases checkwinsize histappend cmdhist lithist
    huponexit checkjobs execfail gnu_errfmt globasciiranges globskipdots progcomp promptvars sourcepath shift_verbose
    localvar_inherit localvar_unset interactive_comments errexit nounset pipefail noglob noclobber errtrace functrace
    allexport xtrace verbose monitor emacs vi""".split()
)


def shopt(walk: Walk, job: ShellJob) -> Pair:
    """Settings of the shell: some change the meaning of globs, folders, pipes or `echo`."""
    words = job.argv[1:]
    options = [word for word in words if isinstance(word, str) and word[:1] == "-"]
    names = [word for word in words if not (isinstance(word, str) and word[:1] == "-")]
    if "lastpipe" in names:
        job.state.lastpipe = True
        walk.writes["shopt lastpipe"] = walk.writes.get("shopt lastpipe", 0) + 1
    if any("s" in option or "u" in option for option in options):
        off = not any("s" in option for option in options)
        odd = [name for name in names if not isinstance(name, str) or not (name in _TAME or (off and name in _RARE))]
        if odd and odd != ["lastpipe"]:
            shown = odd[0] if isinstance(odd[0], str) else odd[0].text
            job.state.forfeit = job.state.forfeit or f"`shopt` with `{shown}` changes how commands are read"
            return finish(walk, job, runs(job))
    return finish(walk, job)


_RARE = frozenset("dotglob nocaseglob nocasematch cdable_vars xpg_echo lastpipe autocd cdspell dirspell".split())


def shift(walk: Walk, job: ShellJob) -> Pair:
    state = job.state
    args = job.argv[1:]
    arithmetic.zsh_numbers(walk, args, state)
    count = int(args[0]) if args and isinstance(args[0], str) and args[0].isdigit() else 1 if not args else -1
    if state.positional is not None:
        state.positional = state.positional[count:] if 0 <= count <= len(state.positional) else None
    return finish(walk, job)


_RESERVED = frozenset(
    "if then elif else fi for while until do done case esac in select function time coproc ! { } [[ ]]".split()
)
_PLAIN_ALIAS = Pattern(r"[\w./:,@%+-][\w./:,@%+=-]*(?: +[\w./:,@%+=~*-]+)*")


def alias(walk: Walk, job: ShellJob) -> Pair:
    """An alias may be in force for later commands."""
    for word in job.argv[1:]:
        if not isinstance(word, str):
            job.state.forfeit = job.state.forfeit or "an alias of unknown name is set"
            continue
        if word in ("-g", "-s"):
            walk.gap("gap.shell.zsh", "global and suffix aliases are not followed", job.start, job.end)
        name, equals, text = word.partition("=")
        if not equals or not name:
            continue
        job.state.alias(name, text)
        walk.texts[name] = (*walk.texts.get(name, ()), text)
        if name in _RESERVED or not _PLAIN_ALIAS.fullmatch(text):
            walk.gap("gap.shell.unmodelled", "an alias can change how the text after it is read", job.start, job.end)
            calls.alias(walk, text, job.inner((name,)))
    return finish(walk, job)


def hash_(walk: Walk, job: ShellJob) -> Pair:
    """`hash -p path name` makes a name mean another program."""
    if any(not isinstance(word, str) or re.match(r"-[a-z]*p", word) for word in job.argv[1:]):
        job.state.forfeit = job.state.forfeit or "`hash -p` changes which program a name runs"
        return finish(walk, job, runs(job))
    return finish(walk, job)


def enable(walk: Walk, job: ShellJob) -> Pair:
    """`enable` turns builtins off or loads new ones."""
    if len(job.argv) > 1 and job.argv[1] not in ("-p", "-a"):
        job.state.forfeit = job.state.forfeit or "`enable` changes which builtins there are"
        return finish(walk, job, runs(job))
    return finish(walk, job)


def history(walk: Walk, job: ShellJob) -> Pair:
    """`history` prints; with options it clears the history or writes a file."""
    texts = [word if isinstance(word, str) else "-?" for word in job.argv[1:]]
    options = "".join(text[1:] for text in texts if text[:1] == "-")
    files = [word for word in job.argv[1:] if not (isinstance(word, str) and word[:1] in "-0123456789")]
    effects: list[Effect] = []
    if options and set(options) - set("p"):
        dangers = ("security-off",) if set("cd") & set(options) else ()
        effects.append(Effect(EXECUTE, Target(Kind.PROGRAM, "history"), dangers=dangers))
    operation = READ if set("rn") & set(options) else WRITE
    if set("arnw") & set(options):
        effects += [Effect(operation, _path(walk, job, file)) for file in files]
    return finish(walk, job, *effects)


def _path(walk: Walk, job: ShellJob, word: str | Arg) -> Target:
    if isinstance(word, str):
        return path_target(word, job.state.cwds[0], walk.home, tilde=False)
    return Target(Kind.PATH, "", word.text, certain=False)


def plain(walk: Walk, job: ShellJob) -> Pair:
    """A builtin without effects, if its words are plain."""
    arithmetic.zsh_words(walk, job.argv[1:], job.state)
    return finish(walk, job)


_INERT = "true false : times umask ulimit suspend disown caller help unalias compopt dirs bg fg type".split()

HARMLESS: dict[str, Callable[[Walk, ShellJob], Pair]] = {
    **dict.fromkeys(("true", "false"), finish),
    "echo": echo,
    "printf": printf,
    "pwd": pwd,
    "test": test,
    "[": test,
}
BUILTINS: dict[str, Callable[[Walk, ShellJob], Pair]] = {
    **dict.fromkeys(_INERT, plain),
    **HARMLESS,
    "cd": cd,
    "chdir": cd,
    "pushd": pushd,
    "popd": popd,
    **dict.fromkeys(("exit", "logout"), leave),
    **dict.fromkeys(("break", "continue", "return"), skip),
    "set": settings,
    "shopt": shopt,
    "shift": shift,
    "alias": alias,
    "hash": hash_,
    "enable": enable,
    "history": history,
    **dict.fromkeys(simple.DECLARERS, assign.builtin),
    **names.BUILTINS,
    **evaluators.BUILTINS,
}
