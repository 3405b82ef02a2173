"""Programs are those that the PATH of the hook leads to, in real folders."""

from __future__ import annotations

from pathlib import Path

import pytest

from assent.contract import Call, Outcome
from assent.engine.engine import Engine
from assent.facts import search_path
from assent.policy.settings import combine
from assent.state import ledger

SYSTEM = "/usr/local/bin:/usr/bin:/bin"


class Machine:
    """A project, a home folder and a state folder of their own, none of them below a temporary folder's name."""

    def __init__(self, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(search_path, "_SCRATCH", (f"{place}/scratch/",))
        self.project, self.home, self.state = place / "project", place / "home", place / "state"
        for folder in (self.project, self.home / "bin", place / "scratch"):
            folder.mkdir(parents=True)
        self.state.mkdir(mode=0o700)
        (self.project / "x").write_text("x")
        self.engine = Engine(combine([], flag_mode="auto"), state=str(self.state))

    def outcome(self, command: str, path: str) -> Outcome:
        where = str(self.project)
        call = Call(
            "bash", {"command": command}, cwd=where, roots=(where,), home=str(self.home), session="s", path=path
        )
        return self.engine.judge(call, session="s").decision.outcome


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(tmp_path.resolve(), monkeypatch)


def put(path: Path, text: str = "rm -rf ~\n") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


def test_a_program_of_the_workspace_is_not_the_one_of_its_name(machine: Machine) -> None:
    path = f"{machine.project}/bin:{SYSTEM}"
    assert machine.outcome("cat x", path) is Outcome.ALLOW
    put(machine.project / "bin" / "cat")
    assert machine.outcome("cat x", path) is Outcome.DENY
    assert machine.outcome("cat x", f"{SYSTEM}:{machine.project}/bin") is Outcome.ALLOW
    assert machine.outcome("cat x", SYSTEM) is Outcome.ALLOW


def test_a_folder_named_like_a_program_is_none(machine: Machine) -> None:
    (machine.project / "cat").mkdir()
    assert machine.outcome("cat x", f".:{SYSTEM}") is Outcome.ALLOW


def test_a_link_to_the_workspace_is_followed(machine: Machine) -> None:
    link = machine.home / "tools"
    link.symlink_to(machine.project / "bin")
    put(machine.project / "bin" / "cat")
    assert machine.outcome("cat x", f"{link}:{SYSTEM}") is Outcome.DENY


def test_a_write_by_another_name_of_the_folder_counts(machine: Machine) -> None:
    (machine.project / "bin").mkdir()
    (machine.project / "other").symlink_to("bin")
    path = f"{machine.project}/bin:{SYSTEM}"
    assert machine.outcome("cp x other/cat && cat x", path) is not Outcome.ALLOW
    assert machine.outcome("cp x other/dog && cat x", path) is Outcome.ALLOW


def test_a_program_of_the_person_counts_where_the_session_wrote_it(machine: Machine) -> None:
    path, program = f"{machine.home}/bin:{SYSTEM}", machine.home / "bin" / "cat"
    put(program)
    assert machine.outcome("cat x", path) is Outcome.ALLOW
    ledger.note(str(machine.state), "s", "1", ledger.LedgerEntry((str(program),)))
    assert machine.outcome("cat x", path) is Outcome.DENY


def test_what_is_installed_in_the_workspace_counts_where_the_session_wrote_it(machine: Machine) -> None:
    path, program = f"{machine.project}/node_modules/.bin:{SYSTEM}", machine.project / "node_modules/.bin/cat"
    put(program)
    assert machine.outcome("cat x", path) is Outcome.ALLOW
    ledger.note(str(machine.state), "s", "1", ledger.LedgerEntry((), (str(program.parent),)))
    assert machine.outcome("cat x", path) is Outcome.DENY


def test_programs_that_others_start_count(machine: Machine) -> None:
    path = f"{machine.project}/bin:{SYSTEM}"
    put(machine.project / "bin" / "deploy")
    assert machine.outcome("file x", path) is Outcome.ALLOW
    put(machine.project / "bin" / "ls")
    assert machine.outcome("file x", path) is Outcome.ASK
    assert machine.outcome("cat x", path) is Outcome.ALLOW


def test_an_ordinary_path_has_no_folder_to_look_into() -> None:
    assert search_path.folders("/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", ("/w",)) == ()
