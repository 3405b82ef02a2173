"""Runtime payload ⇄ Call and reply, one file for each runtime. Pure: reads no files, prints nothing, judges nothing.

The registry imports an adapter only when it is asked for, since a hook needs one of them."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from assent.adapters.adapter import Adapter

# What people type → the module of the adapter.
MODULES: dict[str, str] = {
    "claude": "claude_code",
    "claude-prompt": "claude_prompt",
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


_loaded: dict[str, Adapter] = {}


def load(runtime: str) -> Adapter:
    """The adapter of a runtime; raises KeyError where there is none."""
    found = _loaded.get(runtime)
    if found is None:
        module = __import__(f"assent.adapters.{MODULES[runtime]}", fromlist=["ADAPTER"])
        found = _loaded[runtime] = module.ADAPTER
    return found
