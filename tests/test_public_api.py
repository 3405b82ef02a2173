"""The names that users import. A change here is a change to everyone who embeds Assent: see CHANGELOG.md."""

from __future__ import annotations

import importlib.metadata
from pathlib import Path

import assent

PUBLIC = [
    "Answer",
    "Approval",
    "AssentError",
    "Call",
    "Decision",
    "DenialTracker",
    "Denied",
    "Gate",
    "Held",
    "Outcome",
    "PayloadError",
    "PermissionMode",
    "PolicyError",
    "Said",
    "Scope",
    "Session",
    "StoreError",
    "Tool",
    "Verdict",
    "__version__",
]


def test_the_public_names_are_these() -> None:
    assert assent.__all__ == PUBLIC


def test_every_public_name_can_be_imported() -> None:
    assert [name for name in PUBLIC if getattr(assent, name, None) is None] == []


def test_a_name_that_is_not_public_is_an_attribute_error() -> None:
    assert not hasattr(assent, "Nonsense")


def test_the_package_is_typed_and_says_its_version() -> None:
    assert (Path(assent.__file__).parent / "py.typed").exists()
    assert assent.__version__ == importlib.metadata.version("assent")
