"""What a process that died left in the store of questions."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

from assent.approval.store import SqliteStore


def bytes_of(path: Path) -> bytes:
    """Everything that the files of a store hold."""
    return b"".join(each.read_bytes() for each in path.parent.iterdir() if each.name.startswith(path.name))


def test_what_a_dead_process_left_in_the_journal_is_wiped_by_the_next(tmp_path: Path) -> None:
    path = tmp_path / "held.db"
    script = f"""
import asyncio, os
from assent.approval.store import SqliteStore
from assent.approval.denial import deny
from assent.contract.approval import Ending
from tests.broker.stage import held
async def go():
    store = SqliteStore({str(path)!r})
    store._wiped = 1e18
    question = held("a", command="echo s3cr3t")
    await store.hold(question)
    await store.finish("a", deny("a", Ending.CANCELLED))
    os._exit(9)
asyncio.run(go())
"""
    subprocess.run([sys.executable, "-c", script], cwd=Path(__file__).parents[2])
    assert b"s3cr3t" in bytes_of(path)
    asyncio.run(SqliteStore(str(path)).close())
    assert b"s3cr3t" not in bytes_of(path)
