"""Tools for agents that pass the gate before they do anything: bash, read, write, edit, glob, grep."""

from __future__ import annotations

from assent.tools.tool import Result
from assent.tools.toolset import NAMES, Toolset

__all__ = ["NAMES", "Result", "Toolset"]
