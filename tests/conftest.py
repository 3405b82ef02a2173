"""Settings and fixtures of every test."""

from __future__ import annotations

import gc
import os
from contextlib import suppress

import pytest

from tests.examples import register

register()
gc.set_threshold(50_000, 20, 100)
OPEN = 300  # descriptors; select() cannot wait for the thousandth


@pytest.fixture(autouse=True, scope="module")
def _few_descriptors() -> None:
    """Close what earlier tests left open: collections are rare, and gates that nobody closed keep their files."""
    with suppress(OSError):  # only Linux lists them
        if len(os.listdir("/proc/self/fd")) > OPEN:
            gc.collect()
