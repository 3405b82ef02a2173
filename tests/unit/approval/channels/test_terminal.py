"""A terminal as the broker sees it: one conversation at a time, and none that keeps a question from being seen."""

from __future__ import annotations

import asyncio
import os
import pty

import pytest

from assent.approval.channels import Offering, Question, terminal
from assent.approval.channels.terminal import TerminalChannel
from assent.approval.commands import Receipt, Unknown
from assent.approval.escalation import Offer
from assent.contract import Call, Decision, Layer, Outcome, Part
from assent.contract.approval import Answer, Held, Preview

PART = Part(Outcome.ASK, Layer.MODE, "mode.execute", "it runs something")


def question(said: list[str]) -> Question:
    call = Call("bash", {"command": "npm test"}, cwd="/w")
    held = Held("q1", call, "digest", Decision(Outcome.ASK, PART, (PART,)), Preview("command", "npm test"))

    async def answer(given: Answer) -> Receipt:
        said.append(given.said.value)
        return Unknown("q1")

    return Question(
        held, 0.0, 0, answer=answer, dismiss=lambda: said.append("dismissed"), nobody=print, gone=print, fail=print
    )


def offering(done: list[str]) -> Offering:
    async def accept(mode: str, rule: str, who: str) -> str:
        done.append(mode)
        return "changed"

    def reject(who: str) -> str:
        done.append("rejected")
        return "nothing was changed"

    return Offering(Offer("o1", "s", 3, 3), accept=accept, reject=reject)


@pytest.mark.parametrize(("keys", "done"), [(b"", []), (b"n", ["rejected"]), (b"p", ["plan"])])
def test_an_offer_that_nobody_reacts_to_makes_way_for_a_question_and_is_not_turned_down(
    monkeypatch: pytest.MonkeyPatch, keys: bytes, done: list[str]
) -> None:
    monkeypatch.setattr(terminal, "DEAF", 0.0)
    monkeypatch.setattr(terminal, "MAKES_WAY", 0.3)
    person, device = pty.openpty()
    found: list[str] = []
    said: list[str] = []

    async def scene() -> None:
        channel = TerminalChannel(who="ann", device=os.ttyname(device))
        await channel.offer(offering(found))
        await asyncio.sleep(0.1)
        if keys:
            os.write(person, keys)
        await asyncio.wait_for(channel.show(question(said)), 2)
        await asyncio.sleep(0.1)
        os.write(person, b"y")
        await asyncio.sleep(0.2)
        await channel.close()

    try:
        asyncio.run(scene())
    finally:
        os.close(person)
        os.close(device)
    assert (found, said) == (done, ["allow"])


def test_output_that_was_stopped_goes_on_for_a_question(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminal, "DEAF", 0.0)
    person, device = pty.openpty()
    said: list[str] = []

    async def scene() -> None:
        os.write(person, b"\x13")  # Ctrl-S
        await asyncio.sleep(0.1)
        channel = TerminalChannel(who="ann", device=os.ttyname(device))
        await asyncio.wait_for(channel.show(question(said)), 2)
        os.write(person, b"\x13")
        await asyncio.sleep(0.1)
        os.write(person, b"n")
        await asyncio.sleep(0.2)
        await channel.close()

    try:
        asyncio.run(scene())
        assert b"npm test" in os.read(person, 65536)
    finally:
        os.close(person)
        os.close(device)
    assert said == ["deny"]
