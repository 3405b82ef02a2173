"""`assent check`: decides one call, or with `--batch` many, and prints the outcome. Runs nothing and writes nothing.

A batch reads JSON lines and prints one for each, in order. A line may bring its own rules, grants, mode, home,
environment and host facts, so that cases are portable. A line that is no call, or whose policy does not load, gets the
outcome `error`."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import IO

from assent import agents
from assent.agents import payload
from assent.cli.command import WHERE, flag, takes, text
from assent.contract import AssentError, Call, Decision, Layer, Outcome, PayloadError
from assent.contract.approval import Grant, Scope
from assent.contract.tools import canonical
from assent.engine import configure
from assent.engine.engine import Engine, Judged, Request
from assent.engine.memory import Memory
from assent.facts import digest
from assent.gate import CallGate
from assent.policy import explain, grants
from assent.policy.document import Document, document_of
from assent.policy.parts import nobody_answers
from assent.policy.rules import Origin
from assent.policy.settings import combine

DESCRIPTION = (
    "Decide one tool call and print the receipt. Runs nothing and writes nothing. Saved answers (`assent grants`) "
    "of the project and the session apply; the receipt names the one that settles the call. With --batch, only the "
    "`grants` of a line apply."
)
EPILOG = "exit status: 0 allow, 3 ask, 4 deny, 2 error"
EXAMPLE = '{"tool": "bash", "input": {"command": "ls"}}'
STATUS = {Outcome.ALLOW: 0, Outcome.ASK: 3, Outcome.DENY: 4}
COLOURS = {Outcome.ALLOW: "32", Outcome.ASK: "33", Outcome.DENY: "31"}
# The argument that INPUT is, if it is no JSON object.
MAIN_ARGUMENT = {
    "bash": "command",
    "read": "file_path",
    "write": "file_path",
    "delete": "file_path",
    "list": "path",
    "search": "path",
    "fetch": "url",
    "websearch": "query",
    "agent": "subagent_type",
}
KNOWN = frozenset(
    "id tool input cwd mode rules project_rules headless home env facts hint annotations session shell roots "
    "description grants runtime agent".split()
)
TOOL = "the tool's name (bash, read, write, …), or - for a call as JSON on standard input"
INPUT = "the command, path or address, or the tool's input as a JSON object"
arguments = takes(
    {
        "tool": {"nargs": "?", "metavar": "TOOL", "help": TOOL},
        "input": {"nargs": "?", "metavar": "INPUT", "help": INPUT},
        "--batch": flag("read one JSON object per line, print one for each, in order"),
        "--json": flag("print the receipt as JSON"),
        "--headless": flag("decide as if nobody could answer: ask becomes deny"),
        "--session": text("ID", "use this session's mode, saved answers and first view of the project's rules"),
        "--no-grants": flag("decide by the rules alone, without saved answers"),
        **WHERE,
    }
)


def run(options: argparse.Namespace) -> int:
    if options.batch:
        return run_batch(options, sys.stdin.buffer, sys.stdout)
    if options.tool is None:
        raise PayloadError("no call given; try `assent check bash 'git status'`, or `assent check - < call.json`")
    tool, given, cwd, session = _call_of(options)
    here = configure.place(cwd, os.environ)
    gate, here = configure.open_gate(here, os.environ, mode=options.mode, config=options.config, session=session)
    path = os.environ.get("PATH", "")
    call = Call(tool, given, cwd=cwd, roots=here.roots, home=here.home, session=session, path=path)
    decision = _decision(options, gate, here, call)
    if options.json:
        print(json.dumps({**explain.as_json(decision), "agent_message": explain.to_agent(decision)}, indent=1))
        return STATUS[decision.outcome]
    value = given.get(MAIN_ARGUMENT.get(canonical(tool), ""))
    shown = value if isinstance(value, str) else json.dumps(given, ensure_ascii=False)
    receipt = explain.in_words(decision, f"{tool} {shown}")
    if sys.stdout.isatty() and not os.environ.get("NO_COLOR"):
        word, _, rest = receipt.partition(" ")
        receipt = f"\x1b[1;{COLOURS[decision.outcome]}m{word}\x1b[0m {rest}"
    print("\n  ".join([receipt, *_notes(gate, call, decision)]))
    return STATUS[decision.outcome]


def _notes(gate: Engine, call: Call, decision: Decision) -> list[str]:
    """Notes on the decision for a person."""
    notes = []
    if decision.deciding.layer is Layer.GRANT:
        id = decision.deciding.source.removeprefix(grants.SOURCE)[:8]
        notes.append(f"then   without the saved answer it asks; `assent grants revoke {id}` revokes that")
    if decision.outcome is not Outcome.ALLOW:
        notes += [f"mode   capped by {clamp}" for clamp in gate.settings.clamps]
    if (backend := gate.settings.classifier) is not None:
        from assent.engine import classify

        judged = gate.judge(call)
        if classify.may_judge(judged) and classify.unseen(call, judged) is None:
            model = f"the model `{backend.model}` is asked first (`assent classifier check`)"
            notes.append(f"then   no rule matches it, so {model}")
    return notes


def _decision(options: argparse.Namespace, gate: Engine, here: configure.Place, call: Call) -> Decision:
    """The decision by the rules, then by the saved answers of this project and session."""
    path = CallGate(Memory(here.state))
    if options.no_grants:
        judged = gate.judge(call)
    elif options.mode:  # the mode of the option is not that of the session
        judged = path.granted(gate.judge(call), call, project=here.project)
    else:
        judged = path.judge(Request(gate, call, here.project))
    return _answered(judged.decision, headless=options.headless)


def _answered(decision: Decision, *, headless: bool) -> Decision:
    return nobody_answers(decision) if headless and decision.outcome is Outcome.ASK else decision


def _call_of(options: argparse.Namespace) -> tuple[str, dict[str, object], str, str]:
    """Tool, input, folder and session."""
    cwd = os.path.abspath(options.cwd or os.getcwd())
    if options.tool != "-":
        return options.tool, read_input(options.tool, options.input or ""), cwd, options.session
    if options.input is not None:
        raise PayloadError("with `-` the whole call comes on standard input; remove the second argument")
    given = sys.stdin.read()
    if not given.strip():
        raise PayloadError(f"standard input is empty; write {EXAMPLE}")
    call = payload.value(given)
    if not isinstance(call, dict):
        raise PayloadError("standard input is not a JSON object")
    tool, found = call.get("tool"), call.get("input", {})
    if not isinstance(tool, str) or not isinstance(found, dict):
        raise PayloadError(f"standard input is not a call; write {EXAMPLE}")
    return tool, found, str(call.get("cwd", cwd)), str(call.get("session", "") or options.session)


def read_input(tool: str, given: str) -> dict[str, object]:
    """A tool's input: a JSON object, or the text of its main argument."""
    if given.lstrip().startswith("{"):
        with suppress(ValueError):
            value = json.loads(given, object_pairs_hook=payload.once)
            if isinstance(value, dict):
                return value
    key = MAIN_ARGUMENT.get(canonical(tool))
    if given and key is None:
        raise PayloadError(f'`{tool}` takes its input as a JSON object; write for example \'{{"path": "src"}}\'')
    return {key: given} if given and key else {}


