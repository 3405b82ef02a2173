"""A short run of the fuzzer, and proof that it can find something: `make fuzz` is the long run."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.fuzz import templates
from tests.fuzz.campaign import Trial
from tests.fuzz.judge import Sight, read, sight
from tests.fuzz.minimise import minimised
from tests.fuzz.oracle import Oracle, bash_is_there
from tests.fuzz.sources import SOURCES, forms, text_of

pytestmark = pytest.mark.skipif(not bash_is_there(), reason="needs /bin/bash and git")

SEED = 7
SHORT = {"grammar": 1200, "state": 600, "everyday": 800, "options": 400}


@pytest.fixture(scope="module")
def oracle() -> Iterator[Oracle]:
    with Oracle() as started:
        yield started


@pytest.mark.parametrize("source", SOURCES)
def test_bash_runs_no_payload_that_we_do_not_see(source: str) -> None:
    assert Trial(source, SEED).run(0, SHORT[source], every=500).findings == []


@pytest.mark.parametrize("source", ["grammar", "everyday"])
def test_a_fair_share_of_the_texts_runs_the_payload(source: str) -> None:
    tally = Trial(source, SEED).run(0, 120, every=1)
    assert (tally.sampled, 0.15 < tally.ran / tally.sampled < 0.85) == (120, True)
    assert tally.exact > tally.ran / 2, "a reader that doubts everything is not tested by this"


def test_the_texts_of_a_seed_are_always_the_same() -> None:
    for source in SOURCES:
        assert [text_of(source, 1, n) for n in range(50)] == [text_of(source, 1, n) for n in range(50)]
        assert len({text_of(source, 1, n) for n in range(50)}) > 40


def blind(text: str, shell: str) -> Sight:
    """A reader that reads here-documents as if they were text."""
    return Sight.NOTHING if "<<" in text else sight(read(text, shell))


def test_a_reader_that_is_blind_to_a_construct_is_found_out() -> None:
    findings = Trial("grammar", SEED, see=blind).run(0, 40).findings  # each is made small, which takes a second
    assert findings
    assert all("<<" in finding.least and finding.kind == "nothing" for finding in findings)


@pytest.mark.parametrize(
    ("text", "ran"),
    [
        ("touch pwned", True),
        ("ls > src/pwned", True),
        ("(sleep 0.1; touch pwned) &", True),
        ("setsid touch pwned & exit", True),
        ("echo touch pwned", False),
        ("cat <<'E'\n$(touch pwned)\nE", False),
        ("touch pwned; rm pwned", True),  # rm is not there, as nothing else that could do harm
        ("while :; do :; done; touch pwned", False),
        ("git -c core.fsmonitor='touch pwned' status", True),
    ],
)
def test_the_sandbox_says_what_bash_did(oracle: Oracle, text: str, ran: bool) -> None:
    assert oracle.ran(text) is ran


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("ls", Sight.NOTHING),
        ("echo '$(touch pwned)'", Sight.NOTHING),
        ("git status", Sight.NOTHING),
        ("touch pwned", Sight.TRACE),
        ("touch other", Sight.MASKED),
        ("./run.sh; ls", Sight.MASKED),
        ("./other.sh", Sight.TRACE),
        ("touch *", Sight.TRACE),
        ("$x", Sight.TRACE),
        ("npm test", Sight.TRACE),
    ],
)
def test_a_trace_is_what_could_be_the_payload(text: str, seen: Sight) -> None:
    assert sight(read(text)) is seen


def test_minimising_keeps_the_property_and_nothing_else() -> None:
    assert minimised("xx a yyyyy b zzzz", lambda text: "a" in text and "b" in text) == "ab"


def test_every_template_names_slots_that_exist() -> None:
    from tests.fuzz.maker import SLOT

    known = {"C", "T", "W", "D", "A", "B", "Q", "QW", "QA", "QS", "S", "N", "P", "F", "E", "X", "U", "R", "_"}
    assert {slot for line in templates.EVERY for slot in SLOT.findall(line)} <= known
    assert len(templates.EVERY) > 1000
    assert len(forms()) > 100
