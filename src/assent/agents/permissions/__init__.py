"""A runtime's own permission settings ⇄ rules of ours, as text. Opens no file, judges no rule.

One file for each runtime that has such settings; imported only when asked for."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from assent.agents.permissions.permission import Permissions

RUNTIMES: tuple[str, ...] = ("claude", "codex", "gemini", "opencode")


def load(runtime: str) -> Permissions:
    """The permission settings of a runtime; raises KeyError where there are none."""
    if runtime not in RUNTIMES:
        raise KeyError(runtime)
    module = __import__(f"assent.agents.{runtime}.permissions", fromlist=["PERMISSIONS"])
    found: Permissions = module.PERMISSIONS
    return found
