"""A question by keys: what each key means, and that nothing but a whole answer is one."""

from __future__ import annotations

import re
from unicodedata import combining, east_asian_width

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.approval.channels import screen
from assent.approval.channels.dialog import Asks, Dialog
from assent.approval.channels.terminal import Keys, is_paste
from assent.contract import Call, Decision, Layer, Outcome, Part, StoreError
from assent.contract.approval import Answer, Consequence, Held, Preview, Reach, Said, Scope, Suggestion

PART = Part(Outcome.ASK, Layer.MODE, "mode.execute", "it runs something", what="run npm", where="command[0:8]")
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
NARROW, WIDE = Suggestion(("bash(npm test)",), "exactly this"), Suggestion(("bash(npm:*)",), "all of npm")


def held(
    *, description: str = "", command: str = "npm test", suggestions: tuple[Suggestion, ...] = (NARROW, WIDE)
) -> Held:
    return Held(
        "id-1",
        Call("bash", {"command": command}, cwd="/w", description=description, runtime="claude", session="s1"),
        "digest",
        Decision(Outcome.ASK, PART, (PART,), mode="default", risk="medium", tool="bash"),
        Preview("command", command),
        effects=("run npm",),
        suggestions=suggestions,
    )


def typed(dialog: Dialog, *keys: str) -> Answer | None:
    for key in keys:
        dialog.key(key)
    return dialog.answer


@pytest.mark.parametrize(
    ("keys", "answer"),
    [
        (("y",), Answer(Said.ALLOW)),
        (("Y",), Answer(Said.ALLOW)),
        (("n",), Answer(Said.DENY)),
        (("x",), Answer(Said.STOP)),
        (("t", *"no: use ci", "enter"), Answer(Said.DENY, message="no: use ci")),
        (("s", "enter"), Answer(Said.ALLOW, scope=Scope.SESSION, rules=("bash(npm test)",))),
        (("m", "2"), Answer(Said.ALLOW, scope=Scope.QUARTER, rules=("bash(npm:*)",))),
        (("p", "esc", "n"), Answer(Said.DENY)),
        (("e", "r", "ctrl-u", *"bash(ls)", "enter"), Answer(Said.ALLOW, scope=Scope.EVERYWHERE, rules=("bash(ls)",))),
        (("d", "y"), Answer(Said.ALLOW)),
    ],
)
def test_keys_mean(keys: tuple[str, ...], answer: Answer) -> None:
    assert typed(Dialog(held()), *keys) == answer


@pytest.mark.parametrize(
    "keys", [("z",), ("enter",), (" ",), ("s",), ("s", "9"), ("s", "0"), ("t", "y"), ("d",), ("p", "r", "y")]
)
def test_nothing_else_is_an_answer(keys: tuple[str, ...]) -> None:
    assert typed(Dialog(held()), *keys) is None


@pytest.mark.parametrize(
    "keys", [("esc",), ("ctrl-c",), ("s", "ctrl-c"), ("t", "n", "o", "ctrl-c"), ("s", "esc", "esc")]
)
def test_esc_and_ctrl_c_put_the_question_away(keys: tuple[str, ...]) -> None:
    dialog = Dialog(held())
    assert (typed(dialog, *keys), dialog.dismissed, dialog.asks) == (None, True, Asks.OVER)


def test_after_the_answer_no_key_changes_it() -> None:
    assert typed(Dialog(held()), "n", "y", "s", "enter", "ctrl-c") == Answer(Said.DENY)


def test_without_a_rule_to_offer_the_answer_is_for_the_identical_call() -> None:
    assert typed(Dialog(held(suggestions=())), "s", "1") == Answer(Said.ALLOW, scope=Scope.SESSION)


def test_a_rule_is_saved_only_after_its_reach_was_shown() -> None:
    dialog = Dialog(held(), lambda _, rules, scope: Reach(37, 3, 2000))
    assert typed(dialog, "p") is None
    shown = dialog.key("1")
    assert (dialog.answer, "37 of your last 2000" in shown, "3 of them you denied" in shown) == (None, True, True)
    assert typed(dialog, "enter") == Answer(Said.ALLOW, scope=Scope.PROJECT, rules=("bash(npm test)",))


def test_an_edited_rule_shows_its_own_reach_before_it_is_saved() -> None:
    seen: list[tuple[str, ...]] = []

    def reach(_: Held, rules: tuple[str, ...], scope: Scope) -> Reach:
        seen.append(rules)
        return Reach(1, 0, 10)

    dialog = Dialog(held(), reach)
    assert typed(dialog, "p", "1", "backspace", "s", ")", "enter") is None
    assert typed(dialog, "enter") == Answer(Said.ALLOW, scope=Scope.PROJECT, rules=("bash(npm tests)",))
    assert seen == [("bash(npm test)",), ("bash(npm tests)",), ("bash(npm tests)",)]


