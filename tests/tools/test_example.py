"""The example runs unchanged, and the docs show nothing that is not in it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples/guarded_tools.py"
SAID = (
    "['bash', 'read', 'write', 'edit', 'glob', 'grep']",
    "read: done:      1\tx = 1",
    "edit: done: changed",
    "a person is asked: cat a.py; ./run",
    "bash: error: x = 2",
    "read: error: This call was not run",
)


def test_the_example_does_what_it_shows(tmp_path: Path) -> None:
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    done = subprocess.run([sys.executable, str(EXAMPLE)], env=environ, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert re.search(".*".join(map(re.escape, SAID)), done.stdout, re.DOTALL), done.stdout


def test_all_code_in_the_docs_is_of_the_example() -> None:
    text = (ROOT / "docs/tools.md").read_text(encoding="utf-8")
    source = dedent(EXAMPLE.read_text(encoding="utf-8"))
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    lines = [line.strip() for line in source.splitlines()]
    assert len(blocks) == 1
    assert [line for line in blocks[0].splitlines() if line.strip() not in lines] == []
