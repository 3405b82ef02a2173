"""Readers for commands that print a location (which, `go env`, `git rev-parse --git-dir`), and that list or signal
processes.

The user's own settings choose the location, so a path below it is known in part. That is enough for commands that
read, list or search."""

from __future__ import annotations

from assent.contract import ASCII, Pattern
from assent.effects.shell.command import Arg
from assent.effects.shell.commands.command_effects import Word, literal, shown
from assent.effects.shell.commands.line import CommandLine
from assent.effects.shell.commands.options import Parsed

_PROGRAM = Pattern(r"[A-Za-z0-9_][\w.+-]*", ASCII)
_FOLDERS = ("/usr/bin", "/usr/local/bin", "/opt/homebrew/bin", "~/.local/bin", "~/bin")
_GO = {
    "GOPATH": ("~/go",),
    "GOMODCACHE": ("~/go/pkg/mod",),
    "GOROOT": ("/usr/local/go", "/usr/lib/go"),
    "GOBIN": ("~/go/bin",),
}
_MODULE = Pattern(r"[A-Za-z0-9][\w.~-]*(?:/[A-Za-z0-9_][\w.~-]*)+", ASCII)
# Hosts that a module may be requested from, as in the entry on go.mod of `go list`.
_MODULE_HOST = Pattern(
    r"(?:github\.com|gitlab\.com|bitbucket\.org|codeberg\.org|(?:google\.)?golang\.org|gopkg\.in|cloud\.google\.com"
    r"|(?:sigs\.)?k8s\.io|go\.(?:uber|opentelemetry|mongodb|etcd|yaml)\.(?:org|io|in)|gorm\.io|gonum\.org|gotest\.tools"
    r"|honnef\.co|modernc\.org|mvdan\.cc|rsc\.io|filippo\.io|dario\.cat|helm\.sh|charm\.land)/.*"
)


def program_places(name: str, home: str) -> tuple[str, ...]:
    """The places where a program may be; nothing if the name is not plain. The program may be missing (`""`), and
    a builtin is printed by its name."""
    return ("", name, *_homed(tuple(f"{each}/{name}" for each in _FOLDERS), home)) if _PROGRAM.fullmatch(name) else ()


def _homed(places: tuple[str, ...], home: str) -> tuple[str, ...]:
    return tuple(home + each[1:] if each.startswith("~") else each for each in places if home or each[0] != "~")


def which(line: CommandLine) -> None:
    line.standard()
    if len(line.words) == 1:
        print_place(line, program_places(literal(line.words[0]) or "", line.builder.home))


def go_env(line: CommandLine) -> None:
    """`go env NAME`, if the variable holds a folder."""
    line.standard()
    if len(line.words) == 1 and not line.before:
        print_place(line, go_places(literal(line.words[0]) or "", line.builder.home))


def go_places(name: str, home: str) -> tuple[str, ...]:
    return ("", *_homed(_GO[name], home)) if name in _GO else ()


def go_list(line: CommandLine) -> None:
    """`go list -m -f '{{.Dir}}' module`: the folder of its source, mostly in the module cache."""
    line.standard()
    if line.parsed.has("-m") and any(_asks_a_host(word, line) for word in line.parsed.operands):
        line.builder.execute()
    words = [literal(word) or "" for word in line.words]
    if words[:3] == ["-m", "-f", "{{.Dir}}"] and len(words) == 4 and not line.before and _MODULE.fullmatch(words[3]):
        print_place(line, ("", *_homed((f"~/go/pkg/mod/{words[3]}", f"vendor/{words[3]}"), line.builder.home)))


_TEMPLATE = Pattern(r"/tmp/[\w.-]*(?<!X)X{3,}[\w.-]*")


def mktemp(line: CommandLine) -> None:
    """Makes a file or folder with a new name and prints it, or nothing if it fails."""
    line.standard()
    words, parsed = [_template(word) for word in line.parsed.operands], line.parsed
    suffix = "".join(literal(word) or "/" for word in parsed.values("--suffix"))
    if parsed.doubts or parsed.spills or len(words) > 1 or parsed.has("-p", "--tmpdir", "-u") or "/" in suffix:
        return
    template = words[0] if words else "tmp.XXXXXXXXXX"
    path = f"/tmp/{template}" if not words or parsed.has("-t") else template
    if path is None or not _TEMPLATE.fullmatch(path + suffix):
        return
    print_place(line, ("", path + suffix))


def _template(word: Word) -> str | None:
    """The words of a template, also for one in the folder `${TMPDIR:-/tmp}`."""
    if isinstance(word, Arg) and word.kind == "place" and len(word.under) == 1:
        return word.under[0]
    return literal(word)


