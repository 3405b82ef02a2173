"""Answering in the terminal inbox, key by key, against a real server."""

from __future__ import annotations

import asyncio
import functools
import re
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from assent.contract.approval import Answer, Said
from tests.examples import all_of_it
from tests.server.crowd import Crowd, many_files
from tests.server.program import Program
from tests.terminal.seat import ARMED, seated, signs_in, verdict

__all__ = ["many_files"]  # a fixture

CONFIG = 'ask = ["bash(git push:*)"]\n'


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    found = Program(tmp_path_factory.mktemp("inbox"), config=CONFIG)
    (found.project / "src/app.py").write_text("def total(items):\n    return sum(items)\n")
    yield found
    found.stop()


@pytest.fixture
def program(shared: Program) -> Iterator[Program]:
    """The server, without state of the test before."""
    yield shared
    shared.clear()


def played(test: Callable[..., Awaitable[None]]) -> Callable[..., None]:
    """A test that is a coroutine."""

    @functools.wraps(test)
    def run(*given: Any, **named: Any) -> None:
        asyncio.run(test(*given, **named))  # type: ignore[arg-type]

    return run


# ---------------------------------------------------------------- signing in


@played
async def test_a_wrong_code_says_what_to_do_and_the_right_one_opens_the_inbox(program: Program) -> None:
    async with seated(program, sign_in=False) as seat:
        await seat.sees("the server shows in its", "assent sign-in")
        await seat.type("AAAAAAAA")
        await seat.press("enter")
        await seat.sees("ask for a new")
        await signs_in(seat)
        await seat.sees("Nothing waits for you", "live", "? help")


@played
async def test_without_a_server_it_says_so_and_notices_when_one_starts(tmp_path: Path) -> None:
    program = Program(tmp_path)
    program.stop()
    async with seated(program, sign_in=False) as seat:
        await seat.sees("No server runs", "assent serve")
        await asyncio.to_thread(program.start)
        try:
            await signs_in(seat)
            await seat.sees("Nothing waits for you")
        finally:
            await asyncio.to_thread(program.stop)


@played
async def test_a_lost_line_is_said_and_after_a_restart_the_person_signs_in_again(tmp_path: Path) -> None:
    program = Program(tmp_path)
    async with seated(program) as seat:
        asked = await seat.call("npm install left-pad")
        await asyncio.to_thread(program.stop)
        assert (await verdict(asked))[0] is False
        await seat.sees("no connection", "server was stopped")
        await asyncio.to_thread(program.start)
        try:
            await seat.sees("you were signed out")
            await signs_in(seat)
            asked = await seat.call("npm install right-pad")
            await seat.press("y")
            assert await verdict(asked) == (True, "", False)
        finally:
            await asyncio.to_thread(program.stop)


# ---------------------------------------------------------------- answers


@played
async def test_a_question_is_shown_whole_and_yes_lets_it_run(program: Program) -> None:
    async with seated(program) as seat:
        asked = await seat.call("git push origin main", description="Publish the branch")
        screen = await seat.sees("Claude Code wants to run a command", "$ git push origin main", "why it asks:")
        lines = [line.strip(" ▌█▊▁") for line in screen.split("\n")]
        said = next(at for at, line in enumerate(lines) if "the agent's own words" in line)
        assert "Publish the branch" in lines[said + 1]
        assert any(re.fullmatch(r"run +git push.*", line) for line in lines)
        assert re.search(r"git push origin main +\d:\d\d", screen)
        assert "bash(git push:*)" in screen
        await seat.press("y")
        assert await verdict(asked) == (True, "", False)
        await seat.sees("✓ allowed once by you")


@played
async def test_what_the_call_would_cause_is_shown(program: Program) -> None:
    folder = program.project / "old"
    folder.mkdir()
    (folder / "a.txt").write_text("12345")
    async with seated(program) as seat:
        asked = await seat.call("rm -rf old")
        await seat.sees("what it would cause:", "removes 1 file, 5 bytes", "a copy is kept")
        await seat.press("n")
        assert (await verdict(asked))[0] is False


