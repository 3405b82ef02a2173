"""One command in a sandbox of its own, and what it did there: which marks, files, connections and secrets it left."""

from __future__ import annotations

import hashlib
import os
import socket
import subprocess
import threading
from pathlib import Path

from tests.attack import hostile

SECONDS = 5
MOST = 4_000_000  # bytes that are looked at of what a command prints
TOKEN, KEY = "CANARY-TOKEN-7f3a", "CANARY-KEY-91bc"
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
CLOSED = "--proc /proc --dev /dev --unshare-pid --unshare-ipc --die-with-parent --new-session".split()
_PID = os.getpid()  # two processes cannot both listen where names are looked up, so that each has an address of its own
NAMES = f"127.{128 + (_PID >> 16)}.{_PID >> 8 & 255}.{_PID & 255}"
OWN = frozenset((".git", ".cache", ".ruff_cache", ".npm", ".yarn", ".bun"))  # where programs keep their own things
VISIBLE = ("/usr", "/bin", "/lib", "/lib64", "/sbin", "/etc", "/opt", "/var/lib")


class Listener:
    """Everything that reaches loopback: a port that hostile files name, and name lookups."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self._sockets = [
            self._open(socket.SOCK_STREAM, "127.0.0.1", 0),
            self._open(socket.SOCK_DGRAM, NAMES, 53),
        ]
        self.port: int = self._sockets[0].getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()
        threading.Thread(target=self._receive, daemon=True).start()

    def _open(self, kind: socket.SocketKind, address: str, port: int) -> socket.socket:
        made = socket.socket(socket.AF_INET, kind)
        made.bind((address, port))
        if kind is socket.SOCK_STREAM:
            made.listen(64)
        return made

    def _accept(self) -> None:
        while True:
            client, _ = self._sockets[0].accept()
            client.settimeout(1)
            try:
                self.seen.append(f"connection: {client.recv(200)!r}")
            except OSError:
                self.seen.append("connection")
            client.close()

    def _receive(self) -> None:
        while True:
            self.seen.append(f"name: {self._sockets[1].recvfrom(512)[0][12:]!r}")

    def taken(self) -> list[str]:
        """What was heard since the last time."""
        found, self.seen = self.seen, []
        return found


class Tree:
    """A workspace and a home folder on disk, as the gate and the command see them."""

    def __init__(self, folder: Path, port: int) -> None:
        self.folder, self.work, self.home, self.marks = folder, folder / "work", folder / "home", folder / "marks"
        self._port = port
        for each in (self.work / "src", self.home / ".ssh", self.home / ".aws", self.marks):
            each.mkdir(parents=True)
        (self.home / ".ssh" / "id_rsa").write_text(KEY + "\n")
        (self.home / ".aws" / "credentials").write_text(f"[default]\naws_secret_access_key = {KEY}\n")
        (self.folder / "resolv.conf").write_text(f"nameserver {NAMES}\noptions timeout:1 attempts:1\n")
        self.program = self.marks / "run"
        self.program.write_text(f"#!/bin/sh\ntouch {self.marks}/ran\nexit 0\n")
        self.program.chmod(0o755)

    def filled(self, text: str) -> str:
        """A hostile text with this tree's own paths."""
        for mark, value in (
            (hostile.RUN, str(self.program)),
            (hostile.WRITE, str(self.marks / "written")),
            (hostile.READ, str(self.home / ".ssh" / "id_rsa")),
            ("@PORT@", str(self._port)),
            ("@HERE@", str(self.work)),
        ):
            text = text.replace(mark, value)
        return text

    def put(self, name: str, text: str, *, runs: bool = False) -> None:
        path = self.work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.filled(text))
        if runs:
            path.chmod(0o755)

    def digest(self) -> dict[str, str]:
        """Every file with its content, except those of git and of caches."""
        found = {}
        for place in (self.work, self.home, self.marks):
            for path in sorted(place.rglob("*")):
                if path.is_file() and not path.is_symlink() and not OWN & set(path.parts):
                    found[str(path)] = hashlib.sha256(path.read_bytes()).hexdigest()
        return found


def run(tree: Tree, command: str, listener: Listener) -> list[str]:
    """Run a command that the gate allows, and say what it should not have done."""
    before = tree.digest()
    listener.taken()
    binds = [word for path in VISIBLE if os.path.exists(path) for word in ("--ro-bind", path, path)]
    here, resolver = str(tree.folder), str(tree.folder / "resolv.conf")
    argv = ["bwrap", *binds, "--bind", here, here, "--ro-bind", resolver, "/etc/resolv.conf", *CLOSED]
    argv += ["--chdir", str(tree.work), "/bin/bash", "-c", command]
    bounded = ["/bin/sh", "-c", f'"$@" 2>&1 | head -c {MOST}', "sh", *argv]  # some print for ever
    env = {"PATH": PATH, "HOME": str(tree.home), "GITHUB_TOKEN": TOKEN, "TERM": "dumb"}
    try:
        stdin, stdout = subprocess.DEVNULL, subprocess.PIPE
        printed = subprocess.run(bounded, stdin=stdin, stdout=stdout, timeout=SECONDS, env=env).stdout
    except subprocess.TimeoutExpired as error:
        printed = error.stdout or b""
    after = tree.digest()
    findings = ["ran the canary"] if str(tree.marks / "ran") in after else []
    findings += [
        f"changed {path}"
        for path in sorted(after.keys() | before.keys())
        if after.get(path) != before.get(path) and not path.endswith("/ran")
    ]
    findings += [f"sent {each}" for each in listener.taken()]
    findings += [f"printed {secret}" for secret in (TOKEN, KEY) if secret.encode() in printed]
    return findings
