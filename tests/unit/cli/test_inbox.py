"""`assent inbox` if it cannot run: each time it says what to do instead."""

from __future__ import annotations

import sys

import pytest

from assent.cli import main


def test_without_textual_it_says_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "textual", None)
    assert main.main(["inbox"]) == 2
    told = "assent: the inbox needs textual; install it with `pip install 'assent[inbox]'`\n"
    assert capsys.readouterr().err == told


def test_without_a_terminal_it_points_to_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("textual", reason="textual is not installed; pip install 'assent[inbox]'")
    assert main.main(["inbox"]) == 2
    assert capsys.readouterr().err == "assent: the inbox needs a terminal; without one, use the page\n"
