"""Answering on the page, as a person does it."""

from __future__ import annotations

import re
from concurrent.futures import Future
from pathlib import Path

from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser.conftest import screenshot, signed_in, type_code
from tests.server.program import Answer, Program

ARMED = ".bar:not(.arming)"


def ready(page: Page, text: str) -> None:
    """The question is shown whole and can be answered."""
    expect(page.locator(".command, .diff").first).to_contain_text(text)
    page.locator(ARMED).wait_for()


def verdict(call: Future[Answer]) -> tuple[bool, str, bool]:
    found = call.result(timeout=30).json
    return found["allowed"], found["message"], found["stop"]


def test_a_wrong_code_says_what_to_do_and_the_right_one_opens_the_inbox(
    context: BrowserContext, program: Program
) -> None:
    page = context.new_page()
    page.goto(program.address)
    page.get_by_label("one-time code").fill("AAAA-AAAA")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_contain_text("ask for a new one")
    type_code(page, lambda: program.code().lower().replace("-", " "))
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_text("Nothing waits for you")).to_be_visible()
    assert "?" not in page.url
    screenshot(page, "empty")


def test_the_session_is_a_cookie_that_scripts_cannot_read_and_a_key_that_is_in_no_address(
    page: Page, context: BrowserContext
) -> None:
    cookie = next(each for each in context.cookies() if each["name"] == "assent_session")
    assert (cookie["httpOnly"], cookie["sameSite"], cookie["expires"]) == (True, "Strict", -1)
    assert page.evaluate("document.cookie") == ""


def test_an_empty_inbox_shows_what_a_question_looks_like(page: Page, program: Program) -> None:
    page.get_by_role("button", name="Show me what that looks like").click()
    ready(page, "git push origin main")
    expect(page.locator(".question")).to_contain_text("An example: nothing runs")
    page.get_by_role("button", name="Allow once").click()
    expect(page.locator(".outcome")).to_contain_text("Allowed once")


def test_approving_lets_the_call_run_and_shows_it(page: Page, program: Program) -> None:
    call = program.calling("git push origin main", description="Publish the branch")
    ready(page, "git push origin main")
    expect(page.locator(".question")).to_contain_text("Claude Code wants to run a command")
    expect(page.locator(".effects")).to_contain_text("git push")
    expect(page.locator(".question")).to_contain_text("Publish the branch")
    expect(page.get_by_role("timer")).to_contain_text(re.compile(r"[45]:\d\d"))
    assert page.title() == "(1) Assent"
    screenshot(page, "inbox")
    page.get_by_role("button", name="Allow once").click()
    assert verdict(call) == (True, "", False)
    expect(page.locator(".outcome")).to_contain_text("Allowed once")


def test_a_question_shows_what_the_call_would_cause(page: Page, program: Program) -> None:
    folder = program.project / "old"
    folder.mkdir(exist_ok=True)
    for number in range(12):
        (folder / f"{number}.txt").write_text("x" * 100)
    (folder / "<img src=x onerror=alert(1)>`\u202e.txt").write_text("x")
    call = program.calling("rm -rf old && git push origin main")
    ready(page, "rm -rf old && git push origin main")
    caused = page.locator(".consequences")
    expect(caused.locator("h3")).to_have_text("What it would cause")
    expect(caused.locator("li").first).to_have_text("removes 13 files, 1.2 kB")
    expect(caused).to_contain_text("which commits it sends is not known: there is no repository")
    assert page.locator(".consequences img").count() == 0
    screenshot(page, "consequences")
    page.keyboard.press("n")
    assert verdict(call)[0] is False


def test_denying_with_a_message_tells_the_agent(page: Page, program: Program) -> None:
    call = program.calling("npm install left-pad")
    ready(page, "npm install left-pad")
    page.get_by_role("button", name="Deny, say why").click()
    page.get_by_label("message to the agent").fill("use the standard library")
    page.keyboard.press("Enter")
    allowed, message, stop = verdict(call)
    assert (allowed, stop) == (False, False)
    assert "use the standard library" in message


def test_deny_and_stop_tells_the_agent_to_stop(page: Page, program: Program) -> None:
    call = program.calling("make deploy")
    ready(page, "make deploy")
    page.get_by_role("button", name="Deny, and stop").click()
    allowed, _, stop = verdict(call)
    assert (allowed, stop) == (False, True)


