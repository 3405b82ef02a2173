"""The programs and a sandbox for each test; where this machine cannot have them, the reason is told by name."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import pytest

from . import programs
from .claude import Claude
from .client import Client
from .codex import Codex
from .gemini import Gemini
from .opencode import Opencode
from .programs import Missing, Programs
from .sandbox import Sandbox


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
    try:
        made = Sandbox(tmp_path / "place")
    except Missing as missing:
        go_without(missing)
    yield made
    made.close()


@pytest.fixture(params=[Claude, Codex, Gemini, Opencode], ids=lambda kind: str(kind.name))
def client(request: pytest.FixtureRequest, installed: Programs) -> Client:
    made: Client = request.param(installed)
    return made
