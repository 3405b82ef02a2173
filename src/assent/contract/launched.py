"""Values that a hook's launcher passes to its process."""

from __future__ import annotations

from collections.abc import Callable

# Folders of optional packages, for a process started without them. Searched when one is needed.
LIBRARIES: list[str] = []
# Loads all modules of a common decision, if the process was started with them in one file.
DECIDING: list[Callable[[], None]] = []
