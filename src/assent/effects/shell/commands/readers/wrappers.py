"""Readers for commands that run the command in their operands: xargs, sudo, watch and their like."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assent.contract import Effect, Kind, Pattern, Target
from assent.effects.shell import environment
from assent.effects.shell.command import Arg
from assent.effects.shell.commands.command_effects import EXECUTE, READ, WRITE, Seen, literal, shown, values
from assent.effects.shell.commands.line import Line
from assent.effects.shell.commands.options import Parsed, parse
from assent.programs.option import options_of

if TYPE_CHECKING:
    Word = str | Arg

SHELLS = Pattern(r"(?:.*/)?(?:ba|da|z|k|mk|pdk|fi|a|c|tc)?sh|eval|source|\.")
_XARGS = options_of(
    """-0,--null -a,--arg-file=READ -d,--delimiter=TEXT -E=TEXT -e,--eof[=TEXT] -I=TEXT -i,--replace[=TEXT] -L=TEXT
    -l,--max-lines[=TEXT] -n,--max-args=TEXT -o,--open-tty!acts -P,--max-procs=TEXT -p,--interactive!acts
    --process-slot-var=TEXT -r,--no-run-if-empty -s,--max-chars=TEXT --show-limits -t,--verbose -x,--exit
    -R=TEXT -S=TEXT"""
)


def wrapper(line: Line, parsed: Parsed) -> None:
    """What a wrapper's own options do.

    INVARIANT: one that is not known leaves a gap, since what follows may not be the command that runs."""
    line.parsed = parsed
    line.quiet = False
    line.preamble()
    line.given()
    if parsed.doubts:
        line.seen.execute()
        line.seen.gap("wrapper-option", f"`{parsed.doubts[0]}` is not an option that is known here")


# ---------------------------------------------------------------- words from stdin


def xargs(line: Line) -> None:
    """The command gets words that come from stdin: at its end, or in place of a mark (`-I{}`)."""
    parsed = parse(line.words, _XARGS, style="posix")
    wrapper(line, parsed)
    if not parsed.operands and (parsed.doubts or parsed.spills or parsed.given):
        line.seen.execute()
        return
    come = _incoming(line, from_file=any(shown(name) != "/dev/stdin" for name in parsed.values("-a")))
    marks = [shown(value) for value in parsed.values("-I") + parsed.values("-i")]
    if not marks and parsed.has("-i"):
        marks = ["{}"]
    if marks:
        line.seen.run([replaced(word, (marks[-1],), come) for word in parsed.operands])
    else:
        line.seen.run([*(parsed.operands or ["echo"]), come])


def _incoming(line: Line, *, from_file: bool) -> Arg:
    stdin = line.seen.stdin
    if stdin is None or from_file:
        return Arg("<stdin>", splits=True)
    return Arg(stdin.text, stdin.values, pattern=stdin.pattern, splits=True, kind=stdin.kind, under=stdin.under)


def replaced(word: Word, marks: tuple[str, ...], come: Arg) -> Word:
    """A word with a mark in it is no longer known; one that is the mark is what comes."""
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


def parallel(line: Line) -> None:
    """GNU parallel: always EXECUTE; the command is shown, as far as it is one, for rules that deny."""
    line.preamble()
    line.given()
    line.seen.execute()
    words = line.parsed.operands
    end = next((i for i, word in enumerate(words) if shown(word) in (":::", ":::+", "::::", "::::+")), len(words))
    command, sources = words[:end], words[end + 1 :]
    if not command:
        for source in sources:
            line.seen.shell(source)
        return
    for source in sources or [Arg("<stdin>", splits=True)]:
        come = source if isinstance(source, Arg) else Arg(source, (source,))
        marked = [replaced(word, ("{}", "{.}", "{/}", "{//}", "{/.}"), come) for word in command]
        line.seen.run(marked if marked != command else [*command, source])


def assigned(seen: Seen, words: list[Word]) -> tuple[list[Word], tuple[Word, ...]]:
    """The words behind leading assignments, and the assignments. One that changes what runs is EXECUTE."""
    for index, word in enumerate(words):
        text = word if isinstance(word, str) else word.prefix
        name, equals, value = text.partition("=")
        if not equals:
            return words[index:], tuple(words[:index])
        if environment.changes(name, (value,) if isinstance(word, str) else None):
            seen.execute()
    return [], tuple(words)


# ---------------------------------------------------------------- another user, another terminal


def sudo(line: Line) -> None:
    """`sudo`, `doas`, `pkexec`: danger `privilege`, and the command behind the options."""
    wrapper(line, line.parsed)
    seen = line.seen
    seen.execute("privilege")
    rest, env = assigned(seen, line.parsed.operands)
    if line.parsed.has("-e", "--edit") or line.program == "sudoedit":
        for word in rest:
            seen.path(WRITE, word)
    elif line.parsed.has("-s", "--shell", "-i", "--login") and rest:
        seen.shell(joined_words(rest))
    else:
        seen.run(rest, env=env)


def su(line: Line) -> None:
    """`su` and `runuser`: `-c` is a script; `runuser -u user` runs its operands."""
    wrapper(line, line.parsed)
    line.seen.execute("privilege")
    if line.program == "runuser" and line.parsed.has("-u", "--user"):
        line.seen.run(line.parsed.operands)


def joined(line: Line) -> None:
    """All operands, joined by spaces, are a script (`watch`), or a command with `-x`/`--exec`."""
    wrapper(line, line.parsed)
    if line.parsed.has("--exec"):
        line.seen.run(line.parsed.operands)
    elif line.parsed.operands:
        script = joined_words(line.parsed.operands)
        line.seen.shell(script)
        known = [literal(word) for word in line.parsed.operands]
        if not isinstance(script, str) and known[0] is not None:  # what is known of it is seen all the same
            line.seen.shell(" ".join(text for text in known[: known.index(None)] if text is not None))


def joined_words(words: list[Word]) -> Word:
    """Words as one script; unknown where one of them is."""
    texts = [literal(word) for word in words]
    text = " ".join(shown(word) for word in words)
    return text if all(known is not None for known in texts) else Arg(text)


def flock(line: Line) -> None:
    """`flock FILE command…`, `flock FILE -c script`, or a descriptor's number alone."""
    wrapper(line, line.parsed)
    words = line.parsed.operands
    if len(words) == 1 and shown(words[0]).isdigit():
        return
    if words:
        line.seen.path(WRITE, words[0])
    rest = words[1:]
    if rest and shown(rest[0]) in ("-c", "--command"):
        for word in rest[1:2]:
            line.seen.shell(word)
    else:
        line.seen.run(rest)


