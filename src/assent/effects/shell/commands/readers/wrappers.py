"""Readers for commands that run the command in their operands: xargs, sudo, env, watch and similar."""

from __future__ import annotations

from assent.contract import Effect, Kind, Pattern, Target
from assent.effects.shell import environment
from assent.effects.shell.command import Arg
from assent.effects.shell.commands.command_effects import (
    EXECUTE,
    LONGEST,
    READ,
    WRITE,
    EffectsBuilder,
    Word,
    literal,
    shown,
    values,
)
from assent.effects.shell.commands.line import CommandLine
from assent.effects.shell.commands.options import Parsed, parse
from assent.programs.option import options_of

SHELLS = Pattern(r"(?:.*/)?(?:ba|da|z|k|mk|pdk|fi|a|c|tc)?sh|eval|source|\.")
_XARGS = options_of(
    """-0,--null -a,--arg-file=READ -d,--delimiter=TEXT -E=TEXT -e,--eof[=TEXT] -I=TEXT -i,--replace[=TEXT] -L=TEXT
    -l,--max-lines[=TEXT] -n,--max-args=TEXT -o,--open-tty!acts -P,--max-procs=TEXT -p,--interactive!acts
    --process-slot-var=TEXT -r,--no-run-if-empty -s,--max-chars=TEXT --show-limits -t,--verbose -x,--exit
    -R=TEXT -S=TEXT"""
)


def wrapper(line: CommandLine, parsed: Parsed) -> None:
    """The effects of a wrapper's own options.

    INVARIANT: an unknown option leaves a gap, since the next words may not be the command that runs."""
    line.parsed = parsed
    line.quiet = False
    line.read_options()
    if parsed.doubts:
        line.builder.execute()
        line.builder.gap("wrapper-option", f"`{parsed.doubts[0]}` is not an option that is known here")


# ---------------------------------------------------------------- words from stdin


def xargs(line: CommandLine) -> None:
    """The command gets words from stdin: at its end, or in place of a placeholder (`-I{}`)."""
    parsed = parse(line.words, _XARGS, style="posix")
    wrapper(line, parsed)
    if not parsed.operands and (parsed.doubts or parsed.spills or parsed.given):
        line.builder.execute()
        return
    come = _incoming(line, from_file=any(shown(name) != "/dev/stdin" for name in parsed.values("-a")))
    marks = [shown(value) for value in parsed.values("-I") + parsed.values("-i")] or ["{}"] * parsed.has("-i")
    if marks:
        line.builder.run([replaced(word, (marks[-1],), come) for word in parsed.operands])
    else:
        line.builder.run([*(parsed.operands or ["echo"]), come])


def _incoming(line: CommandLine, *, from_file: bool) -> Arg:
    stdin = line.builder.stdin
    if stdin is None or from_file:
        return Arg("<stdin>", splits=True)
    return Arg(stdin.text, stdin.values, pattern=stdin.pattern, splits=True, kind=stdin.kind, under=stdin.under)


def replaced(word: Word, marks: tuple[str, ...], come: Arg) -> Word:
    """A word that contains the placeholder is unknown; one that is the placeholder is the input word."""
    text = shown(word)
    found = [text.find(mark) for mark in marks if mark and mark in text]
    if not found:
        return word
    if text in marks:
        return Arg(come.text, come.values, pattern=come.pattern, kind=come.kind, under=come.under)
    if come.values is not None and not come.pattern and isinstance(word, str):
        mark = next(mark for mark in marks if mark in text)
        return Arg(text, tuple(text.replace(mark, value) for value in come.values))
    return Arg(text, prefix=text[: min(found)] if isinstance(word, str) else "")


def parallel(line: CommandLine) -> None:
    """GNU parallel: always EXECUTE; the command is recorded as far as possible, for deny rules."""
    line.read_options()
    line.builder.execute()
    words = line.parsed.operands
    end = next((i for i, word in enumerate(words) if shown(word) in (":::", ":::+", "::::", "::::+")), len(words))
    command, sources = words[:end], words[end + 1 :]
    for source in sources if not command else ():
        line.builder.shell(source)
    for source in sources or [Arg("<stdin>", splits=True)] if command else ():
        come = source if isinstance(source, Arg) else Arg(source, (source,))
        marked = [replaced(word, ("{}", "{.}", "{/}", "{//}", "{/.}"), come) for word in command]
        line.builder.run(marked if marked != command else [*command, source])


def assigned(builder: EffectsBuilder, words: list[Word]) -> tuple[list[Word], tuple[Word, ...]]:
    """The words after leading assignments, and the assignments. One that changes what runs is EXECUTE."""
    for index, word in enumerate(words):
        name, equals, value = (word if isinstance(word, str) else word.prefix).partition("=")
        if not equals:
            return words[index:], tuple(words[:index])
        if environment.changes(name, (value,) if isinstance(word, str) else None):
            builder.execute()
    return [], tuple(words)


# ---------------------------------------------------------------- another user, another terminal


