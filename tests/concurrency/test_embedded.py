"""A gate in a program that forks, or that ends while a person is asked."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from assent import Gate


def test_a_gate_works_after_a_fork(tmp_path: Path) -> None:
    with Gate(str(tmp_path), files=False, state=str(tmp_path / "state"), channels=[lambda held: True]) as gate:
        assert gate.guard_sync(gate.call("bash", {"command": "make test"})).allowed
        child = os.fork()
        if not child:
            os._exit(0 if gate.guard_sync(gate.call("bash", {"command": "make again"})).allowed else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_a_function_that_waits_holds_up_no_end_of_the_program(tmp_path: Path) -> None:
    program = f"""
import threading, time
from assent import Gate
asked = threading.Event()
gate = Gate({str(tmp_path)!r}, files=False, state={str(tmp_path / "state")!r},
            channels=[lambda held: asked.set() or time.sleep(600)])
call = gate.call("bash", {{"command": "make"}})
threading.Thread(target=gate.guard_sync, args=(call,), daemon=True).start()
asked.wait()
"""
    done = subprocess.run([sys.executable, "-c", program], timeout=30, check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
