"""Runs many texts through reader and sandbox, on several cores, and gathers what differs. Prints nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field

from tests.fuzz.judge import Sight, fault, read, sight, timed
from tests.fuzz.minimise import minimised
from tests.fuzz.oracle import Oracle
from tests.fuzz.sources import text_of

BATCH = 1000
See = Callable[[str], Sight]


@dataclass(frozen=True)
class Finding:
    """`kind`: `nothing` and `masked` as in Sight, where bash ran the payload; `internal`, `slow`: a fault of ours."""

    kind: str
    source: str
    number: int
    text: str
    least: str


@dataclass
class Tally:
    """What a batch of texts came to. `ran` and `sampled` are of texts that were run whatever our reader said of them;
    `exact` counts those of the ran ones that our reader saw without a gap."""

    texts: int = 0
    asked: int = 0
    sampled: int = 0
    ran: int = 0
    exact: int = 0
    findings: list[Finding] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        self.texts += other.texts
        self.asked += other.asked
        self.sampled += other.sampled
        self.ran += other.ran
        self.exact += other.exact
        self.findings += other.findings

    def families(self) -> Counter[tuple[str, str]]:
        """The distinct least forms, with how often each was found."""
        return Counter((finding.kind, finding.least) for finding in self.findings)


def seen(text: str) -> Sight:
    return sight(read(text))


def run_batch(source: str, seed: int, first: int, count: int, every: int = 50, see: See = seen) -> Tally:
    """The texts of these numbers; every so manieth is run in any case, to know what share of them works at all."""
    tally = Tally(texts=count)
    with Oracle() as oracle:
        for number in range(first, first + count):
            _try(tally, oracle, source, seed, number, every, see)
        tally.asked = oracle.asked
    return tally


def _try(tally: Tally, oracle: Oracle, source: str, seed: int, number: int, every: int, see: See) -> None:
    text = text_of(source, seed, number)
    lowering, seconds = timed(text)
    wrong = fault(lowering, seconds)
    if wrong:
        least = minimised(text, lambda tried: fault(*timed(tried)) == wrong) if wrong == "internal" else text
        tally.findings.append(Finding(wrong, source, number, text, least))
    found = see(text)
    sampled = number % every == 0
    if found is Sight.TRACE and not sampled:
        return
    ran = oracle.ran(text)
    if sampled:
        tally.sampled += 1
        tally.ran += ran
        tally.exact += ran and not lowering.gaps
    if ran and found is not Sight.TRACE and oracle.ran(text):
        least = minimised(text, lambda tried: see(tried) is found and oracle.ran(tried))
        tally.findings.append(Finding(found.value, source, number, text, least))


def run(source: str, seed: int, first: int, count: int, jobs: int) -> Iterator[Tally]:
    """The tallies of batches as they are done."""
    starts = range(first, first + count, BATCH)
    with ProcessPoolExecutor(jobs) as pool:
        batches = [pool.submit(run_batch, source, seed, at, min(BATCH, first + count - at)) for at in starts]
        for batch in batches:
            yield batch.result()
