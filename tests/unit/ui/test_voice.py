"""What the server says in its terminal."""

from __future__ import annotations

import pytest

from assent.ui.voice import Voice


def test_nothing_that_is_said_steers_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    voice = Voice()
    hostile = "\x1b]0;title\x07\x1b[2J\u202e"
    voice.say(f"the trail cannot be read: {hostile}")
    voice.show(f"two\nlines {hostile}")
    try:
        raise KeyError(hostile)
    except KeyError as error:
        voice.fault(error)
    voice.rest()
    out, err = capsys.readouterr()
    assert out == "two\nlines \\u{1b}]0;title\\u{7}\\u{1b}[2J\\u{202e}\n"
    assert "the trail cannot be read: \\u{1b}]0;title" in err
    assert "\n  File " in err
    assert not {"\x1b", "\x07", "\u202e"} & set(out + err)
