"""Many processes that write to one file of Assent's state."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
from pathlib import Path

import pytest

from assent.approval.escalation import SavedTally
from assent.approval.grants import GrantBook
from assent.contract.approval import Scope
from assent.state.files import held, replace_text
from assent.state.trust import trusted_folders
from tests.unit.approval.test_grants import NOW, grant

SESSION = ("claude", "s1")


def test_counts_go_on_in_another_process(tmp_path: Path) -> None:
    script = f"""
from assent.approval.escalation import refused
print(refused({str(tmp_path)!r}, 'claude', 's1', 1) is not None)
"""
    said = [subprocess.run([sys.executable, "-c", script], capture_output=True, text=True).stdout for _ in range(4)]
    assert said == ["False\n", "False\n", "True\n", "False\n"]


def test_many_processes_at_once_lose_no_count(tmp_path: Path) -> None:
    script = f"""
from assent.approval.escalation import refused
for _ in range(5): refused({str(tmp_path)!r}, 'claude', 's1', 1)
"""
    running = [subprocess.Popen([sys.executable, "-c", script]) for _ in range(4)]
    assert [each.wait() for each in running] == [0, 0, 0, 0]
    assert SavedTally(str(tmp_path)).change(SESSION, lambda tracker: tracker.total) == 20


def count_up(folder: str) -> None:
    path = Path(folder, "count")
    for _ in range(20):
        with held(f"{folder}/lock"):
            replace_text(str(path), str(int(path.read_text()) + 1))


def test_one_process_at_a_time(tmp_path: Path) -> None:
    (tmp_path / "count").write_text("0")
    fork = multiprocessing.get_context("fork")
    running = [fork.Process(target=count_up, args=(str(tmp_path),)) for _ in range(4)]
    for each in running:
        each.start()
    for each in running:
        each.join()
    assert (tmp_path / "count").read_text() == "80"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return Path(os.path.realpath(tmp_path))


def test_marks_of_many_processes_are_all_kept(place: Path) -> None:
    script = "import sys; from assent.state.trust import trust; trust(sys.argv[1], sys.argv[2])"
    running = []
    for number in range(6):
        (place / f"app{number}").mkdir()
        words = [sys.executable, "-c", script, str(place / f"app{number}"), str(place / "state")]
        running.append(subprocess.Popen(words))
    assert [process.wait() for process in running] == [0] * 6
    assert sorted(trusted_folders(str(place / "state"))) == [str(place / f"app{number}") for number in range(6)]


def add_some(folder: str, name: str) -> None:
    for number in range(5):
        GrantBook(folder).add(grant(f"{name}-{number}", Scope.EVERYWHERE))


def test_many_processes_lose_no_grant(tmp_path: Path) -> None:
    spawn = multiprocessing.get_context("fork")
    running = [spawn.Process(target=add_some, args=(str(tmp_path / "state"), f"p{each}")) for each in range(6)]
    for each in running:
        each.start()
    for each in running:
        each.join()
    assert len(GrantBook(str(tmp_path / "state")).all(NOW)) == 30
    assert [name for name in os.listdir(tmp_path / "state") if name.endswith(".new")] == []
