"""Wrong commands and options are answered with the next step."""

from __future__ import annotations

import pytest

from assent.cli.main import COMMANDS, main


def test_the_name_alone_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    told = capsys.readouterr().err
    assert [name for name in COMMANDS if f"\n    {name}" not in told] == []


@pytest.mark.parametrize("command", ["audit", "policy", "pack", "classifier", "why", "install"])
def test_what_is_missing_is_named_with_where_it_is_explained(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([command])
    assert ended.value.code == 2
    assert capsys.readouterr().err.endswith(f"; see `assent {command} --help`\n")
