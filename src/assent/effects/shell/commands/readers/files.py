"""Readers for commands that copy, move, link, remove, pack and convert files, and change their modes."""

from __future__ import annotations

from assent.contract import DOTALL, Pattern
from assent.effects.shell.command import Arg
from assent.effects.shell.commands.command_effects import DELETE, READ, WRITE, Word, literal, shown, values
from assent.effects.shell.commands.line import CommandLine, into
from assent.effects.shell.commands.options import parse
from assent.effects.shell.commands.roles import apply

_MODE = Pattern(r"-[rwxXstugo,=+-]+|-[0-7]+")


def copy(line: CommandLine) -> None:
    """`cp` and `install`: sources are read, the last operand or `-t` is where they go."""
    line.read_options()
    builder, parsed = line.builder, line.parsed
    if line.program.endswith("install") and parsed.has("-d", "--directory"):
        builder.paths(WRITE, parsed.operands)
        return
    recursive = line.is_recursive() or parsed.has("--parents")
    sources, target = _ends(line)
    links = parsed.has("-l", "--link", "-s", "--symbolic-link") and not line.program.endswith("install")
    for source in sources:
        builder.path(READ, source, recursive=recursive, stays=line.stays())
        if links:
            builder.path(WRITE, source, recursive=recursive, stays=True)
    _into(line, sources, target, recursive)


def move(line: CommandLine) -> None:
    """`mv`: sources are read and removed, folders with all that is in them. Nothing is lost where they come to a file
    or folder."""
    line.read_options()
    sources, target = _ends(line)
    kept = target is not None and not any(text is None or text.startswith("/dev/") for text in values(target))
    for source in sources:
        line.builder.path(READ, source, recursive=True, stays=True)
        line.builder.path(DELETE, source, recursive=True, lossless=kept)
    _into(line, sources, target, True, stays=True)


def link(line: CommandLine) -> None:
    """`ln`: who can read or write the link can read or write its target, so that is both to it too."""
    line.read_options()
    sources, target = _ends(line)
    if not sources and target is not None:
        sources, target = [target], "."
    folder = _folder(target)
    symbolic = line.parsed.has("-s", "--symbolic")
    for source in sources:
        line.builder.path(READ, source, stays=True)
        line.builder.path(WRITE, source, recursive=True, stays=True)
        text = literal(source)
        if symbolic and text is not None and not text.startswith("/") and folder:
            line.builder.path(READ, f"{folder}/{text}", stays=True)
            line.builder.path(WRITE, f"{folder}/{text}", recursive=True, stays=True)
    _into(line, sources, target, False)


def remove_folder(line: CommandLine) -> None:
    """`rmdir`: it removes only empty folders."""
    line.read_options()
    line.builder.paths(DELETE, line.parsed.operands, lossless=not line.parsed.has("-p", "--parents"))


def remove(line: CommandLine) -> None:
    """`rm` and `shred`: a recursive one carries its danger."""
    line.standard()
    if not line.quiet and line.is_recursive():
        line.builder.danger("recursive-delete")


def modes(line: CommandLine) -> None:
    """`chmod`, `chown`, `chgrp`: the first operand is no file, unless `--reference` gives it. `-x` is a mode."""
    words = list(line.words)
    dashed = (word for word in words if isinstance(word, str) and _MODE.fullmatch(word))
    mode = next(dashed, None) if line.program.endswith("chmod") else None
    if mode is not None:
        words.remove(mode)
    parsed = line.parsed = parse(words, line.row.options, line.more, style="gnu", pure=line.row.pure)
    line.read_options()
    line.builder.danger("mode-change")
    recursive = line.is_recursive()
    first = 0 if mode is not None or parsed.has("--reference") else 1
    if any(isinstance(word, Arg) and word.splits for word in parsed.operands[:first]):
        line.builder.execute()
    line.builder.paths(WRITE, parsed.operands[first:], recursive=recursive, stays=recursive and line.stays())
    if mode is not None:
        line.builder.flags.add(mode)


def _ends(line: CommandLine) -> tuple[list[Word], Word | None]:
    """The sources and where they go; an unknown last word may hold several, sources among them."""
    words = list(line.parsed.operands)
    given = line.parsed.values("--target-directory") or line.parsed.values("-t")
    if given or not words:
        return words, given[-1] if given else None
    last = words[-1]
    several = isinstance(last, Arg) and (last.splits or last.pattern)
    return words if several else words[:-1], last


def _into(line: CommandLine, sources: list[Word], target: Word | None, recursive: bool, *, stays: bool = False) -> None:
    if target is not None:
        sources = [] if line.parsed.has("-T", "--no-target-directory") else sources
        into(line.builder, sources, target, recursive=recursive, stays=stays)
        _backups(line, sources, target)