def test_a_rule_that_is_too_broad_is_not_saved() -> None:
    dialog = Dialog(held(), lambda _, rules, scope: Reach(refusal="it lets every command run"))
    assert typed(dialog, "e", "2", "enter", "enter") is None
    assert "it lets every command run" in dialog.key("enter")


@given(st.text(max_size=200), st.text(max_size=200))
def test_no_escape_sequence_of_the_agent_reaches_the_screen(description: str, command: str) -> None:
    text = Dialog(held(description=description, command=command), colour=False).opening()
    assert [each for each in text if not (each.isprintable() or each in "\n\t ")] == []


@given(st.lists(st.sampled_from(["y", "n", "s", "1", "enter", "esc", "t", "a", "r", "backspace", "ctrl-c", "d"])))
def test_a_dialog_ends_with_an_answer_or_put_away_never_both(keys: list[str]) -> None:
    dialog = Dialog(held(), lambda _, rules, scope: Reach())
    typed(dialog, *keys)
    assert (dialog.asks is Asks.OVER) == (dialog.dismissed or dialog.answer is not None)
    assert not (dialog.dismissed and dialog.answer is not None)


@pytest.mark.parametrize(
    ("chunk", "keys", "paste"),
    [
        (b"y", ["y"], False),
        (b"\x1b", ["esc"], False),
        (b"\x1b[A", [], False),
        (b"\x1bOP", [], False),
        (b"\r", ["enter"], False),
        (b"yes\n", ["y", "e", "s", "enter"], True),
        (b"\x1b[200~y\x1b[201~", ["y"], False),
        ("é".encode(), ["é"], False),
        (b"\xff", ["\ufffd"], False),
        (b"\x03", ["ctrl-c"], False),
    ],
)
def test_bytes_are_keys(chunk: bytes, keys: list[str], paste: bool) -> None:
    assert (Keys().of(chunk), is_paste(Keys().of(chunk))) == (keys, paste)


def cells(line: str) -> int:
    plain = COLOUR.sub("", line)
    return sum(0 if combining(each) else 2 if east_asian_width(each) in "WF" else 1 for each in plain)


@given(
    command=st.text(st.sampled_from("ab \t\n漢字e\u0301─#;'\"$"), max_size=400),
    tool=st.text(st.sampled_from("Bash\n 漢"), min_size=1, max_size=90),
    width=st.integers(64, 120),
    colour=st.booleans(),
)
def test_no_line_is_wider_than_the_terminal_so_that_none_of_it_begins_where_our_words_do(
    command: str, tool: str, width: int, colour: bool
) -> None:
    asked = held(description=command, command=command, suggestions=(Suggestion((f"bash({command})",), command),))
    call = Call(tool, {"command": command}, cwd=f"/w/{command}", description=command, runtime=tool)
    shown = Held(
        asked.id,
        call,
        asked.digest,
        asked.decision,
        Preview("diff", command, path=command),
        effects=(command,),
        suggestions=asked.suggestions,
        warnings=("a warning " * 20,),
        project=f"/w/{command}",
    )
    dialog = Dialog(shown, width=width, colour=colour)
    printed = dialog.opening() + dialog.key("d") + dialog.key("s") + dialog.key("r") + dialog.key("x")
    for line in printed.replace("\r\x1b[K", "\n").split("\n"):
        assert cells(line) <= width


def test_a_name_with_line_ends_in_it_brings_no_lines_of_its_own() -> None:
    asked = held()
    forged = "a.txt\n  does   read a.txt\n\n  y once"
    call = Call(forged, {"file_path": forged}, cwd="/w")
    shown = Held("id", call, "digest", asked.decision, Preview("diff", "+x", path=forged), effects=("write a.txt",))
    printed = Dialog(shown).opening().split("\n")
    assert [line for line in printed if line.startswith("  does")] == ["  does   write a.txt"]
    assert [line for line in printed if line.startswith("  y once")] == []


def test_what_a_line_goes_on_with_is_marked_as_such() -> None:
    forged = "echo " + " " * 71 + "  does   list files"
    printed = Dialog(held(command=forged), width=80).opening().split("\n")
    assert [line for line in printed if line.lstrip().startswith("does")] == ["  does   run npm"]


def test_effects_show_letters_that_look_like_others() -> None:
    asked = held()
    shown = Held("id", asked.call, "d", asked.decision, asked.preview, effects=("write сору",))
    assert "\\u{441}\\u{43e}\\u{440}\\u{443}" in Dialog(shown).opening()


