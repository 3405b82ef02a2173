"""Thousands of questions at once: they are held up to a bound, and the page stays quick."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import signed_in
from tests.browser.test_inbox import ARMED
from tests.examples import all_of_it
from tests.server.crowd import Crowd, many_files
from tests.server.program import Program

__all__ = ["many_files"]  # a fixture

MANY = 1000


async def ask(program: Program, number: int, told: list[bytes]) -> None:
    reader, writer = await asyncio.open_unix_connection(program.socket)
    call = {"tool": "bash", "input": {"command": f"make target-{number}"}, "cwd": str(program.project)}
    body = json.dumps({**call, "session": f"s{number % 20}", "runtime": "codex", "wait": 300}).encode()
    head = b"POST /v1/calls HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
    writer.write(head % len(body) + body)
    answer = await reader.readuntil(b"\r\n\r\n")
    length = int(answer.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
    told.append(await reader.readexactly(length))
    writer.close()


def ask_all(program: Program, told: list[bytes]) -> None:
    async def run() -> None:
        await asyncio.gather(*(ask(program, number, told) for number in range(MANY)))

    asyncio.run(run())


def test_a_thousand_questions_leave_the_page_quick_and_all_end(browser: Browser, tmp_path: Path) -> None:
    program = Program(tmp_path)
    told: list[bytes] = []
    asking = threading.Thread(target=ask_all, args=(program, told))
    with browser.new_context(viewport={"width": 1280, "height": 860}) as context:
        page = signed_in(context, program)
        asking.start()
        expect(page.locator(".list h1")).to_have_text("1,000 questions", timeout=60_000)
        for key in "jjkd":
            started = time.monotonic()
            page.keyboard.press(key)
            page.evaluate("() => new Promise(requestAnimationFrame)")
            assert time.monotonic() - started < 1.0, "a key must not wait for a thousand rows"
        page.locator(ARMED).wait_for()
        page.keyboard.press("y")
        expect(page.locator(".outcome")).to_contain_text("Allowed once", timeout=30_000)
        started = time.monotonic()
        assert program.ask("GET", "/healthz").status == 200
        assert time.monotonic() - started < 1.0
    program.stop()
    asking.join(60)
    allowed = [json.loads(each)["allowed"] for each in told]
    assert (len(allowed), sum(allowed)) == (MANY, 1)


@pytest.mark.usefixtures("many_files")
def test_calls_beyond_the_places_are_denied_at_once_and_the_page_stays_quick(browser: Browser, tmp_path: Path) -> None:
    places = 5000 if all_of_it() else 1000
    calls, sessions = places * 6 // 5, places * 3 // 50 + 60
    program = Program(tmp_path, crowded=not all_of_it())
    crowd = Crowd(program)
    with browser.new_context(viewport={"width": 1280, "height": 860}) as context:
        page = signed_in(context, program)
        asking = threading.Thread(target=crowd.ask_all, args=(calls, sessions))
        asking.start()
        expect(page.locator(".list h1")).to_have_text(f"{places:,} questions", timeout=120_000)
        asking.join(60)
        expect(page.locator(".group")).to_have_count(60)
        expect(page.locator(".rest")).to_contain_text(f"more in {sessions - 60} other sessions")
        page.reload()
        expect(page.locator(".list h1")).to_have_text(f"{places:,} questions", timeout=30_000)
        page.locator(ARMED).wait_for()
        for key in "jjk":
            started = time.monotonic()
            page.keyboard.press(key)
            page.evaluate("() => new Promise(requestAnimationFrame)")
            assert time.monotonic() - started < 2.0
        page.locator(ARMED).wait_for()
        page.keyboard.press("y")
        expect(page.locator(".outcome")).to_contain_text("Allowed once", timeout=30_000)
        memory = Path(f"/proc/{program.process.pid}/status").read_text().partition("VmRSS:")[2].split()[0]
        assert int(memory) < 400_000, "kilobytes"
        person = program.sign_in()
        listed = person.ask("GET", "/v1/held").json
        assert (len(listed["held"]), listed["more"]) == (500, places - 501)
    program.stop()
    told = crowd.answers()
    assert len(told) == calls
    full = [each for each in told if f"{places} calls wait for a person already" in each["message"]]
    assert (len(full), sum(each["allowed"] for each in told)) == (calls - places, 1)
