"""A glob matches on disk what the shell would match, or is not tried."""

from __future__ import annotations

from pathlib import Path

import pytest

from assent.facts.globs import MAX_MATCHES, MAX_SCANNED, expand


@pytest.mark.parametrize("pattern", ["**/*.py", "*/*/*", "@(a|b).py", "[[=a=]]", r"[\]]", "relative/*", "[+--]"])
def test_what_is_not_modelled_is_not_tried(tmp_path: Path, pattern: str) -> None:
    assert expand(f"{tmp_path}/{pattern}" if pattern != "relative/*" else pattern) is None


def test_too_many_matches_are_not_told(tmp_path: Path) -> None:
    for number in range(MAX_MATCHES + 1):
        (tmp_path / f"f{number}").touch()
    assert expand(f"{tmp_path}/f*") is None
    assert expand(f"{tmp_path}/f1") == (f"{tmp_path}/f1",)
    assert len(expand(f"{tmp_path}/f1*") or ()) == 111


def test_too_many_names_are_not_looked_at(tmp_path: Path) -> None:
    for number in range(MAX_SCANNED + 1):
        (tmp_path / f"f{number}").touch()
    assert expand(f"{tmp_path}/x*") is None
