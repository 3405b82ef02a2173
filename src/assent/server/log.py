"""The server's terminal output. Never waits for the terminal: a stopped terminal must not stop the gate."""

from __future__ import annotations

import logging
import queue
import sys
import threading
import time
import traceback
from contextlib import suppress
from typing import TextIO

from assent.contract import display

MOST_LINES = 1000  # that wait to be written; further ones are dropped


class ServerLog:
    """Lines for the terminal, written by another thread."""

    def __init__(self) -> None:
        self._lines: queue.Queue[tuple[TextIO, str, threading.Event | None]] = queue.Queue(MOST_LINES)
        threading.Thread(target=self._write, name="log", daemon=True).start()

    def say(self, words: str) -> None:
        """Write a message with the time. Further lines are indented, so that none looks like a message of ours."""
        below = "\n          ".join(words.splitlines())
        self._put(sys.stderr, f"{time.strftime('%H:%M:%S')}  {below}\n")

    def show(self, text: str) -> None:
        """Write text for the person, on standard output."""
        self._put(sys.stdout, f"{text}\n")

    def fault(self, error: BaseException) -> None:
        self.say("".join(traceback.format_exception(error)).rstrip())

    def flush(self, seconds: float = 2.0) -> bool:
        """Wait until everything is written, for so many seconds. False if the terminal takes nothing."""
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
