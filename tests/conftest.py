"""What every test runs with."""

from __future__ import annotations

from tests.examples import register

register()
