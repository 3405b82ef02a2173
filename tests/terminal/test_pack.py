"""A person activates a pack at a real terminal, sees what it allows, and is asked again when it changes."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.terminal.tmux import Terminal

ASSENT = Path(sys.executable).parent / "assent"
MANIFEST = """
name = "previews"
version = "1.2"
description = "previews of the shop"
mode = "auto"
allow = ["bash(make preview)"]
deny = [{ rule = "bash(make release)", reason = "releases are made by CI" }]
"""


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state"


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    found = tmp_path / "plugin/assent-pack.toml"
    found.parent.mkdir()
    found.write_text(MANIFEST)
    return found


@pytest.fixture
def project(tmp_path: Path) -> Path:
    found = tmp_path / "project"
    found.mkdir()
    return found


@pytest.fixture
def terminal(project: Path, state: Path, tmp_path: Path) -> Iterator[Terminal]:
    found = Terminal(str(project), {"ASSENT_HOME": str(state), "HOME": str(tmp_path)})
    yield found
    found.close()


def enter(terminal: Terminal, text: str) -> None:
    terminal.type(text)
    terminal.press("Enter")


def activate(terminal: Terminal, manifest: Path) -> str:
    """Activate a pack by typing the word that is shown; what the screen showed before."""
    enter(terminal, "clear")
    for _ in range(100):
        if "activate" not in terminal.screen():
            break
        time.sleep(0.05)
    enter(terminal, f"{ASSENT} pack add {manifest}; echo status=$?")
    screen: str = terminal.wait_for("to activate it")
    found = re.search(r"Type (\w{6}) to activate it", screen)
    assert found is not None
    enter(terminal, found[1])
    terminal.wait_for("status=0")
    return screen


def outcomes(project: Path, state: Path) -> dict[str, str]:
    environ = {"PATH": "/usr/bin:/bin", "HOME": str(project.parent), "ASSENT_HOME": str(state)}
    found = {}
    for command in ("make preview", "make release", "touch notes"):
        run = [str(ASSENT), "check", "--json", "bash", command]
        done = subprocess.run(run, cwd=project, env=environ, capture_output=True, text=True)
        found[command] = str(json.loads(done.stdout)["outcome"])
    return found


def test_a_pack_holds_once_a_person_has_seen_it(terminal: Terminal, manifest: Path, project: Path, state: Path) -> None:
    assert outcomes(project, state) == {"make preview": "ask", "make release": "ask", "touch notes": "ask"}
    screen = activate(terminal, manifest)
    for shown in ("previews 1.2", "auto, instead of default", "bash(make preview)", "releases are made by CI"):
        assert shown in screen
    assert outcomes(project, state) == {"make preview": "allow", "make release": "deny", "touch notes": "allow"}
    enter(terminal, f"clear; {ASSENT} pack list; echo listed=$?")
    assert "previews  active" in terminal.wait_for("listed=0")


def test_a_pack_that_changed_only_tightens_until_it_is_seen_again(
    terminal: Terminal, manifest: Path, project: Path, state: Path
) -> None:
    activate(terminal, manifest)
    manifest.write_text(MANIFEST.replace("make preview", "rm -rf build"))
    assert outcomes(project, state) == {"make preview": "ask", "make release": "deny", "touch notes": "ask"}
    enter(terminal, f"clear; {ASSENT} pack list; echo listed=$?")
    assert "changed: tightens only" in terminal.wait_for("listed=0")
    assert "has changed since" in activate(terminal, manifest)
    assert outcomes(project, state)["touch notes"] == "allow"


def test_a_pack_whose_manifest_is_gone_only_tightens(
    terminal: Terminal, manifest: Path, project: Path, state: Path
) -> None:
    activate(terminal, manifest)
    manifest.unlink()
    assert outcomes(project, state) == {"make preview": "ask", "make release": "deny", "touch notes": "ask"}


def test_a_pack_in_the_project_only_tightens(terminal: Terminal, manifest: Path, project: Path, state: Path) -> None:
    inside = project / "assent-pack.toml"
    inside.write_text(MANIFEST)
    screen = activate(terminal, inside)
    assert "can only tighten: mode, allow" in " ".join(screen.split())
    assert outcomes(project, state) == {"make preview": "ask", "make release": "deny", "touch notes": "ask"}
    link = manifest.with_name("link.toml")
    link.symlink_to(inside)
    activate(terminal, link)
    assert outcomes(project, state)["make preview"] == "ask"


def test_a_kept_manifest_that_was_changed_stops_everything(
    terminal: Terminal, manifest: Path, project: Path, state: Path
) -> None:
    activate(terminal, manifest)
    kept = state / "packs/previews.toml"
    kept.write_text(MANIFEST + "# more\n")
    environ = {"PATH": "/usr/bin:/bin", "HOME": str(project.parent), "ASSENT_HOME": str(state)}
    done = subprocess.run([ASSENT, "check", "bash", "ls"], cwd=project, env=environ, capture_output=True, text=True)
    assert "is not the manifest that was activated" in done.stdout + done.stderr


def test_another_word_activates_nothing(terminal: Terminal, manifest: Path, project: Path, state: Path) -> None:
    enter(terminal, f"{ASSENT} pack add {manifest}; echo status=$?")
    terminal.wait_for("to activate it")
    enter(terminal, "yes")
    assert "nothing was activated" in terminal.wait_for("status=2")
    assert outcomes(project, state)["make preview"] == "ask"


def test_removing_takes_a_person_and_is_recorded(
    terminal: Terminal, manifest: Path, project: Path, state: Path
) -> None:
    activate(terminal, manifest)
    environ = {"PATH": "/usr/bin:/bin", "HOME": str(project.parent), "ASSENT_HOME": str(state)}
    done = subprocess.run([ASSENT, "pack", "remove", "previews"], env=environ, capture_output=True, text=True)
    assert (done.returncode, "person in a terminal" in done.stderr) == (2, True)
    enter(terminal, f"clear; {ASSENT} pack remove previews; echo removed=$?")
    terminal.wait_for("removed=0")
    assert outcomes(project, state) == {"make preview": "ask", "make release": "ask", "touch notes": "ask"}
    lines = (state / "audit/permissions.jsonl").read_text().splitlines()
    assert [json.loads(line)["code"] for line in lines] == ["pack.add", "pack.remove"]


def test_without_a_terminal_nothing_is_activated(manifest: Path, state: Path, project: Path) -> None:
    environ = {"PATH": "/usr/bin:/bin", "HOME": str(project.parent), "ASSENT_HOME": str(state)}
    run = [str(ASSENT), "pack", "add", str(manifest)]
    done = subprocess.run(run, cwd=project, env=environ, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert (done.returncode, "it allows" in done.stdout) == (2, True)
    assert not (state / "packs.json").exists()