@pytest.mark.parametrize(("key", "stop"), [("n", False), ("x", True)])
@played
async def test_no_and_no_and_stop_are_told_to_the_agent(program: Program, key: str, stop: bool) -> None:
    async with seated(program) as seat:
        asked = await seat.call("npm install left-pad")
        await seat.press(key)
        allowed, message, stopped = await verdict(asked)
        assert (allowed, stopped, "a person said no" in message) == (False, stop, True)
        await seat.sees("✗ denied")


@played
async def test_a_denial_carries_what_the_person_types(program: Program) -> None:
    async with seated(program) as seat:
        asked = await seat.call("npm install left-pad")
        await seat.press("t")
        await seat.sees("Deny, and tell the agent")
        await seat.type("y n x use the other one")
        await seat.press("enter")
        allowed, message, stop = await verdict(asked)
        assert (allowed, stop, "y n x use the other one" in message) == (False, False, True)


@pytest.mark.parametrize(("key", "scope"), [("m", "15m"), ("s", "session"), ("p", "project"), ("e", "everywhere")])
@played
async def test_a_wider_yes_saves_the_rule_that_was_shown_with_its_reach(program: Program, key: str, scope: str) -> None:
    command = f"touch made-{key}"
    program.call("ls")
    async with seated(program) as seat:
        asked = await seat.call(command, session=f"wide-{key}")
        await seat.press(key)
        await seat.sees("which calls?", f"exactly `{command}`")
        await seat.until(seat.reach)
        await seat.sees("of your last")
        await seat.press("enter")
        assert await verdict(asked) == (True, "", False)
    person = program.sign_in()
    saved = [(each["scope"], each["rules"]) for each in person.ask("GET", "/v1/grants").json["grants"]]
    assert (scope, [f"bash({command})"]) in saved


@played
async def test_a_rule_can_be_edited_and_one_that_is_too_broad_is_refused(program: Program) -> None:
    async with seated(program) as seat:
        asked = await seat.call("touch src/a-1", session="edited")
        await seat.press("s")
        await seat.until(seat.reach)
        await seat.press("tab", "ctrl+a", "delete")
        await seat.press("ctrl+u", "ctrl+k")
        await seat.type("bash(*)")
        await seat.sees("cannot be saved")
        await seat.press("enter")
        await seat.sees("this rule cannot be saved")
        assert program.held_now() == 1
        await seat.press("backspace", "backspace")
        await seat.type("touch src:*)")
        await seat.until(seat.may_save)
        await seat.press("enter")
        assert (await verdict(asked))[0] is True
    saved = [each["rules"] for each in program.sign_in().ask("GET", "/v1/grants").json["grants"]]
    assert ["bash(touch src:*)"] in saved
    assert ["bash(*)"] not in saved


@played
async def test_what_waits_behind_another_is_listed_and_can_be_answered_early(program: Program) -> None:
    async with seated(program) as seat:
        first = await seat.call("npm install one")
        second = await seat.call("npm install two")
        await seat.sees("queued", "2 questions")
        await seat.press("j")
        await seat.sees("waits behind another")
        await seat.press("n")
        assert (await verdict(second))[0] is False
        assert program.held_now() == 1
        await seat.chosen("npm install one")
        await seat.press("y")
        assert (await verdict(first))[0] is True


@played
async def test_questions_are_grouped_by_session_and_sessions_do_not_wait_for_each_other(program: Program) -> None:
    async with seated(program) as seat:
        calls = [await seat.call("npm install one", session="red"), await seat.call("npm install two", session="blue")]
        screen = await seat.sees("2 questions in 2 sessions", "· red", "· blue")
        assert "queued" not in screen
        await seat.press("y")
        await seat.chosen("npm install two")
        await seat.press("n")
        assert [(await verdict(each))[0] for each in calls] == [True, False]


