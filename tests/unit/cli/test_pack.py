"""What `assent pack add` shows before a person says yes, and what it does not take."""

from __future__ import annotations

from pathlib import Path

import pytest

from assent.cli.main import main

MANIFEST = 'name = "previews"\nmode = "auto"\nallow = ["bash(make preview)"]\n'


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("ASSENT_HOME", str(tmp_path / "state"))
    (tmp_path / "state").mkdir(mode=0o700)
    found = tmp_path / "project"
    (found / ".git").mkdir(parents=True)
    (found / "deep/down").mkdir(parents=True)
    monkeypatch.chdir(found)
    return found


def shown(path: Path) -> int:
    return main(["pack", "add", str(path), "--dry-run"])


@pytest.mark.parametrize("folder", [".", "deep", "deep/down"])
def test_wherever_one_stands_in_a_project_its_manifests_only_tighten(
    project: Path, folder: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(project / folder)
    for place in (project, project / "deep/down"):
        (place / "pack.toml").write_text(MANIFEST)
        assert shown(place / "pack.toml") == 0
        assert "can only tighten: mode, allow" in capsys.readouterr().out


def test_a_folder_that_the_configuration_adds_is_the_projects(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "beside").mkdir()
    (tmp_path / "beside/pack.toml").write_text(MANIFEST)
    assert shown(tmp_path / "beside/pack.toml") == 0
    assert "can only tighten" not in capsys.readouterr().out
    (tmp_path / "state/config.toml").write_text(f'[workspace]\nextra = ["{tmp_path}/beside"]\n')
    assert shown(tmp_path / "beside/pack.toml") == 0
    assert "can only tighten: mode, allow" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            'name = "a"\nallow = [{ rule = "bash(make test)", match = ["make other"] }]',
            "does not match its own example",
        ),
        ('name = "a"\nallow = ["bash(\\u001b[31mx"]', "\\u{1b}[31m"),
        ('name = "a"\nallow = [' + ",".join(f'"bash(make t{each})"' for each in range(201)) + "]", "a person can read"),
    ],
)
def test_what_would_stop_everything_or_hide_in_a_crowd_is_not_taken(
    project: Path, tmp_path: Path, text: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "pack.toml").write_text(text)
    assert shown(tmp_path / "pack.toml") == 2
    err = capsys.readouterr().err
    assert (said in err, "\x1b" in err) == (True, False)


def test_no_text_of_a_manifest_steers_the_screen(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    steer = "\\u001b[2J\\r\\u202e"
    rule = f'{{ rule = "bash(make preview)", reason = "{steer}" }}'
    text = f'name = "a"\nversion = "{steer}"\ndescription = "{steer}"\nallow = [{rule}]\ndeny = [{rule}]\n'
    (tmp_path / "pack.toml").write_text(text)
    assert shown(tmp_path / "pack.toml") == 0
    assert not set("\x1b\r\u202e") & set(capsys.readouterr().out)
