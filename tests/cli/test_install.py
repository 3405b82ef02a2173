"""`assent install` and `assent uninstall` in a home of their own: whole files are compared, byte for byte."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from assent.agents import load, settings
from assent.cli.main import main
from assent.contract.packs import PACKS
from assent.hook import compiled_client, hook, launcher
from assent.policy import shipped
from assent.state import hosts

COMMENTED = b"""{
  // mine
  "model": "x", "unknown": {"a": [1, 2]},
  "hooks": {
    "PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "other"}]}] // keep
  }
}
"""
PLAIN = b'{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "other"}]}]}, "model": "x"}\r\n'
TOML = b'# mine\nmodel = "x"\n\n[[hooks.PreToolUse]]\n[[hooks.PreToolUse.hooks]]\ntype = "command"\ncommand = "other"\n'
BEFORE = {"claude": PLAIN, "codex": TOML, "gemini": COMMENTED, "qwen": COMMENTED, "cursor": PLAIN, "openharness": PLAIN}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home, no agent program on the PATH, and a project to work in."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "project").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("ASSENT_HOME", raising=False)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:/usr/bin:/bin")
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path


def file_of(home: Path, runtime: str) -> Path:
    return home / settings.load(runtime).places["user"].removeprefix("~/")


def put(home: Path, runtime: str, data: bytes) -> Path:
    file = file_of(home, runtime)
    file.parent.mkdir(parents=True)
    file.write_bytes(data)
    return file


def program(home: Path, name: str, version: str) -> None:
    found = home / "bin" / name
    found.write_text(f"#!/bin/sh\necho '{version} (Agent)'\n")
    found.chmod(0o755)


@pytest.mark.parametrize("runtime", settings.RUNTIMES)
def test_twice_is_once_and_uninstalling_gives_back_the_bytes(home: Path, runtime: str) -> None:
    before = BEFORE.get(runtime)
    file = put(home, runtime, before) if before is not None else file_of(home, runtime)
    assert main(["install", runtime, "--no-policy"]) == 0
    once = file.read_bytes()
    assert before is None or (once != before and b"other" in once)
    assert main(["install", runtime, "--no-policy"]) == 0
    assert file.read_bytes() == once
    assert main(["uninstall", runtime]) == 0
    assert (file.read_bytes() if file.exists() else None) == before
    assert hosts.registered(f"{home}/.assent") == ()


@pytest.mark.parametrize("runtime", settings.RUNTIMES)
def test_a_file_that_was_not_there_is_gone_again(home: Path, runtime: str) -> None:
    assert main(["install", runtime, "--no-policy"]) == 0
    assert main(["install", runtime, "--no-policy"]) == 0
    assert file_of(home, runtime).exists()
    assert main(["uninstall", runtime]) == 0
    assert not file_of(home, runtime).exists()


def test_comments_stay_and_it_is_said_that_claude_code_does_not_load_them(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = put(home, "claude", COMMENTED)
    assert main(["install", "claude", "--no-policy"]) == 1
    assert "line 2: the program does not load settings with comments" in capsys.readouterr().err
    text = file.read_bytes()
    assert (b"// mine" in text, b"// keep" in text, b'"other"' in text) == (True, True, True)
    assert main(["uninstall", "claude"]) == 0
    assert file.read_bytes() == COMMENTED


def test_comments_are_taken_out_on_request_and_nothing_else_is(home: Path) -> None:
    file = put(home, "claude", COMMENTED)
    assert main(["install", "claude", "--no-policy", "--strip-comments"]) == 0
    kept = json.loads(file.read_text())
    assert (kept["model"], kept["unknown"], kept["hooks"]["PreToolUse"][0]["hooks"][0]["command"]) == (
        "x",
        {"a": [1, 2]},
        "other",
    )
    assert [path.read_bytes() for path in (home / ".assent/backups").iterdir()] == [COMMENTED]


def test_uninstalling_keeps_what_was_changed_since(home: Path) -> None:
    file = put(home, "claude", PLAIN)
    main(["install", "claude", "--no-policy"])
    file.write_bytes(file.read_bytes().replace(b'"model": "x"', b'"model": "y"'))
    main(["uninstall", "claude"])
    assert file.read_bytes() == PLAIN.replace(b'"model": "x"', b'"model": "y"')


@pytest.mark.parametrize(
    ("runtime", "broken", "line"),
    [
        ("claude", b'{\n  "a": 1\n  "b": 2\n}\n', "line 3"),
        ("claude", b'{"hooks": []}', "line 1"),
        ("gemini", b'{\n"a": 1,\n"a": 2}', "line 3"),
        ("codex", b"a = 1\nb = = 2\n", "line 2"),
        ("claude", b'{"a": "\xff"}', "line 1"),
    ],
)
def test_a_file_that_cannot_be_read_is_left_alone_and_its_line_named(
    home: Path, capsys: pytest.CaptureFixture[str], runtime: str, broken: bytes, line: str
) -> None:
    file = put(home, runtime, broken)
    assert main(["install", runtime, "--yes"]) == 2
    assert line in capsys.readouterr().err
    assert (file.read_bytes(), (home / ".assent").exists()) == (broken, False)


def test_a_dry_run_shows_the_diff_and_changes_nothing(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = put(home, "claude", PLAIN)
    assert main(["install", "claude", "--dry-run"]) == 0
    shown = capsys.readouterr().out
    assert ("PreToolUse" in shown, 'mode = "auto"' in shown) == (True, True)
    assert (file.read_bytes(), (home / ".assent").exists()) == (PLAIN, False)


def test_a_link_stays_a_link_and_permissions_stay(home: Path) -> None:
    real = home / "dotfiles.json"
    real.write_bytes(PLAIN)
    real.chmod(0o640)
    file_of(home, "claude").parent.mkdir()
    file_of(home, "claude").symlink_to(real)
    main(["install", "claude", "--no-policy"])
    assert (file_of(home, "claude").is_symlink(), real.stat().st_mode & 0o777) == (True, 0o640)
    assert b"ConfigChange" in real.read_bytes()


def test_without_a_terminal_only_the_hook_is_installed(home: Path) -> None:
    put(home, "claude", b'{"permissions": {"allow": ["Bash(npm run test:*)"]}}')
    assert main(["install", "claude"]) == 0
    assert not (home / ".assent/config.toml").exists()


def test_yes_takes_mode_packs_and_what_the_program_already_allows(home: Path) -> None:
    put(home, "claude", b'{"permissions": {"allow": ["Bash(npm run test:*)", "Bash(curl:*)"]}}')
    assert main(["install", "claude", "--yes"]) == 0
    text = (home / ".assent/config.toml").read_text()
    added = '  # "write(docs/**)",\n  "bash(npm run test:*)",\n'
    assert text == shipped.starter().replace('  # "write(docs/**)",\n', added)
    assert main(["install", "claude", "--yes"]) == 0
    assert (home / ".assent/config.toml").read_text() == text


def test_every_pack_is_shown_with_its_sentence(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(home, "claude", b"{}")
    assert main(["install", "claude", "--yes"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [name for name, sentence in PACKS.items() if lines.count(f"  {name}: {sentence}") != 1] == []


def test_times_leave_room_for_the_longest_wait(home: Path) -> None:
    (home / ".assent").mkdir()
    (home / ".assent/config.toml").write_text("[approval]\ntimeout = 900\n")
    main(["install", "claude", "--no-policy"])
    entry = json.loads(file_of(home, "claude").read_text())["hooks"]["PreToolUse"][0]["hooks"][0]
    assert (entry["timeout"], entry["args"][entry["args"].index("--deadline") + 1]) == (1020, "990")
    main(["install", "openharness", "--no-policy"])
    found = json.loads(file_of(home, "openharness").read_text())["hooks"]["pre_tool_use"][0]
    assert (found["timeout_seconds"], "--deadline 570" in found["command"]) == (600, True)


@pytest.mark.parametrize(("version", "status"), [("2.1.294", 2), ("2.1.295", 0), ("2.2.0", 0), ("", 2)])
def test_http_needs_a_version_that_blocks_when_the_server_is_lost(home: Path, version: str, status: int) -> None:
    if version:
        program(home, "claude", version)
    assert main(["install", "claude", "--http", "--no-policy"]) == status
    if status == 0:
        found = json.loads(file_of(home, "claude").read_text())["hooks"]
        entry = found["PreToolUse"][0]["hooks"][0]
        token = (home / ".assent/caller.token").read_text()
        assert (entry["type"], entry["onFailure"], entry["headers"]) == (
            "http",
            "block",
            {"Authorization": f"Bearer {token}", "Assent-Deadline": "570"},
        )
        assert found["SessionStart"][0]["hooks"][0]["type"] == "command"
    else:
        assert not file_of(home, "claude").exists()


def test_hardening_closes_what_one_key_closes(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(home, "claude", b'{"disableAllHooks": true}')
    assert main(["install", "claude", "--no-policy", "--harden"]) == 0
    found = json.loads(file_of(home, "claude").read_text())
    assert (found["disableAllHooks"], found["disableSkillShellExecution"]) == (False, True)
    assert "note: `disableAllHooks`" not in capsys.readouterr().err


@pytest.mark.parametrize(
    "before",
    [
        None,
        b"{}",
        b'{"disableAllHooks": true}',
        b'{\n  "model": "x",\n  "disableAllHooks":true, "a": [1]\n}\n',
        b'{"b": 1}\r\n',
    ],
)
def test_what_hardening_set_is_put_back(home: Path, before: bytes | None) -> None:
    if before is not None:
        put(home, "claude", before)
    for _ in range(2):
        assert main(["install", "claude", "--no-policy", "--harden"]) == 0
    assert main(["uninstall", "claude"]) == 0
    file = file_of(home, "claude")
    assert (file.read_bytes() if file.exists() else None) == before


def test_a_key_that_was_changed_since_is_left_alone(home: Path) -> None:
    put(home, "claude", b'{"disableAllHooks": true}')
    main(["install", "claude", "--no-policy", "--harden"])
    file = file_of(home, "claude")
    file.write_text(
        file.read_text().replace('"disableSkillShellExecution": true', '"disableSkillShellExecution": false')
    )
    main(["uninstall", "claude"])
    assert json.loads(file.read_text()) == {"disableAllHooks": True, "disableSkillShellExecution": False}


def test_the_launcher_goes_with_the_last_program_and_the_rest_stays(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["install", "claude", "--no-policy"])
    main(["install", "codex", "--no-policy"])
    main(["uninstall", "claude"])
    assert (home / ".assent/bin/assent").exists()
    capsys.readouterr()
    main(["uninstall", "codex"])
    assert list((home / ".assent/bin").iterdir()) == []
    assert f"your policy, grants, trail and copies of settings stay in {home}/.assent" in capsys.readouterr().out


def test_the_installed_command_answers_without_an_environment_and_blocks_what_is_no_event(home: Path) -> None:
    main(["install", "claude", "--no-policy"])
    entry = json.loads(file_of(home, "claude").read_text())["hooks"]["PreToolUse"][0]["hooks"][0]
    call = {"hook_event_name": "PreToolUse", "session_id": "s", "cwd": "/", "tool_name": "Bash"}

    def answer(text: str) -> tuple[int, str]:
        done = subprocess.run(
            [entry["command"], *entry["args"]], input=text, capture_output=True, text=True, env={"HOME": str(home)}
        )
        return done.returncode, done.stdout

    status, out = answer(json.dumps({**call, "tool_input": {"command": "rm -rf /"}}))
    assert (status, json.loads(out)["hookSpecificOutput"]["permissionDecision"]) == (0, "deny")
    assert answer("{") == (2, "")
    wrong = subprocess.run([entry["command"], *entry["args"], "--more", "x"], capture_output=True, input=b"")
    assert wrong.returncode == 2


def test_installations_are_registered_with_the_names_of_their_processes(home: Path) -> None:
    program(home, "claude-native", "2.1.325")
    (home / "bin/claude").symlink_to("claude-native")
    main(["install", "claude", "--no-policy"])
    (host,) = hosts.registered(f"{home}/.assent")
    assert (host.runtime, host.scope, host.version, host.names) == (
        "claude",
        "user",
        "2.1.325",
        ("claude", "claude-native"),
    )
    assert hosts.names(f"{home}/.assent") == {"claude", "claude-native"}


def test_a_scope_that_the_program_does_not_have_is_refused(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["install", "opencode", "--scope", "managed"]) == 2
    assert "it has user, project" in capsys.readouterr().err


def test_codex_gets_a_program_to_ask_through_and_the_rule_before_it(home: Path) -> None:
    main(["install", "codex", "--no-policy"])
    rules, program = home / ".codex/rules/assent.rules", home / ".assent/bin/assent-ask"
    assert (str(program) in rules.read_text(), program.stat().st_mode & 0o777) == (True, 0o700)
    project = str(home / "project")
    call = {"session_id": "s", "cwd": project, "tool_name": "Bash", "permission_mode": "default"}

    def answer(event: str, command: str, **more: str) -> dict[str, object]:
        text = json.dumps({**call, "hook_event_name": event, "tool_input": {"command": command}, **more}).encode()
        found = hook.answer(load("codex"), text, {"HOME": str(home)}, project=project).stdout
        inner = json.loads(found).get("hookSpecificOutput", {})
        assert isinstance(inner, dict)
        return inner

    rewritten = answer("PreToolUse", "touch 'a b'")
    assert rewritten == {
        "hookEventName": "PreToolUse",
        "permissionDecision": "allow",
        "updatedInput": {"command": f"{program} 'touch '\\''a b'\\'''"},
    }
    assert answer("PreToolUse", f"{program} 'touch a'")["permissionDecision"] == "deny"  # by the agent itself
    assert answer("PermissionRequest", f"{program} 'touch a'") == {}  # the person decides
    assert answer("PermissionRequest", f"{program} 'cat ~/.ssh/id_rsa'") != {}
    bypassing = answer("PreToolUse", "touch 'a b'", permission_mode="bypassPermissions")
    assert bypassing["permissionDecision"] == "deny"  # there Codex may ask about nothing
    rules.write_text("")
    assert answer("PreToolUse", "touch 'a b'")["permissionDecision"] == "deny"
    main(["install", "codex", "--no-policy"])
    main(["uninstall", "codex"])
    assert not rules.exists()


def test_a_claude_code_that_does_not_block_by_itself_gets_a_line_of_shell_that_does(home: Path) -> None:
    program(home, "claude", "2.1.197")
    assert main(["install", "claude", "--no-policy"]) == 0
    once = file_of(home, "claude").read_bytes()
    found = json.loads(once)["hooks"]["PreToolUse"][0]["hooks"][0]
    assert (found["command"], found["args"][0]) == ("/bin/sh", "-c")
    (home / ".assent/bin/assent").write_text("raise SystemExit(1)")
    done = subprocess.run([found["command"], *found["args"]], input=b"{}", capture_output=True)
    assert (done.returncode, done.stdout) == (2, b"")
    assert main(["install", "claude", "--no-policy"]) == 0
    assert file_of(home, "claude").read_bytes() == once
    main(["uninstall", "claude"])
    assert not file_of(home, "claude").exists()


def test_for_a_whole_machine_the_hook_is_nobodys_own() -> None:
    words = launcher.launcher(launcher.MANAGED, "claude", socket="/home/a/.assent/server.sock", deadline=570)
    assert words[1:] == (launcher.FLAGS, "/etc/assent/bin/assent", "hook", "claude", "--deadline", "570")
    assert compiled_client.words(words, launcher.MANAGED) == (
        *("/etc/assent/bin/assent-hook", "hook", "claude", "--deadline", "570"),
        *("--cold", words[0], launcher.FLAGS, "/etc/assent/bin/assent"),
    )


def test_the_compiled_client_is_told_where_an_event_comes_from_and_what_runs_once() -> None:
    found = {
        runtime: compiled_client.words(launcher.launcher("/s", runtime, socket="/s/x", deadline=9), "/s")
        for runtime in ("openharness", "codex", "cline")
    }
    own = ("--home", "/s", "--socket", "/s/x", "--deadline", "9")
    cold = ("--cold", launcher.interpreter(), launcher.FLAGS, "/s/bin/assent")
    assert found == {
        "openharness": (
            *("/s/bin/assent-hook", "hook", "openharness", *own),
            *("--variable", "OPENHARNESS_HOOK_PAYLOAD", *cold),
        ),
        "codex": (
            *("/s/bin/assent-hook", "hook", "codex", *own),
            *("--once", "exec", "--once", "e", "--once", "review", *cold),
        ),
        "cline": ("/s/bin/assent-hook", "hook", "cline", *own, *cold),
    }


@pytest.mark.parametrize("built", [True, False])
def test_the_compiled_client_is_started_where_there_is_one_and_python_where_there_is_none(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, built: bool
) -> None:
    made = home / "made"
    monkeypatch.setattr(compiled_client, "source", lambda: str(made))
    if built:
        made.write_text("#!/bin/sh\nexit 2\n")
        made.chmod(0o755)
    main(["install", "claude", "--no-policy"])
    entry = json.loads(file_of(home, "claude").read_text())["hooks"]["PreToolUse"][0]["hooks"][0]
    client = home / ".assent/bin/assent-hook"
    assert entry["command"] == (str(client) if built else launcher.interpreter())
    assert client.exists() is built
    assert not built or (client.stat().st_mode & 0o777, client.read_bytes()) == (0o700, made.read_bytes())


@pytest.mark.parametrize("does", ["exit 0", "exit 127"])
def test_a_client_that_does_not_run_here_is_not_installed(
    home: Path, monkeypatch: pytest.MonkeyPatch, does: str
) -> None:
    made = home / "made"
    made.write_text(f"#!/bin/sh\n{does}\n")
    made.chmod(0o755)
    monkeypatch.setattr(compiled_client, "source", lambda: str(made))
    assert compiled_client.why_not(str(home)) == "it does not run on this machine"


def test_an_extension_of_gemini_cli_is_known_by_a_file_beside_its_hooks(home: Path) -> None:
    folder = home / ".gemini/extensions/assent"
    assert main(["install", "gemini", "--scope", "extension", "--no-policy"]) == 0
    assert json.loads((folder / "gemini-extension.json").read_text())["name"] == "assent"
    assert "BeforeTool" in json.loads((folder / "hooks/hooks.json").read_text())["hooks"]
    assert main(["uninstall", "gemini"]) == 0
    assert [path for path in folder.rglob("*") if path.is_file()] == []
