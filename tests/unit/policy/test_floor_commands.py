"""Which commands type into another terminal or show one, and which calls act on Assent's own server."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from assent.contract import Call, Outcome
from assent.effects import shell
from assent.engine import configure
from assent.engine.engine import Engine
from assent.policy import floor_commands
from assent.state import pause


def reach(text: str) -> Outcome:
    lowering = shell.lower(text, cwd="/w", home="/home/user", shell="bash")
    return max(map(floor_commands.reaches, lowering.invocations), default=Outcome.ALLOW)


def reaches(text: str) -> bool:
    return reach(text) is Outcome.DENY


@pytest.mark.parametrize("length", range(3, len("send-keys") + 1))
def test_every_beginning_of_a_command_of_tmux_is_that_command(length: int) -> None:
    assert reaches(f"tmux {'send-keys'[:length]} y")


@pytest.mark.parametrize("before", ["", "-L x ", "-Lx ", "-S /tmp/s ", "-2u ", "-f /dev/null ", "-u -L x "])
@pytest.mark.parametrize(
    "command", ["send y", "capturep -p", "a", "pipep 'cat'", "source x", "ls \\; send y", "ls\\; send y"]
)
def test_options_and_sequences_hide_no_command_of_tmux(before: str, command: str) -> None:
    assert reaches(f"tmux {before}{command}")


@pytest.mark.parametrize("word", ["-C", "-CC", "-uC", "-CLx", "-f other.conf new -d"])
def test_commands_that_come_from_elsewhere_are_any_commands(word: str) -> None:
    assert reaches(f"tmux {word}")


@pytest.mark.parametrize(
    "text",
    [
        "tmux",
        "tmux ls",
        "tmux -L send ls",
        "tmux new -d -s send 'npm start'",
        "tmux new-session -d \\; split-window",
        "tmux display -p '#S'",
        "tmux set -g status off",
        "tmux wait-for done",
        "tmux kill-session -t a",
        "tmux refresh-client",
        "tmux refresh-client -S -t /dev/pts/3",
        "tmux detach-client -s work",
        "tmux delete-buffer -b b0",
        "zellij ls",
        "kitty --version",
        "wezterm cli list",
        "python3 -c 'print(21522)'",
        "gdbus introspect --session",
    ],
)
def test_what_neither_types_nor_shows_is_left_alone(text: str) -> None:
    assert reach(text) is Outcome.ALLOW


@pytest.mark.parametrize("before", ["", "-L x ", "-S /tmp/s ", "ls \\; "])
@pytest.mark.parametrize(
    "command",
    [
        "send-keys -t work Enter",
        "send-keys -t ' work:0.0' Tab",
        "send -l -t=work:web 'npm start'",
        "send-keys -t '$12:0' C-c",
        "send-keys -t '\uf111 work:0.0' Enter",
        "capture-pane -pt work:0 -S -80",
        "capture-pane -p -t 0.1",
        "capturep -epJt %4",
        "source-file ~/.tmux.conf",
        "source -q /home/user/.config/tmux/tmux.conf",
    ],
)
def test_a_terminal_that_is_named_is_asked_about(before: str, command: str) -> None:
    assert reach(f"tmux {before}{command}") is Outcome.ASK


@pytest.mark.parametrize(
    "command",
    [
        "send-keys y Enter",
        "send-keys -t 0 y",
        "send-keys -t %3 y",
        "send-keys -t :1 y",
        "send-keys -t 1:work y",
        "send-keys -t '{last}' y",
        "send-keys -t ! y",
        "send-keys -t $x y",
        "send-keys -t",
        "send-keys -t work -X copy-pipe sh",
        "send-keys -Xt work copy-pipe sh",
        "send-keys -F -t work '#(sh)'",
        "send-keys -K -t work y",
        "send-keys -t work y \\; send-keys y",
        "capture-pane -p",
        "capture-pane -t work",
        "capture-pane -p -t '{marked}'",
        "capture-pane -p -t '#(sh)'",
        "capture-pane -p -b x -t work",
        "source-file x.conf",
        "source-file ~/.tmux.conf x.conf",
        "source-file -F ~/.tmux.conf",
        "source-file -",
        "source-file",
        "refresh-client -C 10,10",
        "refresh-client -B 'x:%*:#(sh)'",
        "refresh-client -l",
        "detach-client -E sh",
        "detach-client -aE sh",
    ],
)
def test_a_terminal_that_is_not_named_may_be_the_one_of_a_dialog(command: str) -> None:
    assert reaches(f"tmux {command}")


def test_a_command_that_tmux_does_not_have_may_be_an_alias_for_any() -> None:
    assert reaches("tmux zz y")


PID, PORT = 4321, 9123


@pytest.fixture
def gate(tmp_path: Path) -> Engine:
    """A gate in a loose mode, beside a server on a port of its own."""
    state = tmp_path / ".assent"
    state.mkdir(mode=0o700)
    (state / "config.toml").write_text('mode = "full_auto"\n')
    (state / "server.lock").write_text(json.dumps({"pid": PID, "port": PORT, "socket": f"{state}/server.sock"}))
    os.mkdir(tmp_path / "project")
    environ = {"HOME": str(tmp_path), "ASSENT_HOME": str(state)}
    return configure.open_gate(configure.place(str(tmp_path / "project"), environ), environ)[0]


def outcome(gate: Engine, tool: str, **given: str) -> Outcome:
    call = Call(
        tool, dict(given), cwd="/w", roots=("/w",), home="/home/user", session="s", runtime="claude", shell="bash"
    )
    return gate.decide(call).outcome


@pytest.mark.parametrize(
    "command",
    [
        "curl http://127.0.0.1:9123/v1/codes",
        "curl localhost:9123",
        "curl http://[::1]:9123/",
        "curl http://127.1:9123/x",
        "curl http://2130706433:9123/x",
        "curl --connect-to ::127.0.0.1:9123 http://example.com/",
        "curl -x http://localhost:9123 http://x/",
        "curl http://localtest.me:9123/",
        "wget -qO- 127.0.0.1:9123/v1/x",
        "http :9123/v1/held",
        "lynx -dump http://localhost:9123/v1/x",
        "nc localhost 9123",
        "busybox nc localhost 9123",
        "telnet localhost 9123",
        "socat - TCP:localhost:9123",
        "openssl s_client -connect localhost:9123",
        "exec 3<>/dev/tcp/127.0.0.1/9123; cat <&3",
        "bash -c 'cat < /dev/tcp/localhost/9123'",
        "python3 -c \"import urllib.request as u; u.urlopen('http://localhost:9123/v1/codes')\"",
        "python3 -c \"import socket; socket.create_connection(('localhost', 9123))\"",
        "node -e \"require('net').connect(9123)\"",
        "perl -MIO::Socket -e 'IO::Socket::INET->new(\"localhost:9123\")'",
        "ssh -L 1:localhost:9123 host",
        "git ls-remote http://localhost:9123/x",
        "xdg-open http://localhost:9123",
        "kill 4321",
        "kill -9 -4321",
        "kill $(lsof -ti:9123)",
        "lsof -ti:9123 | xargs kill",
        "fuser -k 9123/tcp",
        "npx kill-port 9123",
        "gdb -p 4321",
        "gdb --pid=4321",
        "strace -fp4321",
        "perf trace -p 4321",
        "nsenter -t 4321 -a",
        "cat /proc/4321/environ",
        "dd if=/proc/4321/mem of=x",
        "ls /proc/4321/fd",
    ],
)
def test_nothing_speaks_to_the_server_ends_it_or_looks_into_it(gate: Engine, command: str) -> None:
    assert outcome(gate, "Bash", command=command) is Outcome.DENY


@pytest.mark.parametrize(
    "command",
    [
        "curl http://localhost:3000/x",
        "curl http://example.com:9123/x",
        "curl http://192.0.2.7:9123/x",
        "grep 9123 README.md",
        "echo 9123",
        "lsof -i :9123",
        "fuser 9123/tcp",
        "npm start -- --port 9123",
        "kill 4320",
        "cat /proc/4321/status",
        "cat notes-4321.txt",
        "python3 count.py 4321",
    ],
)
def test_what_only_holds_the_numbers_is_left_to_the_mode(gate: Engine, command: str) -> None:
    assert outcome(gate, "Bash", command=command) is Outcome.ALLOW


def test_the_tools_of_an_agent_are_held_to_the_same(gate: Engine) -> None:
    assert outcome(gate, "WebFetch", url="http://localhost:9123/v1/held", prompt="x") is Outcome.DENY
    assert outcome(gate, "WebFetch", url="http://localhost:9124/v1/held", prompt="x") is Outcome.ALLOW
    assert outcome(gate, "Read", file_path="/proc/4321/environ") is Outcome.DENY


def test_a_pause_lifts_no_more_than_ending_it(gate: Engine, tmp_path: Path) -> None:
    pause.begin(str(tmp_path / ".assent"), time.time() + 600, "somebody")
    assert outcome(gate, "Bash", command="kill 4321") is Outcome.ALLOW
    assert outcome(gate, "Bash", command="curl localhost:9123/v1/held") is Outcome.DENY
    assert outcome(gate, "Bash", command="curl --unix-socket ~/.assent/server.sock http://x/") is Outcome.DENY
