"""Runs that are killed, and runs beside each other: what one makes is not taken for what was there before."""

from __future__ import annotations

import subprocess
import time

from assent.contain import words
from tests.contain.box import SECONDS, Box
from tests.contain.escapes import python

EXCHANGES = """
os.makedirs('x/.vscode')
os.symlink(os.environ['HOME'], 'l')
open('ready', 'w').close()
while os.path.exists('ready'):
    libc.syscall(ctypes.c_long(316 if X86 else 276), -100, b'x', -100, b'l', 2)
"""
SAY = "echo up; "


def started(box: Box, command: str) -> tuple[subprocess.Popen[str], str]:
    """A contained run that has said that it is up, and its ticket."""
    id = box.issue(command)
    run = box.start([words.runner(str(box.state)), id])
    assert run.stdout is not None
    assert run.stdout.readline() == "up\n"
    return run, id


def until_receipt(box: Box, id: str) -> None:
    end = time.monotonic() + SECONDS
    while box.receipt(id) is None:
        assert time.monotonic() < end, "no receipt was written"
        time.sleep(0.01)


def test_what_a_killed_run_made_is_looked_for_all_the_same(box: Box) -> None:
    run, id = started(box, f"mkdir .husky; echo evil > .envrc; {SAY} sleep 600")
    run.kill()
    run.wait(SECONDS)
    until_receipt(box, id)
    receipt = box.receipt(id)
    assert receipt is not None
    found = {f"{box.work}/.husky", f"{box.work}/.envrc"}
    assert (receipt.started, receipt.signal, set(receipt.quarantined)) == (True, 9, found)
    assert [path.name for path in box.work.iterdir()] == []


def test_what_a_run_made_of_which_every_process_was_killed_is_looked_for_after_the_next(box: Box) -> None:
    """As a service manager kills everything of a session."""
    run, _ = started(box, f"echo evil > .envrc; {SAY} sleep 600")
    pattern = str(box.state / "bin")
    found = subprocess.run(["pgrep", "-f", pattern], capture_output=True, text=True).stdout.split()
    assert len(found) >= 2  # the runner, and the process that waits for its end
    subprocess.run(["kill", "-9", *found])
    run.wait(SECONDS)
    assert (box.work / ".envrc").exists()
    done = box.inside("true")
    assert done.receipt is not None
    assert done.receipt.quarantined == (f"{box.work}/.envrc",)
    box.put("projects/work/.envrc", "a person's")  # nothing is left of the killed run
    assert box.inside("true").status == 0
    assert (box.work / ".envrc").exists()


def test_nothing_of_a_killed_run_goes_on(box: Box) -> None:
    run, id = started(box, f"echo > beat; (trap '' HUP TERM INT; while :; do date +%N > beat; done) & {SAY} wait")
    run.kill()
    run.wait(SECONDS)
    until_receipt(box, id)
    before = (box.work / "beat").read_text()
    time.sleep(0.2)
    assert (box.work / "beat").read_text() == before


def test_what_a_run_beside_made_is_not_known_to_be_anybody_elses(box: Box) -> None:
    """The second begins when the first has made a protected file, and makes it again when that was taken away."""
    maker, _ = started(box, f"echo evil > .envrc; {SAY} while ! test -e end; do sleep 0.02; done")
    other, _ = started(box, f"{SAY} until (echo evil > .envrc) 2> /dev/null; do sleep 0.02; done; echo wrote it")
    box.put("projects/work/end")
    maker.communicate(timeout=SECONDS)
    output = other.communicate(timeout=SECONDS)[0]
    assert (output, (box.work / ".envrc").exists()) == ("wrote it\n", False)


def test_what_was_there_before_both_stays(box: Box) -> None:
    box.put("projects/work/.envrc", "mine")
    one, _ = started(box, f"{SAY} while ! test -e end; do sleep 0.02; done")
    two, _ = started(box, f"{SAY} while ! test -e end; do sleep 0.02; done")
    box.put("projects/work/end")
    for run in (one, two):
        run.communicate(timeout=SECONDS)
    assert (box.work / ".envrc").read_text() == "mine"


def test_a_folder_that_another_run_exchanges_by_a_link_opens_nothing(box: Box) -> None:
    box.put("home/secret", "SECRET")
    box.put("home/.vscode/settings.json")  # as the folder that is exchanged has one
    exchanging = box.start([words.runner(str(box.state)), box.issue(python(EXCHANGES))])
    end = time.monotonic() + SECONDS
    while not (box.work / "ready").exists():
        assert time.monotonic() < end
        time.sleep(0.01)
    outputs = [box.inside("cat x/secret l/secret; echo evil > x/.evil; echo evil > l/.evil").output for _ in range(25)]
    (box.work / "ready").unlink()
    exchanging.communicate(timeout=SECONDS)
    assert not any("SECRET" in output for output in outputs)
    assert not (box.home / ".evil").exists()
