"""Programs that run a call whose hook does not answer, whatever its settings say: Assent blocks before they do.

Each test waits past the program's own limit, so that one that runs the call after all is noticed."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import pytest

from assent import agents
from assent.agents.adapter import deadline_within

from .client import Client
from .cline import Cline
from .gate import Gate, answering, runtime, serving
from .model import Say, Turn, Use
from .observed import DONE
from .programs import Programs
from .qwen import Qwen
from .sandbox import Sandbox

POLICY = 'mode = "default"\n[approval]\ntimeout = 300\nunseen = 300\nroute = "broker"\n'
AFTER = 10.0  # seconds past the limit


@pytest.mark.parametrize("kind", [Qwen, Cline], ids=lambda kind: str(kind.name))
def test_a_question_that_nobody_answers_is_a_denial_before_the_program_goes_on(
    kind: type[Client], place: Sandbox, installed: Programs
) -> None:
    client, gate = kind(installed), Gate(place, POLICY)
    gate.install(client)
    limit = agents.load(runtime(client)).limit
    shown: list[float] = []

    def look(question: dict[str, Any]) -> None:
        shown.append(question["deadline"] - time.time())

    def waits(results: Sequence[str]) -> Turn:
        time.sleep(limit - deadline_within(limit) + AFTER)  # the program lives on, past its limit
        return Say(DONE.text)

    start = time.monotonic()
    with serving(gate) as server, answering(server, look):
        run = client.run(place, [Use(client.shell("touch made")), waits], args=client.loose, deadline=limit + 60)
        time.sleep(max(start + limit + AFTER - time.monotonic(), 0))
    assert not (place.project / "made").exists()
    assert run.changed == {}
    assert len(shown) == 1
    assert limit / 2 < shown[0] < deadline_within(limit)
    assert [(each["outcome"], each["code"]) for each in gate.records("answer")] == [("deny", "answer.expired")]
    assert [each["outcome"] for each in gate.records("decision")] == ["ask"]
