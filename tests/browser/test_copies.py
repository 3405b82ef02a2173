"""A person sees on the page what can be put back, and puts it back."""

from __future__ import annotations

import time
from pathlib import Path

from playwright.sync_api import Page

from assent.undo.copy import About
from assent.undo.store import CopyStore, Limits
from assent.undo.take import take
from tests.server.program import Program


def deleted(program: Program, name: str, text: str) -> Path:
    """A file that a call deleted, and its copy."""
    path = Path(program.project).resolve() / name
    path.write_text(text)
    store = CopyStore(str(program.state))
    about = About(f"rm {name}", "session-1", str(program.project), "claude")
    take(store, [str(path)], id=f"copy-{path.stem}", now=time.time(), about=about, limits=Limits())
    path.unlink()
    return path


def test_what_a_call_deleted_is_listed_compared_and_put_back(page: Page, program: Program) -> None:
    path = deleted(program, "lost.txt", "one\n")
    page.goto(page.url.split("#")[0] + "#audit")
    row = page.locator(".copies details")
    assert "rm lost.txt" in row.first.inner_text()
    row.first.locator("summary").click()
    page.get_by_text("put back file").wait_for()
    page.get_by_role("button", name="Put back").click()
    page.get_by_text("What that replaced is kept too").wait_for()
    assert path.read_text() == "one\n"
    page.get_by_text("replaced by an undo").wait_for()


def test_hostile_names_are_shown_as_text(page: Page, program: Program) -> None:
    deleted(program, "a\u202eb<img src=x>\n.txt", "x\n")
    page.goto(page.url.split("#")[0] + "#audit")
    page.locator(".copies details summary", has_text="img src").first.click()
    page.get_by_text("put back file").last.wait_for()
    assert page.locator(".copies img").count() == 0
    assert "\u202e" not in page.locator(".copies").inner_text()
