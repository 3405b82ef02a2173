"""The server asks to be woken early, and for nothing else."""

from __future__ import annotations

import subprocess
import sys

import pytest

SCRIPT = """
import os
from assent.server.serving import wake_early
nice, before = os.nice(3), os.sched_getscheduler(0)
print(wake_early(), os.getpriority(os.PRIO_PROCESS, 0) == nice, os.sched_getscheduler(0) == before)
"""
BATCH = """
import os
from assent.server.serving import wake_early
os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
print(wake_early(), os.sched_getscheduler(0) == os.SCHED_BATCH)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux can be asked")
def test_niceness_and_kind_of_scheduling_stay() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    assert done.stdout.split()[1:] == ["True", "True"]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux can be asked")
def test_what_was_scheduled_in_another_way_is_left_so() -> None:
    done = subprocess.run([sys.executable, "-c", BATCH], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]
