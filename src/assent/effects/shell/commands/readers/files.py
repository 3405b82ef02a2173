"""Readers for commands that copy, move, link, remove, pack and convert files, and change their modes."""

from __future__ import annotations

from assent.contract import DOTALL, Pattern
from assent.effects.shell.command import Arg, temporary
from assent.effects.shell.commands.command_effects import DELETE, EMPTIES, READ, WRITE, Word, literal, shown, values
from assent.effects.shell.commands.line import CommandLine, into
from assent.effects.shell.commands.options import parse
from assent.effects.shell.commands.roles import apply

_EMPTY = frozenset({"/dev/null", "/dev/zero", "/dev/random", "/dev/urandom"})
_SETUID = Pattern(r"0?[4-7][0-7]{3}|(?:.*,)?[go]*(?:[ua][ugoa]*)?(?<![go])[+=][rwxXt]*s.*")
_KEEPING_LINKS = ("-P", "--no-dereference", "-d")
_MODE = Pattern(r"-[rwxXstugo,=+-]+|-[0-7]+")


def copy(line: CommandLine) -> None:
    """`cp` and `install`: sources are read, the last operand or `-t` is the destination."""
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
    if any(shown(source) in _EMPTY for source in sources):
        builder.danger(EMPTIES)
    _into(line, sources, target, recursive or links or parsed.has(*_KEEPING_LINKS))  # a link leads elsewhere there


def move(line: CommandLine) -> None:
    """`mv`: sources are read and removed, folders with all their content. Nothing is lost if the destination is a file
    or folder."""
    line.read_options()
    sources, target = _ends(line)
    places = values(target) if target is not None else (None,)
    kept = not any(text is None or text.startswith("/dev/") for text in places)
    dangers = ("recursive-delete",) if any(text in _EMPTY for text in places) else ()
    for source in sources:
        line.builder.path(READ, source, recursive=True, stays=True)
        line.builder.path(DELETE, source, recursive=True, lossless=kept, dangers=dangers)
    _into(line, sources, target, True, stays=True)


def link(line: CommandLine) -> None:
    """`ln`: whoever can read or write the link can read or write its target, so the target is read and written too."""
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
    if line.parsed.has("-f", "--force"):
        line.builder.danger(EMPTIES)
    _into(line, sources, target, False)


def remove_folder(line: CommandLine) -> None:
    """`rmdir`: it removes only empty folders."""
    line.read_options()
    line.builder.paths(DELETE, line.parsed.operands, lossless=not line.parsed.has("-p", "--parents"))


def remove(line: CommandLine) -> None:
    """`rm` and `shred`: recursive removal is a danger, except of a path that `mktemp` made in the same command."""
    line.standard()
    words, dangers = line.parsed.operands, line.builder.dangers
    if words and all(map(_made_here, words)):
        dangers[:] = [danger for danger in dangers if danger != "recursive-delete"]
    elif not line.quiet and line.is_recursive():
        line.builder.danger("recursive-delete")


def _made_here(word: Word) -> bool:
    """The path itself: with more text after it, it would be another place if `mktemp` printed nothing."""
    return isinstance(word, Arg) and "" in word.under and bool(temporary(word))


def modes(line: CommandLine) -> None:
    """`chmod`, `chown`, `chgrp`: the first operand is the mode or owner, without `--reference`. `-x` is a mode."""
    words = list(line.words)
    dashed = (word for word in words if isinstance(word, str) and _MODE.fullmatch(word))
    mode = next(dashed, None) if line.program.endswith("chmod") else None
    if mode is not None:
        words.remove(mode)
    parsed = line.parsed = parse(words, line.row.options, line.more, style="gnu", pure=line.row.pure)
    line.read_options()
    line.builder.danger("mode-change")
    if line.program.endswith("chmod") and _SETUID.fullmatch(
        mode or shown(parsed.operands[0] if parsed.operands else "")
    ):
        line.builder.danger("privilege")
    recursive = line.is_recursive()
    first = 0 if mode is not None or parsed.has("--reference") else 1
    if any(isinstance(word, Arg) and word.splits for word in parsed.operands[:first]):
        line.builder.execute()
    line.builder.paths(WRITE, parsed.operands[first:], recursive=recursive, stays=recursive and line.stays())
    if mode is not None:
        line.builder.flags.add(mode)


def _ends(line: CommandLine) -> tuple[list[Word], Word | None]:
    """The sources and the destination; an unknown last word may hold several, including sources."""
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
    """`go fmt ./...`: formats the files of packages below this folder in place."""
    line.read_options()
    for word in line.parsed.operands or ["."]:
        text = literal(word)
        if text is None or not _PACKAGE.fullmatch(text):
            line.builder.execute()
        else:
            apply(line.builder, "READ" if line.quiet else "EDIT", text.removesuffix("/").removesuffix("/..."))


_RUSTFMT = Pattern(
    r"--check|-l|--files-with-diff|-v|--verbose|-q|--quiet|--color(?:=\w+)?|auto|always|never|--edition(?:=\d+)?|20\d\d"
)


