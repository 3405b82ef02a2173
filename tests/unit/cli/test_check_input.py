"""How `assent check` reads a call: strictly, as every other entry does."""

from __future__ import annotations

import pytest

from assent.cli.check import parse_line, read_input
from assent.contract import PayloadError


def test_a_line_with_a_key_twice_is_refused() -> None:
    with pytest.raises(PayloadError, match="given twice"):
        parse_line(b'{"tool": "refund", "input": {"amount": 5, "amount": 500}}')


def test_an_input_with_a_key_twice_is_refused() -> None:
    with pytest.raises(PayloadError, match="given twice"):
        read_input("refund", '{"amount": 5, "amount": 500}')


def test_a_command_that_begins_like_json_is_a_command() -> None:
    assert read_input("bash", "{ ls; }") == {"command": "{ ls; }"}
