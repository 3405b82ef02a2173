"""Measuring as a whole: what is measured of a call, within its time, whatever happens."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from assent.contract import Call, Facts, Lowering
from assent.contract.approval import Consequence
from assent.effects import shell
from assent.facts.consequences import deletions, measure
from assent.facts.consequences.deadline import Deadline

ROOT = "/workspace/app"


def kinds(command: str) -> list[str]:
    call = Call("bash", {"command": command}, cwd=ROOT, roots=(ROOT,))
    lowering = shell.lower(command, cwd=ROOT, home="/home/user")
    return [kind for kind, _ in measure.plan(call, lowering, Facts(roots=(ROOT,)))]


@pytest.mark.parametrize(
    ("command", "found"),
    [
        ("rm -rf build", ["deletion"]),
        ("git push", ["push"]),
        ("git reset --hard HEAD~1", ["history"]),
        ("git rebase -i HEAD~3", ["history"]),
        ("git commit --amend --no-edit", ["history"]),
        ("git clean -fd", ["history"]),
        ("npm install x", ["install"]),
        ("sqlite3 a.db 'delete from t'", ["rows"]),
        ("curl -T a https://x.example", ["upload"]),
        ("rm -rf build && git push && npm i x", ["deletion", "push", "install", "order"]),
        ("git commit -m x && git push", ["push", "order"]),
        ("git push --dry-run", ["push"]),
        ("ls -la", []),
        ("git status", []),
        ("git commit -m x", []),
        ("make", []),
        ("mv a b", []),
    ],
)
def test_what_is_measured_of_a_command(command: str, found: list[str]) -> None:
    assert kinds(command) == found


def test_arguments_are_of_tools_that_are_not_ours() -> None:
    given = {"to": "ann@a.example"}
    assert measure.plan(Call("mcp__mail__send", given), Lowering("mcp__mail__send"), Facts())
    assert not measure.plan(Call("read", given), Lowering("read"), Facts())


def test_a_fault_is_said_and_the_others_are_measured() -> None:
    def broken(deadline: Deadline) -> Iterator[Consequence]:
        yield Consequence("push", "one")
        raise ValueError("secret text of a file")

    found = measure.measure([("push", broken), ("rows", lambda _: iter([Consequence("rows", "two")]))], 20.0)
    assert [each.text for each in found] == ["one", "what it pushes could not be measured: ValueError", "two"]


def test_what_hangs_is_left_behind() -> None:
    inside, outside = os.pipe()

    def hangs(deadline: Deadline) -> Iterator[Consequence]:
        os.read(inside, 1)  # as a mount that does not answer
        yield Consequence("deletion", "too late")

    before = threading.active_count()
    first = ("rows", lambda _: iter([Consequence("rows", "one")]))
    began = time.monotonic()
    for _ in range(6):
        found = measure.measure([first, ("deletion", hangs)], 0.05)
        assert found[-1] == Consequence("failed", "not all of it could be measured in time", cut=True)
    assert time.monotonic() - began < 5
    assert threading.active_count() - before <= 4  # no more threads than that hang
    os.write(outside, b"xxxxxxxx")
    os.close(outside)
    until = time.monotonic() + 10
    while threading.active_count() > before and time.monotonic() < until:
        time.sleep(0.01)
    assert measure.measure([first], 20.0) == (Consequence("rows", "one"),)
    os.close(inside)


def test_no_question_has_too_many_lines() -> None:
    many = lambda _: iter([Consequence("rows", str(each)) for each in range(100)])  # noqa: E731
    assert len(measure.measure([("rows", many)], 20.0)) == measure.MOST


@pytest.mark.slow
def test_a_large_tree_is_counted_until_its_time_is_up(tmp_path: Path) -> None:
    for folder in range(10):
        place = tmp_path / "big" / str(folder)
        place.mkdir(parents=True)
        base = os.open(place, os.O_RDONLY)
        for name in range(1000):
            os.mknod(str(name), dir_fd=base)
        os.close(base)
    command = f"rm -rf {tmp_path}/big"
    lowering = shell.lower(command, cwd=str(tmp_path), home="/home/user")
    facts = Facts(roots=(str(tmp_path),))
    found = list(deletions.measure(deletions.deleted(lowering, facts), facts, Deadline(0.005)))
    assert found[0].cut
    assert found[0].text.startswith("removes at least ")
    assert found[0].text.endswith("counting was cut short")