def test_a_rule_is_edited_before_it_is_saved_and_settles_the_next_call(page: Page, program: Program) -> None:
    program.call("npm run build -- --fast && ls", session="before", headless=True)
    call = program.calling("npm run build -- --fast", session="edits")
    ready(page, "npm run build")
    page.get_by_role("button", name="Session").click()
    rule = page.get_by_label("The rule that will be saved")
    expect(page.locator(".reach")).to_contain_text("Would have matched 1 of your last")
    screenshot(page, "rule")
    rule.fill("bash(*)")
    expect(page.locator(".reach")).to_contain_text("may not be saved")
    expect(page.get_by_role("button", name="Allow for this session")).to_be_disabled()
    rule.fill("bash(npm run build:*)")
    expect(page.locator(".reach")).to_contain_text("Would have matched")
    page.get_by_role("button", name="Allow for this session").click()
    assert verdict(call)[0]
    assert program.call("npm run build -- --slow", session="edits", wait=5).json["allowed"]
    assert program.call("npm run build", session="another", wait=0).status == 202
    page.get_by_role("link", name="Policy").click()
    grant = page.locator(".line", has_text="bash(npm run build:*)")
    grant.get_by_role("button", name="Revoke").click()
    expect(page.get_by_text("There are no saved answers")).to_be_visible()
    assert program.call("npm run build", session="edits", wait=0).status == 202


def test_what_is_answered_on_one_page_is_gone_from_the_other_and_counts_once(
    page: Page, browser: Browser, program: Program
) -> None:
    with browser.new_context() as other:
        second = signed_in(other, program)
        call = program.calling("terraform apply")
        ready(page, "terraform apply")
        ready(second, "terraform apply")
        second.locator("[data-answer=deny]").click()
        expect(page.locator(".outcome")).to_contain_text("on another page")
        assert verdict(call)[0] is False


def test_expiry_is_shown_and_the_call_is_denied(page: Page, program: Program) -> None:
    config = program.state / "config.toml"
    before = config.read_text()
    config.write_text(before + "[approval]\ntimeout = 3\n")
    try:
        call = program.calling("helm upgrade app", session="short")
        ready(page, "helm upgrade app")
        expect(page.get_by_role("timer")).to_contain_text(re.compile(r"^[123]s$"))
        allowed, message, _ = verdict(call)
        assert not allowed
        assert "nobody answered it in time" in message
        expect(page.locator(".outcome")).to_contain_text("Nobody answered in time")
    finally:
        config.write_text(before)


def test_one_question_of_a_session_is_asked_and_those_behind_it_can_be_answered_early(
    page: Page, program: Program
) -> None:
    first = program.calling("git push origin one", session="queue")
    ready(page, "origin one")
    second = program.calling("git push origin two", session="queue")
    behind = page.locator(".item.queued", has_text="origin two")
    behind.click()
    expect(page.locator(".queued-note")).to_contain_text("answer it early")
    page.locator(ARMED).wait_for()
    page.get_by_role("button", name="Allow once").click()
    assert verdict(second)[0]
    assert not first.done()
    ready(page, "origin one")
    page.get_by_role("button", name="Allow once").click()
    assert verdict(first)[0]


def test_a_change_is_shown_side_by_side(page: Page, program: Program) -> None:
    body = {
        "tool": "Edit",
        "input": {
            "file_path": str(program.project / "src/app.py"),
            "old_string": "    return sum(items)\n",
            "new_string": '    """The sum, rounded."""\n    return round(sum(items), 2)\n',
        },
        "cwd": str(program.project),
        "session": "diff",
        "runtime": "codex",
        "wait": 30,
    }
    call = program.pool.submit(lambda: program.ask("POST", "/v1/calls", body, unix=True))
    ready(page, "return round(sum(items), 2)")
    assert page.locator(".diff td.del").nth(1).inner_text().strip() == "return sum(items)"
    assert page.locator(".diff td.add.right:not(.n)").count() == 2
    screenshot(page, "diff")
    page.get_by_role("button", name="Allow once").click()
    assert verdict(call)[0]


