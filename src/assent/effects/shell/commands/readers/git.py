"""Readers for git subcommands whose words weigh more together than one by one. Reads no repository."""

from __future__ import annotations

from assent.effects.shell.commands.seen import values

TYPE_CHECKING = False
if TYPE_CHECKING:
    from assent.effects.shell.command import Arg
    from assent.effects.shell.commands.see import Line

_SHARED = frozenset({"main", "master", "trunk", "develop", "production", "prod", "release", "stable"})
_FORCES = ("--force", "--delete", "--mirror", "--prune")


def git_push(line: Line) -> None:
    """`git push`: forcing or deleting a branch that others share, by its name, is a danger of its own."""
    line.standard()
    forced = line.parsed.has(*_FORCES)
    if any(_hits_shared(word, forced) for word in line.parsed.operands[1:]):
        line.seen.danger("force-push-main")


def _hits_shared(word: str | Arg, forced: bool) -> bool:
    return any(text is not None and _overwrites(text, forced) for text in values(word))


def _overwrites(refspec: str, forced: bool) -> bool:
    """Whether a refspec sets a shared branch back: `+main`, `:main`, `x:main` under `--force`."""
    plus = refspec.startswith("+")
    source, colon, target = refspec.removeprefix("+").partition(":")
    branch = (target if colon else source).removeprefix("refs/heads/")
    return branch in _SHARED and (forced or plus or (bool(colon) and not source))
