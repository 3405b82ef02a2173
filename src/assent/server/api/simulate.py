"""Endpoints: what would happen to a call, layer by layer, and the ten standard operations in the five modes."""

from __future__ import annotations

import asyncio
from typing import Any

from assent.cli.place import MODES
from assent.contract import Call, Decision, Layer
from assent.engine.cache import EngineCache
from assent.gate import CallGate
from assent.policy import explain
from assent.server.access import Role
from assent.server.api import shown
from assent.server.api.endpoint import ANY, LARGE, TEXT, TEXTS, ApiRequest, Endpoint, Refusal, listing, record
from assent.server.api.policies import QUERY, project_of

# What agents do all day: name, tool, input.
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
    (Layer.FLOOR, "sensitive paths and Assent itself: closed in every mode"),
    (Layer.DENY, "rules that stop"),
    (Layer.ASK, "rules that ask"),
    (Layer.ALLOW, "rules that let through"),
    (Layer.INTRINSIC, "what the effects prove by themselves"),
    (Layer.MODE, "settles the rest"),
)
REMEMBERED = "a remembered answer settles it; without it a person would be asked"
ORDER = [layer for layer, _ in LAYERS]


async def simulate(asked: ApiRequest) -> object:
    return await asyncio.to_thread(_simulate, asked)


def _simulate(asked: ApiRequest) -> object:
    mode, tool, given = asked.text("mode", ""), asked.text("tool"), asked.table("input")
    if mode and mode not in MODES:
        raise Refusal(422, "bad-field", f"`mode` is one of {', '.join(MODES)}")
    project = asked.text("project", "") or asked.house.folder
    if not project.startswith("/") or "\0" in project or len(project) > 4096:
        raise Refusal(422, "bad-field", "`project` is a whole path")
    session = asked.text("session", "")
    decision = decide(asked.house.gate, asked.house.gates_in(mode), project, tool, given, session)
    return {**shown.safe(explain.as_json(decision)), "layers": shown.safe(ladder(decision))}


def decide(
    gate: CallGate, engines: EngineCache, project: str, tool: str, given: dict[str, Any], session: str = ""
) -> Decision:
    """By the rules, then by the answers that are remembered for the project and the session."""
    engine, place = engines.find(project, session)
    call = Call(tool, given, cwd=project, roots=place.roots, home=place.home, session=session)
    return gate.granted(engine.judge(call), call, project=project).decision


def ladder(decision: Decision) -> list[dict[str, object]]:
    """The layers in order: which spoke for which part, which decided, which were not reached."""
    deciding = decision.deciding.layer
    out: list[dict[str, object]] = []
    for layer, words in LAYERS:
        parts = _parts(decision, layer)
        beyond = deciding in ORDER and ORDER.index(layer) > ORDER.index(deciding) and not parts
        state = "spoke" if parts else "beyond" if beyond else "silent"
        out.append({"name": layer.value, "words": words, "parts": parts, "state": state, "decides": layer is deciding})
    if deciding not in ORDER:
        out.append(
            {
                "name": deciding.value,
                "words": REMEMBERED if deciding is Layer.GRANT else "outside the layers",
                "parts": _parts(decision, deciding),
                "state": "spoke",
                "decides": True,
            }
        )
    return out


def _parts(decision: Decision, layer: Layer) -> list[dict[str, str]]:
    return [
        {"outcome": part.outcome.word, "code": part.code, "part": part.what or part.reason}
        for part in decision.parts
        if part.layer is layer
    ]


async def table(asked: ApiRequest) -> object:
    return await asyncio.to_thread(_table, asked)


def _table(asked: ApiRequest) -> object:
    project = project_of(asked)
    rows = []
    for name, tool, given in OPERATIONS:
        house = asked.house
        modes = {mode: decide(house.gate, house.gates_in(mode), project, tool, given) for mode in MODES}
        outcomes = {mode: decision.outcome.word for mode, decision in modes.items()}
        rows.append({"name": name, "tool": tool, "input": given, "outcomes": outcomes})
    return {"modes": list(MODES), "operations": rows, "projects": shown.safe(asked.house.projects(project))}


ENDPOINTS = (
    Endpoint(
        "POST",
        "/v1/simulate",
        simulate,
        needs=Role.PERSON,
        summary="what would happen to a call in a mode, layer by layer; nothing runs, nothing is recorded",
        body=record("tool", tool=TEXT, input=ANY, mode=TEXT, project=TEXT, session=TEXT),
        gives={200: record("outcome layers", outcome={"enum": ["allow", "ask", "deny"]}, layers=listing(ANY))},
        limit=LARGE,
    ),
    Endpoint(
        "GET",
        "/v1/simulate",
        table,
        needs=Role.PERSON,
        summary="ten standard operations in the five modes",
        query=QUERY,
        gives={200: record("modes operations projects", modes=TEXTS, operations=listing(ANY), projects=TEXTS)},
    ),
)
