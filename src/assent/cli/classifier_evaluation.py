"""Labelled calls through the gate and the model: what was wrong, how often, and how sure that is. Runs nothing."""

from __future__ import annotations

import asyncio
import json
import posixpath
from collections import Counter
from collections.abc import Callable
from math import ceil, sqrt

from assent.approval.classifier.model import Classifier
from assent.contract import Call, PayloadError, Value
from assent.contract.classifier import Backend, Opinion
from assent.contract.display import one_line
from assent.engine import classify
from assent.engine.configure import Place
from assent.engine.engine import Engine, Judged

LABELS = ("safe", "unsafe")
KEYS = frozenset("id label tool input command cwd note".split())
Z = 1.959964  # for 95 %
TRIES = 3
PAUSE = 1.0  # seconds before the second try, twice that before the third
TRANSIENT = ("timeout", "connection", "status-429", "status-5")  # errors that another try may not meet
LISTED = 20


class LabelledCall(Value):
    """One labelled call."""

    __slots__ = ("id", "label", "tool", "input", "cwd")

    def __init__(self, id: str, label: str, tool: str, input: dict[str, object], cwd: str = "") -> None:
        self.id = id
        self.label = label
        self.tool = tool
        self.input = input
        self.cwd = cwd

    @property
    def shown(self) -> str:
        command = self.input.get("command")
        return f"{self.tool} {command if isinstance(command, str) else json.dumps(self.input, ensure_ascii=False)}"


class Rate(Value):
    """`wrong` of `all`, and the interval that holds the true share with 95 % (Wilson)."""

    __slots__ = ("wrong", "all", "low", "high")

    def __init__(self, wrong: int, all: int) -> None:
        self.wrong = wrong
        self.all = all
        self.low, self.high = wilson(wrong, all)

    @property
    def share(self) -> float:
        return self.wrong / self.all if self.all else 0.0

    def __str__(self) -> str:
        if not self.all:
            return "no such case reached the model"
        return f"{self.wrong} of {self.all}, {self.share:.1%} (95 %: {self.low:.1%} to {self.high:.1%})"


def wilson(wrong: int, all: int) -> tuple[float, float]:
    """The interval of a share, which is honest for few cases and for none wrong too."""
    if not all:
        return 0.0, 1.0
    share, square = wrong / all, Z * Z
    middle = share + square / (2 * all)
    around = Z * sqrt(share * (1 - share) / all + square / (4 * all * all))
    whole = 1 + square / all
    low, high = (middle - around) / whole, (middle + around) / whole
    return (0.0 if not wrong else max(low, 0.0)), (1.0 if wrong == all else min(high, 1.0))


class EvaluatedCall(Value):
    """What became of a case: the rules' outcome, or the model's opinion where it reached the model."""

    __slots__ = ("case", "rules", "code", "mode", "opinion")

    def __init__(self, case: LabelledCall, rules: str, code: str, opinion: Opinion | None, mode: str = "") -> None:
        self.case = case
        self.rules = rules
        self.code = code
        self.mode = mode
        self.opinion = opinion


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
            f"{aside} are settled by rules, or left to a person by them, and never do",
            "",
            f"false allow  {self.false_allow}: unsafe, and called safe",
            f"false ask    {self.false_ask}: safe, and not called so",
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
    lines = ["", title]
    for case, said in found[:LISTED]:
        lines.append(f"  {one_line(case.id, 40)}  {one_line(case.shown, 100)}  ({one_line(said.reason, 120)})")
    return [*lines, f"  and {len(found) - LISTED} more (--json has them all)"] if len(found) > LISTED else lines


# ---------------------------------------------------------------- reading


def read(text: str, file: str) -> list[LabelledCall]:
    """The cases of a file. Raises PayloadError with the line for what is none."""
    found: list[LabelledCall] = []
    for number, line in enumerate(text.split("\n"), 1):  # other line ends may stand in a case's text
        if line.strip():
            try:
                found.append(_case(json.loads(line), number))
            except (ValueError, PayloadError) as error:
                raise PayloadError(f"{file}:{number}: {error}") from None
            except RecursionError:
                raise PayloadError(f"{file}:{number}: nested too deep") from None
    if not found:
        raise PayloadError(f'{file} holds no case; write lines like {{"label": "safe", "command": "npm test"}}')
    return found


def _case(row: object, number: int) -> LabelledCall:
    if not isinstance(row, dict):
        raise PayloadError("a case is a JSON object")
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


async def evaluate(
    cases: list[LabelledCall],
    gate: Engine,
    here: Place,
    classifier: Classifier,
    *,
    jobs: int,
    progress: Callable[[int, int], None],
) -> Report:
    """Every case through the gate, and through the model where it gets that far, some at once."""
    places, done = asyncio.Semaphore(jobs), Counter[str]()

    async def one(number: int, case: LabelledCall) -> EvaluatedCall:
        async with places:
            found = await _outcome(str(number), case, gate, here, classifier)
        done["all"] += 1
        progress(done["all"], len(cases))
        return found

    return Report(list(await asyncio.gather(*(one(number, case) for number, case in enumerate(cases)))))


async def _outcome(key: str, case: LabelledCall, gate: Engine, here: Place, classifier: Classifier) -> EvaluatedCall:
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
    """The model's opinion, asked for again where a fault may pass."""
    said = await classifier.asked(key, classify.shown(call, judged), classifier.backend.timeout)
    for attempt in range(1, TRIES):
        if not said.error.startswith(TRANSIENT):
            break
        await asyncio.sleep(PAUSE * attempt)
        said = await classifier.asked(key, classify.shown(call, judged), classifier.backend.timeout)
    return said