def _asks_a_host(word: Word, line: CommandLine) -> bool:
    """Whether the versions of a module are looked up (`x@latest`, `-versions x`) at an unknown host."""
    module = literal(word)
    asks = module is None or "@" in module or line.parsed.has("-versions")
    return asks and (module is None or (module != "all" and not _MODULE_HOST.fullmatch(module)))


def print_place(line: CommandLine, places: tuple[str, ...]) -> None:
    """It prints one of these places or a similar one; `""` means that it prints nothing."""
    if places and not line.builder.acts:
        line.builder.prints, line.builder.under = "place", places


# ---------------------------------------------------------------- processes

_SIGNAL = Pattern(r"-(?:SIG)?[A-Za-z]+[0-9]*|-[0-9]+")
_LISTS = Pattern(r"-[lL]|--list(?:=.*)?|--table")
_ANY = Pattern(r"[.^$*?\\]*|\.[*+]")


def kill(line: CommandLine) -> None:
    """`kill` by id, `pkill` and `killall` by name. Signal 0 and lists of signals do nothing."""
    builder = line.builder
    builder.operands.extend(shown(word) for word in line.words)
    if line.program.endswith("kill") and "pkill" not in line.program and line.program != "skill":
        _by_id(line)
        return
    line.unproved()
    patterns = [literal(word) for word in line.parsed.operands]
    broad = not patterns or any(text is not None and _ANY.fullmatch(text) for text in patterns)
    every = line.program == "killall5" or line.parsed.has("-v", "--inverse")
    if every or (broad and not line.parsed.has("-l", "--list", "-t", "-P", "--parent")):
        builder.danger("kill-all")


def _by_id(line: CommandLine) -> None:
    builder, words = line.builder, line.words
    texts = list(map(shown, words))
    if texts[:1] and _LISTS.fullmatch(texts[0]):
        builder.flags.add(texts[0])
        return
    signal = ""
    ids: list[str] = []
    index = 0
    while index < len(texts):
        text = texts[index]
        index += 1
        if text in ("-s", "-n", "--signal", "-q", "--queue", "--timeout"):
            signal = texts[index] if index < len(texts) and text in ("-s", "-n", "--signal") else signal
            index += 2 if text == "--timeout" else 1
        elif text == "--":
            ids += texts[index:]
            break
        elif _SIGNAL.fullmatch(text) and not signal and not ids and isinstance(words[index - 1], str):
            signal = text[1:]
            builder.flags.add(text)
        else:
            ids.append(text)
    if signal in ("0", "EXIT") and all(isinstance(word, str) or word.kind == "number" for word in words):
        return
    if "-1" in ids or (signal == "1" and not ids):
        builder.danger("kill-all")
    builder.execute()


_AGAIN = tuple("-x -r -S -v -X -Z -h -k -n -m -M -O -g -G -T -u -U -t --Group --user --tty --context".split())
_BY_ID = ("-p", "-q", "-s", "--pid", "--ppid", "--quick-pid", "--sid")
_FLAGS = "[acefghjlmnrsuvwxHLMSTVXZ]*"
_SHOWS = Pattern(rf"{_FLAGS}e{_FLAGS}(?:[0-9kopqtOU].*)?")
_TAKES = Pattern(rf"{_FLAGS}[kopqtOU]")
_IDS = Pattern(r"[\d, ]+")


def ps(line: CommandLine) -> None:
    """`ps`: an `e` among letters without a dash shows the environment of processes. If procps cannot read an option
    with a dash (`-x`, a missing user or terminal), it reads it again as if without."""
    line.standard()
    words = line.words if _is_read_again(line.parsed) else line.parsed.operands
    taken = False
    for word in words:
        text = literal(word) or ""
        if not taken and not text.startswith("--") and _SHOWS.fullmatch(text.removeprefix("-")):
            line.builder.execute("prints-secret")
            return
        taken = not taken and words is line.parsed.operands and _TAKES.fullmatch(text) is not None


def _is_read_again(parsed: Parsed) -> bool:
    ids = [literal(word) for name in _BY_ID for word in parsed.values(name)]
    return parsed.has(*_AGAIN) or any(text is not None and not _IDS.fullmatch(text) for text in ids)


def uv_project(line: CommandLine) -> None:
    """`uv tree`, `uv export`: without `--frozen` uv updates its lock file first and may build packages, if there is a
    project at all."""
    line.standard()
    if not line.parsed.has("--frozen"):
        line.builder.settings(("^pyproject.toml",))
