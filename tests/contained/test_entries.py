"""Other entries that run commands contained: `assent run`, and the guarded tools of programs that embed the gate."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from assent import Gate
from assent.cli import doctor_contain
from assent.engine import configure
from assent.tools.toolset import Toolset
from tests.contained.scene import PLACES, RUNS, TOOL, Scene
from tests.hook.loading import loaded

# What depends on the machine and on who runs this.
ELSEWHERE = {
    "a write to the system",
    "the network",
    "the memory of the machine",
    "another user's rights",
    "a mount of its own",
    "a socket of the session",
}
POLICY: dict[str, object] = {"mode": "auto", "contain": {"on": True}}


@pytest.fixture
def project(tmp_path: Path, sandboxed: None) -> Path:
    scene = Scene(tmp_path.resolve())
    return scene.root


def test_assent_run_contains_and_says_why_a_run_failed(project: Path) -> None:
    home = project.parents[1] / "home"
    state = home / ".assent"
    state.mkdir(mode=0o700)
    (state / "config.toml").write_text('mode = "auto"\n[contain]\non = true\n')
    environ = {"HOME": str(home), "PATH": "/usr/local/bin:/usr/bin:/bin"}

    def run() -> subprocess.CompletedProcess[str]:
        words = [sys.executable, "-I", "-m", "assent", "run", "--session", "one", RUNS]
        return subprocess.run(words, cwd=project, env=environ, capture_output=True, text=True, stdin=subprocess.DEVNULL)

    assert "looked: failed" in run().stdout
    (project / "plan.json").write_text((project / "plan.json").read_text().replace('"status": 0', '"status": 5'))
    failed = run()
    assert (failed.returncode, "failed with exit status 5" in failed.stderr) == (5, True)
    again = run()
    assert (again.returncode, again.stdout) == (4, ""), again.stderr  # nobody can be asked here


def test_a_guarded_tool_contains_what_it_runs(project: Path) -> None:
    with Gate(str(project), policy=POLICY, state=str(project.parents[1] / "gate")) as gate:
        tools = Toolset(gate.session("s"), str(project))
        result = tools.call_sync("bash", {"command": RUNS})
        tools.close()
    assert result.verdict is not None
    assert result.verdict.decision.contained
    assert "looked: failed" in result.text


def test_a_program_that_does_not_replace_commands_is_asked_as_before(project: Path) -> None:
    with Gate(str(project), policy=POLICY, state=str(project.parents[1] / "gate")) as gate:
        session = gate.session("s")
        verdict = session.guard_sync(session.call("bash", {"command": RUNS}, shell="bash"))
    assert (verdict.allowed, verdict.command, verdict.decision.contained) == (False, "", "")


def test_the_tool_and_its_module_are_those_of_the_scene(project: Path) -> None:
    assert [(project / name).read_text() for name in ("tool.py", "places.py")] == [TOOL, PLACES]
    assert os.path.isdir(project.parents[1] / "home" / ".ssh")


def command(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environ = {"HOME": str(home), "PATH": "/usr/local/bin:/usr/bin:/bin"}
    full = [sys.executable, "-I", "-m", "assent", *words]
    return subprocess.run(full, cwd=home, env=environ, capture_output=True, text=True, stdin=subprocess.DEVNULL)


def test_install_turns_contained_runs_on_where_the_program_can_have_them(tmp_path: Path, sandboxed: None) -> None:
    done = command(tmp_path, "install", "claude", "--no-policy", "--contain")
    assert (done.returncode, "runs contained" in done.stdout) == (0, True), done.stderr
    text = (tmp_path / ".assent" / "config.toml").read_text()
    assert text.endswith("[contain]\non = true\n")
    other = command(tmp_path, "install", "gemini", "--no-policy", "--contain")
    assert "lets no hook replace a command" in other.stderr
    assert (tmp_path / ".assent" / "config.toml").read_text() == text


def test_doctor_tries_to_break_out_of_a_contained_run(tmp_path: Path, sandboxed: None) -> None:
    state = tmp_path / ".assent"
    state.mkdir(mode=0o700)
    (state / "config.toml").write_text("[contain]\non = true\n")
    found = [each["text"] for each in json.loads(command(tmp_path, "doctor", "--json").stdout)]
    assert [text for text in found if "contained" in text] == [
        "contained runs hold: 17 ways out were tried, and none is open"
    ]
    (state / "config.toml").write_text("")
    off = [each["text"] for each in json.loads(command(tmp_path, "doctor", "--json").stdout)]
    assert [text for text in off if "contained" in text] == []


def test_the_ways_out_that_doctor_tries_are_open_without_containment(tmp_path: Path) -> None:
    """As far as an ordinary machine has them: what is tried would be seen."""
    (tmp_path / "home" / ".ssh").mkdir(parents=True)
    (tmp_path / "home" / ".aws").mkdir()
    (tmp_path / "state" / "bin").mkdir(parents=True)
    (tmp_path / "outside").mkdir()
    here = configure.Place(str(tmp_path), (str(tmp_path),), str(tmp_path / "home"), str(tmp_path / "state"))
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        ways = doctor_contain.escapes(here, str(tmp_path), str(tmp_path / "outside"), port)
        root = tmp_path / "root"
        (root / ".git" / "hooks").mkdir(parents=True)
        environ = {**os.environ, doctor_contain.TOKEN: "secret"}
        tried = {
            name: subprocess.run(["bash", "-c", way], cwd=root, env=environ, capture_output=True).returncode == 0
            for name, way in ways.items()
            if name not in ELSEWHERE
        }
    assert tried == dict.fromkeys(tried, True)


def test_a_hook_loads_nothing_of_it_where_it_is_off(tmp_path: Path) -> None:
    state, project = tmp_path / ".assent", tmp_path / "project"
    state.mkdir(mode=0o700)
    project.mkdir()
    (state / "config.toml").write_text('mode = "auto"\n')
    (project / "tool.py").write_text("import places\n")
    environ = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "CLAUDE_PROJECT_DIR": str(project)}
    names = "contain contain.ticket engine.containment policy.contained state.contained".split()
    parts = frozenset(f"assent.{name}" for name in names)
    assert loaded(state, project, "python3 tool.py", environ, parts) == set()


def test_what_a_run_made_is_looked_for_where_a_guarded_tool_ends_it(project: Path) -> None:
    """The tool ends everything below it, and the process that looks for it is below it too."""
    (project / "tool.py").write_text(
        "import signal, sys, time\nimport places\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "open(sys.argv[0][4] + 'envrc', 'w').write('evil')\nprint('made', flush=True)\ntime.sleep(60)\n"
    )
    with Gate(str(project), policy=POLICY, state=str(project.parents[1] / "gate")) as gate:
        tools = Toolset(gate.session("s"), str(project))
        result = tools.call_sync("bash", {"command": RUNS, "timeout": 1})
        tools.close()
    assert "made" in result.text, result.text
    assert "which later runs would obey" in result.text
    assert not (project / ".envrc").exists()


@pytest.mark.slow  # doctor tries the hook
def test_doctor_says_where_a_program_s_own_sandbox_keeps_contained_runs_from_starting(
    tmp_path: Path, sandboxed: None
) -> None:
    assert command(tmp_path, "install", "codex", "--no-policy", "--contain").returncode == 0

    def found() -> list[str]:
        return [each["text"] for each in json.loads(command(tmp_path, "doctor", "--json").stdout)]

    assert [text for text in found() if "own sandbox" in text] == [
        "no contained run starts in this program's own sandbox, which closes writes outside the workspace and the "
        "network, not reading: credentials can be read in it; such calls are asked about"
    ]
    settings = tmp_path / ".codex" / "config.toml"
    settings.write_text(f'sandbox_mode = "danger-full-access"\n{settings.read_text()}')
    assert [text for text in found() if "own sandbox" in text] == []
