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
See = Callable[[str, str], Sight]


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


def seen(text: str, shell: str) -> Sight:
    return sight(read(text, shell))


class Trial:
    """Texts of one source, each read as a text for one shell and, if nothing is seen, run by it.

    `known` is the shell that our reader is told: that one, or `""` for not known."""

    def __init__(self, source: str, seed: int, shell: str = "bash", known: str = "bash", see: See = seen) -> None:
        self.source = source
        self.seed = seed
        self.shell = shell
        self.known = known
        self.see = see

    def run(self, first: int, count: int, every: int = 50) -> Tally:
        """The texts of these numbers; one in `every` is run in any case, to know what share of them works at all."""
        tally = Tally(texts=count)
        with Oracle(self.shell) as oracle:
            for number in range(first, first + count):
                self._try(tally, oracle, number, number % every == 0)
            tally.asked = oracle.asked
        return tally

    def _try(self, tally: Tally, oracle: Oracle, number: int, sampled: bool) -> None:
        text = text_of(self.source, self.seed, number)
        lowering, seconds = timed(text, self.known)
        wrong = fault(lowering, seconds)
        if wrong:
            least = minimised(
                text, lambda tried: fault(*timed(tried, self.known)) == wrong, 600 if wrong != "slow" else 0
            )
            tally.findings.append(Finding(wrong, self.source, number, text, least))
        found = self.see(text, self.known)
        if found is Sight.TRACE and not sampled:
            return
        ran = oracle.ran(text)
        if sampled:
            tally.sampled += 1
            tally.ran += ran
            tally.exact += ran and not lowering.gaps
        if ran and found is not Sight.TRACE and oracle.ran(text):
            least = minimised(text, lambda tried: self.see(tried, self.known) is found and oracle.ran(tried))
            tally.findings.append(Finding(found.value, self.source, number, text, least))


def run(trial: Trial, first: int, count: int, jobs: int) -> Iterator[Tally]:
    """The tallies of batches as they are done."""
    starts = range(first, first + count, BATCH)
    with ProcessPoolExecutor(jobs) as pool:
        batches = [pool.submit(trial.run, at, min(BATCH, first + count - at)) for at in starts]
        for batch in batches:
            yield batch.result()