# ---------------------------------------------------------------- batch


def run_batch(options: argparse.Namespace, lines: IO[bytes], out: IO[str]) -> int:
    """Answer every line; return 2 if a line was no call or its policy did not load, else 0."""
    batch, status = BatchCheck(options), 0
    for number, raw in enumerate(lines, 1):
        if raw.strip():
            answer = batch.answer(raw, number)
            status = 2 if answer["outcome"] == "error" else status
            out.write(json.dumps(answer) + "\n")
    out.flush()
    return status


class BatchCheck:
    """Gates and places, made once for all the lines that share them."""

    def __init__(
        self,
        options: argparse.Namespace,
        *,
        environ: Mapping[str, str] = os.environ,
        documents: Sequence[Document] | None = None,
    ) -> None:
        """`documents` replace the configuration files of this machine."""
        self.options = options
        self._environ = environ
        self._given = documents
        self._documents: dict[str, Sequence[Document]] = {}
        self._gates: dict[str, Engine] = {}
        self._places: dict[tuple[str, str], configure.Place] = {}

    def answer(self, raw: bytes, number: int) -> dict[str, object]:
        name: object = number
        try:
            row = parse_line(raw)
            name = row.get("id", number)
            return {"id": name, **self.decide(row)}
        except AssentError as error:
            return {"id": name, "outcome": "error", "code": "policy.load", "reason": str(error)}

    def decide(self, row: Mapping[str, object]) -> dict[str, object]:
        decision = self.decision(row)
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

    def decision(self, row: Mapping[str, object]) -> Decision:
        tool, given, cwd = row.get("tool"), row.get("input", {}), row.get("cwd", self.options.cwd or os.getcwd())
        if not isinstance(tool, str) or not isinstance(given, dict) or not isinstance(cwd, str):
            raise PayloadError("a line needs `tool` (text), `input` (an object) and `cwd` (text)")
        here = self.place(cwd, str(row.get("home") or ""))
        gate, facts = self.gate(row, here), row.get("facts")
        links = facts.get("symlinks", {}) if isinstance(facts, dict) else None
        files = facts.get("files", {}) if isinstance(facts, dict) else None
        untouched = tuple(facts.get("untouched", ())) if isinstance(facts, dict) else ()
        named = {name: str(row.get(name, "")) for name in ("shell", "session", "runtime", "hint", "agent")}
        environ = row.get("env")
        path = str(environ.get("PATH", "")) if isinstance(environ, dict) else ""
        named |= {"path": path, "keeps": agents.keeps(named["runtime"])}
        said = row.get("annotations")
        call = Call(tool, given, cwd=cwd, roots=here.roots, home=here.home, annotations=said, **named)
        judged = gate.judge(call, links=links, files=files, untouched=untouched)
        decision = _granted(judged, call, own_grants(row.get("grants")))
        return _answered(decision, headless=bool(row.get("headless", self.options.headless)))

    def place(self, cwd: str, home: str) -> configure.Place:
        if (cwd, home) not in self._places:
            self._places[cwd, home] = configure.place(cwd, self._environ, home=home)
        return self._places[cwd, home]

    def gate(self, row: Mapping[str, object], here: configure.Place) -> Engine:
        """The gate for a line's own rules, mode and environment, with the files of this machine."""
        mode, rules, project, environ = row.get("mode"), row.get("rules"), row.get("project_rules"), row.get("env")
        environment_mode = (environ if isinstance(environ, dict) else self._environ).get("ASSENT_MODE", "")
        key = json.dumps([mode, rules, project, environment_mode, here.project], sort_keys=True)
        if key not in self._gates:
            found = [*self._files(here), *own_documents(rules, project)]
            flag_mode = str(mode or self.options.mode or "")
            settings = combine(found, environment_mode=str(environment_mode), flag_mode=flag_mode)
            examples = tuple(example for document in found for example in document.examples)
            self._gates[key] = Engine(settings, own=configure.own(here), examples=examples, state=here.state)
        return self._gates[key]

    def _files(self, here: configure.Place) -> Sequence[Document]:
        if self._given is not None:
            return self._given
        if here.project not in self._documents:
            self._documents[here.project] = configure.documents(here, config=self.options.config)
        return self._documents[here.project]