def _backups(line: CommandLine, sources: list[Word], target: Word) -> None:
    """An overwritten file is kept under its name and the given suffix."""
    given = line.parsed.values("--suffix") or line.parsed.values("-S")
    if not given:
        return
    suffix, place = literal(given[-1]), literal(target)
    if suffix is None or place is None or "/" in suffix:
        line.builder.execute()
        return
    line.builder.path(WRITE, place.rstrip("/") + suffix)
    for name in map(literal, sources):
        if name is None:
            line.builder.execute()
        else:
            line.builder.path(WRITE, f"{place}/{name.rstrip('/').rpartition('/')[2]}{suffix}")


def _folder(target: Word | None) -> str:
    text = literal(target) if target is not None else None
    return "" if text is None else text.rstrip("/") if text.endswith("/") else text.rpartition("/")[0] or "."


_PACKAGE = Pattern(r"\.(?:/(?!\.\.?(?:/|$))[\w.-]+)*(?:/\.\.\.)?/?|\./\.\.\.")


def go_fmt(line: CommandLine) -> None:
    """`go fmt ./...`: the files of packages below this folder are formatted where they stand."""
    line.read_options()
    for word in line.parsed.operands or ["."]:
        text = literal(word)
        if text is None or not _PACKAGE.fullmatch(text):
            line.builder.execute()
        else:
            apply(line.builder, "READ" if line.quiet else "EDIT", text.removesuffix("/").removesuffix("/..."))


_FILE = Pattern(r"[^:\n]*|[^:/\n]*/[^\n]*")
_IN_FOLDER = Pattern(r"[^:/\n*?\[(]*/[^\n]*")


def probe(line: CommandLine) -> None:
    """`ffprobe`: what has a colon before its first slash is an address, or runs a filter."""
    line.standard()
    for word in line.parsed.operands:
        form = _IN_FOLDER if isinstance(word, Arg) and word.pattern else _FILE
        known = word.values if isinstance(word, Arg) else (word,)
        if known is None or not all(map(form.fullmatch, known)):
            line.builder.execute()


def dotfiles(line: CommandLine) -> None:
    """`chezmoi apply`, `stow`: files or links of a whole tree, in the home folder, above this one, or as told."""
    line.standard()
    if line.quiet:
        return
    line.builder.execute()
    named = [given.value for given in line.before if "--destination" in given.option.names]
    targets = named + line.parsed.values("--target")
    stowed = [f"{word}/.." if isinstance(word, str) else word for word in line.parsed.values("--dir")]
    default = ".." if line.program == "stow" else line.builder.home
    line.builder.paths(WRITE, [word for word in targets or stowed or [default] if word is not None], recursive=True)


# ---------------------------------------------------------------- tar, dd

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
_MAY_BE_LIST = ("@", "$", "`", "*", "?", "[")  # first letters of a word that is a list of members to bsdtar
_REMOTE = Pattern(r"[^/]+:.*", DOTALL)
_SETTINGS = frozenset("ibs obs bs cbs conv count iflag oflag seek oseek skip iseek status files speed".split())
_DEVICE = Pattern(r"/dev/(?:sd|hd|vd|xvd|nvme|mmcblk|disk|rdisk|mapper/|dm-|md|loop|mem|kmem).*")


def tar(line: CommandLine) -> None:
    """One of the modes; the archive is read or written, members are read, and what is unpacked is written."""
    builder, parsed = line.builder, line.parsed
    line.preamble()
    modes = {mode for flag, mode in _MODES.items() if parsed.has(flag)}
    if len(modes) != 1:
        builder.execute()
    _archive(line, modes)
    before = builder.cwd
    line.apply_options([*line.before, *parsed.given])
    after = builder.cwd if len(parsed.values("-C")) < 2 else ""
    if "create" in modes or "append" in modes:
        for folder in dict.fromkeys((before, after)):  # `-C` holds for the words after it only
            builder.cwd = folder
            _members(line)
    elif "compare" in modes:
        builder.paths(READ, parsed.operands, recursive=True, stays=line.stays())
    elif "extract" in modes and not parsed.has("-O", "--to-stdout", "--to-command"):
        builder.execute()  # the archive names the files, and may hold links
        builder.cwd = after
        builder.path(WRITE, "." if after else Arg("-C"), recursive=True)
        if parsed.has("-P", "--absolute-names"):
            builder.path(WRITE, Arg("--absolute-names"), recursive=True)


