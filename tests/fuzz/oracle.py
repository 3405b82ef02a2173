"""Asks the sandbox what a shell does with a text. Knows nothing of what our reader says."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from types import TracebackType


def bash_is_there() -> bool:
    return Path("/bin/bash").exists() and shutil.which("git") is not None


class Oracle:
    """One sandbox process, for one shell. Not for use by two threads at once."""

    def __init__(self, shell: str = "bash") -> None:
        self.shell = shell
        command = [sys.executable, str(Path(__file__).with_name("sandbox.py"))]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.asked = 0

    def ran(self, text: str) -> bool:
        """Whether the shell, given this text, makes `pwned`."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        self.asked += 1
        stdin.write(json.dumps([self.shell, text]) + "\n")
        stdin.flush()
        answer: dict[str, bool] = json.loads(stdout.readline())
        return answer["ran"]

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(timeout=10)

    def __enter__(self) -> Oracle:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
