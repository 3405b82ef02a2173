"""Which words of a command line go beyond an allowed prefix: options that no table describes, or that run, load,
remove, or reach something else.

A rule that allows `pytest` and anything after it means the tests with other arguments, not `--rootdir /` or `-p evil`.
A word is covered if the row of the command describes it as harmless. Policy decides which rules require that."""

from __future__ import annotations

from collections.abc import Mapping

from assent.contract import Pattern
from assent.effects.shell.commands.command_effects import EffectsBuilder, Word, values
from assent.effects.shell.commands.line import CommandLine, is_marked, locate
from assent.effects.shell.commands.options import GivenOption, Parsed, parse
from assent.programs.option import Option
from assent.programs.row import Row
from assent.programs.table import Tables
from assent.programs.traits import has

# Roles of values that name what is run, loaded, removed or reached, or its source.
STEERING = frozenset(
    "CONFIG SCRIPT RUN SHELL SED AWK JQ SQL GITCONFIG REPO URL HOST REMOTE DIR DELETE ERASE MOVE".split()
)
WRITING = frozenset({"WRITE", "EDIT", "INTO"})
SCRIPTED = frozenset({"RUN", "SCRIPT"})  # words after these are another command's, or a script's
MODULE_RUNNERS = frozenset({("python", ()), ("coverage", ("run",)), ("uv", ("run",))})


def strays(line: CommandLine, offset: int) -> tuple[int, ...]:
    """The positions of uncovered words, counted from the program. `offset` is that of the line's first word."""
    program = line.row.name.partition(" ")[0]
    found = {
        given.start + 1 for given in line.before if _steers(given, {**line.global_forms, **line.row.forms}, line.row)
    }
    module = _module(line, program)
    end = module.end if module is not None else len(line.words)
    if module is not None:
        inner = of_words(module.values[0] if module.values else "", line.words[end:], line.tables)
        found.update(end + offset + place - 1 for place in inner)
    found.update(place + offset for place in _own(line) if place < end)
    if not has(program, "names-with-at"):
        found.update(place + offset for place, word in enumerate(line.words) if _is_file_of_options(word))
    return tuple(sorted(found))


def of_unknown(words: list[Word]) -> tuple[int, ...]:
    """The same for a program that is in no table: every option, and every word that may be one."""
    return tuple(place for place, word in enumerate(words, 1) if not isinstance(word, str) or word[:1] in ("-", "@"))


def of_words(program: Word, words: list[Word], tables: Tables) -> tuple[int, ...]:
    """The same for a program and its words alone, as for `python -m`."""
    tree = tables.program(program) if isinstance(program, str) else None
    line = locate(EffectsBuilder("", "", ""), tree, str(program), words, tables) if tree is not None else None
    return strays(line, 1 + len(words) - len(line.words)) if line is not None else of_unknown(words)


def _module(line: CommandLine, program: str) -> GivenOption | None:
    """The option that names a module to run: the words after its value are the module's own."""
    if (program, line.builder.subcommand) not in MODULE_RUNNERS and (program, ()) not in MODULE_RUNNERS:
        return None
    return next((given for given in line.parsed.given if "-m" in given.option.names), None)


def _own(line: CommandLine) -> list[int]:
    """The positions of the line's words that its row does not cover."""
    row = line.row
    parsed = _by_tunes(line)
    found = [given.start for given in parsed.given if _steers(given, {**line.global_forms, **row.forms}, row)]
    described = (range(given.start, given.end) for given in parsed.given if given.start not in parsed.odd)
    free = sorted(set(range(len(line.words))).difference(*described))
    found += [place for place in free if row.marks and _is_marked(row, line.words[place])]
    if row.forwards:
        return found + _forwarded(line, free)
    return found + parsed.odd + ([] if row.roles & SCRIPTED else [at for at in free if _is_option(line.words[at])])


def _by_tunes(line: CommandLine) -> Parsed:
    """The words, read by the options that the row lists as tuning; words after an operand are read too."""
    row = line.row
    if row.roles & SCRIPTED or (row.reader and not row.tunes.filled):
        return line.parsed
    style = row.style if row.style not in ("posix", "go") else "gnu" if row.style == "posix" else "single"
    return parse(line.words, row.tunes, (row.options, *line.more), style=style)


def _steers(given: GivenOption, forms: Mapping[str, Pattern], row: Row) -> bool:
    """Whether an option does more than tune the command."""
    option = given.option
    if option.acts or option.dangers:
        return True
    if _loads(option):
        return bool(given.values) or not option.optional
    if WRITING.issuperset(option.roles) and option.roles and not any(name in row.options for name in option.names):
        return any(name in row.tunes for name in option.names)  # no effect names the file
    pattern = next((forms[name] for name in option.names if name in forms), None) if forms else None
    texts = [text for word in given.values for text in values(word)]
    if pattern is not None:  # tells more about the value than a mark
        return not all(text is not None and pattern.fullmatch(text) for text in texts)
    return any(_is_marked(row, word) for word in given.values) if row.marks else False


def _is_marked(row: Row, word: Word) -> bool:
    """Whether the row marks a word as one that runs something."""
    return any("acts" in mark.tags and is_marked(mark, word) for mark in row.marks)


def _forwarded(line: CommandLine, free: list[int]) -> list[int]:
    """The positions of words passed on to an unnamed tool, unless they are harmless to every such tool."""
    row = line.tables.row(line.row.forwards)
    places = [place for place in free if line.words[place] != "--"]
    handed = [line.words[place] for place in places]
    parsed = parse(handed, row.options, style=row.style)
    steering = [given.start for given in parsed.given if _steers(given, row.forms, row)]
    files = [place for place, word in enumerate(handed) if _is_file_of_options(word)]
    return [places[place] for place in (*parsed.odd, *steering, *files)]


def _is_option(word: Word) -> bool:
    return isinstance(word, str) and word[:1] == "-" and word not in ("-", "--")


def _is_file_of_options(word: Word) -> bool:
    return isinstance(word, str) and word[:1] == "@" and len(word) > 1


def let_in(words: tuple[str, ...], tables: Tables) -> tuple[str, ...]:
    """The options that run, load, remove or reach something else and that a rule for these words and anything after
    them also allows. `*`: its options are unknown."""
    program = words[0].rpartition("/")[2]
    tree = tables.program(program)
    line = locate(EffectsBuilder("", "", ""), tree, program, list(words[1:]), tables) if tree is not None else None
    if line is None:
        return ("*",)
    row = line.row
    found = [option for options in (row.options, *line.more) for option in options.all()]
    found = row.tunes.all() + [option for option in found if not any(name in row.tunes for name in option.names)]
    steering = [option.names[-1] for option in found if option.acts or option.dangers or _loads(option)]
    return (*dict.fromkeys(steering), *(("*",) if row.options.rest or row.options.other else ()))


def _loads(option: Option) -> bool:
    return any(role in STEERING or role.startswith("CODE:") for role in option.roles)
