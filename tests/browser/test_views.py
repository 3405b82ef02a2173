"""The other views, small screens, dark mode, and the page by keys alone."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Page, expect

from assent.state import hosts
from tests.browser.conftest import screenshot, signed_in
from tests.browser.test_inbox import ARMED, ready, verdict
from tests.server.program import Program

VIEWS = ("inbox", "live", "simulator", "audit", "policy")


def test_the_simulator_shows_the_outcome_layer_by_layer_and_the_whole_table(page: Page) -> None:
    page.get_by_role("link", name="Simulator").click()
    expect(page.locator(".verdict")).to_contain_text("ask")
    expect(page.locator(".layers > li.decides")).to_contain_text("rules that ask")
    expect(page.locator(".grid tbody tr")).to_have_count(10)
    cells = page.locator(".grid .cell").all_inner_texts()
    assert len(cells) == 50
    assert set(cells) == {"allow", "ask", "deny"}
    page.get_by_label("Command, path").fill("rm -rf /")
    expect(page.locator(".verdict")).to_contain_text("deny")
    page.get_by_role("button", name="Write a new file in plan: deny").click()
    expect(page.locator(".verdict")).to_contain_text("It would be stopped")
    expect(page.get_by_role("radio", name="plan")).to_have_attribute("aria-checked", "true")
    screenshot(page, "simulator")


def test_decisions_appear_as_they_are_made_and_can_be_filtered(page: Page, program: Program) -> None:
    page.get_by_role("link", name="Live").click()
    program.call("ls -la", session="live")
    program.call("rm -rf /", session="live")
    expect(page.locator(".entry.allow", has_text="ls -la").first).to_be_visible()
    expect(page.locator(".entry.deny", has_text="rm -rf /").first).to_be_visible()
    screenshot(page, "live")
    page.get_by_role("button", name="allow").click()
    expect(page.locator(".entry.allow")).to_have_count(0)
    page.get_by_label("filter").fill("nothing like this")
    expect(page.get_by_text("Nothing matches the filter")).to_be_visible()


def test_the_trail_is_searched_counted_and_verified(page: Page, program: Program) -> None:
    program.call("cat src/app.py", session="audit")
    program.call("ls src", session="audit")
    asked = program.calling("make audit", session="audit")
    person = program.sign_in()
    person.answer(person.held_in("audit"))
    assert verdict(asked)[0]
    page.get_by_role("link", name="Audit").click()
    expect(page.get_by_role("img", name="decisions over time")).to_be_visible()
    expect(page.get_by_role("img", name="answers over time")).to_be_visible()
    page.get_by_label("search").fill("cat src/app.py")
    found = page.locator(".entry:not(.copy)")  # copies of other tests are listed above the trail
    expect(found).to_have_count(1)
    expect(found).to_contain_text("cat src/app.py")
    page.get_by_role("button", name="Verify").click()
    expect(page.get_by_text("The trail is intact")).to_be_visible()
    screenshot(page, "audit")


def test_the_policy_has_its_sources_and_a_broken_one_says_so(page: Page, program: Program) -> None:
    page.get_by_role("link", name="Policy").click()
    expect(page.locator(".line.rule", has_text="raw-device").first).to_be_visible()
    page.get_by_label("find a rule").fill("git push")
    expect(page.locator(".line.rule", has_text="config.toml:1")).to_be_visible()
    screenshot(page, "policy")
    config = program.state / "config.toml"
    before = config.read_text()
    config.write_text("mode = ")
    try:
        page.get_by_role("link", name="Live").click()
        page.get_by_role("link", name="Policy").click()
        expect(page.get_by_role("heading", name="The policy does not load")).to_be_visible()
        assert program.call("ls").json["decision"]["deciding"]["code"] == "policy.load"
    finally:
        config.write_text(before)
    assert program.call("ls").json["allowed"]


def test_the_mode_of_a_session_is_changed_by_a_person_and_settles_what_waits(page: Page, program: Program) -> None:
    call = program.calling("mkdir build", session="modes")
    ready(page, "mkdir build")
    page.get_by_role("link", name="Policy").click()
    page.locator(".line", has_text="modes").get_by_label("mode of the session").select_option("full_auto")
    assert verdict(call)[0]
    assert program.call("mkdir other", session="modes").json["decision"]["mode"] == "full_auto"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 390, 768])
def test_every_view_fits_a_small_screen(browser: Browser, program: Program, width: int, scheme: str) -> None:
    with browser.new_context(
        viewport={"width": width, "height": 640}, color_scheme="dark" if scheme == "dark" else "light"
    ) as context:
        page = signed_in(context, program)
        call = program.calling("git push --force-with-lease origin a-very-long-name-of-a-branch/and/more", session="s")
        page.locator(".item").first.click()
        ready(page, "git push")
        assert fits(page)
        screenshot(page, f"phone-{width}-{scheme}")
        allow = page.get_by_role("button", name="Allow once").bounding_box()
        assert allow is not None
        assert allow["height"] >= 44
        assert allow["y"] + allow["height"] <= 640
        page.get_by_role("button", name="Always here").click()
        expect(page.locator(".reach")).to_contain_text("may not be saved: what it destroys")
        assert fits(page)
        page.get_by_role("button", name="Back").click()
        page.get_by_role("button", name="All questions").click()
        for view in VIEWS[1:]:
            page.locator(f".tab[data-view={view}]").click()
            page.locator("main > .head h1").wait_for()
            assert fits(page), view
        page.locator(".tab[data-view=inbox]").click()
        page.locator(".item").first.click()
        page.locator(ARMED).wait_for()
        page.get_by_role("button", name="Allow once").click()
        assert verdict(call)[0]


def fits(page: Page) -> bool:
    wide: int = page.evaluate("() => document.documentElement.scrollWidth - innerWidth")
    return wide <= 0


def test_dark_mode_is_dark(browser: Browser, program: Program) -> None:
    found = []
    for scheme in ("light", "dark"):
        with browser.new_context(color_scheme="dark" if scheme == "dark" else "light") as context:
            page = context.new_page()
            page.goto(program.address)
            colour = page.evaluate("() => getComputedStyle(document.body).backgroundColor")
            found.append(sum(map(int, colour.removeprefix("rgb(").removesuffix(")").split(","))))
    assert found[0] > 600 > 150 > found[1]


def test_everything_can_be_done_by_keys_alone(browser: Browser, program: Program) -> None:
    with browser.new_context() as context:
        page = context.new_page()
        page.set_default_timeout(10_000)
        page.goto(program.address)
        page.locator("#code").wait_for()
        page.keyboard.type(program.code())
        page.keyboard.press("Enter")
        page.locator("#link[data-state=on]").wait_for(state="attached")
        first = program.calling("git push origin keys", session="keys")
        ready(page, "origin keys")
        page.keyboard.press("d")
        expect(page.locator("details.receipt")).to_have_attribute("open", "")
        page.keyboard.press("s")
        page.locator(".editor").wait_for()
        page.keyboard.press("2")
        expect(page.locator(".choice input").nth(1)).to_be_checked()
        page.keyboard.press("Escape")
        page.keyboard.press("t")
        page.keyboard.type("not on a Friday")
        page.keyboard.press("Enter")
        assert "not on a Friday" in verdict(first)[1]
        page.locator(".outcome").wait_for()
        for key, view in zip("2345", VIEWS[1:], strict=True):
            page.keyboard.press(key)
            expect(page.locator(f".tab[data-view={view}]")).to_have_attribute("aria-current", "page")
        page.keyboard.press("1")
        calls = [program.calling(f"git push origin {name}", session=name) for name in ("one", "two")]
        page.locator(".item:not(.over)").nth(1).wait_for()
        page.locator(ARMED).wait_for()
        page.keyboard.press("j")
        page.locator(ARMED).wait_for()
        for _ in calls:
            page.locator(ARMED).wait_for()
            page.keyboard.press("y")
            page.locator(".outcome").wait_for()
        assert [verdict(call)[0] for call in calls] == [True, True]
        page.keyboard.press("?")
        expect(page.get_by_role("dialog")).to_contain_text("deny, and stop the agent")


def test_a_project_that_switches_a_hook_off_is_told_above_every_view(program: Program, browser: Browser) -> None:
    settings = program.project / ".claude/settings.json"
    settings.parent.mkdir()
    settings.write_text('{"disableAllHooks": true}')
    host = hosts.Host("claude", "user", str(program.state.parent / "user.json"))
    hosts.register(str(program.state), host)
    try:
        with browser.new_context(viewport={"width": 1280, "height": 860}) as context:
            page = signed_in(context, program)
            expect(page.locator("#unguarded")).to_contain_text("Claude Code is not guarded")
            expect(page.locator("#unguarded")).to_contain_text(str(settings))
            screenshot(page, "unguarded")
            page.set_viewport_size({"width": 390, "height": 844})
            screenshot(page, "unguarded-phone")
    finally:
        hosts.forget(str(program.state), host)
        settings.unlink()
        settings.parent.rmdir()
