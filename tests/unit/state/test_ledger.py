"""The ledger of a session: what was noted is found again, and what is lost counts as everything."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from assent.contract import Call
from assent.engine import changes
from assent.engine.configure import open_gate, place
from assent.state import ledger
from assent.state.ledger import Ledger, LedgerEntry

EMPTY = Ledger({}, {}, job=False, whole=True)


def test_what_was_noted_is_found_with_the_call_that_did_it(tmp_path: Path) -> None:
    state = str(tmp_path / "state")
    assert ledger.load(state, "s") == EMPTY
    ledger.note(state, "s", "1", LedgerEntry(("/a", "/b\udce9\n")))
    ledger.note(state, "s", "2", LedgerEntry(("/a",), ("/c",)))
    ledger.note(state, "s", "3", LedgerEntry((), ("/",), job=True))
    found = ledger.load(state, "s")
    assert found == Ledger({"/a": "2", "/b\udce9\n": "1"}, {"/c": "2", "/": "3"}, job=True, whole=True)
    assert ledger.load(state, "s", "3") == Ledger({"/a": "2", "/b\udce9\n": "1"}, {"/c": "2"}, job=False, whole=True)
    assert ledger.load(state, "another") == EMPTY
    assert os.stat(ledger.path(state, "s")).st_mode & 0o777 == 0o600


def test_what_is_added_later_is_found(tmp_path: Path) -> None:
    state = str(tmp_path)
    for at in range(5):
        ledger.note(state, "s", str(at), LedgerEntry((f"/{at}",)))
        assert len(ledger.load(state, "s").paths) == len(ledger.load(state, "s").paths) == at + 1
    os.truncate(ledger.path(state, "s"), 0)
    assert ledger.load(state, "s") == ledger.LOST
    ledger.note(state, "s", "6", LedgerEntry(("/6",)))
    assert ledger.load(state, "s") == ledger.LOST


def test_many_calls_at_once_lose_nothing(tmp_path: Path) -> None:
    state = str(tmp_path)
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda at: ledger.note(state, "s", str(at), LedgerEntry((f"/{at}",))), range(200)))
    assert ledger.load(state, "s").paths == {f"/{at}": str(at) for at in range(200)}


def test_too_many_or_too_long_paths_of_a_call_are_everything(tmp_path: Path) -> None:
    state = str(tmp_path)
    ledger.note(state, "many", "1", LedgerEntry(tuple(f"/{at}" for at in range(ledger.MOST_PATHS + 1))))
    ledger.note(state, "long", "1", LedgerEntry(("/" + "x" * ledger.LONGEST,)))
    for name in ("many", "long"):
        assert ledger.load(state, name) == ledger.LOST
        assert ledger.load(state, name, "1") == EMPTY


def test_a_full_ledger_is_everything_and_grows_no_more(tmp_path: Path) -> None:
    state, name = str(tmp_path), "/" + "x" * 8000
    for at in range(70):
        ledger.note(state, "s", str(at), LedgerEntry((f"{name}{at}",)))
    assert ledger.load(state, "s") == ledger.LOST
    assert os.stat(ledger.path(state, "s")).st_size < ledger.MOST + ledger.LONGEST


@pytest.mark.parametrize(
    "text", ["", "x", '{"id":"1","paths":["/a"]}\n', '{"for":"written by this session"}\n{"id":"1","pa']
)
def test_a_ledger_that_was_cut_or_changed_is_everything(tmp_path: Path, text: str) -> None:
    state = str(tmp_path)
    ledger.note(state, "s", "1", LedgerEntry(("/a",)))
    Path(ledger.path(state, "s")).write_text(text)
    assert ledger.load(state, "s") == ledger.LOST


def test_a_ledger_to_which_nothing_can_be_added_is_everything(tmp_path: Path) -> None:
    state = str(tmp_path)
    kept = Path(ledger.path(state, "s"))
    kept.parent.mkdir()
    kept.symlink_to("elsewhere")
    ledger.note(state, "s", "1", LedgerEntry(("/a",)))
    assert ledger.load(state, "s") == ledger.LOST
    kept.unlink()
    kept.mkdir()
    ledger.note(state, "s", "1", LedgerEntry(("/a",)))
    assert ledger.load(state, "s") == ledger.LOST


# ---------------------------------------------------------------- what a call may change


def entry(tmp_path: Path, tool: str, **given: object) -> LedgerEntry | None:
    environ = {"HOME": str(tmp_path / "home"), "ASSENT_HOME": str(tmp_path / "state")}
    project = Path(os.path.realpath(tmp_path)) / "project"
    project.mkdir(exist_ok=True)
    gate, here = open_gate(place(str(project), environ), environ)
    call = Call(tool, given, cwd=str(project), roots=here.roots, home=here.home, shell="bash")
    judged = gate.judge(call)
    assert judged.lowering is not None
    assert judged.facts is not None
    return changes.entry_of(call, judged.lowering, judged.facts)


@pytest.mark.parametrize("command", ["ls -la", "git status", "cat a | grep b", "sleep 9 &", "curl https://a.example"])
def test_a_call_that_reads_is_not_noted(tmp_path: Path, command: str) -> None:
    assert entry(tmp_path, "bash", command=command) is None


def test_a_call_is_noted_with_the_files_that_it_names(tmp_path: Path) -> None:
    here = os.path.realpath(tmp_path) + "/project"
    os.makedirs(here)
    os.symlink("real", f"{here}/link")
    assert entry(tmp_path, "write", file_path="a.sh", content="x") == LedgerEntry((f"{here}/a.sh",))
    assert entry(tmp_path, "bash", command="curl -o x.sh https://a.example") == LedgerEntry((f"{here}/x.sh",))
    assert entry(tmp_path, "bash", command="echo x > link") == LedgerEntry((f"{here}/link", f"{here}/real"))
    moved = (f"{here}/a", f"{here}/b", f"{here}/b/a")
    assert entry(tmp_path, "bash", command="mv a b &") == LedgerEntry(moved, moved, moved=moved[1:], job=True)


@pytest.mark.parametrize("command", ["make", "./x", "python3 x.py", "echo x > $Y", "((", "cp -r a $X"])
def test_code_and_targets_that_are_not_known_may_write_anywhere(tmp_path: Path, command: str) -> None:
    found = entry(tmp_path, "bash", command=command)
    assert found is not None
    assert "/" in found.below


@pytest.mark.parametrize("given", [{"run_in_background": True}, {"is_background": "true"}, {"runInBackground": 1}])
def test_arguments_say_that_a_command_is_not_waited_for(given: dict[str, object]) -> None:
    assert changes.is_in_background(given)
    assert not changes.is_in_background(dict.fromkeys(given, False))