def script(line: Line) -> None:
    """`script [-c command] [file]`, or on macOS `script [file [command…]]`. Alone it starts a shell."""
    wrapper(line, line.parsed)
    words = line.parsed.operands
    if line.parsed.has("-p") and line.program == "script" and not line.parsed.has("-c"):
        for word in words:
            line.seen.path(READ, word)
        return
    line.seen.path(WRITE, words[0] if words else "typescript")
    line.seen.run(words[1:])
    if not words[1:] and not line.parsed.has("-c"):
        line.seen.execute()


def tmux(line: Line) -> None:
    """The command of a new window or pane, and keys that are typed, are scripts. Always EXECUTE."""
    line.preamble()
    line.given()
    line.seen.execute()
    words = line.parsed.operands
    if line.seen.subcommand and line.seen.subcommand[0] in ("send-keys", "send"):
        keys = [shown(word) for word in words]
        line.seen.shell(" ".join(key for key in keys if not _KEY.fullmatch(key)) or ":")
    elif words:
        line.seen.shell(joined_words(words))


_KEY = Pattern(r"Enter|C-\w|M-\w|Escape|Tab|Space|BSpace|Up|Down|Left|Right|KPEnter|F\d+|-l")


_LOCAL = frozenset("tsc vitest jest playwright next prisma prettier eslint biome".split())


def rtk(line: Line) -> None:
    """`rtk command…`. It starts some tools through npx, so that their version may be told by the project's code."""
    line.standard()
    words = line.parsed.operands
    if words and _LOCAL.intersection(text or "" for text in values(words[0])):
        told = ("--version", "-v", "-V", "--help", "-h", "-help")
        if any(text is None or text in told for word in words for text in values(word)):
            line.seen.execute()


def busybox(line: Line) -> None:
    """The operands are a command, the first of them an applet's name."""
    words = line.words
    if words and isinstance(words[0], str) and words[0].startswith("-"):
        line.standard()
        if not line.quiet:
            line.seen.execute()
        return
    line.seen.run(words)


def package(line: Line) -> None:
    """`npx`, `uvx`, `bunx`…: a package's program, maybe fetched first: EXECUTE that names it."""
    line.preamble()
    line.given()
    seen = line.seen
    seen.execute()
    for word in line.parsed.operands[:1]:
        for text in values(word):
            name = text if text is not None else ""
            seen.effects.append(Effect(EXECUTE, Target(Kind.PROGRAM, name, shown(word), certain=bool(name))))
    seen.run(line.parsed.operands)
