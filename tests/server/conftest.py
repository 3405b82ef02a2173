"""A server for the tests of a module."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.server.program import Person, Program


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    found = Program(tmp_path_factory.mktemp("server"))
    yield found
    found.stop()


@pytest.fixture(scope="module")
def person(program: Program) -> Person:
    return program.sign_in()


@pytest.fixture(scope="module")
def impatient(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    """A server that waits `BRIEF` seconds for whoever is slow."""
    found = Program(tmp_path_factory.mktemp("impatient"), impatient=True)
    yield found
    found.stop()