@played
async def test_a_change_is_shown_as_a_diff_and_the_receipt_opens_by_key(program: Program) -> None:
    where = str(program.project)
    given = {"file_path": f"{where}/src/app.py", "old_string": "sum(items)", "new_string": "sum(items) + 1"}
    body = {"tool": "Edit", "input": given, "cwd": where, "project": where, "session": "d", "runtime": "claude"}
    async with seated(program, (120, 40)) as seat:
        asked = program.pool.submit(lambda: program.ask("POST", "/v1/calls", {**body, "wait": 30}, unix=True))
        screen = await seat.sees("wants to change a file", "src/app.py")
        assert re.search(r"2 - +return sum\(items\) *$", screen, re.MULTILINE)
        assert re.search(r"2 \+ +return sum\(items\) \+ 1", screen)
        await seat.press("d")
        await seat.sees("mode · mode.write", '"new_string": "sum(items) + 1"')
        await seat.armed()
        await seat.press("n")
        assert (await asyncio.to_thread(asked.result, 30)).json["allowed"] is False


@played
async def test_an_empty_inbox_shows_what_a_question_looks_like(program: Program) -> None:
    async with seated(program) as seat:
        await seat.sees("Nothing waits for you", "v show an example question")
        await seat.press("v")
        await seat.sees("An example agent wants to run a command", "nothing runs, whatever you answer")
        await seat.armed()
        await seat.press("y")
        await seat.sees("✓ allowed once by you")


# ---------------------------------------------------------------- dismissed, left, too late


@pytest.mark.parametrize(
    "keys", [("enter", "escape"), ("s", "ctrl+c"), ("t", "h", "ctrl+c"), ("s", "escape", "escape")]
)
@played
async def test_dismissing_denies_what_was_being_answered_and_nothing_else(
    program: Program, keys: tuple[str, ...]
) -> None:
    async with seated(program) as seat:
        other = await seat.call("npm install other", session="other")
        asked = await seat.call("npm install this", session="this")
        await seat.press("j")
        for key in keys:
            await seat.press(key)
            await seat.pilot.pause(0.2)
        allowed, message, _ = await verdict(asked)
        assert (allowed, "put" in message or "dismissed" in message) == (False, True)
        await seat.told("dismissed")
        assert (program.held_now(), other.done()) == (1, False)
        assert seat.app.answering is None


@played
async def test_a_question_can_be_left_waiting_and_escape_outside_the_answers_denies_nothing(program: Program) -> None:
    async with seated(program) as seat:
        asked = await seat.call("npm install this")
        await seat.press("escape", "enter")
        await seat.sees("dismiss: denies it")
        await seat.armed()
        await seat.press("l")
        await seat.until(lambda: seat.app.screen is seat.app.inbox)
        assert (program.held_now(), seat.app.answering) == (1, None)
        await seat.armed()
        await seat.press("y")
        assert (await verdict(asked))[0] is True


@played
async def test_an_inbox_that_ends_dismisses_what_was_being_answered_and_nothing_else(program: Program) -> None:
    async with seated(program) as seat:
        other = await seat.call("npm install other", session="other")
        asked = await seat.call("npm install this", session="this")
        await seat.press("j", "s")
        await seat.sees("which calls?")
        await asyncio.to_thread(seat.app.end_now)
        assert (await verdict(asked))[0] is False
        assert (program.held_now(), other.done()) == (1, False)


@played
async def test_leaving_says_when_nobody_else_sees_what_waits(program: Program) -> None:
    async with seated(program) as seat:
        await seat.call("npm install this")
        await seat.press("q")
        await seat.sees("1 question is shown here and nowhere else")
        await seat.press("escape")
        await seat.sees("1 question", "live")
        assert seat.app.is_running
        await seat.press("q")
        await seat.sees("nowhere else")
        await seat.press("q")
        await seat.until(lambda: not seat.app.is_running)


@played
async def test_answered_elsewhere_is_shown_at_once_also_in_the_open_dialog(program: Program) -> None:
    person = program.sign_in()
    async with seated(program) as seat:
        asked = await seat.call("npm install this")
        await seat.press("t")
        await seat.sees("tell the agent")
        await asyncio.to_thread(lambda: person.answer(person.held()[0], "allow"))
        assert (await verdict(asked))[0] is True
        await seat.sees("✓ allowed once by", "elsewhere")
        await seat.type("nnn")
        await seat.press("enter")
        await seat.until(lambda: seat.app.screen is seat.app.inbox)


