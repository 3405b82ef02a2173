"""What agents do all day in ordinary projects: few calls are asked about, and each of those for a reason that is
listed with it. A call that is not listed is allowed, and one that is listed is asked about."""

from __future__ import annotations

from pathlib import Path

import pytest

from assent.contract import Decision, Outcome
from tests.projects import project as projects

MOST_ASKED = {"auto": 0.08, "full_auto": 0.04}


def decided(name: str, folder: Path, mode: str) -> list[tuple[dict[str, object], Decision]]:
    """Every call of a project with its decision; each session begins with the files of the commit."""
    project, out, last = projects.Project(name, folder, mode), [], 0
    for call in projects.calls(name):
        if call["session"] != last:
            project.clean()
            last = call["session"]
        out.append((call, project.decide(call)))
    return out


@pytest.mark.parametrize("name", projects.NAMES)
@pytest.mark.parametrize("mode", MOST_ASKED)
def test_an_ordinary_day_is_hardly_interrupted(name: str, mode: str, tmp_path: Path) -> None:
    found = decided(name, tmp_path.resolve(), mode)
    assert len(found) == 200
    held = [(call, decision) for call, decision in found if decision.outcome is not Outcome.ALLOW]
    unlisted = [
        (call["input"], decision.deciding.code, decision.deciding.reason)
        for call, decision in held
        if call.get(mode) != decision.deciding.code
    ]
    assert unlisted == []
    assert [call["input"] for call, decision in found if mode in call and decision.outcome is Outcome.ALLOW] == []
    assert [call for call, decision in held if decision.outcome is Outcome.DENY] == []
    assert len(held) <= MOST_ASKED[mode] * len(found)


@pytest.mark.parametrize("name", projects.NAMES)
def test_every_listed_question_has_a_reason_in_words(name: str) -> None:
    listed = [call for call in projects.calls(name) if "auto" in call or "full_auto" in call]
    assert listed
    assert [call for call in listed if not call.get("why")] == []
