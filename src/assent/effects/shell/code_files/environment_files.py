"""Files of code that run because of variables: `BASH_ENV`, `ENV`, and programs of the same name in folders that the
text puts first in PATH. Finds their names, does not read them."""

from __future__ import annotations

from assent.contract import Effect, Kind, Operation, Pattern, Target
from assent.effects.paths import path_target
from assent.effects.shell.record import ShellJob, Walk
from assent.effects.shell.state import ShellValue

NAMES = ("BASH_ENV", "ENV", "PATH")
_STARTS = ("BASH_ENV", "ENV")
_INSTALLED = Pattern(r"(?:.*/)?(?:node_modules|\.?venv|site-packages|vendor|\.local|\.cargo|\.npm-global|go)/.*")
_SYSTEM = ("/usr/", "/bin", "/sbin", "/opt/", "/nix/", "/snap/")
MOST_FOLDERS = 8


def started(walk: Walk, job: ShellJob) -> tuple[Effect, ...]:
    """The files that a shell runs before anything else."""
    found = [value for name in _STARTS for value in (_value(job, name) or ShellValue()).values or ()]
    targets = [path_target(value, cwd, walk.home, tilde=False) for value in found if value for cwd in job.state.cwds]
    return tuple(Effect(Operation.EXECUTE, target) for target in targets)


def program(walk: Walk, job: ShellJob, name: str) -> tuple[Effect, ...]:
    """The programs of that name that come before the system's, if the text puts their folders into PATH."""
    path = _value(job, "PATH")
    if path is None or "/" in name:
        return ()
    texts = path.values or (path.prefix.rpartition(":")[0],)
    folders = dict.fromkeys(folder for text in texts for folder in text.split(":")[:MOST_FOLDERS] if text)
    targets = [
        path_target(f"{folder or '.'}/{name}", cwd, walk.home, tilde=False)
        for folder in folders
        if not folder.startswith(_SYSTEM) and not _INSTALLED.fullmatch(f"{folder}/")
        for cwd in job.state.cwds
    ]
    return tuple(
        Effect(Operation.EXECUTE, Target(Kind.PATH, each.name, name, raw=each.raw)) for each in targets if each.name
    )


def _value(job: ShellJob, name: str) -> ShellValue | None:
    """The value of a variable that the text itself gives to a command."""
    for given, value in reversed(job.env):
        if given == name:
            return value
    return job.state.get(name) if name == "PATH" or job.state.passed & {name, "*"} else None
