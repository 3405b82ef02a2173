"""The examples run unchanged, offline, and the docs show nothing that is not in one of them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
PIPED = "it runs code straight from the network"
ASKED = "a person is asked: make deploy"
PAUSED = "asked: make deploy because it runs something that is not proved read-only"
# What must be said, in this order, by the examples that have a framework of their own or none.
SAID: dict[str, tuple[str, ...]] = {
    "first_gate": (
        "git status: runs",
        "asked: make deploy",
        "a person said no: not on a Friday",
        "floor.sensitive-path",
    ),
    "own_rules": (": allow, ", ": allow, ", ": deny, ", ": ask, ", ": allow, ", ": ask, "),
    "shop_agent": (
        *(": allow, ", ": ask, ", ": deny, ", "send_email", ": allow, ", ": ask, ", ": ask, "),
        *("query", ": allow, ", ": deny, ", "create_issue", ": allow, ", ": ask, "),
    ),
    "guarded_function": ("saved hello", "This call was not run", "['target', 'text']"),
    "claude_agent": (ASKED, "ls: ran", "make deploy: ran", PIPED),
    "langchain_agent": (ASKED, "tool: done", "tool: make: ", PIPED, "ai: I am done."),
    "langchain_pause": (PAUSED, "ran make deploy"),
    "openai_agents_agent": (ASKED, "tool: done", "tool: make: ", PIPED, "I am done."),
    "openai_agents_pause": (PAUSED, "ran make deploy"),
    "pydantic_ai_agent": (ASKED, "tool: done", "tool: make: ", PIPED, "I am done."),
    "pydantic_ai_pause": (PAUSED, "ran make deploy"),
    "mcp_server": ("today.md: saved today.md", "authorized_keys: This call was not run", "floor.sensitive-path"),
    "fastmcp_server": ("1 lamp", "refund 40.0?", "refunded 40.0 for A1", "refund 4000.0?", "a person said no"),
    "google_adk_agent": ("{'result': 'done'}", PIPED, "I am done."),
    "openharness_agent": ("hello", "This call was not run: delete "),
    "acp_editor": ("git status: yes", "the editor asks: execute: ", "make release: yes", "rm -rf ~: no"),
}


@pytest.mark.parametrize("name", SAID)
def test_an_example_does_what_it_shows(name: str, tmp_path: Path) -> None:
    environ = {key: os.environ[key] for key in ("PATH", "LANG") if key in os.environ}
    environ |= {"HOME": str(tmp_path), "PYTHONWARNINGS": "error::UserWarning:__main__"}
    done = subprocess.run(
        [sys.executable, str(ROOT / f"examples/{name}.py")],
        cwd=tmp_path,
        env=environ,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert re.search(".*".join(map(re.escape, SAID[name])), done.stdout, re.DOTALL), done.stdout


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_says_what_it_is_and_what_it_needs(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.startswith('"""')
    assert "__main__" not in text or "pip install" in text


def test_all_code_in_the_docs_is_of_an_example() -> None:
    text = (ROOT / "docs/embedding.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    sources = [path.read_text(encoding="utf-8") for path in EXAMPLES]
    assert len(blocks) > 5
    assert [block for block in blocks if not any(_stands_in(block, source) for source in sources)] == []


def _stands_in(block: str, source: str) -> bool:
    """Whether a block is a run of whole lines of a file, with as much indentation as it may have there."""
    wanted, lines = block.splitlines(), source.splitlines()
    runs = (lines[at : at + len(wanted)] for at in range(len(lines) - len(wanted) + 1))
    return any(dedent("\n".join(run)).splitlines() == wanted for run in runs)
