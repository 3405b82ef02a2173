"""The reader for shells that are started by name: `bash -c`, script files, stdin. Reads no shell syntax."""

from __future__ import annotations

from assent.contract import Pattern
from assent.effects.shell.command import FIRM, Arg
from assent.effects.shell.commands.command_effects import READ, Word, literal, shown
from assent.effects.shell.commands.line import CommandLine
from assent.programs.traits import has

_FLAGS = frozenset("abcefhilmnprstuvxCEPTD")
_SETTINGS = Pattern(
    r"allexport|errexit|errtrace|functrace|hashall|monitor|noclobber|noexec|noglob|nounset|pipefail|physical|verbose|xtrace"
    r"|globstar|nullglob|failglob|inherit_errexit|checkwinsize|no_?rcs|no_?global_?rcs|err_?exit"
)
_LONG = frozenset(
    {"--norc", "--noprofile", "--login", "--verbose", "--restricted", "--no-rcs", "--no-globalrcs", "--noediting"}
)
_FILES = frozenset({"--rcfile", "--init-file", "--init-command", "-C"})

# Shells that print and end at `--help` and `--version`. Others take these words for letters or a name, and read stdin:
# `sh` is busybox or dash on some machines.
_FOREIGN = frozenset({"fish", "csh", "tcsh", "nu", "xonsh", "elvish", "pwsh", "rc"})


class ShellStart:
    """How a shell is started. `script` is the word of `-c`, `file` a script file; neither: it reads stdin.
    `rest` are the words after. `known`: every option is one whose meaning is known."""

    __slots__ = ("command", "file", "flags", "known", "loads", "prints", "rest", "script")

    def __init__(self) -> None:
        self.command = False
        self.script: Word | None = None
        self.file: Word | None = None
        self.rest: list[Word] = []
        self.loads: list[Word] = []
        self.flags: set[str] = set()
        self.known = True
        self.prints = False

    @property
    def stdin(self) -> bool:
        return not self.command and self.file is None and not self.prints


def shell(line: CommandLine) -> None:
    start = started(line.words, line.program)
    builder = line.builder
    if line.program in _FOREIGN and not _same_in_fish(line.program, start):
        builder.execute()
        builder.gap("foreign-shell", f"`{line.program}` reads a language of its own; use sh or bash")
    builder.flags.update(start.flags)
    builder.operands.extend(shown(word) for word in start.rest)
    if start.prints:
        return
    if not start.known:
        builder.execute()
        builder.gap("wrapper-option", "an option of the shell that is not known here")
    for word in start.loads:
        builder.script_file(word)
    checks = "-n" in start.flags and "-i" not in start.flags
    if start.file is not None:
        if checks:
            builder.path(READ, start.file)
        else:
            builder.script_file(start.file)
    elif start.script is None or literal(start.script) == "":
        builder.acts = not checks
    elif not checks:
        builder.shell(start.script, shell=line.program, positional=start.rest)


# One command of plain words is read alike in both languages, unless fish has its own command of that name.
_SAME = Pattern(
    r"(?:ls|cat|head|tail|wc|grep|rg|git|date|whoami|uname|id|hostname|du|df|stat|file|sort|uniq|cut|ps|tree|find)"
    r"(?: +[\w./:=,@+-]+)*"
)


def _same_in_fish(program: str, start: ShellStart) -> bool:
    text = literal(start.script) if start.script is not None else None
    plain = program == "fish" and start.known and start.flags == {"-c"} and not start.rest
    return plain and text is not None and _SAME.fullmatch(text) is not None


def shell_reads_stdin(argv: tuple[Word, ...]) -> bool:
    """Whether a shell started with these words runs its stdin."""
    start = started(list(argv[1:]), shown(argv[0]).rpartition("/")[2])
    return start.stdin and not ("-n" in start.flags and "-i" not in start.flags)


def started(words: list[Word], program: str) -> ShellStart:
    """Read the words of a shell as bash, dash, ksh and zsh do."""
    start = ShellStart()
    index = 0
    settings = 0
    stdin = False
    while index < len(words):
        word = words[index]
        if isinstance(word, Arg):
            start.known = start.known and not _may_be_option(word)
            break
        if word in ("-", "--"):
            index += 1
            break
        if word[:1] not in ("-", "+") or len(word) < 2:
            break
        index += 1
        if word.startswith("--"):
            index = _long(start, word, words, index, has(program, "printing-shell"))
            continue
        letters = word[1:]
        start.flags.update(word[0] + letter for letter in letters)
        settings = letters.count("o") + letters.count("O")
        if word[0] == "+" or not set(letters) - {"o", "O"} <= _FLAGS:
            start.known = False
        start.command = start.command or (word[0] == "-" and "c" in letters)
        stdin = stdin or "s" in letters
        for value in words[index : index + settings]:
            start.known = start.known and isinstance(value, str) and bool(_SETTINGS.fullmatch(value))
            if word[0] == "-" and value == "noexec":
                start.flags.add("-n")
        index += settings
    start.rest = words[index:]
    if start.command and start.script is None:
        start.script = start.rest.pop(0) if start.rest else None
    elif not start.command and start.rest and not stdin:
        start.file = start.rest.pop(0)
    return start


def _long(start: ShellStart, word: str, words: list[Word], index: int, prints: bool) -> int:
    name, equals, value = word.partition("=")
    start.flags.add(name)
    if prints and word in ("--help", "--version"):
        start.prints = True
    elif name in _FILES:
        start.known = False
        start.loads.append(value if equals else words[index] if index < len(words) else "")
        return index if equals else index + 1
    elif name == "--command":
        start.command = True
        start.script = value if equals else (words[index] if index < len(words) else None)
        return index if equals else index + 1
    elif name in ("--no-execute", "--noexec"):
        start.flags.add("-n")
    elif name not in _LONG or equals:
        start.known = False
    return index


def _may_be_option(word: Arg) -> bool:
    if word.kind in FIRM:
        return False
    if word.values is not None and not word.pattern:
        return any(value[:1] in ("-", "+") for value in word.values)
    return word.splits or not word.prefix or word.prefix[0] in "-+"
