"""The compiled modules are the ones under test, and they decide as their sources do. `make compiled` runs this."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from scripts import compiled

SOURCES = compiled.ROOT / "src"
CORPUS = sorted((compiled.ROOT / "tests" / "corpus").glob("*.jsonl"))
MODULES = [
    path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    for path in compiled.modules(SOURCES / "assent")
]
READS = """
import json, sys
from assent.contract import Call
from assent.engine.engine import Engine
from assent.policy.settings import combine
engine = Engine(combine([]))
for line in sys.stdin:
    row = json.loads(line)
    call = Call(row["tool"], row["input"], cwd="/workspace/app", roots=("/workspace/app",), home="/home/me")
    judged = engine.judge(call)
    print(json.dumps([row["id"], repr(judged.decision), repr(judged.lowering)]))
"""


@pytest.mark.parametrize("name", MODULES)
def test_a_module_of_the_decision_path_is_compiled(name: str) -> None:
    assert str(import_module(name).__file__).endswith(".so")


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_every_call_is_read_and_decided_as_by_the_sources(path: Path) -> None:
    assert _answers(path, os.environ["PYTHONPATH"]) == _answers(path, str(SOURCES))


def _answers(corpus: Path, package: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", READS],
        input=corpus.read_text(),
        env={**os.environ, "PYTHONPATH": package, "PYTHONHASHSEED": "0"},  # sets are shown in one order
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()
