"""A project for the tests of facts."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.facts.projects import repository


@pytest.fixture(scope="session")
def lot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the tests' projects, one after the other."""
    return Path(os.path.realpath(tmp_path_factory.mktemp("lot")))


@pytest.fixture
def project(lot: Path) -> Iterator[Path]:
    """An empty repository, at the same path in every test: binding the rules to a workspace is most of what a decision
    in a new one costs."""
    yield repository(lot / "project")
    for each in lot.iterdir():
        if each.is_dir() and not each.is_symlink():
            shutil.rmtree(each)
        else:
            each.unlink()
