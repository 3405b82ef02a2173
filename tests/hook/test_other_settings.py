"""`assent doctor` sees what other settings do to a hook, and starts the program itself if told to."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from assent.agents import settings
from assent.cli.main import main


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


# ---------------------------------------------------------------- what stands around it


def put(home: Path, place: str, text: str) -> None:
    (home / "project" / place).parent.mkdir(parents=True, exist_ok=True)
    (home / "project" / place).write_text(text)


@pytest.mark.parametrize(
    ("runtime", "place", "text", "said", "grade"),
    [
        (
            "claude",
            ".claude/settings.json",
            '{"statusLine": {"type": "command", "command": "x"}}',
            "`statusLine`",
            "note",
        ),
        ("claude", ".claude/settings.json", '{"apiKeyHelper": "./x"}', "`apiKeyHelper`", "note"),
        ("claude", ".claude/settings.json", '{"enableAllProjectMcpServers": true}', "MCP servers", "note"),
        ("claude", ".claude/settings.json", '{"enabledPlugins": {"a@b": true}}', "plugins", "note"),
        ("claude", ".claude/settings.json", '{"env": {"ASSENT_HOME": "/x"}}', "`ASSENT_HOME`", "note"),
        (
            "claude",
            ".claude/settings.json",
            '{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "x"}]}]}}',
            "may change a call after ours allowed it",
            "note",
        ),
        ("claude", ".mcp.json", "{}", "starts by itself", "note"),
        ("gemini", ".env", "A=1\nexport LD_PRELOAD=./x.so\n", "`LD_PRELOAD`", "OFF"),
        ("gemini", ".gemini/.env", "PYTHONPATH=.\n", "`PYTHONPATH`", "note"),
        ("gemini", ".gemini/settings.json", '{"mcpServers": {"a": {"command": "x"}}}', "`mcpServers`", "note"),
        ("opencode", "opencode.json", '{"plugin": ["x"]}', "`plugin`", "note"),
        ("codex", ".codex/config.toml", "[features]\nhooks = false\n", "`features.hooks`", "OFF"),
    ],
)
def test_what_a_project_brings_is_pointed_out(
    home: Path, capsys: pytest.CaptureFixture[str], runtime: str, place: str, text: str, said: str, grade: str
) -> None:
    main(["install", runtime, "--no-policy"])
    put(home, place, text)
    status, found = findings(capsys, runtime)
    rows = [each for each in found if said in each["text"]]
    assert [(each["grade"], str(home / "project" / place) in each["text"]) for each in rows] == [(grade, True)]
    assert status == (1 if grade == "OFF" else 0)


def test_a_library_that_a_project_preloads_reaches_all_but_the_compiled_client(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["install", "claude", "--no-policy"])
    put(home, ".claude/settings.json", '{"env": {"LD_PRELOAD": "./x.so"}}')
    native = "assent-hook" in (home / ".claude/settings.json").read_text()
    found = [each["grade"] for each in findings(capsys, "claude")[1] if "`LD_PRELOAD`" in each["text"]]
    assert found == ["note" if native else "OFF"]


def test_a_folder_that_gemini_cli_does_not_trust_switches_its_users_hooks_off(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["install", "gemini", "--no-policy"])
    (home / ".gemini/trustedFolders.json").write_text(json.dumps({str(home / "project"): "DO_NOT_TRUST"}))
    assert findings(capsys, "gemini")[0] == 1
    main(["install", "gemini", "--no-policy", "--scope", "extension"])
    assert findings(capsys, "gemini")[0] == 0


def test_machine_settings_that_take_no_other_hooks_are_found(tmp_path: Path) -> None:
    text = '{"allowManagedHooksOnly": true}'
    assert [each.inert for each in settings.load("claude").reserved(text)] == [True]
    assert [each.inert for each in settings.load("codex").reserved("allow_managed_hooks_only = true")] == [True]


# ---------------------------------------------------------------- the program itself

PROGRAM = """\
#!{python}
# A program that does what its model says, and says what its hook said.
import json, os, sys, urllib.request
if "--version" in sys.argv:
    sys.exit(print("9.9.9"))
def ask(messages):
    body = {{"model": "m", "tools": [1], "messages": messages}}
    asked = urllib.request.Request(os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages", json.dumps(body).encode())
    return json.load(urllib.request.urlopen(asked))["content"][0]
call = ask([{{"role": "user", "content": "x"}}])
result = {{"type": "tool_result", "tool_use_id": call["id"], "content": {said!r} + call["input"]["command"]}}
print(ask([{{"role": "user", "content": [result]}}])["text"])
"""


@pytest.mark.parametrize(
    ("said", "grade", "status"), [("`x` is protected: ", "ok", 0), ("No such file: ", "OPEN", 1), (None, "note", 0)]
)
def test_the_program_itself_is_started_and_must_let_the_hook_block(
    home: Path, capsys: pytest.CaptureFixture[str], said: str | None, grade: str, status: int
) -> None:
    main(["install", "claude", "--no-policy", "--harden"])
    text = PROGRAM.format(python=sys.executable, said=said) if said else "#!/bin/sh\necho 9.9.9\n"
    (home / "bin/claude").write_text(text)
    (home / "bin/claude").chmod(0o700)
    ended, found = findings(capsys, "claude", "--start")
    rows = [each["grade"] for each in found if "the program was started" in each["text"]]
    assert (ended, rows) == (status, [grade])
