"""A call that would ask because its code is not proved runs contained, and never bare once that is decided."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from pathlib import Path

import pytest

from assent.contain import ticket
from assent.contract import Outcome
from assent.contract.approval import Grant, Scope
from assent.facts import digest
from assent.hook.replies import settled_reply
from assent.state import contained, ledger
from assent.trail import query
from tests.contain.box import exact
from tests.contained.scene import RUNS, Scene, run

ALLOW, ASK, DENY = Outcome.ALLOW, Outcome.ASK, Outcome.DENY
TAG = subprocess.run(
    [
        "/usr/bin/env",
        "PATH=/usr/local/bin:/usr/bin:/bin",
        "python3",
        "-c",
        "import sys; print(sys.implementation.cache_tag)",
    ],
    capture_output=True,
    text=True,
).stdout.strip()  # of the Python that runs contained
COMPILED = {"__pycache__", f"__pycache__/places.{TAG}.pyc"}


def records(scene: Scene) -> list[dict[str, object]]:
    scene.memory.trail.close()
    return [dict(entry.fields) for entry in query.read(scene.memory.trail.folder)]


def test_code_runs_contained_and_its_output_is_that_of_the_code(scene: Scene) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        scene.plan(port=server.getsockname()[1])
        outside = run(f"cd {scene.root} && HOME={scene.home} {RUNS}").out
        settled = scene.decide(RUNS)
        inside = run(settled.command)
    assert settled.outcome is ALLOW
    assert settled.judged.decision.code == "contain.allowed"
    assert (inside.status, inside.out.splitlines()[0]) == (0, "hello from the tool")
    assert "id_ed25519" in outside
    assert "looked: failed" in inside.out
    assert "<socket.socket" in outside
    assert "reached: failed" in inside.out
    assert (scene.root / "made.txt").read_text() == "made"
    assert scene.ended(RUNS) == ""


def test_the_record_says_contained_before_the_answer_goes_out(scene: Scene) -> None:
    settled = scene.decide(RUNS)
    found = [entry for entry in records(scene) if entry["id"] == settled.id]
    assert [entry["contained"] for entry in found] == [settled.judged.decision.contained]
    assert ticket.receipt(scene.memory.state, ticket.id_of(scene.memory.state, settled.command)) is None
    reply = settled_reply(settled)
    assert (reply.outcome, reply.command) == (ALLOW, settled.command)
    assert "contained: no network" in reply.reason


def test_a_host_that_cannot_rewrite_asks_as_before(scene: Scene) -> None:
    settled = scene.decide(RUNS, rewrites=False)
    assert (settled.outcome, settled.command, settled.judged.decision.contained) == (ASK, "", "")
    assert scene.decide(RUNS, rewrites=False, headless=True).outcome is DENY


def test_without_the_setting_nothing_is_contained(tmp_path: Path, sandboxed: None) -> None:
    scene = Scene(tmp_path.resolve(), contain={})
    settled = scene.decide(RUNS)
    assert (settled.outcome, settled.command) == (ASK, "")
    assert not os.path.exists(f"{scene.memory.state}/contain")


def test_a_call_in_the_background_and_one_that_moves_the_shell_ask_as_before(scene: Scene) -> None:
    (scene.root / "sub").mkdir()
    assert scene.decide(RUNS, run_in_background=True).outcome is ASK
    assert scene.decide(f"cd sub && {RUNS}").outcome is ASK
    assert scene.decide(f"{RUNS} &").outcome is ASK


def test_a_file_that_is_not_there_in_the_run_is_asked_about(scene: Scene, tmp_path: Path) -> None:
    (tmp_path / "elsewhere.py").write_text("import places")
    assert scene.decide(f"python3 {tmp_path}/elsewhere.py").outcome is ASK


def test_nobody_needs_to_be_there_for_a_contained_run(scene: Scene) -> None:
    assert scene.decide(RUNS, headless=True).outcome is ALLOW


@pytest.mark.parametrize("mode", ["plan", "default", "full_auto"])
def test_other_modes_decide_as_before(mode: str, tmp_path: Path, sandboxed: None) -> None:
    scene = Scene(tmp_path.resolve(), mode)
    settled = scene.decide(RUNS)
    assert (settled.outcome, settled.command) == ({"plan": DENY, "default": ASK, "full_auto": ALLOW}[mode], "")


def test_full_auto_is_contained_where_the_settings_say_so(tmp_path: Path, sandboxed: None) -> None:
    scene = Scene(tmp_path.resolve(), "full_auto", {"on": True, "full_auto": True})
    settled = scene.decide(RUNS)
    assert settled.outcome is ALLOW
    assert "looked: failed" in run(settled.command).out


def test_what_a_pack_lets_run_is_contained(tmp_path: Path, sandboxed: None) -> None:
    scene = Scene(tmp_path.resolve(), packs={"on": ["dev-tasks"]})
    scene.write("Makefile", "test:\n\tpython3 tool.py\n")
    settled = scene.decide("make test")
    assert (settled.outcome, settled.judged.decision.code) == (ALLOW, "allow.rule")
    assert settled.judged.decision.contained
    assert "looked: failed" in run(settled.command).out


# ---------------------------------------------------------------- no ticket, no run


def test_without_a_ticket_it_is_the_question_that_it_was(scene: Scene) -> None:
    scene.decide("true; python3 tool.py")  # the sandbox was tried
    shutil.rmtree(f"{scene.memory.state}/contain/tickets")
    Path(f"{scene.memory.state}/contain/tickets").write_text("in the way")
    settled = scene.decide(RUNS)
    assert (settled.outcome, settled.command) == (ASK, "")
    assert settled.judged.decision.code == "mode.execute"
    last = [entry for entry in records(scene) if entry["id"] == settled.id]
    assert [(entry["outcome"], "contained" in entry) for entry in last] == [("ask", False)]


def test_without_a_ticket_what_a_pack_allows_is_asked_about(tmp_path: Path, sandboxed: None) -> None:
    scene = Scene(tmp_path.resolve(), packs={"on": ["dev-tasks"]})
    scene.write("Makefile", "test:\n\tpython3 tool.py\n")
    scene.decide(RUNS)
    shutil.rmtree(f"{scene.memory.state}/contain/tickets")
    Path(f"{scene.memory.state}/contain/tickets").write_text("in the way")
    settled = scene.decide("make test")
    assert (settled.outcome, settled.command, settled.judged.decision.code) == (ASK, "", "contain.failed")


def test_a_trail_that_cannot_be_written_denies_it(scene: Scene) -> None:
    scene.decide(RUNS)
    scene.memory.trail.close()
    shutil.rmtree(scene.memory.trail.folder)
    Path(scene.memory.trail.folder).write_text("in the way")
    settled = scene.decide(f"{RUNS} again")
    assert (settled.outcome, settled.command) == (DENY, "")


def test_a_contained_decision_without_a_command_is_never_an_allow(scene: Scene) -> None:
    settled = scene.decide(RUNS)
    assert settled_reply(type(settled)(settled.judged, settled.id)).outcome is DENY


# ---------------------------------------------------------------- after a run


def test_a_run_that_failed_is_told_and_the_same_call_again_asks(scene: Scene) -> None:
    scene.plan(status=3)
    assert run(scene.decide(RUNS).command).status == 3
    told = scene.ended(RUNS)
    assert told.startswith("This call ran contained (no network, writes only in the workspace")
    assert "failed with exit status 3" in told
    assert "a person is then asked" in told
    assert scene.ended(RUNS) == ""  # once
    for _ in range(2):
        again = scene.decide(RUNS)
        assert (again.outcome, again.command, again.judged.decision.code) == (ASK, "", "contain.failed")
        assert "failed with exit status 3" in again.judged.decision.reason
        assert scene.ended(RUNS) == ""  # it ran outside, where nothing is to be told
    assert scene.decide(RUNS, headless=True).outcome is DENY


def test_the_question_comes_without_an_event_after_the_run(scene: Scene) -> None:
    scene.plan(status=1)
    run(scene.decide(RUNS).command)
    assert scene.decide(RUNS).judged.decision.code == "contain.failed"


def test_after_a_change_of_the_session_it_runs_contained_again(scene: Scene) -> None:
    scene.plan(status=1)
    run(scene.decide(RUNS).command)
    scene.edit("notes.txt", "changed")
    assert scene.decide(RUNS).outcome is ALLOW


def test_a_run_that_was_not_taken_up_is_asked_about_when_it_comes_again(scene: Scene) -> None:
    scene.decide(RUNS)
    assert scene.decide(RUNS).judged.decision.code == "contain.failed"


def test_a_run_that_went_well_is_contained_again(scene: Scene) -> None:
    for _ in range(2):
        settled = scene.decide(RUNS)
        assert (settled.outcome, run(settled.command).status) == (ALLOW, 0)


def test_a_ticket_is_used_once(scene: Scene) -> None:
    command = scene.decide(RUNS).command
    assert run(command).status == 0
    assert run(command).status == 126


def test_an_input_that_another_hook_replaced_ends_containment_for_the_session(scene: Scene) -> None:
    scene.decide(RUNS)
    told = scene.ended("echo something else")
    assert "another hook replaced the command" in told
    assert contained.load(scene.memory.state, "s").off
    assert [entry["code"] for entry in records(scene) if entry["kind"] == "event"] == ["contain.replaced"]
    assert scene.decide("python3 tool.py two").outcome is ASK
    assert scene.ended("echo something else") == ""


def test_a_run_that_goes_on_is_not_taken_for_a_replaced_one(scene: Scene) -> None:
    command = scene.decide(RUNS).command
    id = ticket.id_of(scene.memory.state, command)
    os.rename(f"{scene.memory.state}/contain/tickets/{id}", f"{scene.memory.state}/contain/claimed/{id}")
    assert scene.ended(RUNS) == ""
    assert not contained.load(scene.memory.state, "s").off


# ---------------------------------------------------------------- what a person said


def grant(scene: Scene, command: str, *rules: str) -> Grant:
    call = scene.call(command)
    judged = scene.gate.judge(scene.request(call))
    assert judged.lowering is not None
    assert judged.facts is not None
    pairs = [pair for each in digest.running(judged.lowering, judged.facts).values() for pair in each]
    identity = "" if rules else digest.identity(call)
    now = scene.memory.clock()
    project = str(scene.root)
    return Grant(
        *("g", Scope.SESSION),
        rules=rules,
        identity=identity,
        session="s",
        project=project,
        made=now,
        until=now + 60,
        files=tuple(pairs),
    )


@pytest.mark.parametrize("rules", [(), ("bash(python3 tool.py)",)])
def test_a_saved_answer_lets_it_run_outside(scene: Scene, rules: tuple[str, ...]) -> None:
    scene.memory.grants.add(grant(scene, RUNS, *rules))
    settled = scene.decide(RUNS)
    assert (settled.outcome, settled.command, settled.judged.decision.deciding.layer.value) == (ALLOW, "", "grant")


@pytest.mark.parametrize("rules", [(), ("bash(make test)",)])
def test_a_saved_answer_lets_what_a_pack_allows_run_outside(
    rules: tuple[str, ...], tmp_path: Path, sandboxed: None
) -> None:
    scene = Scene(tmp_path.resolve(), packs={"on": ["dev-tasks"]})
    scene.write("Makefile", "test:\n\tpython3 tool.py\n")
    scene.memory.grants.add(grant(scene, "make test", *rules))
    settled = scene.decide("make test")
    assert (settled.outcome, settled.command, settled.judged.decision.contained) == (ALLOW, "", "")


def test_an_answer_on_another_command_changes_nothing(tmp_path: Path, sandboxed: None) -> None:
    scene = Scene(tmp_path.resolve(), packs={"on": ["dev-tasks"]})
    scene.write("Makefile", "test:\n\tpython3 tool.py\n")
    scene.memory.grants.add(Grant("g", Scope.SESSION, rules=("bash(make lint)",), session="s", project=str(scene.root)))
    assert scene.decide("make test").command


# ---------------------------------------------------------------- the ledger


def written(scene: Scene) -> tuple[set[str], set[str]]:
    scene.decide("true; python3 -V")  # a later call of the session
    found = ledger.load(scene.memory.state, "s")
    assert (found.job, found.unnamed, found.whole) == (False, False, True)
    names = [{os.path.relpath(path, scene.root) for path in each} for each in (found.paths, found.below)]
    return names[0], names[1]


def aged(scene: Scene) -> None:
    """Files are older than the run, as they are in practice."""
    exact(scene.root)
    time.sleep(2.1)


def test_a_contained_run_counts_as_writer_of_the_workspace_until_it_is_over(scene: Scene) -> None:
    aged(scene)
    settled = scene.decide(RUNS)
    assert written(scene) == ({"made.txt"}, {"."})  # one of the files can be read in the code
    run(settled.command)
    assert written(scene) == ({"made.txt", *COMPILED}, set())


def test_what_a_run_moved_or_removed_counts_as_written(scene: Scene) -> None:
    (scene.root / "old").mkdir()
    (scene.root / "old" / "x.py").write_text("")
    scene.write("tool.py", "import places\nfor name, other in places.PLAN:\n    name.rename(other)\n")
    scene.write(
        "places.py", "from pathlib import Path\nPLAN = [(Path('old'), 'new'), (Path('plan.json'), 'other.json')]\n"
    )
    aged(scene)
    settled = scene.decide(RUNS)
    assert settled.command, settled.judged.decision
    run(settled.command)
    assert written(scene) == ({"old", "plan.json", "new", "new/x.py", "other.json", *COMPILED}, {"old"})


def test_a_run_whose_receipt_is_not_complete_stays_a_writer_of_the_workspace(scene: Scene) -> None:
    scene.write("tool.py", "import places\nfor i in range(2100):\n    open(f'made{i}', 'w').close()\n")
    run(scene.decide(RUNS).command)
    assert written(scene) == (set(), {"."})


def test_the_receipt_of_another_call_changes_nothing(scene: Scene) -> None:
    first, second = scene.decide(RUNS), scene.decide(f"{RUNS} two")
    state = scene.memory.state
    run(first.command)
    ids = [ticket.id_of(state, each.command) for each in (first, second)]
    shutil.copy(f"{state}/contain/receipts/{ids[0]}", f"{state}/contain/receipts/{ids[1]}")
    assert "." in written(scene)[1]


def test_a_run_that_was_not_started_changed_nothing(scene: Scene) -> None:
    settled = scene.decide(RUNS)
    (scene.root / ".vscode").mkdir()
    os.link(scene.root / "plan.json", scene.root / ".vscode" / "tasks.json")  # protected, and has another name
    assert run(settled.command).status == 126
    assert written(scene)[1] == set()


def test_what_ran_outside_after_a_failure_is_not_taken_for_what_ran_inside(scene: Scene) -> None:
    scene.plan(status=3)
    aged(scene)
    run(scene.decide(RUNS).command)
    assert scene.decide(RUNS).judged.decision.code == "contain.failed"  # a yes lets it run outside
    assert ledger.load(scene.memory.state, "s").below.keys() == {"/"}
    assert written(scene)[1] == {os.path.relpath("/", scene.root)}
