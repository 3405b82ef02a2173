"""Hooks that a git command runs: walks their code for visible effects.

`facts/githooks.py` finds out whether there are hooks, and so whether the command is proved. An unreadable part of a
hook is no gap here: it would be one for every call, and a person chose the hook."""

from __future__ import annotations

from assent.contract import Effect, Kind, Pattern
from assent.effects.paths import normal
from assent.effects.shell import flows
from assent.effects.shell.code_files import scripts
from assent.effects.shell.code_files.modules import is_itself
from assent.effects.shell.command import Run
from assent.effects.shell.record import ShellJob, Walk
from assent.effects.shell.tasks.recipes import code, parents

_COMMIT = ("pre-commit", "prepare-commit-msg", "commit-msg", "post-commit")
_REWRITE = ("post-checkout", "post-rewrite")
_NAMES = {
    "commit": _COMMIT,
    "merge": ("pre-merge-commit", "post-merge", *_COMMIT[1:]),
    "pull": ("pre-merge-commit", "post-merge", "post-checkout", *_COMMIT[1:]),
    "checkout": _REWRITE[:1],
    "switch": _REWRITE[:1],
    "worktree": _REWRITE[:1],
    "rebase": ("pre-rebase", *_REWRITE, *_COMMIT[1:]),
    "cherry-pick": _COMMIT[1:],
    "revert": _COMMIT[1:],
    "am": ("applypatch-msg", "pre-applypatch", "post-applypatch"),
    "push": ("pre-push",),
}
# Commands that write to or from the index, and settings that choose what runs then.
_FILTERED = frozenset("add commit checkout switch restore reset stash merge pull rebase cherry-pick".split())
_PROGRAMS = Pattern(r"(?im)^[ \t]+(clean|smudge|process|driver)\s*=\s*\"?([^\"\n]+?)\"?\s*$")
_MOST_PROGRAMS = 16
_FOLDER = Pattern(r"(?im)^\s*hookspath\s*=\s*\"?([^\"\n]+?)\"?\s*$")


def read(
    walk: Walk, job: ShellJob, subcommand: tuple[str, ...], effects: tuple[Effect, ...]
) -> scripts.ScriptEffects | None:
    """The hooks of a git command in the repository of its folder; None if there are none."""
    names = _NAMES.get(subcommand[0], ()) if subcommand else ()
    filters = bool(subcommand) and subcommand[0] in _FILTERED
    places = [each.target.name for each in effects if each.target.kind is Kind.REPOSITORY and each.target.name]
    cwd = places[0] if places else job.state.cwds[0]
    if not (names or filters) or not cwd:
        return None
    configs = [(top, code(walk, f"{top.rstrip('/')}/.git/config")) for top in parents(cwd)]
    found = next(((top, config) for top, config in configs if config is None or not config.problem), None)
    if found is None or found[1] is None:
        return None
    top, text = found[0], found[1].text
    script = scripts.ScriptEffects(())
    for folder in _folders(top, text, walk.home):
        for name in names:
            _add(walk, job, f"{folder}/{name}", top, script)
    if filters:
        runs = tuple(Run(script=found[1], cwd=top, shell="sh") for found in _PROGRAMS.findall(text)[:_MOST_PROGRAMS])
        script.bodies += [(f"{top}/.git/config", runs)] if runs else []
    return script if script.bodies else None


def _folders(top: str, config: str, home: str) -> list[str]:
    """The folders that git searches for hooks. Husky keeps the user's hooks beside its own."""
    named = _FOLDER.findall(config)
    if not named:
        return [normal(f"{top}/.git/hooks")]
    path = named[-1]
    folder = normal(f"{home}/{path[2:]}" if path.startswith("~/") else path if path[:1] == "/" else f"{top}/{path}")
    return [folder, folder.rpartition("/")[0]] if folder.endswith("/_") else [folder]


def _add(walk: Walk, job: ShellJob, path: str, top: str, script: scripts.ScriptEffects) -> None:
    found = code(walk, path)
    if found is None or found.problem:
        return
    language = scripts.language_of(found.text)
    if flows.family(language) == "shell":
        script.bodies.append((path, (Run(script=found.text, shell=language, positional=(path,), cwd=top),)))
    elif flows.family(language):
        seen = scripts.visible(walk, job.state.cwds[0], language, path, found.text)
        script.effects = (*script.effects, *(each for each in seen.effects if not is_itself(each) or each.dangers))
        script.bodies.append((path, seen.runs))
