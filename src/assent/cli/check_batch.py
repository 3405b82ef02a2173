"""`assent check --batch`: JSON lines in, JSON lines out, in order. Decides nothing itself.

A line may bring its own rules, grants, mode, home, environment and host facts, so that cases are portable. A line whose
policy does not load, or that is no call, answers with the outcome `error`."""

from __future__ import annotations

import argparse
import json
import os
from typing import IO

from assent.contract import AssentError, Call, Decision, Outcome, PayloadError
from assent.contract.approval import Grant, Scope
from assent.engine import configure
from assent.engine.engine import Engine, Judged
from assent.facts import digest
from assent.policy.document import Document, document_of
from assent.policy.grants import settle
from assent.policy.parts import nobody_answers
from assent.policy.rules import Origin
from assent.policy.settings import combine

KNOWN = frozenset(
    "id tool input cwd mode rules project_rules headless home env facts session shell roots description grants "
    "runtime".split()
)


def run(options: argparse.Namespace, lines: IO[bytes], out: IO[str]) -> int:
    """Answer every line; return 0 where all lines were calls with a policy that loads, else 2."""
    batch = Batch(options)
    status = 0
    for number, raw in enumerate(lines, 1):
        if not raw.strip():
            continue
        answer = batch.answer(raw, number)
        status = 2 if answer["outcome"] == "error" else status
        out.write(json.dumps(answer) + "\n")
    out.flush()
    return status


class Batch:
    """Gates and places, made once for all the lines that share them."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.found: dict[str, list[Document]] = {}
        self.gates: dict[str, Engine] = {}
        self.places: dict[tuple[str, str], configure.Place] = {}

    def answer(self, raw: bytes, number: int) -> dict[str, object]:
        name: object = number
        try:
            row = parse_line(raw)
            name = row.get("id", number)
            return {"id": name, **self.decide(row)}
        except AssentError as error:
            return {"id": name, "outcome": "error", "code": "policy.load", "reason": str(error)}

    def decide(self, row: dict[str, object]) -> dict[str, object]:
        tool, given, cwd = row.get("tool"), row.get("input", {}), row.get("cwd", self.options.cwd or os.getcwd())
        if not isinstance(tool, str) or not isinstance(given, dict) or not isinstance(cwd, str):
            raise PayloadError("a line needs `tool` (text), `input` (an object) and `cwd` (text)")
        here = self.place(cwd, str(row.get("home") or ""))
        gate = self.gate(row, here)
        facts = row.get("facts")
        links = facts.get("symlinks", {}) if isinstance(facts, dict) else None
        call = Call(
            tool,
            given,
            cwd=cwd,
            roots=here.roots,
            home=here.home,
            shell=str(row.get("shell", "")),
            session=str(row.get("session", "")),
            runtime=str(row.get("runtime", "")),
        )
        headless = bool(row.get("headless", self.options.headless))
        decision = _decision(gate.judge(call, links=links), call, own_grants(row.get("grants")), headless=headless)
        part = decision.deciding
        return {
            "outcome": decision.outcome.word,
            "code": part.code,
            "reason": part.reason,
            "part": part.what,
            "rule": part.rule,
            "risk": decision.risk,
            "mode": decision.mode,
        }

    def place(self, cwd: str, home: str) -> configure.Place:
        key = (cwd, home)
        found = self.places.get(key)
        if found is None:
            found = self.places[key] = configure.place(cwd, os.environ, home=home)
        return found

    def gate(self, row: dict[str, object], here: configure.Place) -> Engine:
        """The gate for a line's own rules, mode and environment over the files of this machine."""
        mode, rules, project = row.get("mode"), row.get("rules"), row.get("project_rules")
        env = row.get("env")
        said = env.get("ASSENT_MODE", "") if isinstance(env, dict) else os.environ.get("ASSENT_MODE", "")
        key = json.dumps([mode, rules, project, said, here.project], sort_keys=True)
        gate = self.gates.get(key)
        if gate is None:
            found = [*self.files(here), *own_documents(rules, project)]
            settings = combine(found, environment_mode=str(said), flag_mode=str(mode or self.options.mode or ""))
            examples = tuple(example for document in found for example in document.examples)
            gate = self.gates[key] = Engine(settings, own=configure.own(here), examples=examples, state=here.state)
        return gate

    def files(self, here: configure.Place) -> list[Document]:
        found = self.found.get(here.project)
        if found is None:
            found = self.found[here.project] = configure.documents(here, config=self.options.config)
        return found


def _decision(judged: Judged, call: Call, held: tuple[Grant, ...], *, headless: bool) -> Decision:
    decision = judged.decision
    if held and judged.lowering is not None and judged.facts is not None and judged.policy is not None:
        named = digest.identity(call)
        running = digest.running(judged.lowering, judged.facts)
        files = tuple(pair for pairs in running.values() for pair in pairs)  # as if it was answered just now
        held = tuple(
            Grant(
                each.id,
                each.scope,
                rules=each.rules,
                identity="" if each.rules else named,
                answers=each.answers,
                files=files,
            )
            for each in held
        )
        lowering, facts, policy = judged.lowering, judged.facts, judged.policy
        decision = settle(lowering, facts, policy, decision, held, identity=named, running=running)
    return nobody_answers(decision) if headless and decision.outcome is Outcome.ASK else decision


def own_grants(given: object) -> tuple[Grant, ...]:
    """A line's own grants: lists of `rules` (none: this very call) and the ask rules that they `answer`."""
    if given is None:
        return ()
    if not isinstance(given, list) or not all(isinstance(each, dict) for each in given):
        raise PayloadError("`grants` is a list of objects with `rules` and `answers`")
    return tuple(
        Grant(str(at), Scope.SESSION, rules=_texts(each.get("rules")), answers=_texts(each.get("answers")))
        for at, each in enumerate(given, 1)
    )


def _texts(given: object) -> tuple[str, ...]:
    if not isinstance(given, list | None) or not all(isinstance(each, str) for each in given or ()):
        raise PayloadError("`rules` and `answers` of a grant are lists of rules")
    return tuple(given or ())


def parse_line(raw: bytes) -> dict[str, object]:
    try:
        row = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise PayloadError(f"not JSON: {error}") from None
    if not isinstance(row, dict):
        raise PayloadError("not a JSON object")
    unknown = row.keys() - KNOWN
    if unknown:
        raise PayloadError(f"unknown key `{min(unknown)}`; known are {', '.join(sorted(KNOWN))}")
    return row


def own_documents(rules: object, project: object) -> list[Document]:
    """A line's own rules as a user's file, its project rules as a project's."""
    out: list[Document] = []
    for table, file, origin in ((rules, "rules", Origin.USER), (project, ".assent.toml", Origin.PROJECT)):
        if table is None:
            continue
        if not isinstance(table, dict):
            raise PayloadError(f"`{file}` is an object with lists of rules")
        out.append(document_of(table, file, origin))
    return out
