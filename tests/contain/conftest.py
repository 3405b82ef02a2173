"""Folders of a user, for every test its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.contain.box import Box, needed


@pytest.fixture
def box() -> Iterator[Box]:
    needed()
    made = Box()
    yield made
    made.close()
