"""Files whose names say that they hold secrets, in any folder. The floor protects files by path."""

from __future__ import annotations

from assent.contract.lean import Pattern

_ENVIRONMENT = Pattern(r"(?:.*/)?(?:\.envrc|\.env(?:\.[^/]+)?|[^/]*[^/.]\.env)")
_EXAMPLE = Pattern(r".*(?:example|sample|template|\.dist|\.schema)[^/]*")


def is_environment_file(path: str) -> bool:
    """Whether a file sets the environment of programs, and is not an example file."""
    return "env" in path and _ENVIRONMENT.fullmatch(path) is not None and not _EXAMPLE.fullmatch(path)
