"""A command line → what it does, by the rows of the tables. Walks no shell syntax and follows no commands that it
sees started: those are in the answer, for the walk."""

from __future__ import annotations

from collections.abc import Callable

from assent.contract import Effect, Kind, Pattern, Target, Via, keep
from assent.effects.paths import path_target
from assent.effects.shell.command import Arg, CommandEffects
from assent.effects.shell.commands import cover
from assent.effects.shell.commands.command_effects import EXECUTE, READ, EffectsBuilder, Word, literal, shown
from assent.effects.shell.commands.line import CommandLine, locate
from assent.effects.shell.commands.readers import load
from assent.programs.readers import NAMES
from assent.programs.table import CommandNode, Tables, shipped
from assent.programs.traits import has

_ANY = frozenset({"TEXT", "SCRIPT"})
_BINS = frozenset({"/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin", "/usr/local/sbin", "/opt/homebrew/bin"})


REMEMBERED = 512  # command lines; agents run the same few again and again
_remembered: dict[tuple[object, ...], tuple[Tables, CommandEffects]] = {}


def interpret(
    argv: tuple[Word, ...], *, cwd: str, home: str, tables: Tables = shipped, stdin: Arg | None = None
) -> CommandEffects:
    """What a simple command does, before redirects. `cwd` `""` is unknown; `stdin` is what its input is worth.

    Depends on its arguments alone, so a command line of literals is looked at once."""
    for word in argv:
        if type(word) is not str:
            return _see(argv, cwd, home, tables, stdin)
    if stdin is not None:
        return _see(argv, cwd, home, tables, stdin)
    key = (argv, cwd, home, id(tables))
    known = _remembered.get(key)
    if known is not None and known[0] is tables:
        return known[1]
    build = _see(argv, cwd, home, tables, stdin)
    keep(_remembered, key, (tables, build), REMEMBERED)
    return build


def _see(argv: tuple[Word, ...], cwd: str, home: str, tables: Tables, stdin: Arg | None) -> CommandEffects:
    name = literal(argv[0])
    if name is None:
        builder = EffectsBuilder("", cwd, home)
        builder.acts = True
        builder.gap("dynamic-command", f"write out the program instead of `{shown(argv[0])}`")
        return builder.build()
    folder, _, program = name.rpartition("/")
    builder = EffectsBuilder(program, cwd, home, stdin)
    if folder not in _BINS and "/" in name:
        builder.script_file(name)
    words = [_settled(word) for word in argv[1:]]
    tree = tables.program(program)
    known = False
    if tree is None or not program:
        _unknown(builder, words)
    else:
        known = _read(builder, tree, program, words, tables)
    if builder.acts or builder.effects:
        _told(builder, words, known=known)
        if builder.acts and (not known or builder.maybe):
            from assent.effects.shell.commands import possible

            possible.add(builder, words, tables, interpret, texts=not known and not has(program, "prose"))
        if builder.acts:
            from assent.effects.shell.commands import possible

            if possible.serves(builder, words):
                possible.served(builder, words)
    return builder.build()


def _read(builder: EffectsBuilder, tree: CommandNode, program: str, words: list[Word], tables: Tables) -> bool:
    """Whether a row says of the words what they are. One that takes any option and any text says nothing of them."""
    line = locate(builder, tree, program, words, tables)
    if line is None:
        _unknown(builder, words)
        return False
    row = line.row
    root = tables.row(tree.name) if tree.name else row
    builder.env = root.env if root is row else (*root.env, *row.env)
    builder.obeyed = root.obeyed_names if root is row else root.obeyed_names | row.obeyed_names
    _named_files(builder, root.file_prefixes, words)
    if line.parsed.helps and row.help and (_only_helps(line) if not row.reader else len(line.words) == 1):
        builder.flags.update(line.parsed.flags)
        if root.obeys:
            builder.settings(root.obeys)
        if root.repo and "--help" in line.parsed.flags:
            builder.effects.append(Effect(EXECUTE, Target(Kind.REPOSITORY, builder.cwd, certain=bool(builder.cwd))))
        return True
    if line.parsed.helps and not (row.help or row.options.rest):
        line.parsed.doubts.append("--help")
    if row.reader:
        reader(row.reader)(line)
    else:
        line.standard()
    line.finish()
    obeys = root.obeys if root is row else (*root.obeys, *row.obeys)
    if obeys and not builder.acts:
        builder.settings(obeys)
    if builder.acts and (line.words or line.before):
        builder.strays = cover.strays(line, 1 + len(words) - len(line.words))
    return bool(row.reader or not row.runs or not row.roles <= _ANY)


