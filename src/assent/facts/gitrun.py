"""Runs git to ask it about a repository: by its own path, without the user's settings, hooks, helpers or the network.

Only for a repository that `repository` found harmless."""

from __future__ import annotations

import os

from assent.facts.gitdir import Repository

_SECONDS = 2.0
_PLACES = ("/usr/bin/git", "/usr/local/bin/git", "/opt/homebrew/bin/git", "/bin/git")
_HARDENED = (
    *("--no-pager", "--no-optional-locks", "-c", "core.fsmonitor=false"),
    *("-c", "core.hooksPath=/dev/null", "-c", "diff.external=", "-c", "core.untrackedCache=false"),
)
_ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "LC_ALL": "C",
    "HOME": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_TERMINAL_PROMPT": "0",
}
FAILED = (128, b"")
LITERALLY = "--literal-pathspecs"  # before a command: pathspecs are literal


def program() -> str:
    """The path of git; `""` if it is not in a usual place."""
    return next((place for place in _PLACES if os.access(place, os.X_OK)), "")


def run(
    repository: Repository,
    args: tuple[str, ...],
    *,
    given: bytes = b"",
    more: dict[str, str] | None = None,
    source: int | None = None,
    into: int | None = None,
    seconds: float = _SECONDS,
) -> tuple[int, bytes]:
    """The exit status and output of git; `given` is its standard input, `more` variables of its environment.
    `source` and `into` are open files for its input and output instead."""
    import subprocess  # few calls need it

    git = program()
    place = (f"--git-dir={repository.gitdir}", f"--work-tree={repository.top}")
    try:
        done = subprocess.run(
            (git, *_HARDENED, *place, *args),
            input=given if source is None else None,
            stdin=source,
            stdout=subprocess.PIPE if into is None else into,
            stderr=subprocess.DEVNULL,
            cwd=repository.top,
            env={**_ENVIRONMENT, **(more or {})},
            timeout=seconds,
            check=False,
        )
    except (OSError, ValueError, subprocess.SubprocessError):
        return FAILED
    return done.returncode, done.stdout or b""