def test_hostile_text_is_shown_and_does_nothing(page: Page, program: Program) -> None:
    command = "echo '<img src=x onerror=alert(1)>' \u202e\u200b && rm -r build \x1b[31mred"
    told = "<script>document.title='owned'</script><b>only lists files</b> \u202egnp.exe"
    call = program.calling(command, description=told, session="<i>hostile</i>")
    ready(page, "<img src=x onerror=alert(1)>")
    shown = page.locator(".question")
    expect(shown).to_contain_text("\\u{202e}")
    expect(shown).to_contain_text("\\u{1b}[31mred")
    expect(shown).to_contain_text("<script>document.title='owned'</script>")
    expect(page.locator(".warn")).to_contain_text("invisible characters")
    assert page.locator("#view script, #view img, #view b:not(.count), #view i:not(.ring i)").count() == 0
    assert not re.search("[\u202a-\u202e\u2066-\u2069\u200b\x1b]", page.locator("body").inner_text())
    assert page.title() == "(1) Assent"
    screenshot(page, "hostile")
    page.locator("[data-answer=deny]").click()
    assert verdict(call)[0] is False


def test_a_reloaded_page_shows_the_question_again(page: Page, program: Program) -> None:
    call = program.calling("make release")
    ready(page, "make release")
    page.reload()
    ready(page, "make release")
    page.get_by_role("button", name="Allow once").click()
    assert verdict(call)[0]


def test_a_question_that_slides_under_the_finger_is_not_answered_by_it(page: Page, program: Program) -> None:
    call = program.calling("make first", session="a")
    page.locator(".bar.arming").wait_for()
    page.keyboard.press("y")
    page.locator(ARMED).wait_for()
    assert not call.done()
    page.keyboard.press("y")
    assert verdict(call)[0]


def test_a_second_tab_of_the_same_browser_is_signed_in_and_signing_out_ends_both(
    page: Page, context: BrowserContext, program: Program
) -> None:
    second = context.new_page()
    second.goto(program.address)
    expect(second.get_by_text("Nothing waits for you")).to_be_visible()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_text("Sign in to Assent")).to_be_visible()
    expect(second.get_by_text("Sign in to Assent")).to_be_visible()


def test_nobody_signs_in_unnoticed_and_everybody_can_be_thrown_out(page: Page, program: Program) -> None:
    stranger = program.sign_in()
    told = page.get_by_text("Somebody signed in on another page")
    expect(told).to_be_visible()
    assert stranger.ask("GET", "/v1/audit?kind=event").json["records"][0]["reason"].startswith("signed in on the page")
    page.get_by_role("button", name="sign everyone out").click()
    expect(page.get_by_text("Sign in to Assent")).to_be_visible()
    assert stranger.ask("GET", "/v1/held").status == 401


def test_after_three_denials_another_mode_is_offered_on_every_page_until_one_takes_it(
    page: Page, browser: Browser, program: Program
) -> None:
    for number in range(3):
        call = program.calling(f"make {number}-no", session="tired")
        ready(page, f"make {number}-no")
        page.keyboard.press("n")
        assert verdict(call)[0] is False
    waiting = program.calling("make four-no", session="tired")
    offer = page.locator(".offer")
    expect(offer).to_contain_text("You said no 3 times in a row")
    screenshot(page, "offer")
    page.reload()
    expect(offer).to_contain_text("Claude Code · tired")
    with browser.new_context() as other:
        second = signed_in(other, program)
        expect(second.locator(".offer")).to_contain_text("You said no 3 times in a row")
        offer.get_by_role("button", name="plan mode").click()
        expect(offer).to_have_count(0)
        expect(second.locator(".offer")).to_have_count(0)
    assert program.call("make five-no", session="tired").json["decision"]["mode"] == "plan"
    ready(page, "make four-no")
    page.keyboard.press("n")
    assert verdict(waiting)[0] is False


def test_a_hidden_tab_notifies_and_takes_it_back(context: BrowserContext, program: Program) -> None:
    context.add_init_script("""
        window.told = [];
        window.Notification = class {
          static permission = "granted";
          constructor(title, options) { told.push([title, options.body]); }
          close() { told.push("closed"); }
        };
        window.away = true;
        Object.defineProperty(document, "hidden", { get: () => away });
    """)
    page = signed_in(context, program)
    call = program.calling("make notify", session="hidden")
    ready(page, "make notify")
    assert page.evaluate("() => told") == [["Claude Code asks in project", "make notify"]]
    page.evaluate("() => { away = false; }")
    page.keyboard.press("n")
    verdict(call)
    expect(page.locator(".outcome")).to_be_visible()
    assert page.evaluate("() => told.at(-1)") == "closed"


