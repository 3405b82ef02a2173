"""Our reading of a text against bash's own and shfmt's. A difference is a defect, and a doubt has to be a gap."""

from __future__ import annotations

import re
from functools import cache

import pytest

from assent.effects.shell.syntax import read
from assent.effects.shell.syntax.expansions import printed_right
from assent.effects.shell.tree import Reading
from tests.differential import canonical, flat, generate, oracles, values
from tests.differential.forms import FORMS, SHFMT_DIFFERS

pytestmark = pytest.mark.skipif(not oracles.bash_is_new_enough(), reason="the oracle is bash 5.2 or later")

SYNTAX = "gap.shell.syntax"


@cache
def verdicts_on_forms() -> list[oracles.Verdict]:
    return oracles.ask_bash(FORMS)


def refusals(reading: Reading) -> list[tuple[str, int, str]]:
    return [gap for gap in reading.gaps if gap[0] == SYNTAX]


def wrong(texts: list[str]) -> dict[str, list[str]]:
    """What is wrong in our reading of the texts, by bash's."""
    verdicts = verdicts_on_forms() if texts is FORMS else oracles.ask_bash(texts)
    told = [(text, read(text), said) for text, said in zip(texts, verdicts, strict=True)]
    return {
        "taken though bash refuses": [text for text, seen, said in told if not said.accepted and not seen.gaps],
        "read differently": misread(told),
        "cut into other words": [text for text, seen, said in told if not seen.gaps and recut(text, seen, said)],
    }


NOTHING: dict[str, list[str]] = {"taken though bash refuses": [], "read differently": [], "cut into other words": []}


def misread(told: list[tuple[str, Reading, oracles.Verdict]]) -> list[str]:
    """The texts that we read differently from what bash prints: all of it, or what it takes before it refuses."""
    doubtful = [
        (text, seen, said.printed)
        for text, seen, said in told
        if (not seen.gaps or (refusals(seen) and not said.accepted)) and differs(seen, said.printed)
    ]
    again = oracles.ask_bash([printed for _, _, printed in doubtful])
    return [
        text for (text, seen, printed), said in zip(doubtful, again, strict=True) if not misprinted(seen, printed, said)
    ]


def recut(text: str, seen: Reading, said: oracles.Verdict) -> bool:
    """Whether a simple command is not printed with blanks between what we take for its words."""
    printed = blanks_as_one(said.printed)
    return "`" not in text and not all(blanks_as_one(line) in printed for line in flat.lines(seen.script))


def blanks_as_one(text: str) -> str:
    return re.sub(r"[ \t]+", " ", text)


def differs(seen: Reading, printed: str) -> bool:
    return canonical.of(seen.script) != canonical.of(read(printed).script)


def misprinted(seen: Reading, printed: str, said: oracles.Verdict) -> bool:
    """Whether what bash printed means something else to bash itself: then it says nothing about the text.

    Inside substitutions bash runs what it prints, so there a misprint is no excuse; the reader has gaps for those,
    and `test_what_bash_prints_in_a_substitution_is_what_we_read` holds it."""
    if "<<" in printed and not printed_right(seen.script):
        return True
    return not said.accepted or said.printed.strip() != printed.strip()


def test_hand_written_forms_are_read_as_bash_reads_them() -> None:
    assert wrong(FORMS) == NOTHING


def test_disturbed_forms_are_read_as_bash_reads_them() -> None:
    assert wrong(generate.disturbed(FORMS, seed=1, count=900)) == NOTHING


def test_grown_commands_are_read_as_bash_reads_them() -> None:
    assert wrong(generate.grown(seed=1, count=300, depth=2)) == NOTHING


def test_what_bash_prints_in_a_substitution_is_what_we_read() -> None:
    """Bash 5.2 runs what it prints of a `$(…)`, not what was written: a misprint there would be run."""
    forms = [*FORMS, *generate.disturbed(FORMS, seed=2, count=300), *generate.grown(seed=2, count=150, depth=1)]
    texts = [text for text in (f"echo $({form}\n)" for form in forms) if not read(text).gaps]
    verdicts = oracles.ask_bash(texts)
    assert [text for text, said in zip(texts, verdicts, strict=True) if differs(read(text), said.printed)] == []


def test_few_forms_that_bash_takes_are_refused() -> None:
    """A refusal costs a prompt. What bash only refuses when it runs (here-documents, back-quotes) we refuse at once."""
    verdicts = verdicts_on_forms()
    refused = [form for form, said in zip(FORMS, verdicts, strict=True) if said.accepted and refusals(read(form))]
    assert refused == [
        "cat <<E\n$(a\nE\nb",
        "cat <<E\n${a\nE\nb",
        "cat <<E\n`a\nE\nb",
    ]


@pytest.mark.skipif(oracles.shfmt_path() is None, reason="shfmt is not installed")
def test_simple_commands_are_those_that_shfmt_sees() -> None:
    """Forms that shfmt itself gets wrong are listed, so that the list stays honest."""
    texts = [text for text in FORMS if not read(text).gaps]
    trees = oracles.ask_shfmt(texts)
    different = []
    for text, tree in zip(texts, trees, strict=True):
        if tree is None:
            continue
        script = read(text).script
        ours, theirs = flat.ours(script, text), flat.theirs(tree, text)
        if set(ours) != set(theirs) or (ours != theirs and not flat.has_braces(script)):
            different.append(text)
    assert different == SHFMT_DIFFERS


@pytest.mark.skipif(oracles.shfmt_path() is None, reason="shfmt is not installed")
def test_grown_commands_have_the_simple_commands_that_shfmt_sees() -> None:
    texts = [
        text for text in generate.grown(seed=3, count=400, depth=2) if not read(text).gaps and not unlike_shfmt(text)
    ]
    different = []
    for text, tree in zip(texts, oracles.ask_shfmt(texts), strict=True):
        if tree is not None and set(flat.ours(read(text).script, text)) != set(flat.theirs(tree, text)):
            different.append(text)
    assert different == []


def unlike_shfmt(text: str) -> bool:
    """Where shfmt is known to be wrong: it takes `time` behind a bar for the reserved word, sees no `<(…)` in an
    operand, and begins a comment in `$x#`."""
    return re.search(r"\|&?\s*time\b|\$\{[^}]*<\(|\$\w+#", text) is not None


def test_words_stand_for_what_bash_makes_of_them() -> None:
    texts = values.words(seed=1, count=3000)
    known = [(text, value) for text in texts if (value := values.by_us(text)) is not None]
    assert len(known) > 2000
    by_bash = values.by_bash([text for text, _ in known])
    assert [(text, value, seen) for (text, value), seen in zip(known, by_bash, strict=True) if value != seen] == []
