"""Engines are shared, rebuilt when a file changes, and refused when a file does not load."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from assent.contract import Call
from assent.engine import configure
from assent.engine.cache import EngineCache, Refusing
from assent.facts.links import Links
from assent.state import trust


@pytest.fixture
def place(tmp_path: Path) -> tuple[EngineCache, Path, Path]:
    state, project = tmp_path / "state", tmp_path / "project"
    state.mkdir()
    project.mkdir()
    return EngineCache({"HOME": str(tmp_path), "ASSENT_HOME": str(state)}), state, project


def outcome(gates: EngineCache, project: Path, command: str, session: str = "") -> str:
    gate, here = gates.find(str(project), session)
    call = Call("bash", {"command": command}, cwd=str(project), roots=here.roots, home=here.home, session=session)
    return gate.decide(call).outcome.word


def test_a_gate_is_kept_until_a_file_changes(place: tuple[EngineCache, Path, Path]) -> None:
    gates, state, project = place
    first, _ = gates.find(str(project))
    assert gates.find(str(project))[0] is first
    assert gates.loads == 1
    (state / "config.toml").write_text('deny = ["bash(ls:*)"]\n')
    assert outcome(gates, project, "ls") == "deny"
    assert gates.loads == 2


def test_a_change_of_the_same_length_and_time_is_seen(place: tuple[EngineCache, Path, Path]) -> None:
    gates, state, project = place
    config = state / "config.toml"
    config.write_text('deny = ["bash(ls:*)"]\n')
    before = config.stat()
    assert outcome(gates, project, "ls") == "deny"
    config.write_text('deny = ["bash(cp:*)"]\n')
    os.utime(config, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert config.stat().st_size == before.st_size
    assert outcome(gates, project, "ls") == "allow"


def test_a_broken_file_leaves_nothing_in_force(place: tuple[EngineCache, Path, Path]) -> None:
    gates, state, project = place
    config = state / "config.toml"
    config.write_text('allow = ["bash(make:*)"]\n')
    assert outcome(gates, project, "make") == "allow"
    config.write_text("allow = [")
    gate, _ = gates.find(str(project))
    assert isinstance(gate, Refusing)
    decision = gate.decide(Call("bash", {"command": "ls"}, cwd=str(project)))
    assert (decision.outcome.word, decision.code) == ("deny", "policy.load")
    config.write_text("")
    assert outcome(gates, project, "make") == "ask"


def test_a_projects_file_that_a_session_loosens_holds_on_for_it_and_not_for_others(
    place: tuple[EngineCache, Path, Path],
) -> None:
    gates, _, project = place
    rules = project / ".assent.toml"
    rules.write_text('deny = ["bash(ls:*)"]\n')
    assert outcome(gates, project, "ls", "first") == "deny"
    rules.unlink()
    assert outcome(gates, project, "ls", "first") == "deny"
    assert outcome(gates, project, "ls", "second") == "allow"


def test_the_rules_of_the_folder_where_a_session_began_hold_wherever_it_goes(
    place: tuple[EngineCache, Path, Path], tmp_path: Path
) -> None:
    gates, _, project = place
    worktree, elsewhere = project / ".claude/worktrees/new", tmp_path / "elsewhere"
    for each in (worktree, elsewhere):
        each.mkdir(parents=True)
    rules = project / ".assent.toml"
    rules.write_text('deny = ["bash(ls:*)"]\n')
    (worktree / ".assent.toml").write_text('deny = ["bash(pwd:*)"]\n')
    assert outcome(gates, project, "ls", "first") == "deny"
    rules.unlink()
    for folder in (worktree, elsewhere, Path("/"), project):
        assert outcome(gates, folder, "ls", "first") == "deny", folder
    assert outcome(gates, worktree, "pwd", "first") == "deny"
    assert outcome(gates, elsewhere, "pwd", "first") == "allow"
    assert outcome(gates, worktree, "ls", "second") == "allow"


def test_a_call_of_no_folder_begins_no_session(place: tuple[EngineCache, Path, Path]) -> None:
    gates, _, project = place
    (project / ".assent.toml").write_text('deny = ["bash(ls:*)"]\n')
    assert outcome(gates, Path("/"), "ls", "first") == "allow"
    assert outcome(gates, project, "ls", "first") == "deny"
    assert outcome(gates, Path("/"), "ls", "first") == "deny"


def test_sessions_with_the_same_view_share_a_gate(place: tuple[EngineCache, Path, Path]) -> None:
    gates, _, project = place
    assert gates.find(str(project), "one")[0] is gates.find(str(project), "two")[0]


def test_projects_do_not_share_a_gate(place: tuple[EngineCache, Path, Path], tmp_path: Path) -> None:
    gates, _, project = place
    (project / ".assent.toml").write_text('deny = ["bash(ls:*)"]\n')
    other = tmp_path / "other"
    other.mkdir()
    assert outcome(gates, project, "ls") == "deny"
    assert outcome(gates, other, "ls") == "allow"


def test_a_file_that_changed_just_now_is_read_again_as_its_times_may_not_tell_of_a_next_change(
    place: tuple[EngineCache, Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    gates, state, project = place
    config = state / "config.toml"
    config.write_text('deny = ["bash(ls:*)"]\n')
    changed = config.stat().st_ctime_ns
    monkeypatch.setattr("assent.engine.cache.time_ns", lambda: changed + 1_000_000)
    first, _ = gates.find(str(project))
    again, _ = gates.find(str(project))
    assert again is not first
    monkeypatch.setattr("assent.engine.cache.time_ns", lambda: changed + 1_000_000_000)
    kept, _ = gates.find(str(project))
    assert gates.find(str(project))[0] is kept


def test_in_one_moment_the_files_are_looked_at_once_and_in_the_next_again(
    place: tuple[EngineCache, Path, Path],
) -> None:
    gates, state, project = place
    moment = Links()
    before, _ = gates.find(str(project), "s", moment=moment)
    (state / "config.toml").write_text('deny = ["bash(ls:*)"]\n')
    assert gates.find(str(project), "s", moment=moment)[0] is before
    assert gates.find(str(project), "other", moment=moment)[0] is before
    after, _ = gates.find(str(project), "s", moment=Links())
    assert after is not before


def test_a_file_that_had_just_changed_when_it_was_looked_at_is_looked_at_again_however_long_loading_took(
    place: tuple[EngineCache, Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may have changed a second time right after that, with the same times: those are coarse."""
    gates, state, project = place
    config = state / "config.toml"
    config.write_text("")
    now = config.stat().st_ctime_ns + 1_000_000
    load = configure.open_gate

    def slowly(*given: object, **named: object) -> object:
        nonlocal now
        now += 200_000_000
        return load(*given, **named)  # type: ignore[arg-type]

    monkeypatch.setattr("assent.engine.cache.time_ns", lambda: now)
    monkeypatch.setattr(configure, "open_gate", slowly)
    first = gates.find(str(project), "session")[0]
    second = gates.find(str(project), "session")[0]
    assert first is not second
    assert gates.find(str(project), "session")[0] is second


