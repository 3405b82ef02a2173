"""Which process is a person's: told of real ones."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

from assent.server import peers


def test_a_process_without_a_terminal_is_no_person() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, start_new_session=True) as child:
        assert peers.why_no_person(child.pid) == "it was not asked from a terminal"
        child.communicate(b"\n")


def test_a_process_that_is_gone_is_no_person() -> None:
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    assert peers.why_no_person(child.pid) == "the process that asks cannot be identified"


def test_a_process_that_has_the_number_of_one_that_is_gone_is_no_person() -> None:
    before = peers.uptime()
    time.sleep(0.05)  # the system counts in hundredths
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        connected = peers.uptime()
        assert peers.why_no_person(child.pid, since=before) == "the process that asks cannot be identified"
        assert peers.why_no_person(child.pid, since=connected) == peers.why_no_person(child.pid)
        child.communicate(b"\n")


def test_a_name_that_holds_brackets_does_not_hide_the_parent(tmp_path: Path) -> None:
    odd = tmp_path / "a) S 1 (b"
    odd.symlink_to("/bin/sleep")
    with subprocess.Popen([str(odd), "30"]) as child:
        assert peers._from_proc(child.pid).parent == os.getpid()
        child.kill()