def sudo(line: CommandLine) -> None:
    """`sudo`, `doas`, `pkexec`: danger `privilege`, and the command after the options."""
    wrapper(line, line.parsed)
    builder = line.builder
    builder.execute("privilege")
    rest, env = assigned(builder, line.parsed.operands)
    if line.parsed.has("-e", "--edit") or line.program == "sudoedit":
        builder.paths(WRITE, rest)
    elif line.parsed.has("-s", "--shell", "-i", "--login") and rest:
        builder.shell(joined_words(rest))
    else:
        builder.run(rest, env=env)


def su(line: CommandLine) -> None:
    """`su` and `runuser`: `-c` is a script; `runuser -u user` runs its operands."""
    wrapper(line, line.parsed)
    line.builder.execute("privilege")
    if line.program == "runuser" and line.parsed.has("-u", "--user"):
        line.builder.run(line.parsed.operands)


def joined(line: CommandLine) -> None:
    """All operands, joined by spaces, are a script (`watch`), or a command with `-x`/`--exec`."""
    wrapper(line, line.parsed)
    if line.parsed.has("--exec"):
        line.builder.run(line.parsed.operands)
    elif line.parsed.operands:
        script = joined_words(line.parsed.operands)
        line.builder.shell(script)
        known = [literal(word) for word in line.parsed.operands]
        if not isinstance(script, str) and known[0] is not None:  # the known part is still read
            line.builder.shell(" ".join(text for text in known[: known.index(None)] if text is not None))


def joined_words(words: list[Word]) -> Word:
    """Words as one script; unknown if one of them is."""
    text = " ".join(map(shown, words))
    return Arg(text) if None in map(literal, words) else text


def flock(line: CommandLine) -> None:
    """`flock FILE command…`, `flock FILE -c script`, or a descriptor's number alone."""
    wrapper(line, line.parsed)
    words = line.parsed.operands
    if len(words) == 1 and shown(words[0]).isdigit():
        return
    line.builder.paths(WRITE, words[:1])
    if words[1:] and shown(words[1]) in ("-c", "--command"):
        for word in words[2:3]:
            line.builder.shell(word)
    else:
        line.builder.run(words[1:])


def script(line: CommandLine) -> None:
    """`script [-c command] [file]`, or on macOS `script [file [command…]]`. Alone it starts a shell."""
    wrapper(line, line.parsed)
    words = line.parsed.operands
    if line.parsed.has("-p") and line.program == "script" and not line.parsed.has("-c"):
        line.builder.paths(READ, words)
        return
    line.builder.path(WRITE, words[0] if words else "typescript")
    line.builder.run(words[1:])
    if not words[1:] and not line.parsed.has("-c"):
        line.builder.execute()


def tmux(line: CommandLine) -> None:
    """The command of a new window or pane, and keys that are typed, are scripts. Always EXECUTE."""
    line.read_options()
    line.builder.execute()
    words = line.parsed.operands
    if line.builder.subcommand and line.builder.subcommand[0] in ("send-keys", "send"):
        line.builder.shell(" ".join(key for key in map(shown, words) if not _KEY.fullmatch(key)) or ":")
    elif words:
        line.builder.shell(joined_words(words))


_KEY = Pattern(r"Enter|C-\w|M-\w|Escape|Tab|Space|BSpace|Up|Down|Left|Right|KPEnter|F\d+|-l")


_VERSION_OR_HELP = ("--version", "-v", "-V", "--help", "-h", "-help")
_LOCAL = frozenset("tsc vitest jest playwright next prisma prettier eslint biome".split())


def rtk(line: CommandLine) -> None:
    """`rtk command…`. It starts some tools through npx, so the project's code may answer `--version`."""
    line.standard()
    words = line.parsed.operands
    texts = [text for word in words for text in values(word)]
    local = bool(words) and not _LOCAL.isdisjoint(text or "" for text in values(words[0]))
    if local and any(text is None or text in _VERSION_OR_HELP for text in texts):
        line.builder.execute()


def busybox(line: CommandLine) -> None:
    """The operands are a command, the first of them an applet's name."""
    words = line.words
    if words and isinstance(words[0], str) and words[0].startswith("-"):
        line.standard()
        line.builder.acts = line.builder.acts or not line.quiet
    else:
        line.builder.run(words)


def package(line: CommandLine) -> None:
    """`npx`, `uvx`, `bunx`…: a package's program, maybe fetched first: EXECUTE that names it."""
    line.read_options()
    builder = line.builder
    builder.execute()
    for word in line.parsed.operands[:1]:
        for text in values(word):
            builder.effects.append(Effect(EXECUTE, Target(Kind.PROGRAM, text or "", shown(word), certain=bool(text))))
    builder.run(line.parsed.operands)


# ---------------------------------------------------------------- the environment

