"""Installing as text → text: our hook in a runtime's settings, and out again. Opens no file.

One file for each runtime whose settings we can change; imported only when asked for."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from assent.agents.settings.settings import Settings

RUNTIMES: tuple[str, ...] = (
    *("claude", "codex", "gemini", "opencode", "qwen", "copilot", "cursor", "cline", "openharness"),
)


def load(runtime: str) -> Settings:
    """The settings of a runtime; raises KeyError where there are none."""
    if runtime not in RUNTIMES:
        raise KeyError(runtime)
    module = __import__(f"assent.agents.{runtime}.settings", fromlist=["SETTINGS"])
    found: Settings = module.SETTINGS
    return found