@played
async def test_an_answer_that_comes_too_late_says_so_and_what_to_do(program: Program) -> None:
    person = program.sign_in()
    async with seated(program) as seat:
        asked = await seat.call("npm install this")
        question = seat.question("npm install this")
        await asyncio.to_thread(lambda: person.answer(person.held()[0], "deny"))
        await verdict(asked)
        wrong = await seat.app.say(question, Answer(Said.ALLOW))
        assert re.fullmatch(
            r"your answer did not count: too late: \S+ answered first in web; your answer changed nothing; "
            r"if it should still run, tell the agent to try again",
            wrong,
        )


@played
async def test_a_question_that_expires_says_so(tmp_path: Path) -> None:
    program = Program(tmp_path, config="[approval]\ntimeout = 2\n")
    try:
        async with seated(program) as seat:
            asked = await seat.call("npm install this")
            await seat.sees("nobody answered in time; it did not run")
            assert (await verdict(asked))[0] is False
    finally:
        program.stop()


@played
async def test_an_answer_that_could_not_be_delivered_says_so(tmp_path: Path) -> None:
    program = Program(tmp_path)
    async with seated(program) as seat:
        await seat.call("npm install this")
        question = seat.question("npm install this")
        await asyncio.to_thread(program.stop)
        wrong = await seat.app.say(question, Answer(Said.ALLOW))
        assert wrong.startswith("it is not known whether your answer arrived: no server runs")
        assert wrong.endswith("answer again if the question still waits")


@played
async def test_keys_pressed_while_a_question_comes_up_are_no_answer(program: Program) -> None:
    async with seated(program) as seat:
        asked = program.calling("npm install this")
        for _ in range(200):
            if seat.app.inbox.chosen:
                break
            await seat.press("y")
        await seat.press("y")
        assert (program.held_now(), asked.done()) == (1, False)


# ---------------------------------------------------------------- offers, foreign text, sizes


@played
async def test_after_three_denials_another_mode_is_offered_and_taken_only_by_key(program: Program) -> None:
    async with seated(program) as seat:
        for number in range(3):
            asked = await seat.call(f"npm install a{number}", session="tired")
            await seat.chosen(f"npm install a{number}")
            await seat.press("n")
            await verdict(asked)
        assert {each["channel"] for each in program.records(kind="answer", session="tired")} == {"inbox"}
        await seat.sees("you said no 3 times in a row", "o show the offer")
        await seat.press("o")
        await seat.sees("it runs commands, edits and fetches without", "it may read and plan", "bash(npm install a2)")
        await seat.press("escape")
        await seat.sees("o show the offer")
    async with seated(program) as seat:  # an inbox that opens later is told of it too
        await seat.sees("you said no 3 times in a row", "o show the offer")
        await seat.press("o")
        await seat.sees("it may read and plan")
        await seat.press("p")
        await seat.told("the mode of this session is `plan` now")
    modes = program.sign_in().ask("GET", "/v1/mode").json["sessions"]
    assert [each["mode"] for each in modes if each["session"] == "tired"] == ["plan"]


HOSTILE = "[bold red]trust[/] [@click=app.exit]me[/] \x1b[31mred\x1b]0;t\x07 \u202egnp\u200b <b>x</b> {{x}} $x"


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
@played
async def test_text_of_the_agent_is_shown_and_never_interpreted(program: Program, size: tuple[int, int]) -> None:
    async with seated(program, size) as seat:
        asked = await seat.call(
            "npm install '[bold]x[/bold]' '[@click=app.exit]'", description=HOSTILE, session="[i]s[/i]"
        )
        screen = await seat.sees(
            "npm install '[bold]x[/bold]'", "[bold red]trust[/] [@click=app.exit]me[/] \\u{1b}[31mred"
        )
        assert ("\\u{202e}" in screen, "\\u{200b}" in screen, "[i]s[/i]" in screen) == (True, True, True)
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f\u202e\u200b]", screen)
        await seat.press("s")
        await seat.sees("which calls?", "[bold]x[/bold]")
        await seat.press("escape", "escape")
        await verdict(asked)


