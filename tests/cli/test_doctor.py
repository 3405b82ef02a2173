"""`assent doctor` fires real calls through installed hooks, and finds each guard that is inert."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from assent.agents import settings
from assent.agents.adapter import Rendered
from assent.agents.probes import ALLOWED, BLOCKED, UNSURE, understood
from assent.cli.main import main
from assent.hook import compiled_client, launcher, other_settings
from tests.server.program import Program

Home = Path


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "bin").mkdir()
    (tmp_path / "project").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("ASSENT_HOME", "ASSENT_MODE", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:/usr/bin:/bin")
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path


def findings(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, list[dict[str, str]]]:
    capsys.readouterr()
    status = main(["doctor", "--json", *words])
    return status, json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("runtime", settings.RUNTIMES)
def test_an_installed_hook_holds(home: Path, capsys: pytest.CaptureFixture[str], runtime: str) -> None:
    main(["install", runtime, "--no-policy"])
    status, found = findings(capsys, runtime)
    assert status == 0
    why = compiled_client.why_not(f"{home}/.assent")
    assert [each["text"] for each in found if each["grade"] == "ok" and each["about"] == runtime] == [
        "the hook blocks a forbidden call, and lets a harmless one run",
        f"the hook starts in Python; the compiled client is not used: {why}"
        if why
        else "the hook is the compiled client; it decides in Python if no server answers",
    ]


def test_where_nothing_is_installed_nothing_is_said_to_hold(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor"]) == 1
    first = capsys.readouterr().out.splitlines()[0]
    assert first == "assent: off (calls run unchecked): Assent is not installed in an agent program"


def test_a_client_of_another_version_and_one_that_could_be_used_are_named(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = home / "made"
    monkeypatch.setattr(compiled_client, "source", lambda: str(made))
    main(["install", "claude", "--no-policy"])
    made.write_text("#!/bin/sh\nexit 2\n")
    made.chmod(0o755)
    named = "the hook starts in Python, but there is a compiled client, which starts faster"
    assert named in [each["text"] for each in findings(capsys, "claude")[1]]
    main(["install", "claude", "--no-policy"])
    made.write_text("#!/bin/sh\nexit 2 # newer\n")
    assert "the compiled client has another version" in [each["text"] for each in findings(capsys, "claude")[1]]


def claude(home: Path) -> Path:
    return home / ".claude/settings.json"


def changed(home: Path, old: str, new: str) -> None:
    text = claude(home).read_text()
    assert old in text
    claude(home).write_text(text.replace(old, new))


def switched_off_by_project(home: Path) -> None:
    (home / "project/.claude").mkdir()
    (home / "project/.claude/settings.local.json").write_text('{"disableAllHooks": true}')


def hooks_environment(home: Path) -> None:
    (home / "project/.claude").mkdir()
    (home / "project/.claude/settings.json").write_text('{"env": {"CLAUDE_CONFIG_DIR": "/tmp/x"}}')


def always_yes(home: Path) -> None:
    (home / ".assent/bin/assent").write_text("print('{}')\n")


def other_tools_only(home: Path) -> None:
    found = json.loads(claude(home).read_text())
    found["hooks"]["PreToolUse"][0]["matcher"] = "Edit"
    claude(home).write_text(json.dumps(found))


def entry_with(**keys: object) -> Callable[[Path], object]:
    def change(home: Path) -> None:
        found = json.loads(claude(home).read_text())
        found["hooks"]["PreToolUse"][0]["hooks"][0] |= keys
        claude(home).write_text(json.dumps(found))

    return change


def old_version(home: Path) -> None:
    (home / "bin/claude").write_text("#!/bin/sh\necho 2.1.197\n")
    (home / "bin/claude").chmod(0o755)


OFF: dict[str, Callable[[Path], object]] = {
    "is missing, so there is no hook": lambda home: claude(home).unlink(),
    "does not call Assent before tool calls": lambda home: claude(home).write_text("{}"),
    "cannot be read: line 1": lambda home: claude(home).write_text("{"),
    "the program does not load settings with comments": lambda home: changed(home, "{\n", "{ // mine\n"),
    "`disableAllHooks` switches every hook off": switched_off_by_project,
    "`env` sets `CLAUDE_CONFIG_DIR` for the hook": hooks_environment,
}
OPEN: dict[str, Callable[[Path], object]] = {
    "a call that the floor forbids was not an answer, not blocked": always_yes,
    "a hook that breaks would let the call run": lambda home: changed(home, '"onFailure": "block",', ""),
    "the hook is called for `Edit` alone": other_tools_only,
    "the hook is called for `Bash(git *)` alone": entry_with(**{"if": "Bash(git *)"}),
    "`async` in its entry lets the call run before the hook has answered": entry_with(**{"async": True}),
    "`asyncRewake` in its entry lets the call run": entry_with(asyncRewake=True),
    "`once` in its entry removes the hook after the first call": entry_with(once=True),
    "before the hook has blocked": lambda home: changed(home, '"timeout": 600', '"timeout": 60'),
    "version 2.1.197 ignores `onFailure`": old_version,
}


def over_http_without_a_server(home: Path) -> None:
    (home / "bin/claude").write_text("#!/bin/sh\necho 2.1.325\n")
    (home / "bin/claude").chmod(0o755)
    assert main(["install", "claude", "--http", "--no-policy"]) == 0
    changed(home, "127.0.0.1:8765", "127.0.0.1:9")


def without_the_package(home: Path) -> None:
    script = home / ".assent/bin/assent"
    text = script.read_text()
    script.write_text(text.replace(launcher.package(), "/nowhere/lib/python3/site-packages"))


BLOCKS: dict[str, Callable[[Path], object]] = {
    "the policy does not load": lambda home: (home / ".assent/config.toml").write_text("mode = 1\n"),
    "the hook cannot be started": lambda home: changed(home, '"command": "/', '"command": "/none/'),
    "a call that only reads was blocked": lambda home: (home / ".assent/bin/assent").unlink(),
    "the server cannot be reached": over_http_without_a_server,
    "Assent is gone from `/nowhere/lib/python3/site-packages`": without_the_package,
}
STATES = [
    *((text, change, "OFF", 1, "claude: off (calls run unchecked): ") for text, change in OFF.items()),
    *((text, change, "OPEN", 1, "claude: does not block (forbidden calls run): ") for text, change in OPEN.items()),
    *((text, change, "BLOCKS", 3, "claude: blocks everything (") for text, change in BLOCKS.items()),
]


@pytest.mark.parametrize(("text", "change", "grade", "status", "first"), STATES, ids=[each[0] for each in STATES])
def test_each_state_of_a_guard_is_named_and_has_its_exit_status(
    home: Path,
    capsys: pytest.CaptureFixture[str],
    text: str,
    change: Callable[[Path], object],
    grade: str,
    status: int,
    first: str,
) -> None:
    main(["install", "claude", "--no-policy"])
    change(home)
    ended, found = findings(capsys)
    bad = [each for each in found if each["grade"] not in ("ok", "note", "weak")]
    assert (ended, {each["grade"] for each in bad}) == (status, {grade}), found
    assert any(text in each["text"] for each in bad), found
    assert all(each["fix"] for each in bad)
    assert main(["doctor"]) == status
    assert capsys.readouterr().out.startswith(first)


def test_a_guard_that_holds_says_first_that_a_repository_can_switch_it_off(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["install", "claude", "--no-policy"])
    capsys.readouterr()
    assert main(["doctor"]) == 0
    first, second, *_ = capsys.readouterr().out.splitlines()
    assert first == "claude: holds (forbidden calls are blocked, harmless calls run)"
    assert "`disableAllHooks` in a repository's settings switches it off" in second
    assert "assent install claude --scope managed" in second


def test_a_home_with_a_blank_in_it_is_read_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    odd = tmp_path / "my 'home"
    (odd / "project").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(odd))
    monkeypatch.chdir(odd / "project")
    for runtime in settings.RUNTIMES:
        main(["install", runtime, "--no-policy"])
        status, found = findings(capsys, runtime)
        assert status == 0, found
        assert not [each for each in found if "the hook keeps to" in each["text"] or "another" in each["text"]]


def test_a_server_that_is_stopped_does_not_hold_the_doctor_up(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("uvicorn")
    main(["install", "claude", "--no-policy"])
    program = Program(home, state=".assent")
    os.kill(program.process.pid, signal.SIGSTOP)
    start = time.monotonic()
    try:
        status, found = findings(capsys, "claude")
    finally:
        os.kill(program.process.pid, signal.SIGCONT)
        program.stop()
    assert any("a server runs and does not answer" in each["text"] for each in found)
    assert (status, time.monotonic() - start < 40) == (0, True)


def test_a_hook_that_blocks_only_while_a_server_runs_is_inert(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The launcher asks nobody where a mode is set, as where no server answers."""
    main(["install", "claude", "--no-policy"])
    script = home / ".assent/bin/assent"
    script.write_text(f"import os\nif os.environ.get('ASSENT_MODE'):\n    os._exit(0)\n{script.read_text()}")
    status, found = findings(capsys, "claude")
    unblocked = [each["text"] for each in found if each["grade"] == "OPEN"]
    assert (status, unblocked) == (
        1,
        ["the hook fails: without a server, a call that the floor forbids was not an answer, not blocked"],
    )


