"""Each client in turn, over folders of its own."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from assent.hook import compiled_client
from tests.client.clients import Client, Fake, Handler

CLIENTS = ("python", "compiled")


def built() -> None:
    """Skip if there is no compiled client; a machine that builds for others must have one."""
    if not os.path.exists(compiled_client.source()):
        assert not os.environ.get("CI"), "the compiled client was not built; install gcc and libc6-dev"
        pytest.skip("the compiled client was not built: there was no C compiler")


@pytest.fixture(params=CLIENTS)
def client(request: pytest.FixtureRequest, tmp_path: Path) -> Client:
    if request.param == "compiled":
        built()
    return Client(request.param, tmp_path)


@pytest.fixture
def fast(tmp_path: Path) -> Client:
    """The compiled one alone."""
    built()
    return Client("compiled", tmp_path)


@pytest.fixture
def serving() -> Iterator[Callable[..., Fake]]:
    """Make servers that misbehave."""
    made: list[Fake] = []

    def make(path: Path, *handlers: Handler) -> Fake:
        made.append(Fake(path, *handlers))
        return made[-1]

    yield make
    for each in made:
        each.close()
