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
ATTEMPTS = 5
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
    print(json.dumps([row["id"], repr(judged.decision), repr(judged.lowering)]), flush=True)
"""


@pytest.mark.parametrize("name", MODULES)
def test_a_module_of_the_decision_path_is_compiled(name: str) -> None:
    assert str(import_module(name).__file__).endswith(".so")


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_every_call_is_read_and_decided_as_by_the_sources(path: Path) -> None:
    """Both answer one call after the other, and again where they differ: a call that reads `/tmp` is decided by the
    links in it, and other tests make and remove some meanwhile."""
    with _reader(os.environ["PYTHONPATH"]) as compiled_modules, _reader(str(SOURCES)) as sources:
        for line in path.read_text().splitlines():
            for _ in range(ATTEMPTS):
                ours, theirs = _answer(compiled_modules, line), _answer(sources, line)
                if ours == theirs:
                    break
            assert ours == theirs


def _reader(package: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", READS],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": package, "PYTHONHASHSEED": "0"},  # sets are shown in one order
        text=True,
    )


def _answer(reader: subprocess.Popen[str], line: str) -> str:
    assert reader.stdin is not None
    assert reader.stdout is not None
    reader.stdin.write(line + "\n")
    reader.stdin.flush()
    answer = reader.stdout.readline()
    assert answer, f"no answer to {line}"
    return answer
