"""A person's terminal: a program in tmux in a sandbox, its screen and its keys. Knows nothing of agents."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from .sandbox import Sandbox

# The first process waits as long as the session stands; what runs in it ends with the sandbox's processes.
STAY = '"$@" && while tmux -S "$SOCKET" has-session 2>/dev/null; do sleep 0.2; done'


class Terminal:
    """The screen and keys of a program that takes itself to be attended."""

    def __init__(self, sandbox: Sandbox, socket: str) -> None:
        self.sandbox, self._socket = sandbox, socket

    def _tmux(self, *words: str) -> str:
        ended = subprocess.run(["tmux", "-S", self._socket, *words], capture_output=True, text=True, check=False)
        return ended.stdout

    def screen(self) -> str:
        return self._tmux("capture-pane", "-p")

    def press(self, *keys: str) -> None:
        """Press keys by tmux's names for them: `Enter`, `Escape`, `1`."""
        self._tmux("send-keys", *keys)

    def type(self, text: str) -> None:
        self._tmux("send-keys", "-l", text)

    def answer(self, question: str, key: str) -> None:
        """Press a key until the question is gone: a dialog that has just come up may not listen yet."""
        while question in self.screen():
            self.press(key)
            time.sleep(1)

    def wait_for(self, *texts: str, seconds: float = 30.0) -> str:
        """The text that appeared on the screen first. If none does, the error quotes the screen."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            screen = self.screen()
            for text in texts:
                if text in screen:
                    return text
            time.sleep(0.1)
        raise AssertionError(f"none of {texts} in {seconds} s on the screen:\n{self.screen()}")


@contextmanager
def terminal(sandbox: Sandbox, words: Sequence[str], more: Mapping[str, str]) -> Iterator[Terminal]:
    """Run a program in a terminal of 120 columns for as long as the block lasts."""
    socket = str(sandbox.base / "tmux")
    new = ["tmux", "-S", socket, "-f", "/dev/null", "new-session", "-d", "-x", "120", "-y", "50", "--", *words]
    known = {**more, "SOCKET": socket, "TERM": "xterm-256color"}
    process = sandbox.start(["/bin/sh", "-c", STAY, "sh", *new], more=known)
    try:
        yield Terminal(sandbox, socket)
    finally:
        sandbox.stop(process)
