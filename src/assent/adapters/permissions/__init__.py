"""A runtime's own permission settings ⇄ rules of ours, as text. Opens no file, judges no rule.

One file for each runtime that has such settings; imported only when asked for."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from assent.adapters.permissions.permission import Permissions

MODULES: dict[str, str] = {
    "claude": "claude_code",
    "codex": "codex",
    "gemini": "gemini_cli",
    "opencode": "opencode",
}
RUNTIMES: tuple[str, ...] = tuple(MODULES)


def load(runtime: str) -> Permissions:
    """The permission settings of a runtime; raises KeyError where there are none."""
    module = __import__(f"assent.adapters.permissions.{MODULES[runtime]}", fromlist=["PERMISSIONS"])
    found: Permissions = module.PERMISSIONS
    return found
