"""The contained runs of a session are kept, bounded, and end for the whole session at once."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from assent.contract import StoreError
from assent.state import contained, ledger
from assent.state.contained import ContainedRun, ContainedRuns


def run(number: int, identity: str = "") -> ContainedRun:
    return ContainedRun(
        identity or f"call {number}", f"ticket {number}", f"record {number}", f"toolu {number}", "closed"
    )


def test_a_session_without_runs_has_none(tmp_path: Path) -> None:
    assert contained.load(str(tmp_path), "s") == ContainedRuns()


def test_a_run_is_found_by_call_ticket_and_id_and_a_later_one_replaces_it(tmp_path: Path) -> None:
    state = str(tmp_path)
    for each in (run(1), run(2), run(3, "call 1")):
        contained.note(state, "s", each)
    known = contained.load(state, "s")
    assert known == ContainedRuns("", (run(2), run(3, "call 1")))
    assert (known.of("call 1"), known.of("call 2"), known.of("call 3")) == (run(3, "call 1"), run(2), None)
    assert (known.by_ticket("ticket 2"), known.by_ticket("ticket 1")) == (run(2), None)
    assert (known.by_call("toolu 3"), known.by_call("")) == (run(3, "call 1"), None)
    assert contained.load(state, "another") == ContainedRuns()


def test_what_was_reported_stays_so(tmp_path: Path) -> None:
    contained.note(str(tmp_path), "s", run(1).after())
    assert contained.load(str(tmp_path), "s").runs == (run(1).after(),)
    assert run(1).after() != run(1)


def test_only_the_last_runs_are_kept_for_their_owner_alone(tmp_path: Path) -> None:
    for number in range(contained.MOST + 3):
        contained.note(str(tmp_path), "s", run(number))
    known = contained.load(str(tmp_path), "s")
    assert known.runs == tuple(run(number) for number in range(3, contained.MOST + 3))
    files = [path for path in (tmp_path / "sessions").iterdir() if path.suffix != ".lock"]
    assert [stat.S_IMODE(path.stat().st_mode) for path in files] == [0o600]


def test_a_session_is_switched_off_once_and_keeps_the_first_reason(tmp_path: Path) -> None:
    contained.note(str(tmp_path), "s", run(1))
    assert contained.switch_off(str(tmp_path), "s", "because")
    assert not contained.switch_off(str(tmp_path), "s", "again")
    contained.note(str(tmp_path), "s", run(2))
    assert contained.load(str(tmp_path), "s") == ContainedRuns("because", (run(1), run(2)))


def test_a_file_that_is_not_ours_is_no_reading(tmp_path: Path) -> None:
    contained.note(str(tmp_path), "s", run(1))
    file = next(path for path in (tmp_path / "sessions").iterdir() if path.suffix != ".lock")
    file.write_text('{"off": ""}')
    with pytest.raises(StoreError):
        contained.load(str(tmp_path), "s")


def test_a_later_change_of_the_session_is_known(tmp_path: Path) -> None:
    state = str(tmp_path)
    assert not ledger.changed_since(state, "s", "one")
    ledger.note(state, "s", "one", ledger.LedgerEntry(("/w/a",)))
    assert not ledger.changed_since(state, "s", "one")
    ledger.note(state, "s", "two", ledger.LedgerEntry(("/w/a",)))
    assert ledger.changed_since(state, "s", "one")
    assert not ledger.changed_since(state, "s", "two")
    assert not ledger.changed_since(state, "s", "never noted")
