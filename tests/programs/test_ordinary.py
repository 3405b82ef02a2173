"""Ordinary programs, of the same shape as those in `tests/corpus/harmful_programs.jsonl`: in `full_auto`, with the
packs that `assent install` offers, hardly any of them is asked about.

A line has the command, and the code files that it needs in addition to the project's."""

from __future__ import annotations

import json
from pathlib import Path

from assent.contract import Outcome
from assent.facts import baseline
from assent.state import sessions
from tests.sessions.agent_session import FILES, AgentSession, folder, lay_out, write

HERE = Path(__file__).parent
MOST_ASKED = 0.03


def test_hardly_any_ordinary_program_is_asked_about() -> None:
    rows = [json.loads(line) for line in (HERE / "ordinary.jsonl").read_text(encoding="utf-8").splitlines()]
    held = [(row["id"], outcome) for row, outcome in outcomes(rows) if outcome is not Outcome.ALLOW]
    assert len(held) <= MOST_ASKED * len(rows), held
    assert len(rows) >= 290


def outcomes(rows: list[dict[str, object]]) -> list[tuple[dict[str, object], Outcome]]:
    """Each program in a session of its own."""
    found = []
    with folder() as place:
        lay_out(place)
        session = AgentSession(place, "begin", mode="full_auto")
        for row in rows:
            files = {str(name): str(text) for name, text in dict(row.get("files", {})).items()}  # type: ignore[call-overload]  # texts by path
            for name, text in files.items():
                write(session.project / name, text)
            session.name = str(row["id"])
            sessions.began(str(session.state), session.name, str(session.project), baseline.start_of)
            found.append((row, session.step("bash", {"command": row["command"]}).outcome))
            for name in files:
                (session.project / name).unlink()
            for name in files.keys() & FILES.keys():
                write(session.project / name, FILES[name])
    return found
