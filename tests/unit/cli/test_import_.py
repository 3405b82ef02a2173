"""`assent import` takes over what is narrow, and says why the rest is not; `assent export` gives back what it can."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assent.agents import permissions
from assent.agents.permissions import Permission
from assent.cli.main import main
from assent.contract import SettingsError

CLAUDE = {
    "permissions": {
        "allow": ["Bash(npm run test:*)", "Bash(curl:*)", "Bash", "bash(ls)", "Bash(a && b)", "Read(//var/log/**)"],
        "ask": ["Bash(git push:*)"],
        "deny": ["Read(.env)", "Edit(/migrations/**)", "WebFetch(domain:x.org)", "mcp__db__drop", "Oops("],
    }
}


def test_the_entries_of_claude_code_become_rules_or_notes() -> None:
    read = permissions.load("claude").read(json.dumps(CLAUDE))
    assert [(each.layer, each.rule) for each in read] == [
        ("allow", "bash(npm run test:*)"),
        ("allow", "bash(curl:*)"),
        ("allow", "bash"),
        ("allow", ""),
        ("allow", ""),
        ("allow", "read(/var/log/**)"),
        ("ask", "bash(git push:*)"),
        ("deny", "read(**/.env)"),
        ("deny", "write(migrations/**)"),
        ("deny", "fetch(domain:x.org)"),
        ("deny", "mcp__db__drop"),
        ("deny", ""),
    ]
    assert [each.note.partition(":")[0] for each in read if not each.rule] == ["does nothing"] * 3


def test_the_rules_of_codex_spell_every_choice() -> None:
    text = 'prefix_rule(pattern=["git", ["push", "fetch"]], decision="prompt")\nprefix_rule(pattern=["ls"])\n'
    text += 'prefix_rule(pattern=[["/x/assent-ask", "assent-ask"]], decision="prompt")\n'
    read = permissions.load("codex").read(text)
    assert [(each.layer, each.rule) for each in read] == [
        ("ask", "bash(git push:*)"),
        ("ask", "bash(git fetch:*)"),
        ("allow", "bash(ls:*)"),
    ]
    with pytest.raises(SettingsError, match="line 2"):
        permissions.load("codex").read("x = 1\nprefix_rule(\n")


def test_gemini_cli_has_settings_and_policy_files() -> None:
    gemini = permissions.load("gemini")
    settings = '{"tools": {"allowed": ["run_shell_command(git status)"], /* no */ "exclude": ["web_fetch"]}}'
    assert [(each.layer, each.rule) for each in gemini.read(settings, "settings.json")] == [
        ("allow", "bash(git status:*)"),
        ("deny", "fetch"),
    ]
    policy = '[[rule]]\ntoolName = "run_shell_command"\ncommandPrefix = ["a", "b c"]\ndecision = "deny"\npriority = 1\n'
    assert [(each.layer, each.rule) for each in gemini.read(policy, "x.toml")] == [
        ("deny", "bash(a:*)"),
        ("deny", "bash(b c:*)"),
    ]


def test_opencode_has_patterns_by_kind() -> None:
    text = (
        '{"permission": {"bash": {"*": "ask", "git status *": "allow", "rm *": "deny"}, "edit": "deny", "webfetch": 1}}'
    )
    read = permissions.load("opencode").read(text)
    assert read == (
        Permission("ask", "bash: *: ask", note="not needed: what is not known to be harmless is asked about"),
        Permission("allow", "bash: git status *: allow", "bash(git status:*)"),
        Permission(
            "deny",
            "bash: rm *: deny",
            "bash(rm:*)",
            "in opencode other spellings pass it; as a rule of Assent they do not",
        ),
        Permission("deny", "edit: *: deny", "write"),
        Permission("ask", "webfetch: *: 1", note="does nothing: the word is not allow, ask or deny"),
    )


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


def test_nothing_is_written_unless_told_to(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import", "claude"]) == 0
    assert main(["import", "claude", "--dry-run"]) == 0
    assert not (home / ".assent").exists()
    assert 'deny = [\n+  "read(**/.env)"' in capsys.readouterr().out


def test_no_allow_is_taken_over_that_says_more_than_it_shows(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / ".assent").mkdir()
    (home / ".assent/config.toml").write_text("# mine\nmode = 'plan' # stays\n")
    assert main(["import", "claude", "--write"]) == 0
    text = (home / ".assent/config.toml").read_text()
    assert text == (
        "# mine\nmode = 'plan' # stays\n"
        'allow = [\n  "bash(npm run test:*)",\n]\n'
        'ask = [\n  "bash(git push:*)",\n]\n'
        'deny = [\n  "read(**/.env)",\n  "write(migrations/**)",\n  "fetch(domain:x.org)",\n  "mcp__db__drop",\n]\n'
    )
    shown = capsys.readouterr().out
    assert "`Bash(curl:*)`: not imported, it is broader than it looks" in shown
    assert "`Bash`: not imported, it is broader than it looks" in shown
    assert "`Bash(make all)`: not imported: a project's own settings may tighten, never loosen" in shown
    assert main(["policy", "show"]) == 0


def test_rules_that_others_make_useless_are_named(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lists = {
        "allow": ["Bash(git push origin:*)", "Bash(npm run a:*)", "Bash(npm run a x)"],
        "deny": ["Bash(git push:*)"],
    }
    (home / ".claude/settings.json").write_text(json.dumps({"permissions": lists}))
    assert main(["import", "claude", "--write"]) == 0
    text = (home / ".assent/config.toml").read_text().partition("\n")[2]
    assert text == 'allow = [\n  "bash(npm run a:*)",\n]\ndeny = [\n  "bash(git push:*)",\n]\n'
    shown = capsys.readouterr().out
    assert "`bash(git push origin:*)`: has no effect: `bash(git push:*)` is stricter" in shown
    assert "`bash(npm run a x)`: has no effect: `bash(npm run a:*)` says the same" in shown


@pytest.mark.parametrize("runtime", permissions.RUNTIMES)
def test_what_is_exported_reads_back_as_the_same_rules(runtime: str) -> None:
    rules = (("allow", "bash(npm test:*)"), ("ask", "bash(git push:*)"), ("deny", "bash(rm -rf:*)"))
    text, left = permissions.load(runtime).write((*rules, ("deny", "danger(push)")))
    file = "x.toml" if runtime == "gemini" else ""
    assert left == ("danger(push)",)
    assert tuple((each.layer, each.rule) for each in permissions.load(runtime).read(text, file)) == rules


def test_export_prints_the_users_rules(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / ".assent").mkdir()
    (home / ".assent/config.toml").write_text('deny = ["read(**/.env)", "danger(push)"]\n')
    assert main(["export", "claude"]) == 0
    said = capsys.readouterr()
    assert json.loads(said.out) == {"permissions": {"deny": ["Read(**/.env)"]}}
    assert "cannot express `danger(push)`" in said.err