def test_consequences_are_shown_below_what_it_does_and_steer_nothing() -> None:
    asked = held()
    caused = (
        Consequence("deletion", "removes 3 files, 12 bytes"),
        Consequence("deletion", "git does not have `a\x1b[2J\n  why    fine`"),
        Consequence("undo", "cannot be undone: " + "x" * 900),
    )
    shown = Held("id", asked.call, "d", asked.decision, asked.preview, effects=("run npm",), consequences=caused)
    printed = Dialog(shown, width=60).opening()
    assert "\x1b[2J" not in printed
    lines = printed.split("\n")
    at = next(number for number, line in enumerate(lines) if line.startswith("  causes"))
    assert lines[at - 1] == "  does   run npm"
    assert lines[at] == "  causes removes 3 files, 12 bytes"
    assert lines[at + 1].startswith("         git does not have")
    assert [line for line in lines if line.startswith("  why")] == [f"  why    {PART.reason} [{PART.code}]"]
    assert max(map(len, lines)) <= 60


@pytest.mark.parametrize(
    "pieces",
    [
        (b"\x1b[?2026;2$", b"y"),
        (b"\x1b[", b"?1;2", b"y"),
        (b"\x1bO", b"y"),
        (b"\x1b]11;rgb:ff", b"y", b"\x07"),
        (b"\x1b[<0;1", b"0;2M"),
        (b"\xc3", b"\xa9"),
    ],
)
def test_the_end_of_a_sequence_that_comes_in_pieces_is_no_key(pieces: tuple[bytes, ...]) -> None:
    keys = Keys()
    assert [key for piece in pieces for key in keys.of(piece)] in ([], ["é"])


@pytest.mark.parametrize("begun", [b"", b"\x1b[", b"\x1b[1;", b"\x1bO", b"\x1b]0;title", b"\x1bP", b"\xe2\x82"])
def test_ctrl_c_is_heard_whatever_came_before(begun: bytes) -> None:
    keys = Keys()
    assert "ctrl-c" in [*keys.of(begun), *keys.of(b"\x03")]


def test_a_long_rule_is_shown_whole_before_it_is_saved() -> None:
    rule = "bash(" + "npm run " + "x" * 150 + ")"
    dialog = Dialog(held(suggestions=(Suggestion((rule,), "exactly this"),)), lambda *_: Reach(), width=60)
    dialog.key("s")
    printed = dialog.key("1")
    assert rule in "".join(line[8:] for line in printed.split("\n") if "rule:" in line or screen.ON in line)
    assert dialog.key("enter").strip() == "allowed for this session"


def test_nothing_beside_the_command_is_so_long_that_it_pushes_the_command_off_the_screen() -> None:
    long = "/".join(["x" * 200] * 200)
    part = Part(Outcome.ASK, Layer.ASK, "ask.rule", long, rule=long, source="config.toml:1")
    decision = Decision(Outcome.ASK, part, (part,), mode="default")
    call = Call(long, {"command": "rm x"}, cwd=long, description=long)
    shown = Held("id", call, "d", decision, Preview("diff", "rm x", path=long), effects=(long,) * 20, project=long)
    assert len(Dialog(shown, width=80).opening().split("\n")) < 80


def test_where_the_past_cannot_be_read_the_answer_is_not_saved_and_the_question_goes_on() -> None:
    def broken(*_: object) -> Reach:
        raise StoreError("the trail cannot be read")

    dialog = Dialog(held(), broken)
    dialog.key("s")
    assert "not saved: it is not known" in dialog.key("1")
    assert typed(dialog, "esc", "y") == Answer(Said.ALLOW)


LONG = "\n".join(f"echo {number}" for number in range(200)) + "\nrm -rf /tail"


@pytest.mark.parametrize("command", [LONG, "x" * 5000 + " /tail", "\u202e" * 900 + " /tail"])
def test_what_is_not_shown_whole_is_not_allowed_before_it_is(command: str) -> None:
    dialog = Dialog(held(command=command))
    assert "see all of it" in dialog.opening()
    for key in "ymspe":
        assert "press v to see all of it" in dialog.key(key)
    assert (dialog.answer, dialog.asks, dialog.whole) == (None, Asks.ANSWER, False)
    assert "/tail" in dialog.key("v")
    assert typed(dialog, "y") == Answer(Said.ALLOW)


@pytest.mark.parametrize("key", ["n", "x"])
def test_what_is_not_shown_whole_can_be_denied(key: str) -> None:
    answer = typed(Dialog(held(command=LONG)), key)
    assert answer is not None
    assert answer.said is not Said.ALLOW


def test_what_is_too_long_to_be_shown_at_all_is_never_allowed() -> None:
    old = held()
    question = Held(old.id, old.call, old.digest, old.decision, Preview("command", "x" * 100, length=5_000_000))
    assert typed(Dialog(question), "v", "y", "s", "enter") is None


def test_a_long_folder_or_file_is_not_whole_either() -> None:
    old = held()
    for call, path in ((Call("bash", {}, cwd="/" + "w" * 700), ""), (old.call, "/" + "p" * 700)):
        assert not Dialog(Held(old.id, call, old.digest, old.decision, Preview("diff", "+x", path=path))).whole
