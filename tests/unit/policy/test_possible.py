"""Words that are not known, for the strict side."""

from __future__ import annotations

import pytest

from assent.effects.shell import lower
from assent.policy.parse import parse_rule
from assent.policy.possible import may_reach


def reaches(rule: str, command: str) -> bool:
    found = lower(command, cwd="/w", home="/home", shell="bash").invocations
    return any(may_reach(parse_rule(f"bash({rule})"), each) for each in found if each.unknown)


@pytest.mark.parametrize(
    "command", ["git $x", 'git "$x" origin', "git ${x:-push} -f", "git p$x", "git $(cat f) --force", "git -C d $x"]
)
def test_an_unknown_word_may_be_the_subcommand_of_a_rule(command: str) -> None:
    assert reaches("git push:*", command)


@pytest.mark.parametrize("command", ["git log $x", 'git commit -m "$m"', "git l$x"])
def test_a_word_in_another_place_or_of_another_beginning_is_not(command: str) -> None:
    assert not reaches("git push:*", command)


def test_only_a_word_that_is_not_quoted_may_be_an_option() -> None:
    assert reaches("git log --all", "git log $x")
    assert not reaches("git log --all", 'git log "$x"')
    assert not reaches("git log --all", "git log v$x")


def test_what_may_be_done_besides_is_told_apart() -> None:
    lowering = lower("git ${x:-push} --force origin main", cwd="/w", home="/home", shell="bash")
    assert lowering.possible is not None
    marks = {danger for effect in lowering.possible.effects for danger in effect.dangers}
    assert "force-push-main" in marks
    assert not any(effect.dangers for effect in lowering.effects)
    assert lower("git log $x", cwd="/w", home="/home", shell="bash").possible is None
