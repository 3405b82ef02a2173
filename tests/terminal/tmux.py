"""A real terminal to test in: tmux, with a server of its own that ends with the test."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import time
import uuid

import pytest

PATIENCE = 20.0  # seconds; the machine may be busy


def needed() -> None:
    """Skip without tmux, with the reason; fail if everything must be there."""
    if shutil.which("tmux") is None:
        if os.environ.get("CI") == "true":
            pytest.fail("tmux is missing, and CI must have it")
        pytest.skip("tmux is not installed")


class Terminal:
    """One terminal with a shell in it."""

    def __init__(self, folder: str, environ: dict[str, str], *, columns: int = 100, lines: int = 40) -> None:
        needed()
        self._socket = f"assent-{uuid.uuid4().hex[:12]}"
        given = [f"{key}={value}" for key, value in environ.items()]
        shell = ["env", *given, "PS1=$ ", "bash", "--norc", "--noprofile"]
        self._tmux("new-session", "-d", "-x", str(columns), "-y", str(lines), "-c", folder, shlex.join(shell))

    def _tmux(self, *words: str) -> str:
        command = ["tmux", "-L", self._socket, "-f", "/dev/null", *words]
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=PATIENCE).stdout

    def type(self, text: str) -> None:
        self._tmux("send-keys", "-l", text)

    def press(self, *keys: str) -> None:
        """Keys by tmux's names: Enter, Escape, C-c."""
        self._tmux("send-keys", *keys)

    def screen(self) -> str:
        return self._tmux("capture-pane", "-p", "-J")

    def wait_for(self, text: str) -> str:
        """The screen once it shows a text."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            shown = self.screen()
            if text in shown:
                return shown
            time.sleep(0.1)
        raise AssertionError(f"`{text}` did not appear:\n{self.screen()}")

    def close(self) -> None:
        subprocess.run(["tmux", "-L", self._socket, "kill-server"], capture_output=True, timeout=PATIENCE)
