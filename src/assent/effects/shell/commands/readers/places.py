"""Readers for commands that tell where something lies: which, `go env`, `git rev-parse --git-dir`. What they print is a
place that the user's own settings choose, so that a path below it is named as far as it is known, for looking only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assent.contract import ASCII, Pattern
from assent.effects.shell.commands.command_effects import literal
from assent.effects.shell.commands.line import Line

if TYPE_CHECKING:
    from assent.effects.shell.commands.options import Word

_PROGRAM = Pattern(r"[A-Za-z0-9_][\w.+-]*", ASCII)
_FOLDERS = ("/usr/bin", "/usr/local/bin", "/opt/homebrew/bin", "~/.local/bin", "~/bin")
_GO = {
    "GOPATH": ("~/go",),
    "GOMODCACHE": ("~/go/pkg/mod",),
    "GOROOT": ("/usr/local/go", "/usr/lib/go"),
    "GOBIN": ("~/go/bin",),
}
_MODULE = Pattern(r"[A-Za-z0-9][\w.~-]*(?:/[A-Za-z0-9_][\w.~-]*)+", ASCII)
# Hosts that a module may be asked of, as in the entry on go.mod of `go list`.
_MODULE_HOST = Pattern(
    r"(?:github\.com|gitlab\.com|bitbucket\.org|codeberg\.org|(?:google\.)?golang\.org|gopkg\.in|cloud\.google\.com"
    r"|(?:sigs\.)?k8s\.io|go\.(?:uber|opentelemetry|mongodb|etcd|yaml)\.(?:org|io|in)|gorm\.io|gonum\.org|gotest\.tools"
    r"|honnef\.co|modernc\.org|mvdan\.cc|rsc\.io|filippo\.io|dario\.cat|helm\.sh|charm\.land)/.*"
)


def programs(name: str, home: str) -> tuple[str, ...]:
    """Where a program of that name may lie; none where the name is no plain one. It may not be there at all, and a
    builtin is told by its name."""
    return ("", name, *_homed(tuple(f"{each}/{name}" for each in _FOLDERS), home)) if _PROGRAM.fullmatch(name) else ()


def _homed(places: tuple[str, ...], home: str) -> tuple[str, ...]:
    return tuple(home + each[1:] if each.startswith("~") else each for each in places if home or each[0] != "~")


def which(line: Line) -> None:
    """`which name`."""
    line.standard()
    if len(line.words) == 1:
        told(line, programs(literal(line.words[0]) or "", line.seen.home))


def go_env(line: Line) -> None:
    """`go env NAME` of a folder that Go keeps."""
    line.standard()
    if len(line.words) == 1 and not line.before:
        told(line, of_go(literal(line.words[0]) or "", line.seen.home))


def of_go(name: str, home: str) -> tuple[str, ...]:
    """The places that Go's setting of that name may be."""
    places = _GO.get(name, ())
    return ("", *_homed(places, home)) if places else ()


def go_list(line: Line) -> None:
    """`go list -m -f '{{.Dir}}' module`: the folder that holds its source, mostly in the cache of modules."""
    line.standard()
    if line.parsed.has("-m") and any(_asks_a_host(word, line) for word in line.parsed.operands):
        line.seen.execute()
    words = [literal(word) or "" for word in line.words]
    if words[:3] == ["-m", "-f", "{{.Dir}}"] and len(words) == 4 and not line.before and _MODULE.fullmatch(words[3]):
        told(line, ("", *_homed((f"~/go/pkg/mod/{words[3]}", f"vendor/{words[3]}"), line.seen.home)))


def _asks_a_host(word: Word, line: Line) -> bool:
    """Whether the versions of a module are looked up (`x@latest`, `-versions x`) at a host that is not known."""
    module = literal(word)
    if module is None:
        return True
    return ("@" in module or line.parsed.has("-versions")) and module != "all" and not _MODULE_HOST.fullmatch(module)


def told(line: Line, places: tuple[str, ...]) -> None:
    """It prints one of these places, or another that is like them; `""` stands for nothing."""
    if places and not line.seen.acts:
        line.seen.prints, line.seen.under = "place", places
