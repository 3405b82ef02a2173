"""Who is at the other end of a socket, and what it descends from."""

from __future__ import annotations

import os
import socket
import sys

import pytest

from assent.server import peers

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


def test_the_kernel_says_who_connected() -> None:
    one, other = socket.socketpair(socket.AF_UNIX)
    with one, other:
        assert peers.peer_of(one) == peers.Peer(os.getpid(), os.getuid())


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
