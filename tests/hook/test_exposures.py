"""Folders whose settings switch a hook off are named by `assent status`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assent.cli.main import main


def test_a_folder_that_switches_the_hook_off_is_named_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for folder in ("here", "there/.claude", "quiet"):
        (tmp_path / folder).mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("ASSENT_HOME", raising=False)
    monkeypatch.chdir(tmp_path / "here")
    main(["install", "claude", "--no-policy"])
    (tmp_path / "there/.claude/settings.json").write_text(json.dumps({"disableAllHooks": True}))
    state = tmp_path / ".assent"
    (state / "trust.json").write_text(json.dumps([str(tmp_path / "there"), str(tmp_path / "quiet")]))
    capsys.readouterr()
    assert main(["status"]) == 1
    first, *_ = capsys.readouterr().out.splitlines()
    said = f"UNGUARDED claude in the folder of {tmp_path}/there/.claude/settings.json: `disableAllHooks` switches"
    assert first.startswith(said)