def test_a_link_that_leads_nowhere_is_not_the_same_as_no_file(place: tuple[EngineCache, Path, Path]) -> None:
    gates, state, project = place
    config = state / "config.toml"
    assert outcome(gates, project, "ls") == "allow"
    config.symlink_to(state / "nowhere")
    assert outcome(gates, project, "ls") == "deny"
    config.unlink()
    assert outcome(gates, project, "ls") == "allow"


def test_a_project_that_is_another_folder_by_now_has_not_the_trust_of_the_last_one(
    place: tuple[EngineCache, Path, Path], tmp_path: Path
) -> None:
    gates, state, _ = place
    (state / "config.toml").write_text('mode = "full_auto"\nuntrusted_mode = "plan"\n')
    known, foreign, project = tmp_path / "known", tmp_path / "foreign", tmp_path / "link"
    known.mkdir()
    foreign.mkdir()
    trust.trust(str(known), str(state))
    project.symlink_to(known)
    time.sleep(0.1)  # a gate is kept where nothing changed just before it was made
    assert gates.find(str(project))[0].settings.mode.word == "full_auto"
    beside = tmp_path / "beside"
    beside.symlink_to(foreign)
    os.replace(beside, project)
    assert gates.find(str(project))[0].settings.mode.word == "plan"