_ENV = options_of(
    """-i,--ignore-environment -0,--null -u,--unset=TEXT -C,--chdir=DIR -S,--split-string=TEXT -v,--debug
    -a,--argv0=TEXT!acts --block-signal[=TEXT] --default-signal[=TEXT] --ignore-signal[=TEXT] --list-signal-handling
    -P=TEXT!acts"""
)
_SPLITS = 8
PLAIN = Pattern(
    r"PATH|HOME|USER|LOGNAME|SHELL|PWD|OLDPWD|TERM|LANG|LC_\w+|TZ|EDITOR|VISUAL|PAGER|DISPLAY|HOSTNAME|SHLVL|COLUMNS|LINES"
    r"|TMPDIR|TMP|TEMP|VIRTUAL_ENV|CONDA_PREFIX|GO\w+|JAVA_HOME|NODE_(?:ENV|PATH|OPTIONS|VERSION)|NVM_DIR|PYENV_ROOT"
    r"|CARGO_HOME|RUSTUP_HOME|XDG_\w+|CI|COLORTERM|NO_COLOR|FORCE_COLOR|MANPATH|LD_LIBRARY_PATH|DYLD_LIBRARY_PATH"
    r"|PYTHONPATH|RUSTFLAGS|CFLAGS|CXXFLAGS|LDFLAGS|CC|CXX|MAKEFLAGS|KUBECONFIG|AWS_(?:PROFILE|(?:DEFAULT_)?REGION)"
    r"|DOCKER_HOST|SSH_AUTH_SOCK|SSH_TTY|ANDROID_(?:HOME|SDK_ROOT)|DEBUG|UID|OSTYPE|HOSTTYPE"
)


def env(line: CommandLine) -> None:
    """`env [options] [NAME=value…] [command…]`; without a command it prints the environment."""
    builder = line.builder
    words: list[Word] | None = list(line.words)
    for _ in range(_SPLITS):
        if words is None:
            break
        parsed = parse(["-i", *words[1:]] if words[:1] == ["-"] else words, _ENV, style="posix")
        if not parsed.has("-S"):
            _run(line, parsed)
            return
        words = _unsplit(builder, words, parsed)
    builder.execute()
    builder.gap("wrapper-option", "write the command itself instead of `env -S`")


def printenv(line: CommandLine) -> None:
    """`printenv NAME` of a name that holds no secret only reads; all else prints secrets."""
    line.standard()
    texts = [text for word in line.parsed.operands for text in values(word)]
    if not texts or any(text is None or not PLAIN.fullmatch(text) for text in texts):
        line.builder.danger("prints-secret")


def _run(line: CommandLine, parsed: Parsed) -> None:
    builder = line.builder
    wrapper(line, parsed)
    rest, env = assigned(builder, parsed.operands)
    if not rest:
        builder.danger(*(() if parsed.helps else ("prints-secret",)))
        return
    changed = len(rest) < len(parsed.operands) or parsed.has("-i", "-u")
    if changed and any(isinstance(word, Arg) or SHELLS.fullmatch(word) for word in rest):
        builder.gap("environment", "set the variables inside the script instead of with `env`")
    builder.run(rest, env=env)


def _at_home(piece: str, home: str) -> Word:
    """Nothing expands `~` here, but the author means the home folder: both count."""
    if home and (piece == "~" or piece.startswith("~/")):
        return Arg(piece, (piece, home + piece[2:]))
    return piece


def _unsplit(builder: EffectsBuilder, words: list[Word], parsed: Parsed) -> list[Word] | None:
    """The words with the value of the first `-S` split in place; None if it cannot be."""
    given = next((given for given in parsed.given if "-S" in given.option.names), None)
    text = literal(given.value) if given is not None and given.value is not None else None
    pieces = split_string(text) if text is not None and len(text) <= LONGEST else None
    if given is None or pieces is None:
        return None
    home = f"{builder.home}/" if builder.home else ""
    same_word = [other.spelling for other in parsed.given if other.start == given.start and other is not given]
    return [*words[: given.start], *same_word, *(_at_home(piece, home) for piece in pieces), *words[given.end :]]


_PIECE = Pattern(r"[^\s\\'\"$#]+")
_ESCAPES = {"f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", **{letter: letter for letter in "#$\"'\\"}}


def split_string(text: str) -> list[str] | None:
    """The words of `env -S`, or None for unmodelled forms: variables, odd escapes, open quotes."""
    words: list[str] = []
    word: str | None = None
    quote = ""
    index = 0
    while index < len(text):
        plain = _PIECE.match(text, index)
        if plain:
            word = (word or "") + plain[0]
            index = plain.end()
            continue
        letter = text[index]
        index += 1
        if letter == "\\":
            follows = text[index : index + 1]
            index += 1
            if quote == "'":
                word = (word or "") + (follows if follows in ("'", "\\") else letter + follows)
            elif follows == "_" and not quote:
                letter = " "
            elif follows == "_":
                word = (word or "") + " "
            elif follows == "c" and not quote:
                break
            elif follows in _ESCAPES:
                word = (word or "") + _ESCAPES[follows]
            else:
                return None
            if letter == "\\":
                continue
        if letter == quote:
            quote = ""
        elif letter == "$" and quote != "'":
            return None
        elif quote:
            word = (word or "") + letter
        elif letter in "'\"":
            quote, word = letter, word or ""
        elif letter == "#":
            if word is None:
                break
            word += letter
        else:
            words += [word] if word is not None else []
            word = None
    return None if quote else words if word is None else [*words, word]
