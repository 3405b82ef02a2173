"""A gate server for the tests of a module, and a person who answers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.mcp.pipes import ALLOW
from tests.server.program import Person, Program


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    found = Program(tmp_path_factory.mktemp("gate"), config=ALLOW)
    yield found
    found.stop()


@pytest.fixture(scope="module")
def person(program: Program) -> Person:
    return program.sign_in()