def cargo_fmt(line: CommandLine) -> None:
    """`cargo fmt -- --check`: the words after the dashes are options of rustfmt; with `--check` it writes nothing."""
    words = [literal(word) for word in line.parsed.operands]
    known = line.parsed.ended == 0 and all(word is not None and _RUSTFMT.fullmatch(word) for word in words)
    if not known or not words:
        line.standard()
        return
    line.quiet = not line.parsed.doubts and (line.quiet or "--check" in words)
    line.read_options()


_FILE = Pattern(r"[^:\n]*|[^:/\n]*/[^\n]*")
_IN_FOLDER = Pattern(r"[^:/\n*?\[(]*/[^\n]*")


def probe(line: CommandLine) -> None:
    """`ffprobe`: an operand with a colon before its first slash is an address, or runs a filter."""
    line.standard()
    for word in line.parsed.operands:
        form = _IN_FOLDER if isinstance(word, Arg) and word.pattern else _FILE
        known = word.values if isinstance(word, Arg) else (word,)
        if known is None or not all(map(form.fullmatch, known)):
            line.builder.execute()


def dotfiles(line: CommandLine) -> None:
    """`chezmoi apply`, `stow`: write files or links of a whole tree, at home, in the folder above, or as given."""
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
_MAKES = Pattern(r"mk(?:fs|e2fs|ntfs|dosfs|exfatfs|swap)")
_DEVICE = Pattern(r"/dev/(?:sd|hd|vd|xvd|nvme|mmcblk|disk|rdisk|mapper/|dm-|md|loop|mem|kmem).*")


def tar(line: CommandLine) -> None:
    """One of the modes; the archive is read or written, packed members are read, unpacked ones written."""
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
                line.builder.execute(*(("exfiltration",) if writes else ()))
                line.builder.fetch(text.partition(":")[0].rpartition("@")[2])
            else:
                line.builder.paths(READ, [text] if reads else [])
                line.builder.paths(WRITE, [text] if writes else [])


def _members(line: CommandLine) -> None:
    """The files that go into an archive, with all below them. To bsdtar `@list` is another archive, which may be a list
    of files anywhere."""
    for word in line.parsed.operands:
        if shown(word)[:1] in (_MAY_BE_LIST if line.program == "bsdtar" else _MAY_BE_LIST[:1]):
            line.builder.execute()
        line.builder.path(READ, word, recursive=True, stays=line.stays())
    if line.parsed.values("-T"):
        line.builder.path(READ, Arg("--files-from"), recursive=True)


_ENDLESS = frozenset(f"if=/dev/{name}" for name in ("zero", "urandom", "random", "full"))


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
            builder.danger(EMPTIES)
        elif not equals or name not in _SETTINGS:
            builder.execute()
    texts = list(map(shown, line.words))
    if not _ENDLESS.isdisjoint(texts) and not any(text.startswith("count=") for text in texts):
        written = [text[3:] for text in texts if text.startswith("of=")]
        builder.danger(*(["fills"] if written and not written[0].startswith("/dev/") else ()))


# ---------------------------------------------------------------- pandoc
#
# Some formats include other files and addresses when they are read (org, rst, LaTeX, roff, and HTML by its frames),
# others embed images when they are written. The formats listed here do neither, as traced with pandoc 2.17.

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
    """As in the row; EXECUTE if one of the formats may reach other files or addresses."""
    line.standard()
    parsed = line.parsed
    inputs, targets = parsed.values("-f"), parsed.values("-t")
    sources, outputs = inputs or parsed.operands or ["-"], targets or parsed.values("-o") or ["-"]
    read = all(_format(word, {} if inputs else _BY_INPUT) in _INPUTS for word in sources)
    written = all(_format(word, {} if targets else _BY_OUTPUT) in _OUTPUTS for word in outputs)
    if not (read and written) and not line.quiet and not parsed.has("--sandbox"):
        line.builder.execute()


def _format(word: Word, by_name: dict[str, str]) -> str:
    """The format that an option names, or by a file's ending; nothing if unknown."""
    found = values(word)
    if len(found) != 1 or found[0] is None:
        return ""
    if not by_name:
        return _FORMAT.split(found[0])[0]
    ending = _EXTENSION.search(found[0])
    return by_name.get("-" if found[0] == "-" else ending[0].lower() if ending else "", "")


def make_filesystem(line: CommandLine) -> None:
    """`mkfs.ext4 disk.img`: a named file that is not in the folder of devices is no disk; what it held is lost."""
    line.standard()
    builder = line.builder
    if "format-disk" not in builder.dangers or line.parsed.doubts or not _MAKES.match(line.program):
        return
    texts = [literal(word) for word in line.words]
    written = [effect.target for effect in builder.effects if effect.operation is WRITE]
    named = bool(written) and all(target.certain and _is_no_device(target.name) for target in written)
    if named and all(text is not None and "/dev" not in text for text in texts):
        builder.dangers[:] = ["destroy" if each == "format-disk" else each for each in builder.dangers]


def _is_no_device(name: str) -> bool:
    return bool(name) and not name.startswith(("/dev", "/proc/", "/sys/"))
