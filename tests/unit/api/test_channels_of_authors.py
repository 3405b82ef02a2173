"""Channels of an embedding program: they answer from anywhere, and an error in one says why."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from assent import Answer, Call, Gate, Held, Said, Verdict
from assent.approval.channels import Question
from assent.contract.approval import Ending, Resolution
from assent.trail import query

MAKE = Call("bash", {"command": "make test"})
Opens = Callable[..., Gate]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Opens]:
    gates: list[Gate] = []
    (tmp_path / "project").mkdir()

    def open_gate(*channels: Any) -> Gate:
        state = str(tmp_path / "state")
        gates.append(Gate(str(tmp_path / "project"), files=False, mode="auto", state=state, channels=list(channels)))
        return gates[-1]

    yield open_gate
    for each in gates:
        each.close()


class Window:
    """A channel whose questions are answered elsewhere: `questions` are those that it shows."""

    name = "window"

    def __init__(self, problem: BaseException | None = None) -> None:
        self.questions: list[Question] = []
        self.withdrawn: list[Ending] = []
        self.shown = threading.Event()
        self._problem = problem

    async def show(self, question: Question) -> None:
        if self._problem is not None:
            raise self._problem
        self.questions.append(question)
        self.shown.set()

    async def withdraw(self, id: str, resolution: Resolution) -> None:
        self.withdrawn.append(resolution.ending)


def last(tmp_path: Path) -> Any:
    return [each for each in query.read(str(tmp_path / "state/audit")) if each.text("kind") == "answer"][-1]


async def answered(gate: Gate, window: Window, way: Callable[[Question], Any]) -> Verdict:
    """A verdict whose question is answered on the loop of the program."""
    asking = asyncio.ensure_future(gate.guard(MAKE))
    while not window.questions:
        await asyncio.sleep(0.01)
    found = way(window.questions[0])
    if asyncio.iscoroutine(found):
        await found
    return await asking


def test_a_channel_answers_on_the_loop_of_the_program(opened: Opens, tmp_path: Path) -> None:
    window = Window()
    yes = Answer(Said.ALLOW, who="ada")
    verdict = asyncio.run(answered(opened(window), window, lambda question: question.answer(yes)))
    assert (verdict.allowed, window.withdrawn) == (True, [Ending.ANSWERED])
    assert (last(tmp_path).text("who"), last(tmp_path).text("channel")) == ("ada", "window")


@pytest.mark.parametrize(
    ("way", "ending"),
    [
        (lambda question: question.dismiss(), Ending.DISMISSED),
        (lambda question: question.nobody("closed for today"), Ending.UNSEEN),
        (lambda question: question.fail("the printer burns"), Ending.FAULT),
    ],
)
def test_the_other_ways_back_work_there_too(opened: Opens, way: Callable[[Question], None], ending: Ending) -> None:
    window = Window()
    verdict = asyncio.run(answered(opened(window), window, way))
    assert verdict.resolution is not None
    assert (verdict.allowed, verdict.resolution.ending) == (False, ending)


def test_a_thread_without_a_loop_answers(opened: Opens) -> None:
    window = Window()

    def answer() -> None:
        window.shown.wait(10)
        window.questions[0].answer_threadsafe(Answer(Said.ALLOW, who="ada")).result(10)

    thread = threading.Thread(target=answer)
    thread.start()
    assert opened(window).guard_sync(MAKE).allowed is True
    thread.join()


def test_a_channel_that_cannot_show_ends_the_question_and_says_why(
    opened: Opens, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    began = time.monotonic()
    with caplog.at_level(logging.WARNING, "assent"):
        verdict = opened(Window(KeyError("window 7"))).guard_sync(MAKE)
    assert (verdict.allowed, time.monotonic() - began < 5) == (False, True)
    for told in (verdict.message, last(tmp_path).text("reason"), caplog.text):
        assert "KeyError: 'window 7'" in told
    assert "window" in verdict.message


def test_a_channel_that_fails_leaves_the_others_to_answer(opened: Opens) -> None:
    window = Window(ValueError("no"))
    assert opened(window, lambda held: True).guard_sync(MAKE).allowed is True


@pytest.mark.parametrize("kind", ["plain", "coroutine"])
def test_a_function_that_raises_says_why(
    opened: Opens, tmp_path: Path, caplog: pytest.LogCaptureFixture, kind: str
) -> None:
    def plain(held: Held) -> bool:
        raise LookupError("no such person")

    async def later(held: Held) -> bool:
        raise LookupError("no such person")

    with caplog.at_level(logging.WARNING, "assent"):
        verdict = asyncio.run(_guarded(opened(plain if kind == "plain" else later)))
    assert verdict.allowed is False
    for told in (verdict.message, last(tmp_path).text("reason"), caplog.text):
        assert "LookupError: no such person" in told


async def _guarded(gate: Gate) -> Verdict:
    return await gate.guard(MAKE)


def test_a_function_that_returns_something_else_says_so(opened: Opens, tmp_path: Path) -> None:
    answers: Any = lambda held: "yes"  # noqa: E731  # the mistake in one line
    verdict = opened(answers).guard_sync(MAKE)
    assert verdict.allowed is False
    assert "it returned 'yes'" in verdict.message


def test_an_answer_names_the_place_where_it_was_given(opened: Opens, tmp_path: Path) -> None:
    for said, place in ((Answer(Said.ALLOW, who="ada", channel="pager"), "pager"), (Answer(Said.ALLOW), "callback")):
        assert opened(lambda held, said=said: said).guard_sync(MAKE).allowed is True
        assert last(tmp_path).text("channel") == place


def raising(error: BaseException) -> Callable[[Held], bool]:
    def ask(_: Held) -> bool:
        raise error

    return ask


def raising_later(error: BaseException) -> Callable[[Held], Any]:
    async def ask(_: Held) -> bool:
        raise error

    return ask


@pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt(), GeneratorExit(), StopIteration()], ids=repr)
@pytest.mark.parametrize("made", [Window, raising, raising_later])
def test_what_would_end_a_loop_ends_its_own_question_alone(
    opened: Opens, made: Callable[[BaseException], Any], error: BaseException
) -> None:
    async def asked() -> Verdict:
        return await asyncio.wait_for(opened(made(error)).guard(MAKE), 10)

    verdict = asyncio.run(asked())
    assert not verdict.allowed
    assert type(error).__name__ in verdict.message
    assert opened(lambda _: True).guard_sync(MAKE).allowed
