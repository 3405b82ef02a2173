"""What goes wrong while somebody answers: clocks, sessions, lines, rules, names."""

from __future__ import annotations

import re

from playwright.sync_api import Browser, BrowserContext, Page, Route, expect

from tests.browser.conftest import signed_in, type_code
from tests.browser.test_inbox import ARMED, ready, verdict
from tests.server.program import Program

LEFT = re.compile(r"^(5:00|4:[345]\d)$")
PING = """async (more) => {
    const { store } = await import("/page/store.js");
    store.take("ping", { now: store.now + more });
}"""


def test_a_clock_that_jumps_here_or_at_the_server_does_not_change_the_time_that_is_left(
    page: Page, program: Program
) -> None:
    call = program.calling("make clocks", session="clocks")
    ready(page, "make clocks")
    timer = page.get_by_role("timer")
    expect(timer).to_have_text(LEFT)
    for jump in (3600, -7200):
        page.evaluate(PING, jump)
        page.wait_for_timeout(600)
        expect(timer).to_have_text(LEFT)
    page.evaluate("() => { const before = Date.now; Date.now = () => before() + 3.6e6; }")
    page.wait_for_timeout(600)
    expect(timer).to_have_text(LEFT)
    page.keyboard.press("n")
    assert verdict(call)[0] is False


def test_a_session_that_ends_while_a_message_is_typed_keeps_the_message(page: Page, program: Program) -> None:
    call = program.calling("make typed", session="typed")
    ready(page, "make typed")
    page.keyboard.press("t")
    page.get_by_label("message to the agent").fill("not before the review")
    program.sign_in().ask("DELETE", "/v1/session?all=1")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Sign in to Assent")).to_be_visible()
    assert not call.done()
    type_code(page, program.code)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_label("message to the agent")).to_have_value("not before the review")
    page.wait_for_timeout(400)
    page.get_by_label("message to the agent").press("Enter")
    assert "not before the review" in verdict(call)[1]


def test_what_is_typed_stays_through_a_look_at_another_view(page: Page, program: Program) -> None:
    call = program.calling("make looked", session="looked")
    ready(page, "make looked")
    page.keyboard.press("t")
    page.get_by_label("message to the agent").fill("see the audit")
    page.get_by_role("link", name="Audit").click()
    page.locator(".tab[data-view=inbox]").click()
    expect(page.get_by_label("message to the agent")).to_have_value("see the audit")
    page.wait_for_timeout(400)
    page.get_by_role("button", name="Deny and send").click()
    assert "see the audit" in verdict(call)[1]


def test_an_answer_whose_line_breaks_says_that_nobody_knows_and_what_to_do(
    page: Page, context: BrowserContext, program: Program
) -> None:
    call = program.calling("make broken", session="broken")
    ready(page, "make broken")
    page.route("**/answer", lambda route: route.abort())
    page.keyboard.press("y")
    told = page.locator(".toast.bad")
    expect(told).to_contain_text("not known whether your answer arrived")
    expect(told).to_contain_text("answer again if the question still waits")
    page.unroute("**/answer")
    page.keyboard.press("y")
    assert verdict(call)[0]


def test_a_yes_that_the_rules_overrule_by_now_says_why(page: Page, program: Program) -> None:
    config = program.state / "config.toml"
    before = config.read_text()
    call = program.calling("make overruled", session="overruled")
    ready(page, "make overruled")
    try:
        config.write_text("mode = ")
        page.keyboard.press("y")
        assert verdict(call)[0] is False
        expect(page.locator(".outcome")).to_contain_text("The rules deny it now")
        expect(page.locator(".outcome")).to_contain_text("config.toml")
    finally:
        config.write_text(before)


def test_no_name_that_a_caller_gives_fills_the_screen_or_is_taken_for_another(page: Page, program: Program) -> None:
    for number, name in enumerate(("Claude Code only lists files " + "x" * 4000, "constructor", "__proto__")):
        call = program.calling(f"make named-{number}", session="y" * 4000, runtime=name, wait=30)
        ready(page, f"make named-{number}")
        expect(page.locator(".question h1")).to_have_text(
            re.compile(r"^(Claude Code only lists files …|constructor|__proto__) wants to run a command$")
        )
        height = page.locator(".q-head").evaluate("(head) => head.getBoundingClientRect().height")
        assert height < 140
        page.locator(ARMED).wait_for()
        page.keyboard.press("n")
        verdict(call)
        page.wait_for_timeout(900)


def test_of_two_people_who_answer_at_the_same_moment_the_later_is_told_that_it_changed_nothing(
    page: Page, browser: Browser, program: Program
) -> None:
    with browser.new_context() as other:
        second = signed_in(other, program)
        call = program.calling("make raced", session="raced")
        ready(page, "make raced")
        ready(second, "make raced")

        on_its_way: list[Route] = []
        second.route("**/answer", lambda route: on_its_way.append(route))
        for _ in range(50):  # a key is ignored while the page shows the question for the first time
            second.keyboard.press("y")
            second.wait_for_timeout(200)
            if on_its_way:
                break
        page.keyboard.press("n")
        assert verdict(call)[0] is False
        on_its_way[0].continue_()
        told = second.locator(".toast.bad")
        expect(told).to_contain_text("too late")
        expect(told).to_contain_text("changed nothing")
        expect(second.locator(".outcome")).to_contain_text("on another page")
