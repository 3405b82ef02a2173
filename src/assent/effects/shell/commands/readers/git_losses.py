"""Readers for git subcommands that discard work or commits of the local repository. Reads no repository.

Facts can tell what they lose if the words are plain: such a line is EXECUTE on a TREE, with a verb of LOSING."""

from __future__ import annotations

from assent.contract import ASCII, LOSING, Effect, Kind, Pattern, Target
from assent.effects.shell.commands.command_effects import EXECUTE, WRITE, Word
from assent.effects.shell.commands.line import CommandLine
from assent.effects.shell.commands.roles import apply

DISCARDS = "discard-work"
_REVISION = Pattern(r"(?!.*\.\.)(?:@|[A-Za-z0-9_][\w./+-]*)(?:@\{\d{1,6}\})?(?:[~^]\d*)*", ASCII)
INDEX, ANY = "-", "?"  # in place of a revision: the index; or facts decide whether the next word is one
_FILE = Pattern(r"(?!-)[\w./+@%=,#-]+")  # no magic of pathspecs
_PLAIN_GLOBALS = ("-C", "--no-pager", "--no-optional-locks", "--no-advice")
_STASH = Pattern(r"stash@\{\d{1,6}\}|\d{1,6}")
ROLES = {"discard": "EDIT", "remove": "DELETE"}  # of the files that such a line names
_CLEANING = {"-d": "d", "-x": "x", "-X": "X"}


def only(line: CommandLine, *names: str) -> bool:
    """Whether the line is read without a doubt and has only these options."""
    parsed = line.parsed
    return (
        not parsed.doubts and not parsed.spills and all(any(n in g.option.names for n in names) for g in parsed.given)
    )


def start(line: CommandLine) -> None:
    """Apply what is independent of the line's own options and operands: flags, and options before the subcommand."""
    line.preamble()
    line.apply_options(line.before)


def stores(line: CommandLine, hooks: str = "refs") -> None:
    """It writes git's store, under hooks of the repository."""
    builder = line.builder
    for folder in builder.repositories or [builder.cwd]:
        builder.effects.append(Effect(WRITE, Target(Kind.REPOSITORY, folder, certain=bool(folder))))
        builder.hooks(hooks, folder)


def lose(
    line: CommandLine,
    verb: str,
    words: list[Word],
    hooks: str = "refs",
    *,
    danger: str = DISCARDS,
    files: int | None = None,
    source: str = "",
) -> bool:
    """Record that the line discards something that facts can list. False if its words are not plain names, or it may be
    another repository. `files`: the position of the first word that is a file, not a revision. `source`: the default
    for the revision."""
    if not all(any(name in given.option.names for name in _PLAIN_GLOBALS) for given in line.before):
        return False
    split = len(words) if files is None else files
    forms = [_REVISION] * split + [_FILE] * (len(words) - split)
    for place, (word, form) in enumerate(zip(words, forms, strict=True)):
        perhaps = source == ANY and place == 0
        if not isinstance(word, str) or not (form.fullmatch(word) or (perhaps and _REVISION.fullmatch(word))):
            return False
    assert verb in LOSING
    start(line)
    builder = line.builder
    for word in words[split:] if verb in ROLES else ():
        apply(builder, ROLES[verb], word)
    if danger and danger not in builder.dangers:
        builder.danger(danger)
    name = f"{' '.join((verb, *((source,) if source else ()), *map(str, words)))}:{builder.cwd}" if builder.cwd else ""
    text = " ".join(builder.subcommand)
    builder.effects.append(Effect(EXECUTE, Target(Kind.TREE, name, text, certain=bool(name))))
    stores(line, hooks)
    return True


def git_clean(line: CommandLine) -> None:
    """`git clean -f` removes files that git does not have."""
    parsed = line.parsed
    forced = sum("--force" in given.option.names for given in parsed.given)
    plain = only(line, "--force", "-d", "-x", "-X", "--quiet") and forced == 1
    how = "".join(sorted(letter for name, letter in _CLEANING.items() if parsed.has(name))) or "-"
    if not plain or not lose(line, "clean", parsed.operands, files=0, source=how):
        line.unproved()


def git_stash_drop(line: CommandLine) -> None:
    """`git stash drop [name]`, `git stash clear`."""
    words, verb = line.parsed.operands, line.builder.subcommand[-1]
    plain = all(isinstance(word, str) and _STASH.fullmatch(word) for word in words) and len(words) <= 1
    if not (plain and only(line, "--quiet") and line.parsed.ended < 0 and lose(line, f"stash-{verb}", words)):
        line.unproved()


def git_rebase(line: CommandLine) -> None:
    """`git rebase [--onto name] upstream`: recreates the commits of the current branch elsewhere."""
    words, onto = line.parsed.operands, line.parsed.values("--onto")
    plain = only(line, "--onto", "--quiet", "--no-stat") and line.parsed.ended < 0
    if not (
        plain
        and len(words) == 1
        and len(onto) <= 1
        and lose(line, "rebase", [*words, *(onto or words)], "commit", danger="")
    ):
        line.unproved()
