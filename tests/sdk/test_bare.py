"""Assent by itself needs nothing but Python: an interpreter that has no packages imports it, and decides."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import assent

SOURCE = Path(assent.__file__).parents[1]
FRAMEWORKS = "acp agents anyio claude_agent_sdk fastmcp google langchain langgraph mcp openai openharness pydantic"
DECIDE = """
import assent
names = [getattr(assent, name) for name in assent.__all__]
gate = assent.Gate({folder!r}, files=False, channels=["nobody"], state={folder!r} + "/.state", tools={{"run": "bash"}})
print(gate.decide(gate.call("run", {{"command": "ls"}}, runtime="langchain")).outcome.name)
print(gate.guard_sync(gate.call("bash", {{"command": "rm -rf ~"}})).allowed)
gate.close()
import assent.sdk.tool_guard, assent.sdk.tool_guard
"""
LOADED = """
import sys
print(*sorted({{name.partition(".")[0] for name in sys.modules}} & set({names!r}.split())))
"""


def _run(script: str, *flags: str) -> str:
    lines = f"import sys; sys.path.insert(0, {str(SOURCE)!r})\n{script}"
    return subprocess.run(
        [sys.executable, *flags, "-c", lines], capture_output=True, text=True, check=True, timeout=60
    ).stdout


def test_deciding_needs_no_package(tmp_path: Path) -> None:
    assert _run(DECIDE.format(folder=str(tmp_path)), "-I", "-S").split() == ["ALLOW", "False"]


def test_no_framework_is_imported_where_all_of_them_are_there(tmp_path: Path) -> None:
    script = DECIDE.format(folder=str(tmp_path)) + LOADED.format(names=FRAMEWORKS)
    assert _run(script).split() == ["ALLOW", "False"]


def test_the_frameworks_are_there_for_that_test() -> None:
    missing = [name for name in ("agents", "claude_agent_sdk", "langchain", "pydantic_ai") if not _found(name)]
    assert missing == []


@pytest.mark.parametrize("name", ["claude", "langchain", "openai_agents", "pydantic_ai"])
def test_an_adapter_without_its_framework_is_an_import_error(name: str) -> None:
    done = subprocess.run(
        [
            sys.executable,
            "-I",
            "-S",
            "-c",
            f"import sys; sys.path.insert(0, {str(SOURCE)!r}); import assent.sdk.{name}",
        ],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    assert "ModuleNotFoundError" in done.stderr


def _found(name: str) -> bool:
    from importlib.util import find_spec

    return find_spec(name) is not None
