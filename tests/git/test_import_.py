"""Answers that an agent program keeps in a project, and whether they came with its repository."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path

import pytest

from assent.cli.main import main
from assent.contract.approval import Scope
from assent.engine.memory import Memory
from tests.unit.cli.test_import_ import CLAUDE


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude/settings.json").write_text(json.dumps(CLAUDE))
    (tmp_path / "project/.claude").mkdir(parents=True)
    (tmp_path / "project/.claude/settings.json").write_text('{"permissions": {"allow": ["Bash(make all)"]}}')
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("ASSENT_HOME", raising=False)
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path


def test_what_was_answered_in_a_project_is_remembered_for_it_alone(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answered = {
        "allow": ["Bash(make all)", "Bash(npm run test:*)", "Bash(python3:*)", "Read(src/**)"],
        "deny": ["Bash(x)"],
    }
    (home / "project/.claude/settings.local.json").write_text(json.dumps({"permissions": answered}))
    assert main(["import", "claude"]) == 0
    assert "  here  bash(make all)\n" in capsys.readouterr().out
    assert not (home / ".assent").exists()
    for _ in range(2):
        assert main(["import", "claude", "--write"]) == 0
    grants = Memory(str(home / ".assent")).grants
    made = grants.live("", str(home / "project"), time.time())
    assert [(each.rules, each.scope, each.answers) for each in made] == [(("bash(make all)",), Scope.PROJECT, ())]
    assert grants.live("", str(home), time.time()) == ()
    shown = capsys.readouterr().out
    assert "`Bash(python3:*)`: not imported, it is broader than it looks" in shown
    assert "`Bash(x)`: applies in this project alone" in shown


def test_answers_that_came_with_a_repository_are_nobodys(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    local = home / "project/.claude/settings.local.json"
    local.write_text('{"permissions": {"allow": ["Bash(make all)"]}}')
    for words in (["init", "-q"], ["add", "-f", str(local)]):
        subprocess.run(["git", *words], cwd=home / "project", check=True)
    assert main(["import", "claude", "--write"]) == 0
    assert Memory(str(home / ".assent")).grants.all(time.time()) == ()
    assert "`Bash(make all)`: not imported: a project's own settings may tighten" in capsys.readouterr().out
