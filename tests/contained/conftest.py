"""The sandbox works here, or these tests are skipped."""

from __future__ import annotations

from pathlib import Path

import pytest

from assent.contain import sandbox
from tests.contained.scene import Scene


@pytest.fixture(scope="session")
def sandboxed(tmp_path_factory: pytest.TempPathFactory) -> None:
    if why := sandbox.why_not(str(tmp_path_factory.mktemp("probe"))):
        pytest.skip(f"nothing can be contained here: {why}")


@pytest.fixture
def scene(tmp_path: Path, sandboxed: None) -> Scene:
    return Scene(tmp_path.resolve())
