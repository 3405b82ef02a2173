"""Payloads in the shape that the runtimes send them → events, and replies → what the runtimes read.

Each file in tests/golden/RUNTIME is one payload, what it means, and what is answered to it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assent import agents
from assent.agents import known
from assent.contract import PayloadError
from tests.golden.form import Form, event_form, rendered_form, reply_of, response_form

GOLDEN = Path(__file__).parents[2] / "golden"
FILES = sorted(GOLDEN.glob("*/*.json"))


def name(path: Path) -> str:
    return path.relative_to(GOLDEN).with_suffix("").as_posix()


@pytest.mark.parametrize("path", FILES, ids=name)
def test_a_payload_means_what_it_says_and_is_answered_in_the_runtime_s_own_form(path: Path) -> None:
    golden: Form = json.loads(path.read_text(encoding="utf-8"))
    assert answered(path.parent.name, golden) == golden


def answered(runtime: str, golden: Form) -> Form:
    """A golden file as the code would write it."""
    adapter = agents.load(runtime)
    environ = golden.get("environ", {})
    project = golden.get("project", "")
    assert isinstance(environ, dict)
    assert isinstance(project, str)
    form: Form = {key: golden[key] for key in ("payload", "environ", "project") if key in golden}
    event = None
    try:
        sent = json.dumps(golden["payload"])
        event = adapter.parse_text(sent, environ=environ, home="/home/me", project=project)
        form["event"] = event_form(event)
    except PayloadError as error:
        form["error"] = str(error)
    if "replies" in golden:
        rows: list[Form] = []
        assert isinstance(golden["replies"], list)
        for row in golden["replies"]:
            reply = reply_of(row["reply"])
            rows.append({"reply": row["reply"], **rendered_form(adapter.render(event, reply))})
            if "http" in row:
                rows[-1]["http"] = response_form(adapter.respond(event, reply))
        form["replies"] = rows
    return form


def test_every_runtime_has_golden_files_for_each_answer_to_a_call() -> None:
    seen: dict[str, set[tuple[str, bool, bool]]] = {}
    for path in FILES:
        for row in json.loads(path.read_text(encoding="utf-8")).get("replies", []):
            reply = reply_of(row["reply"])
            seen.setdefault(path.parent.name, set()).add((reply.outcome.word, reply.stop, reply.fault))
    wanted = {
        ("allow", False, False),
        ("ask", False, False),
        ("deny", False, False),
        ("deny", True, False),
        ("deny", False, True),
    }
    assert {runtime: answers & wanted for runtime, answers in seen.items()} == dict.fromkeys(known.runtimes(), wanted)
