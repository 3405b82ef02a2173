"""The document and the server say the same: every route is described, and answers are of the form that it says."""

from __future__ import annotations

import re
from pathlib import Path

import jsonschema
import pytest

from assent.server.access import Role
from assent.server.api.openapi import ENDPOINTS, describe
from tests.server.program import Answer, Person, Program

ROOT = Path(__file__).parents[2]


def test_the_document_names_every_endpoint_and_nothing_else(program: Program) -> None:
    served = program.ask("GET", "/openapi.json").json
    assert served == describe()
    found = {(method.upper(), path) for path, methods in served["paths"].items() for method in methods}
    assert found == {(each.method, each.path) for each in ENDPOINTS}
    names = [operation["operationId"] for methods in served["paths"].values() for operation in methods.values()]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda each: f"{each.method} {each.path}")
def test_every_endpoint_is_there(program: Program, endpoint: object) -> None:
    method, path = getattr(endpoint, "method"), getattr(endpoint, "path")  # noqa: B009
    found = program.ask(method, path.replace("{id}", "x"), {} if method == "POST" else None)
    assert found.status not in (404, 405)


def check(answer: Answer, method: str, path: str) -> None:
    document = describe()
    content = document["paths"][path][method.lower()]["responses"][str(answer.status)]["content"]
    jsonschema.validate(answer.json, content["application/json"]["schema"])


def test_answers_are_of_the_form_that_the_document_says(program: Program, person: Person) -> None:
    call = {"tool": "bash", "input": {"command": "make"}, "cwd": str(program.project), "session": "s", "wait": 0}
    check(program.ask("POST", "/v1/check", call, unix=True), "POST", "/v1/check")
    check(program.ask("POST", "/v1/calls", call, unix=True), "POST", "/v1/calls")
    question = person.held()[0]
    check(person.ask("GET", "/v1/held"), "GET", "/v1/held")
    reach = person.ask("POST", f"/v1/held/{question['id']}/reach", {"rules": ["bash(make)"]})
    check(reach, "POST", "/v1/held/{id}/reach")
    check(person.answer(question), "POST", "/v1/held/{id}/answer")
    for path in ("/v1/policy", "/v1/mode", "/v1/grants", "/v1/simulate", "/v1/audit", "/v1/audit/stats", "/v1/session"):
        check(person.ask("GET", path), "GET", path)
    check(person.ask("POST", "/v1/mode", {"session": "s", "mode": "auto"}), "POST", "/v1/mode")
    check(person.ask("POST", "/v1/simulate", {"tool": "bash", "input": {"command": "ls"}}), "POST", "/v1/simulate")
    check(person.ask("POST", "/v1/audit/verify", {}), "POST", "/v1/audit/verify")
    check(program.ask("GET", "/v1/status", unix=True), "GET", "/v1/status")
    check(program.ask("GET", "/healthz"), "GET", "/healthz")


def test_what_a_document_requires_is_asked_for(person: Person) -> None:
    for each in ENDPOINTS:
        if each.body is None or not each.body.get("required") or each.needs is not Role.PERSON:
            continue
        found = person.ask(each.method, each.path.replace("{id}", "x"), {})
        assert found.status in (404, 422), each.path


def test_the_counters_are_text_for_prometheus(program: Program, person: Person) -> None:
    program.call("ls")
    text = person.ask("GET", "/metrics").raw.decode()
    assert re.search(r'^assent_decisions_total\{outcome="allow"\} [1-9]', text, re.MULTILINE)
    for line in text.splitlines():
        assert re.fullmatch(r'# (HELP|TYPE) assent_\w+ .+|assent_\w+(\{outcome="\w+"\})? [0-9.e+]+', line), line
