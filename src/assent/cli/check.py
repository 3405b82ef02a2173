"""`assent check`: one call or many, decided and shown. Runs nothing and writes nothing."""

from __future__ import annotations

import argparse
import json
import os
import sys

from assent.cli.place import add_place
from assent.contract import Call, Decision, Layer, Outcome, PayloadError
from assent.contract.tools import canonical
from assent.engine import configure
from assent.engine.engine import Engine
from assent.engine.memory import Memory
from assent.engine.request import Request
from assent.gate import CallGate
from assent.policy import explain
from assent.policy import grants as granting
from assent.policy.parts import nobody_answers

EXAMPLE = '{"tool": "bash", "input": {"command": "ls"}}'

STATUS = {Outcome.ALLOW: 0, Outcome.ASK: 3, Outcome.DENY: 4}
# Which argument a plain text stands for.
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


DESCRIPTION = (
    "Decide one tool call and print the receipt. Runs nothing and writes nothing. Remembered answers (`assent grants`) "
    "that hold for the project and the session count, and the receipt names the one that settles the call. With "
    "--batch only those count that a line brings itself."
)
EPILOG = "exit status: 0 allow, 3 ask, 4 deny, 2 error"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "tool",
        nargs="?",
        metavar="TOOL",
        help="the tool's name (bash, read, write, …), or - for a call as JSON on standard input",
    )
    parser.add_argument(
        "input", nargs="?", metavar="INPUT", help="the command, path or address, or the tool's input as a JSON object"
    )
    parser.add_argument("--batch", action="store_true", help="one JSON object a line in, one out for each, in order")
    parser.add_argument("--json", action="store_true", help="print the receipt as JSON")
    parser.add_argument("--headless", action="store_true", help="as in a run where nobody can answer: ask becomes deny")
    parser.add_argument(
        "--session",
        metavar="ID",
        default="",
        help="the session: its mode, its remembered answers and its first view of the project's rules hold",
    )
    parser.add_argument("--no-grants", action="store_true", help="by the rules alone, without remembered answers")
    add_place(parser)


def run(options: argparse.Namespace) -> int:
    if options.batch:
        from assent.cli import check_batch

        return check_batch.run(options, sys.stdin.buffer, sys.stdout)
    if options.tool is None:
        raise PayloadError("no call given; try `assent check bash 'git status'`, or `assent check - < call.json`")
    tool, given, cwd, session = _call_of(options)
    here = configure.place(cwd, os.environ)
    gate, here = configure.open_gate(here, os.environ, mode=options.mode, config=options.config, session=session)
    call = Call(tool, given, cwd=cwd, roots=here.roots, home=here.home, session=session)
    decision = _decision(options, gate, here, call)
    show(decision, tool, given, as_json=options.json)
    if decision.deciding.layer is Layer.GRANT and not options.json:
        id = decision.deciding.source.removeprefix(granting.SOURCE)[:8]
        print(f"  then   without the remembered answer it asks; `assent grants revoke {id}` takes that back")
    if decision.outcome is not Outcome.ALLOW and not options.json:
        for clamp in gate.settings.clamps:
            print(f"  held   the mode is held down by {clamp}")
    if gate.settings.classifier is not None and not options.json:
        _tell_of_model(gate, call)
    return STATUS[decision.outcome]


def _decision(options: argparse.Namespace, gate: Engine, here: configure.Place, call: Call) -> Decision:
    """What would happen now: by the rules, then by the answers that are remembered for this project and session."""
    path = CallGate(Memory(here.state))
    if options.no_grants:
        judged = gate.judge(call)
    elif options.mode:  # a mode that is asked about is not the one that the session has
        judged = path.granted(gate.judge(call), call, project=here.project)
    else:
        judged = path.judge(Request(gate, call, here.project))
    asks = judged.decision.outcome is Outcome.ASK
    return nobody_answers(judged.decision) if options.headless and asks else judged.decision


def _call_of(options: argparse.Namespace) -> tuple[str, dict[str, object], str, str]:
    cwd = os.path.abspath(options.cwd or os.getcwd())
    if options.tool != "-":
        return options.tool, read_input(options.tool, options.input or ""), cwd, options.session
    if options.input is not None:
        raise PayloadError("with `-` the whole call comes on standard input; remove the second argument")
    text = sys.stdin.read()
    if not text.strip():
        raise PayloadError(f"standard input is empty; write {EXAMPLE}")
    payload = parse_object(text, "standard input")
    tool, given = payload.get("tool"), payload.get("input", {})
    if not isinstance(tool, str) or not isinstance(given, dict):
        raise PayloadError(f"standard input is no call; write {EXAMPLE}")
    inner = payload.get("cwd", cwd)
    return tool, given, str(inner), str(payload.get("session", "") or options.session)


def read_input(tool: str, text: str) -> dict[str, object]:
    """A tool's input: a JSON object, or the text of its main argument."""
    if text.lstrip().startswith("{"):
        try:
            value = json.loads(text)
        except ValueError:
            value = None
        if isinstance(value, dict):
            return value
    key = MAIN_ARGUMENT.get(canonical(tool))
    if key is None:
        if not text:
            return {}
        raise PayloadError(f'`{tool}` takes its input as a JSON object; write for example \'{{"path": "src"}}\'')
    return {key: text} if text else {}


def parse_object(text: str, where: str) -> dict[str, object]:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise PayloadError(f"{where} is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise PayloadError(f"{where} is not a JSON object")
    return value


def show(decision: Decision, tool: str, given: dict[str, object], *, as_json: bool) -> None:
    if as_json:
        print(json.dumps({**explain.as_json(decision), "agent_message": explain.to_agent(decision)}, indent=1))
        return
    value = given.get(MAIN_ARGUMENT.get(canonical(tool), ""))
    shown = value if isinstance(value, str) else json.dumps(given, ensure_ascii=False)
    text = explain.in_words(decision, f"{tool} {shown}")
    print(coloured(text, decision.outcome) if sys.stdout.isatty() and not os.environ.get("NO_COLOR") else text)


def _tell_of_model(gate: Engine, call: Call) -> None:
    """That a model is asked before a person, where it is. Nobody is asked here."""
    from assent.engine import classify

    backend, judged = gate.settings.classifier, gate.judge(call)
    if backend is not None and classify.may_judge(judged) and classify.unseen(call, judged) is None:
        print(
            f"  then   nothing speaks of it, so the model `{backend.model}` is asked first (`assent classifier check`)"
        )


def coloured(text: str, outcome: Outcome) -> str:
    """The first word in the outcome's colour, for a terminal."""
    word, _, rest = text.partition(" ")
    colour = {Outcome.ALLOW: "32", Outcome.ASK: "33", Outcome.DENY: "31"}[outcome]
    return f"\x1b[1;{colour}m{word}\x1b[0m {rest}"
