"""Possible meanings of words that no row describes: commands that the program runs, folders that it serves.

A word that names a program, with the words after it, and a text that begins with one, count as commands only if they
would be dangerous. A file server reads the folder that an option or an operand names, or else the current folder."""

from __future__ import annotations

from collections.abc import Callable

from assent.contract import Effect, Pattern
from assent.effects.paths import path_target
from assent.effects.shell.command import CommandEffects
from assent.effects.shell.commands.command_effects import READ, EffectsBuilder, Word, literal, shown
from assent.programs.table import Tables
from assent.programs.traits import has

_MOST_WORDS, _DEEPEST, _LONGEST = 32, 4, 4096
_NAME = Pattern(r"(?:[\w./~-]*/)?[A-Za-z][\w.+-]*")
_TEXT = Pattern(r"(?:--?[\w-]+=)?([A-Za-z./~][^\n]*\s[^\n]*)")
_SPAWN = Pattern(r"^(?:spawn|exec|!|shell)\s+")


def add(
    builder: EffectsBuilder, words: list[Word], tables: Tables, interpret: Callable[..., CommandEffects], *, texts: bool
) -> None:
    """Add the commands that may be run, read by `interpret`. `texts`: texts in the words may be commands too."""
    found = list(builder.maybe)
    for place, word in enumerate(words[:_MOST_WORDS]):
        text = literal(word)
        if text is None or len(text) > _LONGEST:
            continue
        if texts and (match := _TEXT.fullmatch(text)):
            found.append(match[1])
        elif (
            place + 1 < len(words)
            and _NAME.fullmatch(text)
            and _endangers(builder, words[place:], tables, interpret, 0)
        ):
            builder.run(words[place:])
            break
    for text in found:
        text = _SPAWN.sub("", text)
        if _endangers(builder, list(text.split()), tables, interpret, 0):
            builder.shell(text)


def _endangers(
    builder: EffectsBuilder, words: list[Word], tables: Tables, interpret: Callable[..., CommandEffects], depth: int
) -> bool:
    if (
        not words
        or depth > _DEEPEST
        or has(shown(words[0]), "common-subcommand")
        or tables.program(shown(words[0]).rpartition("/")[2]) is None
    ):
        return False
    found = interpret(tuple(words), cwd=builder.cwd, home=builder.home, tables=tables)
    if any(effect.dangers for effect in found.effects):
        return True
    inner: list[list[Word]] = [
        list(run.argv) if run.argv is not None else [*(run.script or "").split()] for run in found.runs
    ]
    return any(_endangers(builder, each, tables, interpret, depth + 1) for each in inner)


# ---------------------------------------------------------------- file servers

_MODULES = frozenset(
    """http.server SimpleHTTPServer uploadserver pyftpdlib RangeHTTPServer http.server.__main__ wsgidav updog
    twisted.web twisted""".split()
)
_SUBCOMMANDS = {
    "caddy": "file-server",
    "rclone": "serve",
    "twistd": "web",
    "twist": "web",
    "deno": "run",
    "git": "daemon",
}
_DENO = Pattern(r".*file[-_]server.*")
_ROOT = Pattern(r"--?[\w.-]+=(.+)|-[a-zA-Z]([~/.].*)")
_NO_FOLDER = Pattern(r"\d+|[\w.-]*:\d+|tcp:.*|https?:.*|-.*|")
_VALUED = frozenset(
    """-p --port -P -b --bind -l --listen -i --interface -a --address --addr -S --protocol -e --cert --key -c --user
    --password -f""".split()
)


def serves(builder: EffectsBuilder, words: list[Word]) -> bool:
    program = builder.program
    texts = [shown(word) for word in words]
    if has(program, "file-server"):
        return True
    if has(program, "maybe-python"):
        return any(
            text[2:] in _MODULES or (text == "-m" and "".join(texts[place + 1 : place + 2]) in _MODULES)
            for place, text in enumerate(texts)
            if text.startswith("-m")
        )
    if program == "php":
        return any(text.startswith("-S") for text in texts)
    if program == "ruby":
        return any("httpd" in text for text in texts) and any(text.startswith("-r") for text in texts)
    is_server = program in _SUBCOMMANDS and _SUBCOMMANDS[program] in texts
    return is_server and (program != "deno" or any(map(_DENO.fullmatch, texts)))


def served(builder: EffectsBuilder, words: list[Word]) -> None:
    """Add a READ of the folders that it may serve."""
    folders: list[str] = []
    before = ""
    for word in words:
        text = literal(word)
        if text is not None:
            found = _ROOT.fullmatch(text)
            folder = (found[1] or found[2]) if found else text
            if before not in _VALUED and not (_NO_FOLDER.fullmatch(folder) or folder in _MODULES):
                folders.append(folder)
        before = text or ""
    for folder in dict.fromkeys((*folders, ".")):
        target = path_target(folder, builder.cwd, builder.home, certain=False)
        builder.effects.append(Effect(READ, target, recursive=True))
