"""The receipt says the same to a person, a program and an agent."""

from __future__ import annotations

from assent.contract import display
from assent.policy import explain
from tests.cases import decide


def test_a_person_sees_outcome_reason_part_rule_and_what_would_flip_it() -> None:
    decision = decide("write", "src/a.py", "full_auto", deny=[{"rule": "write(src/**)", "message": "ask the owner"}])
    assert explain.in_words(decision, "write src/a.py") == (
        "DENY  write src/a.py\n"
        "  why    denied by the user rule `write(src/**)` [deny.rule]\n"
        "  part   write src/a.py  (file_path)\n"
        "  rule   write(src/**)  from rules:1\n"
        "  advice ask the owner\n"
        "  flip   remove `write(src/**)` from rules:1\n"
        "  mode   full_auto, risk medium, layer deny"
    )


def test_the_rules_that_lost_are_named() -> None:
    decision = decide("todo", {}, deny=["todo"], allow=["todo"])
    assert decision.outcome.word == "deny"
    decision = decide("mcp__a__b", {"path": "/home/user/.ssh/x"}, allow=["mcp__a"])
    assert decision.lost == (("mcp__a", "rules:1"),)


def test_an_agent_is_told_what_to_do_instead() -> None:
    told = explain.to_agent(decide("read", "~/.ssh/id_rsa"))
    assert told == (
        "This call was not run: read ~/.ssh/id_rsa. Reason: `~/.ssh/id_rsa` is protected: SSH keys and settings "
        "[floor.sensitive-path]. No other wording gets around this; continue without it, and say that you could not "
        "do it."
    )
    assert "plan mode" in explain.to_agent(decide("write", "a", "plan"))
    assert "list it as a step" in explain.to_agent(decide("write", "a", headless=True))
    assert "waits for a person's assent" in explain.to_agent(decide("write", "a"))


def test_a_rules_own_message_steers_the_agent() -> None:
    told = explain.to_agent(
        decide("write", "dist/a", deny=[{"rule": "write(dist/**)", "message": "edit src/ and build"}])
    )
    assert told.endswith("Edit src/ and build.")


def test_json_holds_every_part() -> None:
    receipt = explain.as_json(decide("read_many_files", {"paths": ["a", ".env"]}))
    assert [part["outcome"] for part in receipt["parts"]] == ["allow", "ask"]  # type: ignore[attr-defined]
    assert (receipt["outcome"], receipt["rule"], receipt["source"]) == ("ask", "read(**/.env)", "shipped:env-files")


def test_hidden_characters_are_shown() -> None:
    assert display.visible("a\x1b[31m\u202eb\u200bc\x00") == "a\\u{1b}[31m\\u{202e}b\\u{200b}c\\u{0}"
    assert display.visible("tab\tand\nline") == "tab\tand\nline"


def test_long_text_is_cut_with_its_true_length() -> None:
    assert (
        display.one_line("x" * 1000, explain.SHOWN_TEXT)
        == "x" * 150 + " … [700 of 1000 characters not shown] … " + "x" * 150
    )


def test_a_line_end_in_a_command_is_no_line_of_the_receipt() -> None:
    shown = explain.in_words(
        decide("bash", "x\n  why    all is well [intrinsic.inert]"), "bash x\n  why    all is well"
    )
    assert [line for line in shown.splitlines() if "all is well" in line and "⏎" not in line] == []
