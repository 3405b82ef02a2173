"""One question at a time in one terminal, of all processes in it. Shows nothing itself.

Of two processes that read the same keys, the one that is not looked at could take the answer."""

from __future__ import annotations

import asyncio
import fcntl
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

AGAIN = 0.1  # seconds between two looks whether the terminal is free


@asynccontextmanager
async def turn() -> AsyncIterator[None]:
    """Hold this terminal; wait until no other process does."""
    handle = os.open(terminal_file(), os.O_RDONLY | os.O_NOCTTY | os.O_CLOEXEC)
    told = False
    try:
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if not told:
                    print("assent: another question is open in this terminal; this one comes next", file=sys.stderr)
                told = True
                await asyncio.sleep(AGAIN)
        yield
    finally:
        os.close(handle)


def terminal_file() -> str:
    """The file that stands for this terminal, the same for every process in it."""
    for handle in (0, 1, 2):
        try:
            return os.ttyname(handle)
        except OSError:
            continue
    return "/dev/tty" if has_terminal() else os.devnull


def has_terminal() -> bool:
    """Whether there is a terminal to ask in."""
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY))
    except OSError:
        return False
    return True
