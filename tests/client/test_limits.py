"""Laws of the hook in a restricted process: blocked signals, limits, a full output."""

from __future__ import annotations

import fcntl
import os
import resource
import signal
import subprocess
import time

import pytest

from assent.hook import launcher
from tests.client.clients import Client, outcome

HELD_BACK = (signal.SIGALRM, signal.SIGPROF, signal.SIGTERM)


def hold_back() -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, HELD_BACK)


def no_files() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


def test_signals_that_are_held_back_do_not_take_the_deadline_away(client: Client) -> None:
    with subprocess.Popen(
        client.words(deadline=1),
        stdin=subprocess.PIPE,  # which nobody closes
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=client.environ,
        preexec_fn=hold_back,
    ) as running:
        assert running.stdout is not None
        try:
            assert (running.wait(20), running.stdout.read()) == (2, b"")
        finally:
            running.kill()


@pytest.mark.parametrize(
    ("command", "said"),
    [("git status", "allow"), (f"echo {'x' * 20_000}", "allow"), ("mkdir new", "deny"), ("rm -rf /", "deny")],
)
def test_a_limit_on_the_size_of_files_is_no_end_of_the_hook(client: Client, command: str, said: str) -> None:
    """What cannot be recorded does not run, unless it only reads."""
    assert outcome(client.run(client.payload(command), preexec_fn=no_files)) == said


def test_names_of_files_are_utf_8_in_every_locale(client: Client) -> None:
    at = client.words().index(launcher.interpreter())
    words = [*client.words()[at : at + 2], "-c", "import sys; print(sys.flags.utf8_mode, sys.flags.isolated)"]
    assert subprocess.run(words, capture_output=True, env={"LC_ALL": "xx.ISO-8859-1"}).stdout == b"1 1\n"


def test_an_answer_that_is_being_printed_is_not_followed_by_another(client: Client) -> None:
    """The reader is slow; the deadline passes after the decision."""
    reading, writing = os.pipe()
    fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, 4096)
    os.write(writing, b" " * 4096)
    words = client.words(deadline=2)
    with subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=writing, stderr=subprocess.PIPE, env=client.environ
    ) as running:
        os.close(writing)
        assert running.stdin is not None
        running.stdin.write(client.payload("rm -rf /"))
        running.stdin.close()
        time.sleep(3.5)
        with os.fdopen(reading, "rb") as file:
            said = file.read()
        status = running.wait(20)
    assert outcome(subprocess.CompletedProcess(words, status, said)) == "deny"