def _granted(judged: Judged, call: Call, held: tuple[Grant, ...]) -> Decision:
    """The decision with a line's own grants, which count as if they were given just now."""
    lowering, facts, policy = judged.lowering, judged.facts, judged.policy
    if not held or lowering is None or facts is None or policy is None:
        return judged.decision
    identity, running = digest.identity(call), digest.running(lowering, facts)
    files = tuple(pair for pairs in running.values() for pair in pairs)
    bound = tuple(
        Grant(
            each.id,
            each.scope,
            rules=each.rules,
            identity="" if each.rules else identity,
            answers=each.answers,
            files=files,
        )
        for each in held
    )
    return grants.settle(lowering, facts, policy, judged.decision, bound, identity=identity, running=running)


def own_grants(given: object) -> tuple[Grant, ...]:
    """A line's own grants: lists of `rules` (none: the identical call) and the ask rules that they `answer`."""
    if given is None:
        return ()
    if not isinstance(given, list) or not all(isinstance(each, dict) for each in given):
        raise PayloadError("`grants` must be a list of objects with `rules` and `answers`")
    return tuple(
        Grant(str(at), Scope.SESSION, rules=_texts(each.get("rules")), answers=_texts(each.get("answers")))
        for at, each in enumerate(given, 1)
    )


def _texts(given: object) -> tuple[str, ...]:
    if not isinstance(given, list | None) or not all(isinstance(each, str) for each in given or ()):
        raise PayloadError("`rules` and `answers` of a grant must be lists of rules")
    return tuple(given or ())


def parse_line(raw: bytes) -> dict[str, object]:
    row = payload.value(raw)
    if not isinstance(row, dict):
        raise PayloadError("not a JSON object")
    if unknown := row.keys() - KNOWN:
        raise PayloadError(f"unknown key `{min(unknown)}`; known are {', '.join(sorted(KNOWN))}")
    return row


def own_documents(rules: object, project: object) -> list[Document]:
    """A line's own rules as a user's file, its project rules as a project's."""
    out: list[Document] = []
    for table, file, origin in ((rules, "rules", Origin.USER), (project, ".assent.toml", Origin.PROJECT)):
        if isinstance(table, dict):
            out.append(document_of(table, file, origin))
        elif table is not None:
            raise PayloadError(f"`{file}` must be an object with lists of rules")
    return out
