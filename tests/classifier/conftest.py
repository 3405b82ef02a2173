"""A service and a world for each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.classifier.service import KEY, Service
from tests.classifier.world import World


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLASSIFIER_KEY", KEY)


@pytest.fixture
def service() -> Iterator[Service]:
    with Service() as found:
        yield found


@pytest.fixture
def world(tmp_path: Path, service: Service) -> Iterator[World]:
    found = World(tmp_path, service)
    yield found
    found.close()
