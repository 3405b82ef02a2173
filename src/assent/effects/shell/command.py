"""Data that the walk and the command tables exchange: the expanded words of a simple command, its effects by the
tables, and the commands it runs in turn."""

from __future__ import annotations

from assent.contract import Effect, Pattern, Value

TOKENS = frozenset({"word", "number", "date", "hash", "place"})  # Kinds that are exactly one token and no option

FIRM = TOKENS | {"hashes", "paths", "files"}  # Kinds without options

# Kinds of file names. A link among them was judged at the command that printed it.
REGULAR = frozenset({"files", "filenames"})

LISTED = REGULAR | {"paths", "names"}  # Kinds of file names below known folders

# Among the folders of printed names: these are all names there, not only some.
EVERY = "**/"


def weakest(kinds: set[str]) -> str:
    """The weakest of several kinds of file names."""
    if len(kinds) == 1:
        return next(iter(kinds))
    if kinds <= REGULAR:
        return "filenames"
    return "names" if kinds & {"names", "filenames"} else "paths"


class Arg(Value):
    """A word that is not one plain literal (a plain literal is a `str`).

    `text`: for rules and people: quotes resolved if possible, expansions as written.
    `values`: every value it can have, or None if that is unknown.
    `pattern`: the values are shell globs (`src/*.py`).
    `splits`: it may become no word or several words (an unquoted expansion).
    `prefix`: the literal text that any value begins with.
    `guesses`: values that an unknown one may have, as the text names them (`${x:-value}`).
    `kind`: what is known of an unknown value: `""` nothing, `"word"` one token that is no option,
    `"number"`, `"date"` digits and signs between them, `"hash"` one name of a commit in hexadecimal digits,
    `"hashes"` any number of these, `"paths"` names of files under one of `under`, `"names"` the same, but one may begin
    with a dash, `"files"` and `"filenames"` the same as these, of files that are no links, `"place"` one path that a
    program printed, likely one of `under` (`""`: none). `EVERY` among `under`: no file there is left out."""

    __slots__ = ("text", "values", "pattern", "splits", "prefix", "kind", "under", "guesses")

    def __init__(
        self,
        text: str,
        values: tuple[str, ...] | None = None,
        *,
        pattern: bool = False,
        splits: bool = False,
        prefix: str = "",
        kind: str = "",
        under: tuple[str, ...] = (),
        guesses: tuple[str, ...] = (),
    ) -> None:
        self.text = text
        self.values = values
        self.pattern = pattern
        self.splits = splits
        self.prefix = prefix
        self.kind = kind
        self.under = under
        self.guesses = guesses


TEMPORARY = Pattern(r"/tmp/[^/]*XXX[^/]*(?:/.*)?")
_SCRATCH = Pattern(r"/tmp/[^/*?\[]+(?:/[^/*?\[]+)*")

_SYSTEM = Pattern(
    r"/(?:(?:bin|boot|dev|etc|home|lib\w*|opt|proc|root|run|sbin|srv|sys|usr|var|Users|private|Library|System|Applications"
    r"|\.[^/]*)(?:/.*)?)?"
)


def temporary(word: Arg, *, into: bool = False) -> tuple[str, ...]:
    """The paths of a word with the output of `mktemp` and text after it: a new name in the temporary folder, shown by
    its template, and the text alone, in case `mktemp` prints nothing. The same for a name below `$TMPDIR`. None for any
    other word, or if the text alone may be a system path: then a person is asked."""
    known = any(map(TEMPORARY.fullmatch, word.under)) or any(map(_SCRATCH.fullmatch, word.under))
    if word.kind != "place" or word.pattern or not known:
        return ()
    under = tuple(path for path in word.under if not (into and path == "/"))  # `cp x "$tmp/"`: a lone `/` is left out
    if any(map(_SYSTEM.fullmatch, under)):
        return ()
    return tuple(path for path in under if path)


class Run(Value):
    """A command that a command runs. Exactly one of `argv` and `script` is set.

    `argv`: the words of a simple command. `script`: text that a shell reads (`sh -c`, `eval`).
    `cwd`: the folder it runs in (None: the same; `""`: unknown). `place`: `"here"`, or `"elsewhere"` for another
    machine or container, where local paths mean nothing. `shell`: which shell reads a script. `env`: the assignments
    for it, each a word such as `NAME=value`."""

    __slots__ = ("argv", "script", "cwd", "place", "shell", "positional", "env")

    def __init__(
        self,
        argv: tuple[str | Arg, ...] | None = None,
        script: str | None = None,
        *,
        cwd: str | None = None,
        place: str = "here",
        shell: str = "",
        positional: tuple[str | Arg, ...] = (),
        env: tuple[str | Arg, ...] = (),
    ) -> None:
        self.argv = argv
        self.script = script
        self.cwd = cwd
        self.place = place
        self.shell = shell
        self.positional = positional
        self.env = env


class CommandEffects(Value):
    """The effects of a command line, before redirects, by the command tables.

    `known`: a row describes this form. Effects carry no invocation index yet. `runs` are commands that it
    starts. `gaps` are (code, advice) pairs. `prints` says what is known of its output as a word
    (`"word"`, `"number"`, `"hash"`, `"hashes"`, `"paths"`, `"names"`, `"files"`, `"filenames"`, `"place"`, `""`),
    `under` the folders of printed paths, or the places. `env`: variables that are harmless for this program, as its
    row lists them; `obeyed`: names of those that change what it does. `strays`: as in Invocation."""

    __slots__ = (
        "subcommand",
        "flags",
        "operands",
        "effects",
        "runs",
        "gaps",
        "prints",
        "under",
        "env",
        "obeyed",
        "strays",
    )

    def __init__(
        self,
        *,
        subcommand: tuple[str, ...] = (),
        flags: frozenset[str] = frozenset(),
        operands: tuple[str, ...] = (),
        effects: tuple[Effect, ...] = (),
        runs: tuple[Run, ...] = (),
        gaps: tuple[tuple[str, str], ...] = (),
        prints: str = "",
        under: tuple[str, ...] = (),
        env: tuple[str, ...] = (),
        obeyed: frozenset[str] = frozenset(),
        strays: tuple[int, ...] = (),
    ) -> None:
        self.subcommand = subcommand
        self.flags = flags
        self.operands = operands
        self.effects = effects
        self.runs = runs
        self.gaps = gaps
        self.prints = prints
        self.under = under
        self.env = env
        self.obeyed = obeyed
        self.strays = strays
