"""Every scope and ending has words of its own, and no key means two answers."""

from __future__ import annotations

from assent.contract import Outcome, words
from assent.contract.approval import Ending, Said, Scope


def test_no_key_means_two_answers() -> None:
    keys = [words.of_scope(scope).key for scope in Scope] + [words.DENY.key, words.MESSAGE[0], words.STOP.key]
    assert len(set(keys)) == len(keys)


def test_no_two_scopes_outcomes_or_endings_read_alike() -> None:
    offers = [words.of_scope(scope).offer for scope in Scope]
    would = [words.OUTCOMES[outcome].would for outcome in Outcome]
    endings = [words.ENDINGS[ending] for ending in Ending]
    for phrases in (offers, would, endings):
        assert len(set(phrases)) == len(phrases)
        assert all(phrase == phrase.strip() and not phrase.endswith(".") for phrase in phrases)


def test_an_answer_says_how_far_it_reaches_only_where_it_allows() -> None:
    assert words.of_answer(Said.ALLOW, Scope.PROJECT) == "always allowed in this project"
    assert words.of_answer(Said.DENY, Scope.PROJECT) == "denied"
    assert words.sentence(words.of_answer(Said.STOP, Scope.ONCE)) == "Denied, and the agent is told to stop"
