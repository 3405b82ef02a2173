"""A runtime's own permission settings ⇄ rules of ours, as text. Opens no file, judges no rule.

A program that has them has a `[permissions]` section; its module is imported when it is asked for."""

from __future__ import annotations

from assent.agents import known, module
from assent.agents.permissions.permission import Permissions

RUNTIMES = known.runtimes("permissions")


def load(runtime: str) -> Permissions:
    """The permission settings of a runtime; raises KeyError where there are none."""
    found: Permissions = module(runtime, "permissions").PERMISSIONS
    return found
