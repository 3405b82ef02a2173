"""A command line → its effects, by the rows of the tables. Walks no shell syntax and follows no started commands: those
are in the result, for the walk."""

from __future__ import annotations

from collections.abc import Callable

from assent.contract import Effect, Kind, Pattern, Target, Via, keep
from assent.effects.paths import path_target
from assent.effects.shell.command import Arg, CommandEffects
from assent.effects.shell.commands import cover
from assent.effects.shell.commands.command_effects import EXECUTE, READ, EffectsBuilder, Word, literal, shown
from assent.effects.shell.commands.line import CommandLine, locate
from assent.effects.shell.commands.readers import load
from assent.programs.table import NAMES, CommandNode, Tables, shipped
from assent.programs.traits import has

_ANY = frozenset({"TEXT", "SCRIPT"})
_BINS = frozenset({"/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin", "/usr/local/sbin", "/opt/homebrew/bin"})


CACHED = 512  # command lines; agents run the same few again and again
_cache: dict[tuple[object, ...], tuple[Tables, CommandEffects]] = {}


def interpret(
    argv: tuple[Word, ...], *, cwd: str, home: str, tables: Tables = shipped, stdin: Arg | None = None
) -> CommandEffects:
    """The effects of a simple command, before redirects. `cwd` `""` is unknown; `stdin` is what is known of its input.

    Depends only on its arguments, so the result for a command line of literals is cached."""
    for word in argv:
        if type(word) is not str or stdin is not None:
            return _interpret(argv, cwd, home, tables, stdin)
    key = (argv, cwd, home, id(tables))
    known = _cache.get(key)
    if known is None or known[0] is not tables:
        known = tables, _interpret(argv, cwd, home, tables, stdin)
        keep(_cache, key, known, CACHED)
    return known[1]


def _interpret(argv: tuple[Word, ...], cwd: str, home: str, tables: Tables, stdin: Arg | None) -> CommandEffects:
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
    # A word with one known value is that literal.
    words = [word if (text := literal(word)) is None else text for word in argv[1:]]
    tree = tables.program(program) if program else None
    known = _read(builder, tree, program, words, tables)
    if builder.acts or any(
        each.operation is EXECUTE and each.target.kind is Kind.PATH for each in builder.effects
    ):  # not proved, or a script by its path
        _add_verbs(builder, words, known, cwd, home, tables)
        if has(program, "changes-machine") and (program != "git" or builder.subcommand[:1] == ("config",)):
            from assent.effects.shell.commands import system_changes

            system_changes.add(builder, words)
        if has(program, "uploads"):
            from assent.effects.shell.commands import uploads

            uploads.add(builder, words)
        if has(program, "lets-in"):
            from assent.effects.shell.commands import exposure

            exposure.add(builder, words)
    if builder.acts or builder.effects:
        _add_named_paths(builder, words, known=known)
    if builder.acts:
        from assent.effects.shell.commands import possible

        if not known or builder.maybe:
            possible.add(builder, words, tables, interpret, texts=not known and not has(program, "prose"))
        if possible.serves(builder, words):
            possible.served(builder, words)
    return builder.build()


def _add_verbs(builder: EffectsBuilder, words: list[Word], known: bool, cwd: str, home: str, tables: Tables) -> None:
    from assent.effects.shell.commands import embedded_commands, given_code, named_dangers, verbs

    def read(line: tuple[Word, ...]) -> CommandEffects:
        return _interpret(line, cwd, home, tables, None)

    verbs.add(builder, words, known=known, read=read)
    named_dangers.add(builder, words)
    embedded_commands.add(builder, words)
    given_code.add(builder, words)


def _read(builder: EffectsBuilder, tree: CommandNode | None, program: str, words: list[Word], tables: Tables) -> bool:
    """Whether a row describes the words. A row that takes any option and any text does not."""
    line = locate(builder, tree, program, words, tables) if tree is not None else None
    if tree is None or line is None:
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
    """Words of the form `file://x` or `--option=file://x`, which the program replaces by the file's content."""
    for prefix in prefixes:
        for word in words:
            text = literal(word)
            if text is not None and prefix in text:
                before, _, path = text.partition(prefix)
                if not before or before.endswith("="):
                    builder.path(READ, path)


def _only_helps(line: CommandLine) -> bool:
    parsed = line.parsed
    plain = not parsed.doubts and parsed.operands == line.path and not parsed.spills
    return plain and all(given.option.role in ("", "TEXT") for given in (*line.before, *parsed.given))


_ADDRESS = Pattern(r"(?:https?|ftp|wss?|grpc)://|(?:[0-9]{1,3}\.){3}[0-9]{1,3}(?:[:/]|$)|metadata\.|\[[0-9a-fA-F:.]+\]")


def _unknown(builder: EffectsBuilder, words: list[Word]) -> None:
    """A program that is in no table: EXECUTE, with its words sorted as well as possible for deny rules."""
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


def _add_named_paths(builder: EffectsBuilder, words: list[Word], *, known: bool) -> None:
    """Unknown code (a program without a row, a script, a task of the project) may read the paths in its words. A guess,
    good enough to deny."""
    runs = any(effect.operation is EXECUTE and effect.target.kind is Kind.PATH for effect in builder.effects)
    if not runs and not (builder.acts and (not known or has(builder.program, "project-code"))):
        return
    listed = {effect.target.text for effect in builder.effects if effect.target.kind is Kind.PATH}
    left = _MOST_NAMED
    for word in words:
        text = literal(word)
        if text is None or len(text) > _LONGEST_NAMED or not left:
            continue
        found = _GIVEN.fullmatch(text)
        for part in dict.fromkeys((text, *(each for each in found.groups() if each))) if found else (text,):
            if part not in listed and _PATH.fullmatch(part):
                listed.add(part)
                left -= 1
                target = path_target(part, builder.cwd, builder.home, certain=False)
                builder.effects.append(Effect(READ, target, via=Via.TOLD))
