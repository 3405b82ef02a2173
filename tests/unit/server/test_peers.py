"""Who is at the other end of a socket, and what it descends from."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from assent.server import peers

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


def test_the_kernel_says_who_connected() -> None:
    one, other = socket.socketpair(socket.AF_UNIX)
    with one, other:
        assert peers.peer_of(one) == peers.Peer(os.getpid(), os.getuid())


def test_a_process_without_a_terminal_is_no_person() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, start_new_session=True) as child:
        assert peers.why_no_person(child.pid) == "it was not asked from a terminal"
        child.communicate(b"\n")


def test_a_process_that_is_gone_is_no_person() -> None:
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    assert peers.why_no_person(child.pid) == "it cannot be told who asks"


def test_a_process_that_has_the_number_of_one_that_is_gone_is_no_person() -> None:
    before = peers.uptime()
    time.sleep(0.05)  # the system counts in hundredths
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        connected = peers.uptime()
        assert peers.why_no_person(child.pid, since=before) == "it cannot be told who asks"
        assert peers.why_no_person(child.pid, since=connected) == peers.why_no_person(child.pid)
        child.communicate(b"\n")


def test_the_mark_of_an_agent_counts_in_every_ancestor(monkeypatch: pytest.MonkeyPatch) -> None:
    """`env -u CLAUDECODE assent sign-in` is still run by the agent's shell."""
    found = {
        3: peers._Process(2, frozenset({"assent"}), True, frozenset()),
        2: peers._Process(1, frozenset({"bash"}), True, frozenset({"CLAUDECODE"})),
    }
    monkeypatch.setattr(peers, "_process", found.__getitem__)
    assert peers.why_no_person(3) == "it was asked from within an agent (CLAUDECODE is set)"


@pytest.mark.parametrize(
    ("name", "words", "found"),
    [
        ("claude", ["claude", "--resume"], "claude"),
        ("node", ["/usr/bin/node", "/opt/lib/codex.js", "exec"], "codex"),
        ("node", ["node", "--no-warnings", "/usr/local/bin/gemini"], "gemini"),
        ("python3", ["python3", "/usr/bin/aider"], "aider"),
        ("bash", ["bash", "claude"], ""),
        ("vim", ["vim", "codex"], ""),
    ],
)
def test_agent_hosts_are_known_by_their_program_and_by_the_script_that_runs(
    name: str, words: list[str], found: str
) -> None:
    assert "".join(peers._names(name, words) & peers.AGENT_HOSTS) == found


def test_a_name_that_holds_brackets_does_not_hide_the_parent(tmp_path: Path) -> None:
    odd = tmp_path / "a) S 1 (b"
    odd.symlink_to("/bin/sleep")
    with subprocess.Popen([str(odd), "30"]) as child:
        assert peers._from_proc(child.pid).parent == os.getpid()
        child.kill()
