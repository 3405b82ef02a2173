"""Which files hold secrets by their names."""

from __future__ import annotations

import pytest

from assent.contract.secret_files import is_environment_file


@pytest.mark.parametrize(
    "path", [".env", "/w/.env", "/w/.env.local", "config/prod.env", ".envrc", "/w/.env.production"]
)
def test_environment_files_hold_secrets(path: str) -> None:
    assert is_environment_file(path)


@pytest.mark.parametrize(
    "path",
    [".env.example", "/w/.env.sample", "a/.env.template", "environment.py", "/w/env", "venv", "/w/.env/x", "a.environ"],
)
def test_examples_and_other_names_do_not(path: str) -> None:
    assert not is_environment_file(path)
