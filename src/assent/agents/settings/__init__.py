"""Installing as text → text: our hook in a runtime's settings, and out again. Opens no file.

A program whose settings we can change has a `[settings]` section; its module is imported when it is asked for."""

from __future__ import annotations

from assent.agents import known, module
from assent.agents.settings.settings import Settings

RUNTIMES = known.runtimes("settings")


def load(runtime: str) -> Settings:
    """The settings of a runtime; raises KeyError where there are none."""
    found: Settings = module(runtime, "settings").SETTINGS
    return found
