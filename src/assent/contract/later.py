"""Modules that are loaded when they are first used. Knows none itself.

A process that answers one call needs few of those that some call may need."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

# Folders where optional packages are, for a process that was started without them. Looked into when one is needed.
LIBRARIES: list[str] = []
# Brings all modules of an everyday decision, where the process was started with them in one file.
DECIDING: list[Callable[[], None]] = []


class Later:
    """Stands for a module until one of its names is used, and remembers what was."""

    def __init__(self, module: str) -> None:
        self._module = module

    def __getattr__(self, name: str) -> object:
        found: object = getattr(__import__(self._module, fromlist=[name]), name)
        setattr(self, name, found)
        return found
