"""The programs and a sandbox for each test; if this machine cannot run them, the skip says why."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import pytest

from . import programs
from .claude import Claude
from .client import Client
from .codex import Codex, CodexCode
from .gemini import Gemini
from .opencode import Opencode
from .programs import Missing, Programs
from .sandbox import Sandbox

NEEDED = {"unshare": "util-linux", "tmux": "tmux"}


def go_without(missing: Missing) -> NoReturn:
    """Skip here, fail in CI: there the programs must run."""
    if os.environ.get("CI") == "true":
        pytest.fail(str(missing))
    pytest.skip(str(missing))


@pytest.fixture(scope="session")
def installed() -> Programs:
    try:
        return programs.ready()
    except Missing as missing:
        go_without(missing)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Sandbox]:
    for program, package in NEEDED.items():
        if shutil.which(program) is None:
            go_without(Missing(f"`{program}` is not installed (Debian, Ubuntu: apt-get install {package})"))
    try:
        made = Sandbox(tmp_path / "place")
    except Missing as missing:
        go_without(missing)
    tried = made.run(["true"], deadline=30)
    if tried.status != 0:
        made.close()
        go_without(Missing(f"no process namespace of its own: {tried.stderr.strip()}"))
    yield made
    made.close()


@pytest.fixture(params=[Claude, Codex, CodexCode, Gemini, Opencode], ids=lambda kind: str(kind.name))
def client(request: pytest.FixtureRequest, installed: Programs) -> Client:
    made: Client = request.param(installed)
    return made