def _archive(line: CommandLine, modes: set[str]) -> None:
    reads = bool(modes & {"extract", "list", "compare", "append", "delete"})
    writes = not modes <= {"extract", "list", "compare"}
    for value in line.parsed.values("-f"):
        for text in values(value):
            if text is None:
                line.builder.path(WRITE if writes else READ, value)
            elif _REMOTE.fullmatch(text) and not line.parsed.has("--force-local"):
                line.builder.execute()
                line.builder.fetch(text.partition(":")[0].rpartition("@")[2])
            else:
                line.builder.paths(READ, [text] if reads else [])
                line.builder.paths(WRITE, [text] if writes else [])


def _members(line: CommandLine) -> None:
    """What goes into an archive, with all below it. `@list` is another archive to bsdtar, which may be a list of files
    that lie anywhere."""
    for word in line.parsed.operands:
        if shown(word)[:1] in (_MAY_BE_LIST if line.program == "bsdtar" else _MAY_BE_LIST[:1]):
            line.builder.execute()
        line.builder.path(READ, word, recursive=True, stays=line.stays())
    if line.parsed.values("-T"):
        line.builder.path(READ, Arg("--files-from"), recursive=True)


def dd(line: CommandLine) -> None:
    """`if=` is read, `of=` is written."""
    builder = line.builder
    for word in line.words:
        text = shown(word)
        if text in ("--help", "--version"):
            continue
        builder.operands.append(text)
        name, equals, value = text.partition("=")
        target: Word = value if isinstance(word, str) else Arg(value)
        if name == "if" and equals:
            builder.path(READ, target)
        elif name == "of" and equals:
            builder.path(WRITE, target, dangers=("raw-device",) if _DEVICE.fullmatch(value) else ())
        elif not equals or name not in _SETTINGS:
            builder.execute()


# ---------------------------------------------------------------- pandoc
#
# Some formats include other files and addresses when they are read (org, rst, LaTeX, roff, and HTML by its frames),
# others embed images when they are written. What is listed here does neither, as traced with pandoc 2.17.

_MARKDOWN = frozenset(
    """markdown markdown_mmd markdown_phpextra markdown_strict markdown_github gfm commonmark commonmark_x mediawiki
    textile dokuwiki jira haddock csljson json native""".split()
)
_INPUTS = _MARKDOWN | frozenset("creole tikiwiki twiki docx odt epub ipynb csv tsv rtf".split())
_OUTPUTS = _MARKDOWN | frozenset(
    "plain html html4 html5 rst org asciidoc asciidoctor latex beamer context man xwiki zimwiki".split()
)
_BY_INPUT = {
    **dict.fromkeys((".md", ".markdown", ".txt", ".text", ".mkd", ".mdwn", "-", ""), "markdown"),
    **{f".{name}": name for name in ("docx", "odt", "epub", "ipynb", "csv", "tsv", "rtf", "json", "native")},
    ".wiki": "mediawiki",
    ".dokuwiki": "dokuwiki",
    ".textile": "textile",
}
_BY_OUTPUT = {
    **dict.fromkeys((".md", ".markdown", ".mkd"), "markdown"),
    **dict.fromkeys((".html", ".htm", "-"), "html"),
    **{f".{name}": name for name in ("rst", "org", "json", "native", "textile")},
    **dict.fromkeys((".txt", ".text"), "plain"),
    ".tex": "latex",
    ".adoc": "asciidoc",
    ".asciidoc": "asciidoc",
}
_EXTENSION = Pattern(r"\.[A-Za-z0-9]+$")
_FORMAT = Pattern(r"[+-]")


def pandoc(line: CommandLine) -> None:
    """As the row says; a conversion between formats of which one may reach other files or addresses is EXECUTE."""
    line.standard()
    parsed = line.parsed
    inputs, targets = parsed.values("-f"), parsed.values("-t")
    sources, outputs = inputs or parsed.operands or ["-"], targets or parsed.values("-o") or ["-"]
    read = all(_format(word, {} if inputs else _BY_INPUT) in _INPUTS for word in sources)
    written = all(_format(word, {} if targets else _BY_OUTPUT) in _OUTPUTS for word in outputs)
    if not (read and written) and not line.quiet and not parsed.has("--sandbox"):
        line.builder.execute()


def _format(word: Word, by_name: dict[str, str]) -> str:
    """The format that an option names, or a file by its ending; nothing where that is not known."""
    found = values(word)
    if len(found) != 1 or found[0] is None:
        return ""
    if not by_name:
        return _FORMAT.split(found[0])[0]
    ending = _EXTENSION.search(found[0])
    return by_name.get("-" if found[0] == "-" else ending[0].lower() if ending else "", "")
