"""Wrong commands and options are answered with the next step; short names mean the same as the long ones."""

from __future__ import annotations

import pytest

from assent.cli.commands import COMMANDS, FRONT, GATHERED, GROUPS, build_parser, resolve
from assent.cli.help import text_of
from assent.cli.main import main


def test_the_name_alone_lists_the_commands_of_every_day(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    told = capsys.readouterr().err
    assert [line.split()[0] for line in told.splitlines() if line.startswith("  ") and line[2] != " "] == list(FRONT)
    assert len(FRONT) == 8
    assert main(["--help"]) == 0
    assert capsys.readouterr().out == told


def test_every_command_is_in_one_group_and_in_the_whole_list() -> None:
    grouped = [name for names in GROUPS.values() for name in names]
    assert sorted(grouped) == sorted([*COMMANDS, *GATHERED])
    shown = text_of("all")
    assert [name for name in grouped if f"\n  {name} " not in shown] == []


@pytest.mark.parametrize("command", ["why", "install"])
def test_what_is_missing_is_named_with_where_it_is_explained(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([command])
    assert ended.value.code == 2
    assert capsys.readouterr().err.endswith(f"; see `assent {command} --help`\n")


@pytest.mark.parametrize("command", ["audit", "policy", "pack", "classifier", "rules", "log"])
def test_a_command_with_verbs_lists_them_when_none_is_given(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command]) == 2
    told = capsys.readouterr().err
    verbs = GATHERED[command].verbs if command in GATHERED else build_parser(command).verbs[command].verbs
    assert [verb for verb in verbs if f"  {verb} " not in told] == []


@pytest.mark.parametrize(
    ("given", "meant"), [(["pakc"], "pack"), (["rules", "lnt"], "lint"), (["policy", "shwo"], "show"), (["lgo"], "log")]
)
def test_a_mistyped_name_is_answered_with_the_one_that_may_be_meant(
    given: list[str], meant: str, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        status: object = main(given)
    except SystemExit as ended:
        status = ended.code
    assert status == 2
    assert f"did you mean `{meant}`?" in capsys.readouterr().err


def test_control_characters_of_a_mistyped_name_are_not_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["pack\x1b[2J"]) == 2
    assert "\x1b" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("given", "words", "called"),
    [
        (["rules", "lint", "--json"], ["policy", "lint", "--json"], "assent rules"),
        (["rules", "grants", "revoke", "--all"], ["grants", "revoke", "--all"], "assent rules grants"),
        (["log", "tail", "-n", "3"], ["audit", "tail", "-n", "3"], "assent log"),
        (["inbox", "--web", "--port", "0"], ["serve", "--port", "0"], "assent inbox --web"),
        (["inbox", "--quiet"], ["inbox", "--quiet"], ""),
    ],
)
def test_a_short_name_stands_for_the_long_one(given: list[str], words: list[str], called: str) -> None:
    assert resolve(given) == (words, called)


def test_every_verb_that_is_gathered_can_be_given_and_is_explained_under_its_short_name(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name, gathering in GATHERED.items():
        for verb in gathering.verbs:
            with pytest.raises(SystemExit) as ended:
                main([name, verb, "--help"])
            assert ended.value.code == 0
            assert capsys.readouterr().out.startswith(f"usage: assent {name} {verb} ")