def reader(name: str) -> Callable[[CommandLine], None]:
    """The reader of that name; a missing one makes the line EXECUTE."""
    if name not in NAMES:
        return CommandLine.unproved
    return load(NAMES[name], name.replace("-", "_"))  # type: ignore[return-value]  # NAMES lists readers only


def _named_files(builder: EffectsBuilder, prefixes: tuple[str, ...], words: list[Word]) -> None:
    """Words of the form `file://x` or `--option=file://x`, which the program replaces by what the file holds."""
    for prefix in prefixes:
        for word in words:
            text = literal(word)
            if text is not None and prefix in text:
                before, _, path = text.partition(prefix)
                if not before or before.endswith("="):
                    builder.path(READ, path)


def _only_helps(line: CommandLine) -> bool:
    parsed = line.parsed
    if parsed.doubts or parsed.operands != line.path or parsed.spills:
        return False
    return all(given.option.role in ("", "TEXT") for given in (*line.before, *parsed.given))


_ADDRESS = Pattern(r"(?:https?|ftp|wss?|grpc)://|(?:[0-9]{1,3}\.){3}[0-9]{1,3}(?:[:/]|$)|metadata\.|\[[0-9a-fA-F:.]+\]")


def _unknown(builder: EffectsBuilder, words: list[Word]) -> None:
    """A program that no table speaks of: EXECUTE, with its words sorted as well as can be for rules that deny."""
    builder.acts = True
    if not any(
        effect.operation is EXECUTE for effect in builder.effects
    ):  # a script by its path has options of its own
        builder.strays = cover.of_unknown(words)
    ended = False
    for word in words:
        if isinstance(word, str) and word[:1] == "-" and word != "-" and not ended:
            ended = word == "--"
            name = word.partition("=")[0]
            builder.flags.add(name)
            if not word.startswith("--") and len(name) < 12:
                builder.flags.update("-" + letter for letter in name[1:])
        else:
            builder.operands.append(shown(word))
        if isinstance(word, str) and _ADDRESS.match(word):
            builder.fetch(word)


_PATH = Pattern(r"(?:~|\.{1,2})?/\S+|(?:[\w.-]+/)*\.[A-Za-z]\S*")
_GIVEN = Pattern(r"(?:--?)?[\w.-]+[=:]@?(\S+)|@(\S+)|-[A-Za-z]([~/.]\S+)")
_MOST_NAMED, _LONGEST_NAMED = 64, 1024


def _told(builder: EffectsBuilder, words: list[Word], *, known: bool) -> None:
    """What code is told that nobody knows: a program without a row, a script, a task of the project."""
    runs = any(effect.operation is EXECUTE and effect.target.kind is Kind.PATH for effect in builder.effects)
    if runs or (builder.acts and (not known or has(builder.program, "project-code"))):
        _named(builder, words)


def _named(builder: EffectsBuilder, words: list[Word]) -> None:
    """The paths that something which runs is told of: it may read them. A guess, good enough to deny."""
    known = {effect.target.text for effect in builder.effects if effect.target.kind is Kind.PATH}
    left = _MOST_NAMED
    for word in words:
        text = literal(word)
        if text is None or len(text) > _LONGEST_NAMED or not left:
            continue
        found = _GIVEN.fullmatch(text)
        for part in dict.fromkeys((text, *(each for each in found.groups() if each))) if found else (text,):
            if part in known or not _PATH.fullmatch(part):
                continue
            known.add(part)
            left -= 1
            target = path_target(part, builder.cwd, builder.home, certain=False)
            builder.effects.append(Effect(READ, target, via=Via.TOLD))


def _settled(word: Word) -> Word:
    """A word that is one known literal after all is that literal."""
    if isinstance(word, str):
        return word
    text = literal(word)
    return word if text is None else text
