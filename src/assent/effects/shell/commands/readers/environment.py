"""Readers for `env` and `printenv`. Which names change what runs is known elsewhere, to `shell.environment`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assent.contract import Pattern
from assent.effects.shell.command import Arg
from assent.effects.shell.commands.command_effects import LONGEST, Seen, literal, values
from assent.effects.shell.commands.line import Line
from assent.effects.shell.commands.options import Parsed, parse
from assent.effects.shell.commands.readers.wrappers import SHELLS, assigned, wrapper
from assent.programs.option import options_of

if TYPE_CHECKING:
    Word = str | Arg

OPTIONS = options_of(
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


def env(line: Line) -> None:
    """`env [options] [NAME=value…] [command…]`; without a command it prints the environment."""
    seen = line.seen
    words: list[Word] | None = list(line.words)
    for _ in range(_SPLITS):
        assert words is not None
        if words[:1] == ["-"]:
            words[0] = "-i"
        parsed = parse(words, OPTIONS, style="posix")
        if not parsed.has("-S"):
            break
        words = _unsplit(seen, words, parsed)
        if words is None:
            break
    else:
        words = None
    if words is None:
        seen.execute()
        seen.gap("wrapper-option", "write the command itself instead of `env -S`")
        return
    _run(line, parsed)


def printenv(line: Line) -> None:
    """`printenv NAME` of a name that holds no secret only reads; all else prints secrets."""
    line.standard()
    texts = [text for word in line.parsed.operands for text in values(word)]
    if not texts or any(text is None or not PLAIN.fullmatch(text) for text in texts):
        line.seen.danger("prints-secret")


def _run(line: Line, parsed: Parsed) -> None:
    seen = line.seen
    wrapper(line, parsed)
    rest, env = assigned(seen, parsed.operands)
    if not rest:
        if not parsed.helps:
            seen.danger("prints-secret")
        return
    changed = len(rest) < len(parsed.operands) or parsed.has("-i", "-u")
    if changed and any(isinstance(word, Arg) or SHELLS.fullmatch(word) for word in rest):
        seen.gap("environment", "set the variables inside the script instead of with `env`")
    seen.run(rest, env=env)


def _at_home(piece: str, home: str) -> Word:
    """Nothing expands `~` here, but who writes it means the home folder: both count."""
    if home and (piece == "~" or piece.startswith("~/")):
        return Arg(piece, (piece, home + piece[2:]))
    return piece


def _unsplit(seen: Seen, words: list[Word], parsed: Parsed) -> list[Word] | None:
    """The words with the value of the first `-S` taken apart in its place; None where it cannot be."""
    given = next((given for given in parsed.given if "-S" in given.option.names), None)
    text = literal(given.value) if given is not None and given.value is not None else None
    pieces = split_string(text) if text is not None and len(text) <= LONGEST else None
    if given is None or pieces is None:
        return None
    home = f"{seen.home}/" if seen.home else ""
    words_in = [_at_home(piece, home) for piece in pieces]
    beside = [other.spelling for other in parsed.given if other.start == given.start and other is not given]
    return [*words[: given.start], *beside, *words_in, *words[given.end :]]


_PIECE = Pattern(r"[^\s\\'\"$#]+")
_ESCAPES = {"f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_ESCAPES.update({letter: letter for letter in "#$\"'\\"})


def split_string(text: str) -> list[str] | None:
    """The words of `env -S`, or None for what is not modelled: variables, odd escapes, quotes that stay open."""
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
    if quote:
        return None
    return [*words, word] if word is not None else words
