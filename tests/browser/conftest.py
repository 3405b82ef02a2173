"""A real Chromium against a real server. Skipped without Chromium, but never in CI."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, TimeoutError, sync_playwright

from tests.server.program import Program

CONFIG = 'ask = ["bash(git push:*)"]\nallow = ["bash(pytest:*)"]\n'


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One Chromium for a module, closed after it: while it is open, nothing else in the process can run a loop."""
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None:
        assert os.environ.get("CI") != "true", "CI must have Chromium: apt-get install chromium"
        pytest.skip("there is no Chromium here; apt-get install chromium")
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    program = Program(tmp_path_factory.mktemp("browser"), config=CONFIG)
    app = program.project / "src/app.py"
    app.write_text("def total(items):\n    return sum(items)\n\n\ndef main():\n    print(total([1, 2, 3]))\n")
    yield program
    program.stop()


@pytest.fixture
def program(shared: Program) -> Iterator[Program]:
    """The server, without state of the test before."""
    yield shared
    shared.clear()


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    opened = browser.new_context(viewport={"width": 1280, "height": 860})
    yield opened
    opened.close()


@pytest.fixture
def page(context: BrowserContext, program: Program) -> Iterator[Page]:
    """A signed-in page on which nothing may go wrong."""
    opened = signed_in(context, program)
    wrong: list[str] = []
    opened.on("pageerror", lambda error: wrong.append(str(error)))
    yield opened
    assert wrong == []


def signed_in(context: BrowserContext, program: Program) -> Page:
    opened = context.new_page()
    opened.set_default_timeout(90_000)  # the machine may be busy
    opened.goto(program.address)
    type_code(opened, program.code)
    opened.get_by_role("button", name="Sign in").click()
    try:
        opened.locator("#link[data-state=on]").wait_for(state="attached")
    except TimeoutError as error:
        raise AssertionError(f"the page does not connect, but shows {opened.locator('body').inner_text()!r}") from error
    return opened


def type_code(page: Page, code: Callable[[], str]) -> None:
    """Type a fresh code. The server shows one by itself when the page opens, so the page must be open before."""
    field = page.get_by_label("one-time code")
    field.wait_for()
    field.fill(code())


def screenshot(page: Page, name: str) -> None:
    """Keep a picture, if SCREENSHOTS names a folder for them."""
    folder = os.environ.get("SCREENSHOTS")
    if folder:
        Path(folder).mkdir(parents=True, exist_ok=True)
        page.screenshot(path=Path(folder) / f"{name}.png")
