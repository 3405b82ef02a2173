"""What the server says in its terminal. Never waits for it: a terminal that was stopped must not stop the gate."""

from __future__ import annotations

import logging
import queue
import sys
import threading
import time
import traceback
from typing import TextIO

from assent.contract import display

MOST = 1000  # lines that wait to be written; further ones are dropped


class Voice:
    """Lines for the terminal, written by a thread of their own."""

    def __init__(self) -> None:
        self._lines: queue.Queue[tuple[TextIO, str, threading.Event | None]] = queue.Queue(MOST)
        threading.Thread(target=self._write, name="voice", daemon=True).start()

    def say(self, words: str) -> None:
        """A line about what happened, with the time."""
        self._put(sys.stderr, f"{time.strftime('%H:%M:%S')}  {_below(words)}\n")

    def show(self, text: str) -> None:
        """Text for the person, on standard output."""
        self._put(sys.stdout, f"{text}\n")

    def fault(self, error: BaseException) -> None:
        """A fault inside, whole."""
        self.say("".join(traceback.format_exception(error)).rstrip())

    def rest(self, seconds: float = 2.0) -> bool:
        """Wait until everything is written, but not for long. False where the terminal takes nothing."""
        done = threading.Event()
        return self._put(sys.stderr, "", done) and done.wait(seconds)

    def _put(self, where: TextIO, text: str, done: threading.Event | None = None) -> bool:
        try:  # a fault can carry words of an agent, and those must not steer the terminal
            self._lines.put_nowait((where, display.visible(text), done))
        except queue.Full:
            return False
        return True

    def _write(self) -> None:
        while True:
            where, text, done = self._lines.get()
            try:
                where.write(text)
                where.flush()
            except (OSError, ValueError):  # nobody is there to read it
                pass
            if done is not None:
                done.set()


def _below(words: str) -> str:
    """What has several lines, set below its first: none of them passes for a line of ours."""
    return "\n          ".join(words.splitlines())


class LogHandler(logging.Handler):
    """The log of the libraries, as far as it tells of faults: garbage that was sent is none."""

    def __init__(self, voice: Voice) -> None:
        super().__init__(logging.ERROR)
        self._voice = voice

    def emit(self, record: logging.LogRecord) -> None:
        self._voice.say(self.format(record))
