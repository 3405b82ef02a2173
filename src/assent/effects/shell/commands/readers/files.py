"""Readers for commands that copy, move, link and remove files, and change their modes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assent.contract import Pattern
from assent.effects.shell.command import Arg
from assent.effects.shell.commands.command_effects import DELETE, READ, WRITE, literal, values
from assent.effects.shell.commands.line import Line
from assent.effects.shell.commands.operands import into
from assent.effects.shell.commands.options import parse

if TYPE_CHECKING:
    Word = str | Arg

_MODE = Pattern(r"-[rwxXstugo,=+-]+|-[0-7]+")


def copy(line: Line) -> None:
    """`cp` and `install`: sources are read, the last operand or `-t` is where they go."""
    line.preamble()
    line.given()
    seen, parsed = line.seen, line.parsed
    if line.program.endswith("install") and parsed.has("-d", "--directory"):
        for word in parsed.operands:
            seen.path(WRITE, word)
        return
    recursive = any(given.option.recursive for given in parsed.given) or parsed.has("--parents")
    sources, target = _ends(line)
    links = parsed.has("-l", "--link", "-s", "--symbolic-link") and not line.program.endswith("install")
    for source in sources:
        seen.path(READ, source, recursive=recursive, stays=line.stays())
        if links:
            seen.path(WRITE, source, recursive=recursive, stays=True)
    _into(line, sources, target, recursive)


def move(line: Line) -> None:
    """`mv`: sources are read and removed, folders with all that is in them. Nothing is lost where they come to a file
    or folder."""
    line.preamble()
    line.given()
    sources, target = _ends(line)
    kept = target is not None and not any(text is None or text.startswith("/dev/") for text in values(target))
    for source in sources:
        line.seen.path(READ, source, recursive=True, stays=True)
        line.seen.path(DELETE, source, recursive=True, lossless=kept)
    _into(line, sources, target, True, stays=True)


def link(line: Line) -> None:
    """`ln`: who can read or write the link can read or write its target, so that is both to it too."""
    line.preamble()
    line.given()
    sources, target = _ends(line)
    if not sources and target is not None:
        sources, target = [target], "."
    folder = _folder(target)
    symbolic = line.parsed.has("-s", "--symbolic")
    for source in sources:
        line.seen.path(READ, source, stays=True)
        line.seen.path(WRITE, source, recursive=True, stays=True)
        text = literal(source)
        if symbolic and text is not None and not text.startswith("/") and folder:
            line.seen.path(READ, f"{folder}/{text}", stays=True)
            line.seen.path(WRITE, f"{folder}/{text}", recursive=True, stays=True)
    _into(line, sources, target, False)


def remove_folder(line: Line) -> None:
    """`rmdir`: it removes no folder that holds something."""
    line.preamble()
    line.given()
    for word in line.parsed.operands:
        line.seen.path(DELETE, word, lossless=not line.parsed.has("-p", "--parents"))


def remove(line: Line) -> None:
    """`rm` and `shred`: a recursive one carries its danger."""
    line.standard()
    if not line.quiet and any(given.option.recursive for given in line.parsed.given):
        line.seen.danger("recursive-delete")


def modes(line: Line) -> None:
    """`chmod`, `chown`, `chgrp`: the first operand is no file, unless `--reference` gives it. `-x` is a mode."""
    words: list[Word] = []
    mode: str | None = None
    for word in line.words:
        if mode is None and line.program.endswith("chmod") and isinstance(word, str) and _MODE.fullmatch(word):
            mode = word
        else:
            words.append(word)
    parsed = line.parsed = parse(words, line.row.options, line.more, style="gnu", pure=line.row.pure)
    line.preamble()
    line.given()
    line.seen.danger("mode-change")
    recursive = any(given.option.recursive for given in parsed.given)
    first = 0 if mode is not None or parsed.has("--reference") else 1
    if any(isinstance(word, Arg) and word.splits for word in parsed.operands[:first]):
        line.seen.execute()
    for word in parsed.operands[first:]:
        line.seen.path(WRITE, word, recursive=recursive, stays=recursive and line.stays())
    if mode is not None:
        line.seen.flags.add(mode)


def _ends(line: Line) -> tuple[list[Word], Word | None]:
    """The sources and where they go; an unknown last word may hold several, sources among them."""
    words = list(line.parsed.operands)
    given = line.parsed.values("--target-directory") or line.parsed.values("-t")
    if given:
        return words, given[-1]
    if not words:
        return [], None
    last = words[-1]
    if isinstance(last, Arg) and (last.splits or last.pattern):
        return words, last
    return words[:-1], last


def _into(line: Line, sources: list[Word], target: Word | None, recursive: bool, *, stays: bool = False) -> None:
    if target is None:
        return
    if line.parsed.has("-T", "--no-target-directory"):
        sources = []
    into(line.seen, sources, target, recursive=recursive, stays=stays)
    _backups(line, sources, target)


def _backups(line: Line, sources: list[Word], target: Word) -> None:
    """What is written over is kept beside, by its name and the suffix that is given."""
    given = line.parsed.values("--suffix") or line.parsed.values("-S")
    if not given:
        return
    suffix, place, names = literal(given[-1]), literal(target), [literal(source) for source in sources]
    if suffix is None or place is None or "/" in suffix:
        line.seen.execute()
        return
    line.seen.path(WRITE, place.rstrip("/") + suffix)
    for name in names:
        if name is None:
            line.seen.execute()
        else:
            line.seen.path(WRITE, f"{place}/{name.rstrip('/').rpartition('/')[2]}{suffix}")


def _folder(target: Word | None) -> str:
    text = literal(target) if target is not None else None
    if text is None:
        return ""
    return text.rstrip("/") if text.endswith("/") else (text.rpartition("/")[0] or ".")


_PACKAGE = Pattern(r"\.(?:/(?!\.\.?(?:/|$))[\w.-]+)*(?:/\.\.\.)?/?|\./\.\.\.")


def go_fmt(line: Line) -> None:
    """`go fmt ./...`: the files of packages below this folder are formatted where they stand."""
    line.preamble()
    line.given()
    seen = line.seen
    for word in line.parsed.operands or ["."]:
        text = literal(word)
        if text is None or not _PACKAGE.fullmatch(text):
            seen.execute()
            continue
        for operation in (READ,) if line.quiet else (READ, WRITE):
            seen.path(operation, text.removesuffix("/").removesuffix("/..."))


_FILE = Pattern(r"[^:\n]*|[^:/\n]*/[^\n]*")
_IN_FOLDER = Pattern(r"[^:/\n*?\[(]*/[^\n]*")


def probe(line: Line) -> None:
    """`ffprobe`: what has a colon before its first slash is an address, or runs a filter."""
    line.standard()
    for word in line.parsed.operands:
        form = _IN_FOLDER if isinstance(word, Arg) and word.pattern else _FILE
        known = word.values if isinstance(word, Arg) else (word,)
        if known is None or not all(map(form.fullmatch, known)):
            line.seen.execute()


def dotfiles(line: Line) -> None:
    """`chezmoi apply`, `stow`: files or links of a whole tree, in the home folder, above this one, or as told."""
    line.standard()
    seen, parsed = line.seen, line.parsed
    if line.quiet:
        return
    seen.execute()
    told = [
        *(given.value for given in line.before if "--destination" in given.option.names),
        *parsed.values("--target"),
    ]
    stowed = [f"{literal(word)}/.." if literal(word) is not None else word for word in parsed.values("--dir")]
    for word in told or stowed or [".." if line.program == "stow" else seen.home]:
        if word is not None:
            seen.path(WRITE, word, recursive=True)
