"""`assent classifier`: asks the configured model about one call, or measures it on many. Runs and records nothing."""

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
from assent.cli.command import WHERE, Verb, flag, open_gate, takes_verb, text
from assent.contract import Call, PayloadError
from assent.contract.classifier import Backend, Opinion
from assent.contract.display import one_line, visible
from assent.engine import classify, configure
from assent.engine.engine import Engine, Judged

DESCRIPTION = "Try or measure the model that may judge calls that no rule settles. Runs and records nothing."
EPILOG = "It is off until ~/.assent/config.toml has a `[classifier]` section; see docs/classifier.md."
EVAL = """\
FILE holds one JSON object per line: {"label": "safe" or "unsafe", "command": "npm test"}, or a `tool`
with its `input` instead of `command`; `id` and `cwd` are optional. Calls that your rules settle never reach the model:
they are counted separately. Exit status: 0 every case has an answer, 1 some have none, 2 error."""
DEFAULT_JOBS = 4
MOST_JOBS = 8
TRIAL = ("bash", {"command": "make test"})


def jobs(text: str) -> int:
    """The type of `--jobs`."""
    if not 1 <= int(text) <= MOST_JOBS:
        raise ValueError
    return int(text)


JOBS = {"metavar": "N", "type": jobs, "default": DEFAULT_JOBS, "help": f"requests at once (default: {DEFAULT_JOBS})"}
arguments = takes_verb(
    {
        "check": Verb(
            "ask the model about one call, to see whether it works",
            {
                "tool": {**text("TOOL", "the tool's name (bash, write, fetch, …)"), "nargs": "?"},
                "input": {**text("INPUT", "its input, as for `assent check`"), "nargs": "?"},
                "--show": flag("print what the model would be sent, and ask nobody"),
                "--json": flag("print the opinion as JSON"),
                **WHERE,
            },
            "Ask the model about one call (without one: about `make test`), and print its opinion.",
            "exit status: 0 the model answered, 1 it did not, 3 it is not asked about this call, 2 error",
        ),
        "eval": Verb(
            "run labelled calls through the model, and measure its errors",
            {
                "file": {"metavar": "FILE", "help": "labelled calls, one JSON object per line; - is standard input"},
                "--jobs": JOBS,
                "--json": flag("print all numbers and cases as JSON"),
                **WHERE,
            },
            "Run labelled calls through the model and print its error rates, with intervals.",
            EVAL,
        ),
    }
)


def run(options: argparse.Namespace) -> int:
    gate, here = open_gate(options)
    backend = gate.settings.classifier
    if backend is None:
        raise PayloadError("no model is configured; add `[classifier]` to ~/.assent/config.toml (docs/classifier.md)")
    return {"check": check, "eval": evaluate}[options.verb](options, gate, here, backend)


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
