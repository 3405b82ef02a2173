"""What the launcher of a hook tells its process. Knows nothing of either."""

from __future__ import annotations

from collections.abc import Callable

# Folders where optional packages are, for a process that was started without them. Looked into when one is needed.
LIBRARIES: list[str] = []
# Brings all modules of an everyday decision, where the process was started with them in one file.
DECIDING: list[Callable[[], None]] = []
