"""Deny rules that were saved from answers hold from then on, and are a file that a person can read."""

from __future__ import annotations

from pathlib import Path

import pytest

from assent.contract import Call, Outcome, StoreError
from assent.engine import configure
from assent.state import saved


def outcome(folder: Path, command: str) -> tuple[Outcome, str]:
    environ = {"HOME": str(folder), "ASSENT_HOME": str(folder / "state")}
    here = configure.place(str(folder), environ)
    gate, here = configure.open_gate(here, environ)
    decision = gate.decide(Call("bash", {"command": command}, cwd=str(folder), roots=here.roots, home=here.home))
    return decision.outcome, decision.deciding.source


def test_a_saved_rule_denies_from_then_on_and_its_receipt_names_the_file(tmp_path: Path) -> None:
    state = str(tmp_path / "state")
    assert outcome(tmp_path, "npm publish")[0] is Outcome.ASK
    saved.add(state, "bash(npm publish:*)", 'ann said "no"')
    saved.add(state, "bash(make deploy)", "ann said no")
    saved.add(state, "bash(make deploy)", "again")
    assert outcome(tmp_path, "npm publish --tag x") == (Outcome.DENY, f"{state}/saved.toml:3")
    assert outcome(tmp_path, "make deploy") == (Outcome.DENY, f"{state}/saved.toml:4")
    assert Path(saved.path(state)).read_text() == (
        "# Deny rules that were saved from answers. Remove a line to drop a rule.\n"
        "deny = [\n"
        '  { rule = "bash(npm publish:*)", reason = "ann said \\"no\\"" },\n'
        '  { rule = "bash(make deploy)", reason = "ann said no" },\n'
        "]\n"
    )


def test_a_broken_file_is_not_written_over(tmp_path: Path) -> None:
    Path(saved.path(str(tmp_path))).write_text("deny = [")
    with pytest.raises(StoreError, match="repair it"):
        saved.add(str(tmp_path), "bash(ls)", "")
