"""The command lines that a command with unknown words may be, for floor, deny and ask rules.

They come from a default (`${x:-push}`), a known set of values, or a subcommand or option that the tables list as
dangerous. Certain effects are read elsewhere."""

from __future__ import annotations

from collections.abc import Iterator

from assent.contract import Lowering, Pattern, re
from assent.effects.shell import flows, simple
from assent.effects.shell.command import FIRM, Arg
from assent.effects.shell.commands.command_effects import EffectsBuilder
from assent.effects.shell.commands.interpret import interpret
from assent.effects.shell.commands.line import locate
from assent.effects.shell.record import LimitReached, ShellJob, Walk
from assent.effects.shell.state import ShellState
from assent.programs.option import Options
from assent.programs.table import CommandNode

Word = str | Arg
_WILD = Pattern(r"[@+!?*]\([^)]*\)|\*|\?|\[[^]]*\]|[^*?\[]|\[")
MOST_COMMANDS, MOST_VARIANTS, MOST_WORDS = 16, 24, 4


def is_open(word: Word) -> bool:
    """Whether a word may be an unknown subcommand or option."""
    return not isinstance(word, str) and (word.kind not in FIRM or word.kind == "word")


def lowered(walk: Walk, again: Walk) -> Lowering | None:
    """The further effects that the commands of a walk may have, by a second walk of the same text."""
    try:
        for argv, state, start, end in walk.unsettled[:MOST_COMMANDS]:
            for words in of(argv, state, walk):
                again.span = (start, end)
                job = ShellJob(words, state.fork(), flows.UNSEEN, 0, start, end, walk.text[start:end])
                job.external = True
                simple.within(again, job)
    except LimitReached:
        pass  # effects seen until then count
    if not again.invocations:
        return None
    return Lowering("bash", tuple(again.effects), tuple(again.invocations))


def of(argv: tuple[Word, ...], state: ShellState, walk: Walk) -> Iterator[list[Word]]:
    places = [place for place, word in enumerate(argv) if place and is_open(word)][:MOST_WORDS]
    yield from [*_guessed(argv, places), *_known(argv, places, state, walk)][:MOST_VARIANTS]


def _guessed(argv: tuple[Word, ...], places: list[int]) -> Iterator[list[Word]]:
    """With the values named in the text itself: each word on its own, and all at once."""
    every = list(argv)
    several = 0
    for place in places:
        word = argv[place]
        assert isinstance(word, Arg)
        texts = word.guesses if word.values is None or word.pattern else word.values
        for text in texts:
            yield [*argv[:place], *_words(word, text), *argv[place + 1 :]]
        if texts:
            several += 1
            every[place] = texts[0]
    if several > 1:
        yield every


def _words(word: Arg, text: str) -> list[str]:
    return text.split() if word.splits else [text]


def _known(argv: tuple[Word, ...], places: list[int], state: ShellState, walk: Walk) -> Iterator[list[Word]]:
    """With the subcommands and options that the tables mark as dangerous, one at a time."""
    name = argv[0]
    program = name.rpartition("/")[2] if isinstance(name, str) else ""
    tree = walk.tables.program(program) if program else None
    if tree is None or not places:
        return
    place = places[0]
    word = argv[place]
    assert isinstance(word, Arg)
    choices = _choices(tree, list(argv[1:place]))
    before_others = word.splits and place + 1 < len(argv)
    if not choices and not before_others:
        return
    line = locate(EffectsBuilder("", "", ""), tree, program, list(argv[1:]), walk.tables)
    if line is not None and any(word is value for given in line.before for value in given.values):
        return  # the value of an option before the subcommand
    if before_others and line is not None and len(line.words) == len(argv) - place:  # right after the subcommand
        choices += _dangerous(line.row.options)
    fits = _fitting(word)
    choices = [text for text in choices if fits.fullmatch(text)]
    seen = {_dangers(list(argv), state, walk)} if choices else set()
    for text in choices:
        words = [*argv[:place], text, *argv[place + 1 :]]
        dangers = _dangers(words, state, walk)
        if dangers and dangers not in seen:
            seen.add(dangers)
            yield words


def _fitting(word: Arg) -> Pattern:
    """The form of the texts that a word may be."""
    if word.pattern and word.values:
        return Pattern("|".join(_WILD.sub(_shape, text) for text in word.values))
    return Pattern(re.escape(word.prefix) + ".*")


def _shape(match: re.Match[str]) -> str:
    """A piece of a shell glob as a pattern, possibly wider, never narrower."""
    text = match[0]
    return ".*" if text[0] in "*@+!" else "." if text[0] in "?[" else re.escape(text)


def _dangers(words: list[Word], state: ShellState, walk: Walk) -> frozenset[str]:
    found = interpret(tuple(words), cwd=state.cwds[0], home=walk.home, tables=walk.tables)
    return frozenset(danger for effect in found.effects for danger in effect.dangers)


def _choices(tree: CommandNode, before: list[Word]) -> list[str]:
    """The subcommands that may follow some words."""
    nodes = [tree]
    for word in before:
        if not isinstance(word, str):
            return []
        if word[:1] != "-":
            nodes = [after for node in nodes for after in node.after(word)] or nodes
    return [text for node in nodes for text in node.children if "*" not in text]


def _dangerous(options: Options) -> list[str]:
    return [option.names[0] for option in options.all() if option.dangers and not option.role]
