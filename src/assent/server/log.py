"""What the server writes to its terminal, and how it reports the problems of remote channels.

Never waits for the terminal: one that is stopped must not stop the gate."""

from __future__ import annotations

import asyncio
import logging
import queue
import sys
import threading
import time
import traceback
from contextlib import suppress
from typing import TYPE_CHECKING, TextIO

from assent.contract import AssentError, Record, display
from assent.engine.journal import new_id
from assent.server.access import Bucket

if TYPE_CHECKING:
    from assent.server.state import ServerState

MOST_LINES = 1000  # that wait to be written; further ones are dropped
TOLD, TOLD_EVERY = 8, 10.0  # refusals that are reported at once, then one in so many seconds


class ServerLog:
    """Lines for the terminal, written by another thread."""

    def __init__(self) -> None:
        self._lines: queue.Queue[tuple[TextIO, str, threading.Event | None]] = queue.Queue(MOST_LINES)
        threading.Thread(target=self._write, name="log", daemon=True).start()

    def say(self, words: str) -> None:
        """Write what happened, with the time. Further lines are indented: none of them passes for a line of ours."""
        below = "\n          ".join(words.splitlines())
        self._put(sys.stderr, f"{time.strftime('%H:%M:%S')}  {below}\n")

    def show(self, text: str) -> None:
        """Write text for the person, on standard output."""
        self._put(sys.stdout, f"{text}\n")

    def fault(self, error: BaseException) -> None:
        self.say("".join(traceback.format_exception(error)).rstrip())

    def flush(self, seconds: float = 2.0) -> bool:
        """Wait until everything is written, for so many seconds. False where the terminal takes nothing."""
        done = threading.Event()
        return self._put(sys.stderr, "", done) and done.wait(seconds)

    def _put(self, where: TextIO, text: str, done: threading.Event | None = None) -> bool:
        try:  # a fault can carry text of an agent, which must not control the terminal
            self._lines.put_nowait((where, display.visible(text), done))
        except queue.Full:
            return False
        return True

    def _write(self) -> None:
        while True:
            where, text, done = self._lines.get()
            with suppress(OSError, ValueError):  # the terminal is closed
                where.write(text)
                where.flush()
            if done is not None:
                done.set()


class LogHandler(logging.Handler):
    """Writes the errors of libraries to a server's log."""

    def __init__(self, log: ServerLog) -> None:
        super().__init__(logging.ERROR)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        self._log.say(self.format(record))


class ChannelStatus:
    """The problems of one remote channel, reported in the server's terminal and in the trail."""

    def __init__(self, server: ServerState, name: str) -> None:
        self._server = server
        self._name = name
        self._problems: dict[str, str] = {}
        self._bucket = Bucket(time.monotonic, TOLD, TOLD_EVERY)

    @property
    def problem(self) -> str:
        """What is wrong, on one line; `""` where nothing is."""
        return display.one_line(next((each for each in self._problems.values() if each), ""), 300)

    def told(self, part: str, words: str, fine: str) -> None:
        """Report the problem of a part, or that it has none (`""`), each time that changes."""
        before, self._problems[part] = self._problems.get(part), words
        if before != words and (words or before is not None or fine):
            self._server.log.say(f"{self._name}: {display.one_line(words or fine or 'works again', 300)}")

    def refused(self, words: str) -> None:
        """Report and record a refusal. Their rate is limited, since anybody can cause them."""
        if self._bucket.take() > 0:
            return
        reason = f"refused: {display.one_line(words, 300)}"
        self._server.log.say(f"{self._name}: {reason}")
        record = Record("event", new_id(), self._server.clock(), channel=self._name, reason=reason)
        asyncio.get_running_loop().run_in_executor(None, self._record, record)

    def _record(self, record: Record) -> None:
        try:
            self._server.gate.memory.record(record)
        except AssentError as error:
            self._server.log.say(f"a refusal was not recorded: {error}")
