"""Endpoints: what would happen to a call, layer by layer, and to ten standard operations in the five modes."""

from __future__ import annotations

from typing import Any

from assent.cli.command import MODES
from assent.contract import Call, Decision, Layer
from assent.policy import explain
from assent.server.access import Role
from assent.server.api import shown
from assent.server.api.endpoint import (
    ANY,
    LARGE,
    TEXT,
    TEXTS,
    ApiRequest,
    Endpoint,
    Refusal,
    in_thread,
    listing,
    record,
)
from assent.server.api.policies import QUERY, project_of
from assent.server.state import ServerState

# What agents do often: name, tool, input.
OPERATIONS: tuple[tuple[str, str, dict[str, object]], ...] = (
    ("Read a file", "read", {"file_path": "src/app.py"}),
    ("Search files", "search", {"pattern": "TODO", "path": "src"}),
    ("Search the web", "websearch", {"query": "python asyncio"}),
    ("Write a new file", "write", {"file_path": "src/new.py", "content": "x"}),
    ("Edit a file", "write", {"file_path": "src/app.py", "old_string": "a", "new_string": "b"}),
    ("Change with the shell", "bash", {"command": "mkdir build"}),
    ("Delete a file", "bash", {"command": "rm src/old.py"}),
    ("Install a dependency", "bash", {"command": "npm install left-pad"}),
    ("Push with git", "bash", {"command": "git push origin feature"}),
    ("Start a sub-agent", "agent", {"subagent_type": "general", "prompt": "x"}),
)
LAYERS = (
    (Layer.FLOOR, "sensitive paths and Assent itself: denied in every mode"),
    (Layer.DENY, "rules that stop"),
    (Layer.ASK, "rules that ask"),
    (Layer.ALLOW, "rules that let through"),
    (Layer.INTRINSIC, "what the effects prove by themselves"),
    (Layer.MODE, "settles the rest"),
)
REMEMBERED = "a grant settles it; without it a person would be asked"
ORDER = [layer for layer, _ in LAYERS]


def simulate(asked: ApiRequest) -> object:
    mode, tool, given = asked.text("mode", ""), asked.text("tool"), asked.table("input")
    if mode and mode not in MODES:
        raise Refusal(422, "bad-field", f"`mode` must be one of {', '.join(MODES)}")
    decision = decide(
        asked.server, mode, project_of(asked, asked.text("project", "")), tool, given, asked.text("session", "")
    )
    return {**shown.safe(explain.as_json(decision)), "layers": shown.safe(ladder(decision))}


def decide(
    server: ServerState, mode: str, project: str, tool: str, given: dict[str, Any], session: str = ""
) -> Decision:
    """Decide by the rules, then by the grants of the project and the session."""
    engine, place = server.engines_in(mode).find(project, session)
    call = Call(tool, given, cwd=project, roots=place.roots, home=place.home, session=session)
    return server.gate.granted(engine.judge(call), call, project=project).decision


def ladder(decision: Decision) -> list[dict[str, object]]:
    """The layers in order: which matched which part, which decided, which were not reached."""
    deciding = decision.deciding.layer
    words = REMEMBERED if deciding is Layer.GRANT else "outside the layers"
    rows = LAYERS if deciding in ORDER else (*LAYERS, (deciding, words))
    out: list[dict[str, object]] = []
    for layer, words in rows:
        parts = [
            {"outcome": part.outcome.word, "code": part.code, "part": part.what or part.reason}
            for part in decision.parts
            if part.layer is layer
        ]
        beyond = deciding in ORDER and ORDER.index(layer) > ORDER.index(deciding)
        state = "spoke" if parts or layer not in ORDER else "beyond" if beyond else "silent"
        out.append({"name": layer.value, "words": words, "parts": parts, "state": state, "decides": layer is deciding})
    return out


def table(asked: ApiRequest) -> object:
    project = project_of(asked, asked.query.get("project", ""))
    rows = [
        {
            "name": name,
            "tool": tool,
            "input": given,
            "outcomes": {mode: decide(asked.server, mode, project, tool, given).outcome.word for mode in MODES},
        }
        for name, tool, given in OPERATIONS
    ]
    return {"modes": list(MODES), "operations": rows, "projects": shown.safe(asked.server.projects(project))}


ENDPOINTS = (
    Endpoint(
        "POST",
        "/v1/simulate",
        in_thread(simulate),
        needs=Role.PERSON,
        summary="what would happen to a call in a mode, layer by layer; nothing runs, nothing is recorded",
        body=record("tool", tool=TEXT, input=ANY, mode=TEXT, project=TEXT, session=TEXT),
        gives={200: record("outcome layers", outcome={"enum": ["allow", "ask", "deny"]}, layers=listing(ANY))},
        limit=LARGE,
    ),
    Endpoint(
        "GET",
        "/v1/simulate",
        in_thread(table),
        needs=Role.PERSON,
        summary="ten standard operations in the five modes",
        query=QUERY,
        gives={200: record("modes operations projects", modes=TEXTS, operations=listing(ANY), projects=TEXTS)},
    ),
)
