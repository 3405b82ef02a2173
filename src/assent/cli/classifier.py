"""`assent classifier`: tries the configured model on one call, or measures it on many. Runs and records nothing."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys

from assent.approval.classifier import prompt
from assent.approval.classifier.model import Classifier
from assent.cli import classifier_evaluation
from assent.cli.check import read_input
from assent.cli.place import add_place
from assent.contract import Call, PayloadError
from assent.contract.classifier import Backend, Opinion
from assent.contract.display import one_line, visible
from assent.engine import classify, configure
from assent.engine.engine import Engine, Judged

DESCRIPTION = "Try the model that may judge what no rule speaks of, or measure it. Runs and records nothing."
EPILOG = "It is off until `[classifier]` in ~/.assent/config.toml switches it on; docs/classifier.md tells how."
CHECK = "exit status: 0 the model answered, 1 it did not, 3 it is not asked about this call, 2 error"
EVAL = """\
FILE holds one JSON object a line: {"label": "safe" or "unsafe", "command": "npm test"}, or in place of `command` a
`tool` with its `input`; `id` and `cwd` may be given too. Calls that your rules settle never reach the model: they are
counted apart. Exit status: 0 every case has an answer, 1 some have none, 2 error."""
JOBS = 4
MOST_JOBS = 8
TRIAL = ("bash", {"command": "make test"})


def arguments(parser: argparse.ArgumentParser) -> None:
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    check = verbs.add_parser(
        "check",
        help="ask the model about one call, to see whether it works",
        description="Ask the model about one call (without one: about `make test`), and print what it says.",
        epilog=CHECK,
    )
    check.add_argument("tool", metavar="TOOL", nargs="?", default="", help="the tool's name (bash, write, fetch, …)")
    check.add_argument("input", metavar="INPUT", nargs="?", default="", help="its input, as for `assent check`")
    check.add_argument("--show", action="store_true", help="print what the model is sent, and ask nobody")
    check.add_argument("--json", action="store_true", help="print the opinion as JSON")
    add_place(check)
    measure = verbs.add_parser(
        "eval",
        help="run labelled calls through the model: how often is it wrong, and which way",
        description="Run labelled calls through the model and print its rates of error, with intervals.",
        epilog=EVAL,
    )
    measure.add_argument("file", metavar="FILE", help="the labelled calls, one JSON object a line; - is standard input")
    measure.add_argument("--jobs", metavar="N", type=jobs, default=JOBS, help=f"requests at once (default: {JOBS})")
    measure.add_argument("--json", action="store_true", help="print all numbers and cases as JSON")
    add_place(measure)


def jobs(text: str) -> int:
    number = int(text)
    if not 1 <= number <= MOST_JOBS:
        raise ValueError
    return number


def run(options: argparse.Namespace) -> int:
    gate, here = _opened(options)
    backend = gate.settings.classifier
    if backend is None:
        raise PayloadError(
            "no model is configured; write `[classifier]` into ~/.assent/config.toml (docs/classifier.md)"
        )
    if options.verb == "eval":
        return evaluate(options, gate, here, backend)
    return check(options, gate, here, backend)


def _opened(options: argparse.Namespace) -> tuple[Engine, configure.Place]:
    here = configure.place(os.path.abspath(options.cwd or os.getcwd()), os.environ)
    return configure.open_gate(here, os.environ, mode=options.mode, config=options.config)


# ---------------------------------------------------------------- check


def check(options: argparse.Namespace, gate: Engine, here: configure.Place, backend: Backend) -> int:
    trial = not options.tool
    tool, given = TRIAL if trial else (options.tool, read_input(options.tool, options.input))
    call = Call(tool, given, cwd=here.project, roots=here.roots, home=here.home)
    judged = gate.judge(call)
    if judged.lowering is None:
        raise PayloadError(judged.decision.reason)
    if options.show:
        print(f"{prompt.SYSTEM}\n\n{prompt.framed(classify.shown(call, judged))}")
        return 0
    unseen = classify.unseen(call, judged)
    if not trial and (unseen is not None or not classify.may_judge(judged)):
        return _not_asked(options, judged, unseen[1] if unseen is not None else "")
    found = asyncio.run(_asked(backend, call, judged))
    if options.json:
        print(json.dumps({name: getattr(found, name) for name in found.__slots__}, indent=1))
    else:
        print(in_words(found, backend))
    return 1 if found.error else 0


def _not_asked(options: argparse.Namespace, judged: Judged, unseen: str) -> int:
    decision = judged.decision
    if options.json:
        print(json.dumps({"asked": False, "outcome": decision.outcome.word, "code": decision.code}))
    elif unseen and classify.may_judge(judged):
        print(f"the model is not asked about this call: {unseen}")
    else:
        why = f"{decision.outcome.word}: {decision.reason} [{decision.code}]"
        print(
            f"the model is not asked about this call, which your rules settle or leave to a person\n  {one_line(why)}"
        )
    return 3


async def _asked(backend: Backend, call: Call, judged: Judged) -> Opinion:
    classifier = Classifier(backend, state="", environ=os.environ)
    try:
        return await classifier.asked("check", classify.shown(call, judged), backend.timeout)
    finally:
        classifier.close()


def in_words(found: Opinion, backend: Backend) -> str:
    lines = [f"{backend.model} at {backend.url} ({backend.api}), key {backend.key}"]
    if found.error:
        lines.append(f"no answer ({found.error}): {visible(found.reason)}; a person would be asked")
    else:
        lines.append(f"{'safe' if found.safe else 'not safe: a person would be asked'}: {one_line(found.reason, 300)}")
    took = f"{found.seconds * 1000:.0f} ms, {found.input_tokens} tokens read, {found.output_tokens} written"
    return "\n  ".join([*lines, f"{took}, cost {found.cost:.6f}" if found.cost else took])


# ---------------------------------------------------------------- eval


def evaluate(options: argparse.Namespace, gate: Engine, here: configure.Place, backend: Backend) -> int:
    cases = classifier_evaluation.read(_text(options.file), options.file)
    classifier = Classifier(backend, state="", environ=os.environ)
    try:
        found = asyncio.run(
            classifier_evaluation.evaluate(cases, gate, here, classifier, jobs=options.jobs, progress=Progress())
        )
    finally:
        classifier.close()
    if options.json:
        print(json.dumps(found.as_json(), indent=1))
    else:
        print(found.in_words(backend))
    return 1 if found.errors else 0


def _text(path: str) -> str:
    try:
        if path == "-":
            return sys.stdin.read()
        with open(path, encoding="utf-8-sig") as file:
            return file.read()
    except OSError as error:
        raise PayloadError(f"`{path}` cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise PayloadError(f"`{path}` is not UTF-8") from None


class Progress:
    """Says on a terminal how far it is."""

    def __call__(self, done: int, all: int) -> None:
        if sys.stderr.isatty():
            end = "\n" if done == all else ""
            print(f"\r{done} of {all} calls judged", end=end, file=sys.stderr, flush=True)
