"""Readers for tar and dd."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assent.contract import DOTALL, Pattern
from assent.effects.shell.command import Arg
from assent.effects.shell.commands.command_effects import READ, WRITE, shown, values
from assent.effects.shell.commands.line import Line

if TYPE_CHECKING:
    Word = str | Arg

_MODES = {
    "-c": "create",
    "-x": "extract",
    "-t": "list",
    "-r": "append",
    "-u": "append",
    "-A": "append",
    "-d": "compare",
    "--delete": "delete",
    "--test-label": "list",
}
_REMOTE = Pattern(r"[^/]+:.*", DOTALL)
_SETTINGS = frozenset("ibs obs bs cbs conv count iflag oflag seek oseek skip iseek status files speed".split())
_DEVICE = Pattern(r"/dev/(?:sd|hd|vd|xvd|nvme|mmcblk|disk|rdisk|mapper/|dm-|md|loop|mem|kmem).*")


def tar(line: Line) -> None:
    """One of the modes; the archive is read or written, members are read, and what is unpacked is written."""
    seen, parsed = line.seen, line.parsed
    line.preamble()
    modes = {mode for flag, mode in _MODES.items() if parsed.has(flag)}
    if len(modes) != 1:
        seen.execute()
    _archive(line, modes)
    before = seen.cwd
    line.given()
    after = seen.cwd if len(parsed.values("-C")) < 2 else ""
    if "create" in modes or "append" in modes:
        for seen.cwd in dict.fromkeys((before, after)):  # `-C` holds for the words behind it only
            _members(line)
    elif "compare" in modes:
        for word in parsed.operands:
            seen.path(READ, word, recursive=True, stays=line.stays())
    elif "extract" in modes and not parsed.has("-O", "--to-stdout", "--to-command"):
        seen.execute()  # the archive names the files, and may hold links
        seen.cwd = after
        seen.path(WRITE, "." if after else Arg("-C"), recursive=True)
        if parsed.has("-P", "--absolute-names"):
            seen.path(WRITE, Arg("--absolute-names"), recursive=True)


def _archive(line: Line, modes: set[str]) -> None:
    reads = bool(modes & {"extract", "list", "compare", "append", "delete"})
    writes = not modes <= {"extract", "list", "compare"}
    for value in line.parsed.values("-f"):
        for text in values(value):
            if text is None:
                line.seen.path(WRITE if writes else READ, value)
                continue
            if _REMOTE.fullmatch(text) and not line.parsed.has("--force-local"):
                line.seen.execute()
                line.seen.fetch(text.partition(":")[0].rpartition("@")[2])
                continue
            if reads:
                line.seen.path(READ, text)
            if writes:
                line.seen.path(WRITE, text)


def _members(line: Line) -> None:
    """What goes into an archive, with all below it. `@list` is another archive to bsdtar, which may be a list of files
    that lie anywhere."""
    for word in line.parsed.operands:
        if shown(word)[:1] in ("@", *(("$", "`", "*", "?", "[") if line.program == "bsdtar" else ())):
            line.seen.execute()
        line.seen.path(READ, word, recursive=True, stays=line.stays())
    if line.parsed.values("-T"):
        line.seen.path(READ, Arg("--files-from"), recursive=True)


def dd(line: Line) -> None:
    """`if=` is read, `of=` is written."""
    seen = line.seen
    for word in line.words:
        text = shown(word)
        if text in ("--help", "--version"):
            continue
        seen.operands.append(text)
        name, equals, value = text.partition("=")
        target: Word = value if isinstance(word, str) else Arg(value)
        if name == "if" and equals:
            seen.path(READ, target)
        elif name == "of" and equals:
            device = bool(_DEVICE.fullmatch(value))
            seen.path(WRITE, target, dangers=("raw-device",) if device else ())
        elif not equals or name not in _SETTINGS:
            seen.execute()
