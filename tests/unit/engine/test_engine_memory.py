"""Cached results never outlive what they depend on."""

from __future__ import annotations

from pathlib import Path

from assent.contract import Call, Decision
from assent.engine.engine import Engine
from assent.policy.document import document_of
from assent.policy.modes import Mode
from assent.policy.rules import Origin
from assent.policy.settings import combine


def gate() -> Engine:
    return Engine(combine([document_of({"mode": "auto"}, "test", Origin.USER)]))


def decided(gate: Engine, command: str, root: Path, home: Path) -> Decision:
    call = Call("bash", {"command": command}, cwd=str(root), roots=(str(root),), home=str(home), shell="bash")
    return gate.decide(call)


def test_the_same_call_on_the_same_host_gets_the_same_decision(tmp_path: Path) -> None:
    one, root = gate(), tmp_path / "work"
    root.mkdir()
    first = decided(one, "cat notes", root, tmp_path)
    assert decided(one, "cat notes", root, tmp_path) is first
    assert decided(gate(), "cat notes", root, tmp_path) == first


def test_a_link_that_is_made_between_two_calls_is_seen(tmp_path: Path) -> None:
    one, root = gate(), tmp_path / "work"
    root.mkdir()
    before = decided(one, "cat notes", root, tmp_path)
    (root / "notes").symlink_to(tmp_path / ".ssh" / "id_rsa")
    during = decided(one, "cat notes", root, tmp_path)
    (root / "notes").unlink()
    after = decided(one, "cat notes", root, tmp_path)
    assert [before.outcome.word, during.code, after.outcome.word] == ["allow", "floor.sensitive-path", "allow"]


def test_a_repository_that_changes_between_two_calls_is_seen(tmp_path: Path) -> None:
    one, root = gate(), tmp_path / "work"
    for folder in ("objects", "refs"):
        (root / ".git" / folder).mkdir(parents=True)
    (root / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    config = root / ".git" / "config"
    config.write_text("[core]\n\tbare = false\n")
    before = decided(one, "git status", root, tmp_path)
    config.write_text("[core]\n\tfsmonitor = ./run-me\n")
    assert [before.outcome.word, decided(one, "git status", root, tmp_path).code] == ["allow", "mode.repository"]


def test_a_session_in_another_mode_and_a_run_without_people_get_their_own_decisions(tmp_path: Path) -> None:
    one, root = gate(), tmp_path / "work"
    root.mkdir()
    call = Call("bash", {"command": "touch x"}, cwd=str(root), roots=(str(root),), home=str(tmp_path), shell="bash")
    far = Call("bash", {"command": "touch /srv/x"}, cwd=str(root), roots=(str(root),), home=str(tmp_path), shell="bash")
    said = [one.judge(call, mode=mode).decision.outcome.word for mode in (Mode.AUTO, Mode.PLAN, Mode.AUTO)]
    asked = [one.decide(far, headless=headless).outcome.word for headless in (False, True, False)]
    assert (said, asked) == (["allow", "deny", "allow"], ["ask", "deny", "ask"])


def test_a_look_that_may_take_long_is_told_before_it_is_taken(tmp_path: Path) -> None:
    one = gate()
    quick = {
        command: one.is_quick(Call("bash", {"command": command}, cwd=str(tmp_path), roots=(str(tmp_path),)))
        for command in ("git status && ls -la src", "rm -rf build", "cat src/*.py", "git switch dev", "$X", "if")
    }
    assert quick == {
        "git status && ls -la src": True,
        "rm -rf build": True,
        "cat src/*.py": False,  # names are looked for
        "git switch dev": False,  # git is asked
        "$X": True,
        "if": True,
    }
    assert one.is_quick(Call("bash", {"command": 1})) is True
