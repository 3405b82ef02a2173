"""A store in memory, for tests that need no restart."""

from __future__ import annotations

from assent.approval.commands import Leftover
from assent.contract import StoreError
from assent.contract.approval import Answer, Held, Resolution


class MemoryStore:
    def __init__(self) -> None:
        self._rows: dict[str, tuple[Answer | None, bool]] = {}  # an approval, and whether it is used

    def __len__(self) -> int:
        return len(self._rows)

    async def hold(self, held: Held) -> None:
        if held.id in self._rows:
            raise StoreError(f"the question `{held.id}` is held already")
        self._rows[held.id] = (None, False)

    async def shown(self, id: str, deadline: float) -> None:
        pass

    async def answered(self, id: str, answer: Answer) -> bool:
        fresh = self._rows.get(id) == (None, False)
        if fresh:
            self._rows[id] = (answer, False)
        return fresh

    async def use(self, id: str) -> bool:
        answer, used = self._rows.get(id, (None, True))
        if not used:
            self._rows[id] = (answer, True)
        return not used

    async def finish(self, id: str, resolution: Resolution) -> None:
        self._rows.pop(id, None)

    async def leftovers(self) -> tuple[Leftover, ...]:
        return ()

    async def close(self) -> None:
        self._rows.clear()
