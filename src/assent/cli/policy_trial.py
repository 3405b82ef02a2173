"""Decides cases by given policy files and the shipped rules alone, on a host that is made up: the answers are the same
on every machine. Runs nothing and writes nothing."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from time import perf_counter, strftime

from assent.cli.check import BatchCheck
from assent.cli.policy_cases import SUFFIX, CaseFile, PolicyCase, read_cases
from assent.contract import AssentError, Decision, PolicyError, Value
from assent.contract.display import visible
from assent.engine import configure
from assent.policy import explain
from assent.policy.document import Document, read_document
from assent.policy.parse import HOME, ROOT
from assent.policy.rules import Origin
from assent.state import files

FEW = 100  # cases that one process decides before another one would have started
CHUNKS = 4  # for each process, so that none waits long for the others


class PolicyTrial:
    """Decides calls by some documents. Raises PolicyError if they do not load."""

    def __init__(self, documents: Sequence[Document]) -> None:
        options = argparse.Namespace(cwd="", config="", mode="", headless=False)
        self._batch = BatchCheck(options, environ={}, documents=documents)
        self._batch.gate({}, self._batch.place(ROOT, HOME))

    def decide(self, row: Mapping[str, object]) -> Decision:
        return self._batch.decision(row)


class CaseResult(Value):
    """How a case ended: `misses` is what is not as expected. Holds texts only, so that processes can exchange it."""

    __slots__ = ("misses", "receipt", "seconds")

    def __init__(self, misses: tuple[str, ...], receipt: str, seconds: float) -> None:
        self.misses = misses
        self.receipt = receipt
        self.seconds = seconds


class CaseGroup(Value):
    """The cases of one file, with what decides them."""

    __slots__ = ("file", "cases", "trial")

    def __init__(self, file: str, cases: tuple[PolicyCase, ...], trial: PolicyTrial) -> None:
        self.file = file
        self.cases = cases
        self.trial = trial


# ---------------------------------------------------------------- reading


def open_group(path: str, *, policy: str = "") -> CaseGroup:
    """The cases of a file. They are decided by the policy that it is, or names; `policy` replaces both."""
    text = text_of(path)
    found = read_cases(text, path)
    if policy:
        documents = [open_document(policy)]
    elif path.endswith(SUFFIX):
        documents = [open_document(each) for each in _policies(path, found)]
    else:
        documents = [_document(text, path)]
    return CaseGroup(path, found.cases, PolicyTrial(documents))


def _policies(path: str, found: CaseFile) -> list[str]:
    """The policies of a test file: those that it names, or the project's file beside it or above it."""
    folder = os.path.dirname(os.path.abspath(path))
    if found.policy:
        return [os.path.normpath(os.path.join(folder, os.path.expanduser(each))) for each in found.policy]
    while True:
        if os.path.lexists(files.project_file(folder)):
            return [files.project_file(folder)]
        if os.path.lexists(os.path.join(folder, ".git")) or folder == os.path.dirname(folder):
            return []
        folder = os.path.dirname(folder)


def open_document(path: str) -> Document:
    return _document(text_of(path), path)


def _document(text: str, path: str) -> Document:
    return read_document(text, path, _origin(path), today=strftime(configure.DAY))


def _origin(path: str) -> Origin:
    if os.path.abspath(path) == files.MANAGED_FILE:
        return Origin.MANAGED
    return Origin.PROJECT if os.path.basename(path) == os.path.basename(files.project_file("/")) else Origin.USER


def text_of(path: str) -> str:
    text = files.config_text(path)
    if text is None:
        raise PolicyError("there is no such file", file=path, suggestion="check the path")
    return text


# ---------------------------------------------------------------- running


def run_cases(groups: Sequence[CaseGroup], jobs: int) -> list[CaseResult]:
    """The results in the order of the cases, decided by several processes if there are many."""
    numbered = [(group, case) for group in groups for case in group.cases]
    if jobs == 1 or len(numbered) <= FEW:
        return [run_case(group.trial, case) for group, case in numbered]
    size = -(-len(numbered) // (jobs * CHUNKS))
    starts = range(0, len(numbered), size)
    context = get_context("fork")  # the children have the policies already
    with ProcessPoolExecutor(jobs, context, initializer=_share, initargs=(numbered,)) as pool:
        return [each for part in pool.map(_run_part, starts, [size] * len(starts)) for each in part]


_shared: list[tuple[CaseGroup, PolicyCase]] = []


def _share(numbered: list[tuple[CaseGroup, PolicyCase]]) -> None:
    _shared.extend(numbered)


def _run_part(start: int, size: int) -> list[CaseResult]:
    return [run_case(group.trial, case) for group, case in _shared[start : start + size]]


def run_case(trial: PolicyTrial, case: PolicyCase) -> CaseResult:
    begun = perf_counter()
    try:
        decision = trial.decide(case.row)
    except AssentError as error:
        return CaseResult((f"it cannot be decided: {visible(str(error))}",), "", perf_counter() - begun)
    misses = case.misses(decision)
    receipt = explain.in_words(decision, case.shown) if misses else ""
    return CaseResult(misses, receipt, perf_counter() - begun)
