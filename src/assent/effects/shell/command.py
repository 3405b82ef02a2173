"""The words between the walk and the command tables: one simple command with its words expanded, what a table
makes of it, and the commands it runs in turn. Holds no logic."""

from __future__ import annotations

from assent.contract import Effect, Value

TOKENS = frozenset({"word", "number", "hash", "place"})  # Kinds of exactly one token that is no option

FIRM = TOKENS | {"hashes", "paths", "files"}  # Kinds of which no word is an option

# Kinds of names of files of which none is a link that was not judged where it was told.
REGULAR = frozenset({"files", "filenames"})

LISTED = REGULAR | {"paths", "names"}  # Kinds of names of files below known folders


def weakest(kinds: set[str]) -> str:
    """The kind of names of files that is left of several."""
    if len(kinds) == 1:
        return next(iter(kinds))
    if kinds <= REGULAR:
        return "filenames"
    return "names" if kinds & {"names", "filenames"} else "paths"


class Arg(Value):
    """A word that is not one plain literal (a plain literal is a `str`).

    `text`: for rules and people: quotes resolved where they can be, expansions as written.
    `values`: every value it can have, or None where that is unknown.
    `pattern`: the values are shell globs (`src/*.py`).
    `splits`: it may become no word or several words (an unquoted expansion).
    `prefix`: the literal text that any value begins with.
    `guesses`: values that an unknown one may have, as the text names them (`${x:-value}`).
    `kind`: what is known of an unknown value: `""` nothing, `"word"` one token that is no option,
    `"number"`, `"hash"` one name of a commit in hexadecimal digits, `"hashes"` any number of these, `"paths"` names of
    files under one of `under`, `"names"` the same, but one may begin with a dash, `"files"` and `"filenames"`
    the same as these, of files that are no links, `"place"` one path that a program told, likely one of
    `under` (`""`: none)."""

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


class Run(Value):
    """A command that a command runs. Exactly one of `argv` and `script` is set.

    `argv`: the words of a simple command. `script`: text that a shell reads (`sh -c`, `eval`).
    `cwd`: the folder it runs in (None: the same; `""`: unknown). `place`: `"here"`, or `"elsewhere"` for another
    machine or container, where local paths mean nothing. `shell`: which shell reads a script. `env`: assignments that
    hold for it, each a word such as `NAME=value`."""

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
    """What a command line is seen to do, before redirects: the answer of a command table.

    `known`: some row speaks of this form. Effects carry no invocation index yet. `runs` are commands that it
    starts in turn. `gaps` are (code, advice) pairs. `prints` says what its output is worth as a word
    (`"word"`, `"number"`, `"hash"`, `"hashes"`, `"paths"`, `"names"`, `"files"`, `"filenames"`, `"place"`, `""`),
    `under` the folders of printed paths, or the places. `env`: variables that are harmless for this program, as its
    row lists them; `obeyed`: names of those that steer it. `strays`: as in Invocation."""

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
