"""Forms of single programs that change what others share, and commands in the words of editors and script hosts."""

from __future__ import annotations

import pytest

from assent.effects.shell.commands.interpret import interpret


def dangers(*words: str) -> set[str]:
    found = interpret(words, cwd="/w", home="/home/u")
    return {danger for effect in found.effects for danger in effect.dangers}


@pytest.mark.parametrize(
    ("line", "danger"),
    [
        ("nodetool clearsnapshot --all", "destroy"),
        ("kafka-consumer-groups.sh --group g --reset-offsets --to-latest --execute", "destroy"),
        ("pm2 stop all", "deploy"),
        ("ldcli flags toggle-on --flag x", "deploy"),
        ("npm owner add somebody pkg", "publish"),
        ("git commit --no-verify -m x", "checks-off"),
        ("mkcert -install", "checks-off"),
        ("hydra -l root ssh://10.0.0.1", "attacks"),
        ("tcpdump -i any -w x.pcap", "spies"),
    ],
)
def test_a_form_that_changes_what_others_share_is_marked(line: str, danger: str) -> None:
    assert danger in dangers(*line.split())


@pytest.mark.parametrize(
    "line",
    [
        "nodetool status",
        "kafka-consumer-groups.sh --describe --group g",
        "pm2 list",
        "ldcli flags list",
        "npm owner ls pkg",
        "mkcert localhost",
        "goose -dir db create add_users sql",
        "ansible all -m ping",
    ],
)
def test_ordinary_forms_of_the_same_programs_are_not(line: str) -> None:
    assert dangers(*line.split()) == set()


def test_prose_is_no_form() -> None:
    assert "checks-off" not in dangers("git", "commit", "-m", "say why --no-verify is bad")


@pytest.mark.parametrize(
    "words",
    [
        ("vim", "-c", ":!rm -r /srv", "-c", "q"),
        ("osascript", "-e", 'do shell script "rm -r /srv"'),
        ("Rscript", "-e", 'system("rm -r /srv")'),
        ("emacs", "--batch", "--eval", '(shell-command "rm -r /srv")'),
        ("groovy", "-e", '"rm -r /srv".execute()'),
    ],
)
def test_commands_in_words_of_other_languages_are_run(words: tuple[str, ...]) -> None:
    assert [run.script for run in interpret(words, cwd="/w", home="/home/u").runs] == ["rm -r /srv"]


def test_powershell_that_removes_folders_is_marked() -> None:
    assert "recursive-delete" in dangers("pwsh", "-c", "Remove-Item ./x -Recurse")
    assert "broad-delete" in dangers("pwsh", "-c", "Remove-Item -Recurse -Force ~")
    assert dangers("pwsh", "-c", "Get-ChildItem . -Recurse") == set()
