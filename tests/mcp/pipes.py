"""`assent mcp-proxy` as a process, spoken to line by line. Tests nothing."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
PATIENCE = 60.0  # seconds, for a machine that has much else to do
ALLOW = 'allow = ["mcp__srv__ok", "mcp__srv__echo"]\ndeny = [{ rule = "mcp__srv__no", message = "take another way" }]\n'


def environ(folder: Path) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": str(folder), "ASSENT_HOME": str(folder / "state")}


def state(folder: Path, config: str = ALLOW) -> Path:
    made = folder / "state"
    made.mkdir(exist_ok=True)
    (made / "config.toml").write_text(config)
    return made


def call(id: object, tool: str = "ok", **arguments: object) -> dict[str, Any]:
    params = {"name": tool, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}


def _children(pid: int) -> list[int]:
    return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


class Pipes:
    """A proxy before the scripted server; with `lists`, before the one that lists what that file says."""

    def __init__(
        self, folder: Path, how: str = "plain", *, options: tuple[str, ...] = (), lists: Path | None = None, **env: str
    ) -> None:
        self.reached = folder / "reached"
        words = [sys.executable, "-m", "assent", "mcp-proxy", "--name", "srv", *options]
        script, last = ("script.py", how) if lists is None else ("listing.py", str(lists))
        words += ["--", sys.executable, str(HERE / script), str(self.reached), last]
        self.process = subprocess.Popen(
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**environ(folder), **env},
            cwd=folder,
        )
        self._lines: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.noise = b""
        threading.Thread(target=self._read, daemon=True).start()
        threading.Thread(target=self._hear, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(json.loads(line))
        self._lines.put(None)

    def _hear(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.noise += line

    def raw(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, *messages: object) -> None:
        self.raw(b"".join(json.dumps(each).encode() + b"\n" for each in messages))

    def get(self, seconds: float = PATIENCE) -> Any:
        """The next line, None at the end."""
        return self._lines.get(timeout=seconds)

    def nothing(self, seconds: float = 0.5) -> bool:
        """Whether no line comes."""
        try:
            self._lines.get(timeout=seconds)
        except queue.Empty:
            return True
        return False

    def ask(self, message: object) -> Any:
        self.send(message)
        return self.get()

    def came(self) -> list[Any]:
        """What reached the server."""
        return [json.loads(each) for each in self.reached.read_text().splitlines()] if self.reached.exists() else []

    def end(self) -> int:
        """Hang up, and wait for the end."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.process.wait(PATIENCE)

    def child(self) -> int:
        """The process of the server, once it runs."""
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            found = [below for supervisor in _children(self.process.pid) for below in _children(supervisor)]
            if found:
                return found[0]
            time.sleep(0.02)
        raise AssertionError("there is no server")


def is_gone(pid: int, seconds: float = PATIENCE) -> bool:
    """Whether a process has ended, or does so soon."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except FileNotFoundError:
            return True
        time.sleep(0.05)
    return False


def refused(answer: Mapping[str, Any]) -> str:
    """The words of a refusal that the model reads."""
    result = answer["result"]
    assert result["isError"] is True
    assert [each["type"] for each in result["content"]] == ["text"]
    return str(result["content"][0]["text"])
