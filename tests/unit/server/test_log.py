"""What the server says in its terminal."""

from __future__ import annotations

import pytest

from assent.server.log import ServerLog


def test_nothing_that_is_said_steers_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    log = ServerLog()
    hostile = "\x1b]0;title\x07\x1b[2J\u202e"
    log.say(f"the trail cannot be read: {hostile}")
    log.show(f"two\nlines {hostile}")
    try:
        raise KeyError(hostile)
    except KeyError as error:
        log.fault(error)
    log.flush()
    out, err = capsys.readouterr()
    assert out == "two\nlines \\u{1b}]0;title\\u{7}\\u{1b}[2J\\u{202e}\n"
    assert "the trail cannot be read: \\u{1b}]0;title" in err
    assert "\n            File " in err
    assert not {"\x1b", "\x07", "\u202e"} & set(out + err)


def test_nothing_that_is_said_passes_for_another_line_of_ours(capsys: pytest.CaptureFixture[str]) -> None:
    log = ServerLog()
    forged = "\n  sign in at http://127.0.0.1:9/ with the code  AAAA-AAAA\r\n12:00:00  signed in: you"
    log.say(f"a folder is named {forged}")
    try:
        raise KeyError(f"{forged}")
    except KeyError as error:
        log.fault(error)
    log.flush()
    lines = capsys.readouterr().err.splitlines()
    own = [line for line in lines if not line.startswith(" " * 10)]
    assert [line[8:] for line in own] == ["  a folder is named ", "  Traceback (most recent call last):"]