def test_a_hook_that_keeps_to_another_folder_is_named(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["install", "claude", "--no-policy"])
    changed(home, f'"{home}/.assent"', f'"{home}/other"')
    said = f"the hook uses the policy and the trail in `{home}/other`, not in `{home}/.assent`"
    assert said in [each["text"] for each in findings(capsys, "claude")[1]]


WEAKENED = {name: OPEN[name] for name in OPEN if "in its entry" in name or "alone" in name or "breaks" in name}


@pytest.mark.parametrize("text", WEAKENED)
def test_a_change_that_weakens_the_hook_in_the_middle_of_a_session_is_told(home: Path, text: str) -> None:
    main(["install", "claude", "--no-policy"])
    state, file = f"{home}/.assent", str(claude(home))
    assert other_settings.broken("claude", file, state) == ""
    WEAKENED[text](home)
    assert text in other_settings.broken("claude", file, state)


def test_an_old_version_with_a_line_of_shell_around_the_hook_holds(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old_version(home)
    main(["install", "claude", "--no-policy"])
    assert findings(capsys)[0] == 0


def test_settings_that_are_read_from_elsewhere_are_found(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    main(["install", "claude", "--no-policy"])
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", "/tmp/x")
    assert findings(capsys)[0] == 1


def test_over_http_a_server_that_is_not_there_blocks_everything_and_a_proxy_is_noted(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    main(["install", "claude", "--no-policy"])
    over_http_without_a_server(home)
    monkeypatch.setenv("HTTP_PROXY", "http://proxy.example:3128")
    monkeypatch.delenv("NO_PROXY", raising=False)
    status, found = findings(capsys)
    assert status == 3
    assert any("a proxy is set without NO_PROXY" in each["text"] for each in found if each["grade"] == "note")


def test_a_hook_that_codex_does_not_trust_is_inert(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["install", "codex", "--no-policy"])
    file = home / ".codex/config.toml"
    file.write_text(file.read_text().replace("sha256:", "sha256:0", 1))
    status, found = findings(capsys, "codex")
    assert (status, [each["text"] for each in found if each["grade"] == "OFF"]) == (
        1,
        ["Codex does not trust the hook yet, and skips it silently"],
    )


def test_a_hook_file_that_cannot_be_executed_is_inert(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["install", "cline", "--no-policy"])
    (home / ".cline/hooks/PreToolUse").chmod(0o600)
    assert findings(capsys, "cline")[0] == 1


def test_files_that_are_open_to_others_and_a_broken_trail_are_noted(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["install", "claude", "--no-policy"])
    findings(capsys)
    (home / ".assent").chmod(0o755)
    trail = home / ".assent/audit/permissions.jsonl"
    trail.write_text(trail.read_text().replace("deny", "done", 1))
    notes = [each["text"] for each in findings(capsys)[1] if each["grade"] == "note"]
    assert any("the trail is not intact" in each for each in notes)


def test_what_is_not_installed_is_off(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (findings(capsys)[0], findings(capsys, "gemini")[0]) == (1, 1)


@pytest.mark.parametrize(
    ("runtime", "answer", "means"),
    [
        ("claude", Rendered("{}"), UNSURE),
        ("claude", Rendered("", "no", 1), UNSURE),
        ("claude", Rendered("", "no", 2), BLOCKED),
        ("codex", Rendered("", "", 2), UNSURE),
        ("codex", Rendered("{}"), ALLOWED),
        ("gemini", Rendered('{"decision": "DENY"}'), UNSURE),
        ("gemini", Rendered('{"hookSpecificOutput": {"permissionDecision": "deny"}}'), UNSURE),
        ("opencode", Rendered("", "", 1), BLOCKED),
        ("copilot", Rendered('{"hookSpecificOutput": {"permissionDecision": "deny"}}'), UNSURE),
        ("cline", Rendered("", "x", 2), UNSURE),
        ("openharness", Rendered("", "", 1), BLOCKED),
    ],
)
def test_an_answer_means_what_the_program_makes_of_it(runtime: str, answer: Rendered, means: str) -> None:
    assert understood(runtime, answer) == means
