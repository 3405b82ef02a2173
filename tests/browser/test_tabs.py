"""Many tabs of one browser: a browser opens six connections to a host, so the tabs share one event stream."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser.conftest import signed_in
from tests.browser.test_inbox import ready, verdict
from tests.server.program import Program

TABS = 8


@pytest.fixture
def tabs(context: BrowserContext, program: Program) -> list[Page]:
    """Eight tabs, all connected; the first of them listens."""
    found = [signed_in(context, program)]
    for _ in range(TABS - 1):
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.goto(program.address)
        page.locator("#link[data-state=on]").wait_for(state="attached")
        found.append(page)
    return found


def streams(program: Program) -> int:
    return int(program.sign_in().ask("GET", "/v1/status").json["streams"])


def test_eight_tabs_share_one_stream_and_all_of_them_answer(tabs: list[Page], program: Program) -> None:
    assert streams(program) == 1
    for number, page in enumerate(tabs):
        call = program.calling(f"make tab-{number}", session=f"tab-{number}")
        for each in tabs:
            expect(each.locator(".item", has_text=f"make tab-{number}")).to_be_visible()
        page.bring_to_front()
        page.locator(".item", has_text=f"make tab-{number}").click()
        ready(page, f"make tab-{number}")
        page.get_by_role("button", name="Allow once").click()
        assert verdict(call)[0]
        for each in tabs:
            expect(each.locator(".item:not(.over)", has_text=f"make tab-{number}")).to_have_count(0)


def test_a_tab_that_opens_late_sees_what_the_others_see(
    tabs: list[Page], context: BrowserContext, program: Program
) -> None:
    call = program.calling("make late-tab", session="late-tab")
    ready(tabs[-1], "make late-tab")
    page = context.new_page()
    page.goto(program.address)
    ready(page, "make late-tab")
    page.get_by_role("link", name="Live").click()
    expect(page.locator(".entry", has_text="make late-tab").first).to_be_visible()
    page.keyboard.press("1")
    ready(page, "make late-tab")
    page.keyboard.press("n")
    assert verdict(call)[0] is False


def test_when_the_tab_that_listens_is_closed_another_one_listens(tabs: list[Page], program: Program) -> None:
    waiting = program.calling("make kept", session="kept")
    ready(tabs[1], "make kept")
    for page in tabs[: TABS - 2]:
        page.close()
    fresh = program.calling("make fresh", session="fresh")
    last = tabs[-1]
    expect(last.locator(".item", has_text="make fresh")).to_be_visible()
    last.wait_for_timeout(10_500)  # longer than the grace for a place that is gone
    assert not waiting.done()
    assert streams(program) == 1
    for _ in (waiting, fresh):
        last.locator(".bar:not(.arming)").wait_for()
        last.keyboard.press("y")
        last.locator(".outcome").wait_for()
    assert [verdict(call)[0] for call in (waiting, fresh)] == [True, True]


def test_a_tab_takes_over_from_one_that_has_gone_silent(browser: Browser, tmp_path: Path) -> None:
    program = Program(tmp_path)
    with browser.new_context() as context:
        first = signed_in(context, program)
        second = context.new_page()
        second.clock.install()
        second.goto(program.address)
        second.locator("#link[data-state=on]").wait_for(state="attached")
        first.evaluate("() => { BroadcastChannel.prototype.postMessage = () => {}; }")
        call = program.calling("make silent", session="silent")
        ready(first, "make silent")
        expect(second.locator(".item")).to_have_count(0)
        second.clock.run_for(60_000)
        ready(second, "make silent")
        assert streams(program) == 1
        second.keyboard.press("n")
        assert verdict(call)[0] is False
    program.stop()


def test_all_tabs_say_that_the_server_is_gone_and_all_ask_for_a_code_when_it_is_back(
    browser: Browser, tmp_path: Path
) -> None:
    program = Program(tmp_path)
    with browser.new_context() as context:
        pages = [signed_in(context, program), context.new_page()]
        pages[1].goto(program.address)
        pages[1].locator("#link[data-state=on]").wait_for(state="attached")
        program.stop()
        for page in pages:
            expect(page.get_by_text("Not connected to the server")).to_be_visible()
        program.options = ("--port", str(program.port))
        program.start()
        for page in pages:
            expect(page.get_by_text("Sign in to Assent")).to_be_visible(timeout=15_000)
    program.stop()
