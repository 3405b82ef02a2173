"""Runtime payload ⇄ Call and reply, one file for each runtime. Pure: reads no files, prints nothing, judges nothing.

The registry imports an adapter only when it is asked for, since a hook needs one of them."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from assent.agents.adapter import Adapter

# What people type: the folders here, and the tool behind Claude Code's own dialog.
RUNTIMES: tuple[str, ...] = (
    *("claude", "claude-prompt", "codex", "gemini", "opencode", "qwen", "copilot", "cursor", "cline", "openharness"),
)


_loaded: dict[str, Adapter] = {}


def load(runtime: str) -> Adapter:
    """The adapter of a runtime; raises KeyError where there is none."""
    found = _loaded.get(runtime)
    if found is None:
        if runtime not in RUNTIMES:
            raise KeyError(runtime)
        name = "claude.prompt" if runtime == "claude-prompt" else f"{runtime}.payload"
        module = __import__(f"assent.agents.{name}", fromlist=["ADAPTER"])
        found = _loaded[runtime] = module.ADAPTER
    return found
