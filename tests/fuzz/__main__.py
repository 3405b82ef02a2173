"""`python -m tests.fuzz`: runs the fuzzer and prints what it found. Exit status 1 if it found something."""

from __future__ import annotations

import argparse
import os
import sys
import time

from tests.fuzz.campaign import Tally, Trial, run
from tests.fuzz.sources import SOURCES, text_of

SHARES = {"grammar": 0.4, "state": 0.25, "everyday": 0.25, "options": 0.1}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description="Hides a payload in shell text.")
    parser.add_argument("-n", type=int, default=200_000, help="how many texts")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="another seed, other texts")
    parser.add_argument("--first", type=int, default=0, help="the number of the first text")
    parser.add_argument("--source", choices=SOURCES, action="append", help="only this source of texts")
    parser.add_argument("--shell", choices=("bash", "sh"), default="bash", help="the shell that runs the texts")
    parser.add_argument("--unknown", action="store_true", help="do not tell our reader which shell it is")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--print", action="store_true", dest="only_print", help="print the texts, run none")
    return parser.parse_args()


def main() -> int:
    given = arguments()
    sources = given.source or SOURCES
    whole = sum(SHARES[source] for source in sources)
    counts = {source: round(given.n * SHARES[source] / whole) for source in sources}
    if given.only_print:
        for source, count in counts.items():
            for number in range(given.first, given.first + count):
                print(f"{source} {number}: {text_of(source, given.seed, number)!r}")
        return 0
    print(f"seed {given.seed}")
    total = Tally()
    for source, count in counts.items():
        trial = Trial(source, given.seed, given.shell, "" if given.unknown else given.shell)
        total.add(campaign(trial, given.first, count, given.jobs))
    for (kind, least), times in total.families().most_common():
        print(f"{kind} ×{times}: {least!r}")
    print(f"{total.texts} texts, {len(total.findings)} findings")
    return 1 if total.findings else 0


def campaign(trial: Trial, first: int, count: int, jobs: int) -> Tally:
    source = trial.source
    start, tally, known = time.monotonic(), Tally(), set[str]()
    for batch in run(trial, first, count, jobs):
        tally.add(batch)
        for finding in batch.findings:
            if finding.least not in known:
                known.add(finding.least)
                print(f"  {finding.kind} {source}:{finding.number} {finding.text!r}\n    least: {finding.least!r}")
        if sys.stderr.isatty():
            print(f"\r{source} {tally.texts}/{count}", end="\r", file=sys.stderr)
    share, exact = (100 * part / max(1, tally.sampled) for part in (tally.ran, tally.exact))
    print(
        f"{source}: {tally.texts} texts in {time.monotonic() - start:.0f} s; the shell was asked of {tally.asked}; "
        f"of a sample of {tally.sampled} it runs the payload in {share:.0f}%, and we read {exact:.0f}% without a gap",
        flush=True,
    )
    return tally


if __name__ == "__main__":
    sys.exit(main())
