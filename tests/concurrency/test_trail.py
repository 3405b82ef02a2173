"""Many processes that write to one trail."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

from assent.trail.append import Trail
from assent.trail.segments import segments
from assent.trail.verify import verify
from tests.unit.trail.made import FULL, folder, record

SOURCE = str(Path(__file__).parents[2] / "src")


WRITER = """
import sys
sys.path[:0] = [{source!r}, {root!r}]
from assent.trail.append import Trail
from tests.unit.trail.made import record
who, count = int(sys.argv[1]), int(sys.argv[2])
trail = Trail({folder!r}, segment={segment})
for number in range(count):
    trail.append(record(number, session=f"writer {{who}}", more={{"turn": number}}))
    print(number, flush=True)
"""


def writers(tmp_path: Path, count: int, each: int, segment: int) -> list[subprocess.Popen[str]]:
    root = str(Path(__file__).parents[2])
    script = WRITER.format(source=SOURCE, root=root, folder=folder(tmp_path), segment=segment)
    return [
        subprocess.Popen([sys.executable, "-c", script, str(who), str(each)], stdout=subprocess.PIPE, text=True)
        for who in range(count)
    ]


def written(where: str) -> dict[str, list[int]]:
    """The turns of each writer, in the order of the trail."""
    found: dict[str, list[int]] = {}
    for path in segments(where):
        for line in Path(path).read_bytes().splitlines():
            said = json.loads(line)
            if said["kind"] == "decision":
                found.setdefault(said["session"], []).append(said["turn"])
    return found


def test_sixteen_writers_lose_nothing_and_the_chain_is_whole(tmp_path: Path) -> None:
    each = 10_000 if FULL else 150
    for running in writers(tmp_path, 16, each, segment=20_000_000 if FULL else 300_000):
        running.communicate()
        assert running.returncode == 0
    assert written(folder(tmp_path)) == {f"writer {who}": list(range(each)) for who in range(16)}
    verdict = verify(folder(tmp_path))
    assert (verdict.fault, verdict.lines, verdict.notes) == (None, 16 * each, ())


def test_killed_writers_tear_nothing_and_lose_nothing_they_were_told_is_written(tmp_path: Path) -> None:
    rounds = 60 if FULL else 4
    told: dict[str, int] = {}
    for turn in range(rounds):
        running = writers(tmp_path, 4, 1_000_000, segment=200_000)
        for place, process in enumerate(running):
            assert process.stdout is not None
            for _ in range(5 + 37 * (turn + place) % 90):
                process.stdout.readline()
        for process in running:
            process.kill()
        for who, process in enumerate(running):
            rest, _ = process.communicate()
            told[f"writer {who}"] = told.get(f"writer {who}", 0) + 5 + 37 * (turn + who) % 90 + rest.count("\n")
    with Trail(folder(tmp_path)) as trail:
        trail.append(record(1, session="after", more={"turn": 0}))
    found = written(folder(tmp_path))
    verdict = verify(folder(tmp_path))
    assert (verdict.fault, verdict.notes) == (None, ())
    for name, count in told.items():
        # One line more for each death at most: written, and the writer died before it could say so.
        assert count <= len(found[name]) <= count + rounds


def test_threads_and_children_of_one_process_do_not_get_in_each_others_way(tmp_path: Path) -> None:
    trail = Trail(folder(tmp_path))
    trail.append(record(0, session="parent", more={"turn": 0}))
    child = os.fork()
    if child == 0:
        for turn in range(100):
            trail.append(record(0, session="child", more={"turn": turn}))
        os._exit(0)

    def work(who: int) -> None:
        for turn in range(50):
            trail.append(record(0, session=f"thread {who}", more={"turn": turn}))

    threads = [threading.Thread(target=work, args=(who,)) for who in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    expected = {f"thread {who}": list(range(50)) for who in range(4)} | {"parent": [0], "child": list(range(100))}
    assert written(folder(tmp_path)) == expected
    assert verify(folder(tmp_path)).fault is None


SPEED = """
import sys, time
sys.path[:0] = [{source!r}, {root!r}]
from assent.trail.append import Trail
from tests.unit.trail.made import record
records = [record(number) for number in range(2000)]
best = 0.0
with Trail({folder!r}) as trail:
    for _ in range({rounds}):
        start = time.process_time()
        for each in records:
            trail.append(each)
        best = max(best, len(records) / (time.process_time() - start))
print(best)
"""


def test_ten_thousand_appends_a_second_however_long_the_trail(tmp_path: Path) -> None:
    """By the processor's clock. The usual run asks for half, since a loaded machine is slower by itself."""
    root = str(Path(__file__).parents[2])
    script = SPEED.format(source=SOURCE, root=root, folder=folder(tmp_path), rounds=20 if FULL else 4)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert float(done.stdout) > (10_000 if FULL else 5_000)