@pytest.mark.parametrize("size", [(60, 18), (80, 24), (120, 40), (200, 60)])
@played
async def test_every_answer_is_named_on_the_screen_at_every_size(program: Program, size: tuple[int, int]) -> None:
    async with seated(program, size) as seat:
        asked = await seat.call("npm install this")
        await seat.sees("y once", "m 15 min", "s session", "p always here", "n deny", "t say why", "x and stop")
        await seat.press("enter")
        await seat.sees("allow once", "allow for 15 minutes", "deny, and stop the agent", "Esc dismiss: denies it")
        await seat.armed()
        await seat.press("n")
        assert (await verdict(asked))[0] is False


@played
async def test_it_is_light_or_dark_by_key_with_the_same_words(program: Program) -> None:
    async with seated(program) as seat:
        await seat.sees("Nothing waits for you")
        dark = (seat.app.theme, seat.screen())
        await seat.press("f2")
        assert (dark[0], seat.app.theme, seat.screen()) == ("assent-dark", "assent-light", dark[1])


@played
async def test_a_click_answers_as_its_key_does(program: Program) -> None:
    async with seated(program) as seat:
        asked = await seat.call("npm install this")
        key = next(each for each in seat.app.inbox.query(".key") if "deny" in str(each.render()))
        await seat.pilot.click(key)
        assert (await verdict(asked))[0] is False


@pytest.mark.usefixtures("many_files")
@played
async def test_many_questions_leave_the_keys_quick(tmp_path: Path) -> None:
    program = Program(tmp_path)
    crowd, many = Crowd(program), 2000 if all_of_it() else 400
    try:
        async with seated(program) as seat:
            await asyncio.to_thread(crowd.ask_all, many, 40)
            await seat.until(lambda: len(seat.app.questions.waiting()) == many)
            await seat.sees(f"{many:,} questions in 40 sessions")
            for key in ("j", "j", "k", "d", "d"):
                started = time.monotonic()
                await seat.press(key)
                assert time.monotonic() - started < 1.5
            await asyncio.sleep(ARMED)
            await seat.press("x")
            await seat.until(lambda: len(seat.app.questions.waiting()) == many - many // 40)
    finally:
        program.stop()
    assert sum(each["allowed"] for each in crowd.answers()) == 0


@played
async def test_a_terminal_of_any_size_that_changes_keeps_the_question_and_its_answers(program: Program) -> None:
    async with seated(program) as seat:
        asked = await seat.call("git push origin sizes", session="sizes")
        await seat.chosen("git push origin sizes")
        for width, height in ((20, 5), (200, 60), (1, 1), (40, 12), (80, 24)):
            await seat.pilot.resize_terminal(width, height)
            await seat.pilot.pause(0.1)
        await seat.sees("git push origin sizes", "y once", "n deny")
        await seat.press("t")
        await seat.type("wait")
        for width, height in ((30, 6), (120, 40), (80, 24)):
            await seat.pilot.resize_terminal(width, height)
            await seat.pilot.pause(0.1)
        await seat.sees("wait")
        await seat.press("enter")
        assert "wait" in (await verdict(asked))[1]


@played
async def test_a_long_question_is_allowed_once_all_of_it_is_drawn(program: Program) -> None:
    lines = "\n".join(f"echo line {number} of the script" for number in range(6000))
    async with seated(program) as seat:
        asked = await seat.call(f"npm install x\n{lines}\necho tail")
        await seat.until(lambda: any(not each.whole for each in seat.app.questions.waiting()))
        (question,) = seat.app.questions.waiting()
        assert "not all of it is shown yet" in await seat.app.say(question, Answer(Said.ALLOW))
        await seat.press("w")
        await seat.until(lambda: question.whole)
        assert question.text.endswith("echo tail")
        await seat.press("y")
        assert (await verdict(asked))[0] is True
