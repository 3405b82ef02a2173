"""`assent demo` answered on the page: sign in with the code that the terminal shows, and click."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import signal
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conftest import screenshot

COLOURS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
ARMED = ".bar:not(.arming)"
WAIT = 60_000  # milliseconds: the agent takes its time, and the machine may be busy


class Showing:
    """The demo in its own terminal, which is read and not typed at."""

    def __init__(self, folder: Path) -> None:
        self._terminal, inner = pty.openpty()
        environ = {"PATH": os.environ["PATH"], "HOME": str(folder), "TERM": "xterm"}
        command = [sys.executable, "-m", "assent", "demo"]
        self.program = subprocess.Popen(
            command, stdin=inner, stdout=inner, stderr=inner, env=environ, cwd=folder, preexec_fn=_own_terminal
        )
        os.close(inner)
        self.seen = ""
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        with suppress(OSError):
            while data := os.read(self._terminal, 65536):
                self.seen += COLOURS.sub("", data.decode(errors="replace"))

    def until(self, pattern: str, seconds: float = 60.0) -> re.Match[str]:
        """Wait until the terminal has shown something."""
        end = time.monotonic() + seconds
        while (found := re.search(pattern, self.seen)) is None:
            assert time.monotonic() < end, self.seen
            time.sleep(0.05)
        return found

    def close(self) -> None:
        if self.program.poll() is None:
            self.program.send_signal(signal.SIGTERM)
        self.program.wait(30)
        os.close(self._terminal)


def _own_terminal() -> None:
    os.setsid()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


@pytest.fixture
def showing(tmp_path: Path) -> Iterator[Showing]:
    found = Showing(tmp_path)
    yield found
    found.close()


def answer(page: Page, shown: str, key: str) -> None:
    expect(page.locator(".command, .diff").first).to_contain_text(shown, timeout=WAIT)
    page.locator(ARMED).wait_for()
    page.keyboard.press(key)


def test_the_demo_is_answered_on_the_page(context: BrowserContext, showing: Showing) -> None:
    code = showing.until(r"code     ([A-Z2-9]{4}-[A-Z2-9]{4})")[1]
    page = context.new_page()
    page.set_default_timeout(90_000)
    page.goto(showing.until(r"(http://127\.0\.0\.1:\d+/)")[1])
    page.get_by_label("one-time code").fill(code)
    page.get_by_role("button", name="Sign in").click()
    answer(page, "python3 -m unittest -q", "y")
    showing.until(r"allowed by \S+ \(web\)")
    expect(page.locator(".diff").first).to_contain_text("price * (100 - percent)", timeout=WAIT)
    screenshot(page, "demo")
    answer(page, "price * (100 - percent)", "y")
    answer(page, "python3 -m unittest -q", "y")
    showing.until(r"Ran 2 tests in \S+\s+│\s+│ OK")
    expect(page.locator(".question")).to_contain_text("already approved", timeout=WAIT)
    answer(page, "rm -rf build", "n")
    answer(page, "publish.py staging", "n")
    answer(page, "publish.py --quietly", "n")
    offer = page.locator(".offer")
    expect(offer).to_contain_text("You said no 3 times in a row", timeout=WAIT)
    offer.get_by_role("button", name="plan mode").click()
    showing.until(r"\[mode\.plan\.mutation\]")
    showing.until(r"asked: 3 allowed, 3 denied")
    showing.until(r"The trail is intact")
    assert showing.program.wait(30) == 0
