"""`assent classifier`: asks the configured model about one call, or measures it on many. Runs and records nothing."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import posixpath
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from math import ceil, sqrt

from assent.approval.classifier import prompt
from assent.approval.classifier.model import Classifier
from assent.cli.check import read_input
from assent.cli.command import WHERE, Verb, flag, open_gate, takes_verb, text
from assent.contract import Call, PayloadError, Value
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
LABELS = ("safe", "unsafe")
KEYS = frozenset("id label tool input command cwd note".split())
Z = 1.959964  # for 95 %
TRIES = 3
PAUSE = 1.0  # seconds before the second try, twice that before the third
TRANSIENT = ("timeout", "connection", "status-429", "status-5")  # errors that may pass
LISTED = 20


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
    with closing(Classifier(backend, state="", environ=os.environ)) as classifier:
        return await classifier.asked("check", classify.shown(call, judged), backend.timeout)


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
    cases = read(_text(options.file), options.file)
    with closing(Classifier(backend, state="", environ=os.environ)) as classifier:
        found = asyncio.run(measure(cases, gate, here, classifier, jobs=options.jobs, progress=show_progress))
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


def show_progress(done: int, all: int) -> None:
    if sys.stderr.isatty():
        print(f"\r{done} of {all} calls judged", end="\n" if done == all else "", file=sys.stderr, flush=True)


@dataclass(frozen=True, slots=True)
class LabelledCall:
    id: str
    label: str
    tool: str
    input: dict[str, object]
    cwd: str = ""

    @property
    def shown(self) -> str:
        command = self.input.get("command")
        return f"{self.tool} {command if isinstance(command, str) else json.dumps(self.input, ensure_ascii=False)}"


class Rate(Value):
    """`wrong` of `all`, and the 95 % interval of the true share (Wilson)."""

    __slots__ = ("wrong", "all", "low", "high")

    def __init__(self, wrong: int, all: int) -> None:
        self.wrong, self.all = wrong, all
        self.low, self.high = wilson(wrong, all)

    @property
    def share(self) -> float:
        return self.wrong / self.all if self.all else 0.0

    def __str__(self) -> str:
        if not self.all:
            return "no such case reached the model"
        return f"{self.wrong} of {self.all}, {self.share:.1%} (95 %: {self.low:.1%} to {self.high:.1%})"


def wilson(wrong: int, all: int) -> tuple[float, float]:
    """The Wilson interval of a share, which is also valid for few cases and for none wrong."""
    if not all:
        return 0.0, 1.0
    share, square = wrong / all, Z * Z
    middle = share + square / (2 * all)
    around = Z * sqrt(share * (1 - share) / all + square / (4 * all * all))
    whole = 1 + square / all
    low, high = (middle - around) / whole, (middle + around) / whole
    return (0.0 if not wrong else max(low, 0.0)), (1.0 if wrong == all else min(high, 1.0))


@dataclass(frozen=True, slots=True)
class EvaluatedCall:
    """The rules' outcome for a call, and the model's opinion if it reached the model."""

    case: LabelledCall
    rules: str
    code: str
    opinion: Opinion | None
    mode: str = ""


class Report:
    """All outcomes, counted."""

    def __init__(self, outcomes: list[EvaluatedCall]) -> None:
        self.outcomes = outcomes
        reached = [(each.case, each.opinion) for each in outcomes if each.opinion is not None]
        answered = [(case, said) for case, said in reached if not said.error]
        self.reached = len(reached)
        self.errors = Counter(said.error for _, said in reached if said.error)
        self.false_allows = [(case, said) for case, said in answered if case.label == "unsafe" and said.safe]
        self.false_asks = [(case, said) for case, said in answered if case.label == "safe" and not said.safe]
        labels = Counter(case.label for case, _ in answered)
        self.false_allow = Rate(len(self.false_allows), labels["unsafe"])
        self.false_ask = Rate(len(self.false_asks), labels["safe"])
        self.settled = Counter((each.case.label, each.rules) for each in outcomes if each.opinion is None)
        times = sorted(said.seconds * 1000 for _, said in answered)
        self.median_ms, self.p95_ms = (times[max(ceil(len(times) * at) - 1, 0)] if times else 0.0 for at in (0.5, 0.95))
        self.tokens = sum(said.input_tokens + said.output_tokens for _, said in reached)
        self.cost = round(sum(said.cost for _, said in reached), 9)

    def in_words(self, backend: Backend) -> str:
        aside = len(self.outcomes) - self.reached
        lines = [
            f"{backend.model} at {backend.url} ({backend.api})",
            f"{len(self.outcomes)} cases: {self.reached} reached the model; "
            f"{aside} were settled by rules, or left to a person by them",
            "",
            f"false allow  {self.false_allow}: unsafe, but called safe",
            f"false ask    {self.false_ask}: safe, but not called safe",
            f"no answer    {self.errors.total()} of {self.reached}: a person is asked"
            + "".join(f"; {name} {count}" for name, count in self.errors.most_common()),
            f"time         median {self.median_ms:.0f} ms, p95 {self.p95_ms:.0f} ms; {self.tokens} tokens"
            + (f", cost {self.cost:.4f}" if self.cost else ""),
        ]
        if not self.reached:
            modes = ", ".join(sorted({each.mode for each in self.outcomes}))
            lines += ["", f"none reached the model (mode {modes}); try --mode default in a folder that you trust"]
        if aside:
            lines += ["", "without the model"]
            lines += [f"  {label:7} {self._rules(label)}" for label in LABELS]
        lines += _wrong("false allows", self.false_allows) + _wrong("false asks", self.false_asks)
        return "\n".join(lines)

    def _rules(self, label: str) -> str:
        counts = {word: self.settled[label, word] for word in ("allow", "ask", "deny")}
        return ", ".join(f"{word} {count}" for word, count in counts.items())

    def as_json(self) -> dict[str, object]:
        rates = {"false_allow": self.false_allow, "false_ask": self.false_ask}
        return {
            "cases": len(self.outcomes),
            "reached_model": self.reached,
            **{
                name: {"wrong": rate.wrong, "of": rate.all, "rate": rate.share, "low": rate.low, "high": rate.high}
                for name, rate in rates.items()
            },
            "errors": dict(self.errors),
            "settled_by_rules": {
                label: {word: self.settled[label, word] for word in ("allow", "ask", "deny")} for label in LABELS
            },
            "median_ms": round(self.median_ms, 3),
            "p95_ms": round(self.p95_ms, 3),
            "tokens": self.tokens,
            "cost": self.cost,
            "outcomes": [
                {
                    "id": each.case.id,
                    "label": each.case.label,
                    "rules": each.rules,
                    "code": each.code,
                    "model": None
                    if each.opinion is None
                    else {name: getattr(each.opinion, name) for name in ("safe", "reason", "error", "seconds")},
                }
                for each in self.outcomes
            ],
        }


def _wrong(title: str, found: list[tuple[LabelledCall, Opinion]]) -> list[str]:
    if not found:
        return []
    lines = ["", title] + [
        f"  {one_line(case.id, 40)}  {one_line(case.shown, 100)}  ({one_line(said.reason, 120)})"
        for case, said in found[:LISTED]
    ]
    return [*lines, f"  and {len(found) - LISTED} more (--json has them all)"] if len(found) > LISTED else lines


# ---------------------------------------------------------------- reading


def read(text: str, file: str) -> list[LabelledCall]:
    """The cases of a file. Raises PayloadError with the line number."""
    found: list[LabelledCall] = []
    for number, line in enumerate(text.split("\n"), 1):  # other line ends may be in a case's text
        if line.strip():
            try:
                found.append(_case(json.loads(line), number))
            except (ValueError, PayloadError) as error:
                raise PayloadError(f"{file}:{number}: {error}") from None
            except RecursionError:
                raise PayloadError(f"{file}:{number}: nested too deep") from None
    if not found:
        raise PayloadError(f'{file} has no cases; write lines like {{"label": "safe", "command": "npm test"}}')
    return found


def _case(row: object, number: int) -> LabelledCall:
    if not isinstance(row, dict):
        raise PayloadError("a case must be a JSON object")
    if unknown := set(row) - KEYS:
        raise PayloadError(f"unknown key `{min(unknown)}`; a case has {', '.join(sorted(KEYS))}")
    if row.get("label") not in LABELS:
        raise PayloadError("`label` is `safe` or `unsafe`")
    command, tool, given = row.get("command"), row.get("tool", "bash"), row.get("input")
    if (command is None) == (given is None):
        raise PayloadError("a case has a `command`, or a `tool` with its `input`")
    if command is not None:
        given = {"command": command}
    if (
        not isinstance(tool, str)
        or not isinstance(given, dict)
        or (command is not None and not isinstance(command, str))
    ):
        raise PayloadError("`tool` and `command` are texts, `input` is an object")
    return LabelledCall(str(row.get("id", number)), str(row["label"]), tool, given, str(row.get("cwd", "")))


# ---------------------------------------------------------------- running


async def measure(
    cases: list[LabelledCall],
    gate: Engine,
    here: configure.Place,
    classifier: Classifier,
    *,
    jobs: int,
    progress: Callable[[int, int], None],
) -> Report:
    """Run each case through the gate, and through the model unless rules settle it; `jobs` at a time."""
    places, done = asyncio.Semaphore(jobs), Counter[str]()

    async def one(number: int, case: LabelledCall) -> EvaluatedCall:
        async with places:
            found = await _outcome(str(number), case, gate, here, classifier)
        done["all"] += 1
        progress(done["all"], len(cases))
        return found

    return Report(list(await asyncio.gather(*(one(number, case) for number, case in enumerate(cases)))))


async def _outcome(
    key: str, case: LabelledCall, gate: Engine, here: configure.Place, classifier: Classifier
) -> EvaluatedCall:
    call = Call(
        case.tool,
        case.input,
        cwd=posixpath.join(here.project, case.cwd) if case.cwd else here.project,
        roots=here.roots,
        home=here.home,
        session="eval",
        shell="bash",
    )
    judged = await asyncio.to_thread(gate.judge, call)
    decision = judged.decision
    reaches = classify.may_judge(judged) and classify.unseen(call, judged) is None
    said = await _said(key, call, judged, classifier) if reaches else None
    return EvaluatedCall(case, decision.outcome.word, decision.code, said, decision.mode)


async def _said(key: str, call: Call, judged: Judged, classifier: Classifier) -> Opinion:
    """The model's opinion; transient errors are retried."""
    for attempt in range(TRIES):
        await asyncio.sleep(PAUSE * attempt)
        said = await classifier.asked(key, classify.shown(call, judged), classifier.backend.timeout)
        if not said.error.startswith(TRANSIENT):
            break
    return said
