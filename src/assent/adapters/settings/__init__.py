"""Installing as text → text: our hook in a runtime's settings, and out again. Opens no file.

One file for each runtime whose settings we can change; imported only when asked for."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from assent.adapters.settings.settings import Settings

MODULES: dict[str, str] = {
    "claude": "claude_code",
    "codex": "codex",
    "gemini": "gemini_cli",
    "opencode": "opencode",
    "qwen": "qwen_code",
    "copilot": "copilot_cli",
    "cursor": "cursor",
    "cline": "cline",
    "openharness": "openharness",
}
RUNTIMES: tuple[str, ...] = tuple(MODULES)


def load(runtime: str) -> Settings:
    """The settings of a runtime; raises KeyError where there are none."""
    module = __import__(f"assent.adapters.settings.{MODULES[runtime]}", fromlist=["SETTINGS"])
    found: Settings = module.SETTINGS
    return found