def test_a_page_without_its_server_says_so_and_comes_back(browser: Browser, tmp_path: Path) -> None:
    program = Program(tmp_path)
    with browser.new_context() as context:
        page = signed_in(context, program)
        expect(page.get_by_text("Nothing waits for you")).to_be_visible()
        program.stop()
        expect(page.get_by_text("Not connected to the server")).to_be_visible()
        program.options = ("--port", str(program.port))
        program.start()
        expect(page.get_by_text("Sign in to Assent")).to_be_visible(timeout=15_000)
        program.stop()


def test_a_window_that_just_came_to_the_front_takes_no_answer(page: Page, program: Program) -> None:
    """The key or the click was meant for what lay before it, and somebody may have put it there."""
    call = program.calling("make front", session="front")
    ready(page, "make front")
    page.wait_for_timeout(500)
    for key in ("y", "s", "x", "t"):
        page.evaluate(
            f"""() => {{
                dispatchEvent(new Event("focus"));
                document.body.dispatchEvent(new KeyboardEvent("keydown", {{ key: "{key}", bubbles: true }}));
            }}"""
        )
    page.evaluate("""() => { dispatchEvent(new Event("focus")); document.querySelector(".bar .yes").click(); }""")
    page.wait_for_timeout(400)
    assert not call.done()
    expect(page.locator(".editor")).to_have_count(0)
    page.keyboard.press("n")
    assert verdict(call)[0] is False


def test_no_key_meant_for_a_question_opens_the_rule_of_the_next(page: Page, program: Program) -> None:
    """`s` and Enter, typed in one go while the question changes, must not allow the new one for the session."""
    calls = [program.calling(f"make next-{number}", session=f"next-{number}") for number in range(2)]
    expect(page.locator(".item")).to_have_count(2)
    page.wait_for_timeout(500)
    page.evaluate(
        """() => ["j", "s"].forEach((key) =>
            document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true })))"""
    )
    expect(page.locator(".editor")).to_have_count(0)
    page.wait_for_timeout(400)
    page.keyboard.press("Enter")
    assert not any(call.done() for call in calls)
    page.keyboard.press("s")
    expect(page.locator(".editor")).to_have_count(1)


def test_a_long_change_says_how_much_of_it_is_not_drawn(page: Page, program: Program) -> None:
    content = "\n".join(map(str, range(5000)))
    given = {"file_path": str(program.project / "long.txt"), "content": content}
    body = {"tool": "Write", "input": given, "cwd": str(program.project), "session": "long", "wait": 0}
    assert program.ask("POST", "/v1/calls", body, unix=True).status == 202
    expect(page.locator(".diffstat")).to_contain_text(re.compile(r"\+500\d"))
    expect(page.locator(".block .cut").first).to_contain_text(re.compile(r"2,000 of 5,00\d lines are shown"))


def test_a_long_change_is_allowed_once_all_of_it_is_on_the_page(page: Page, program: Program) -> None:
    content = "\n".join(f"line {number} of the file" for number in range(9000)) + "\nthe tail"
    where = str(program.project)
    body = {"tool": "write", "input": {"file_path": f"{where}/long.txt", "content": content}, "cwd": where}
    call = program.pool.submit(
        lambda: program.ask("POST", "/v1/calls", {**body, "project": where, "session": "long", "wait": 60}, unix=True)
    )
    ready(page, "line 7 of the file")
    expect(page.locator(".cut")).to_contain_text("You can allow it once all of it is shown")
    screenshot(page, "long-cut")
    page.get_by_role("button", name="Allow once").click(force=True)
    expect(page.get_by_text("Not all of the call is shown yet")).to_be_visible()
    page.keyboard.press("s")
    expect(page.locator("form.editor")).to_have_count(0)
    assert not call.done()
    page.keyboard.press("v")
    expect(page.locator(".block").first).to_contain_text("the tail")
    expect(page.locator(".cut")).to_have_count(0)
    screenshot(page, "long-whole")
    page.get_by_role("button", name="Allow once").click()
    assert verdict(call)[0] is True


def test_the_offer_says_what_each_way_opens_and_puts_the_loosest_last(page: Page, program: Program) -> None:
    for number in range(3):
        call = program.calling(f"git push origin no{number}", session="weary")
        ready(page, f"no{number}")
        page.get_by_role("button", name="Deny", exact=False).first.click()
        verdict(call)
    offer = page.locator(".offer")
    expect(offer).to_contain_text("no 3 times in a row")
    labels = offer.locator(".way button").all_inner_texts()
    assert [each.split()[0] for each in labels] == ["always", "plan", "full_auto"]
    expect(offer).to_contain_text("without asking")
    screenshot(page, "offer-ways")
