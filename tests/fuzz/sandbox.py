"""Runs shell texts in scratch folders and says whether a file called `pwned` came of it. Generates and judges nothing.

A process of its own (`python tests/fuzz/sandbox.py`): `[shell, text]` as JSON a line in, `{"ran", "late"}` out. A text
runs in a fresh folder, with a PATH that holds harmless programs only, as a user that owns nothing, in its own process
and network namespace if the kernel lets us, and for two seconds at most."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAMS = (
    "touch cat echo ls env timeout xargs find bash sh dash git sed awk mawk gawk sort tar head tail wc grep egrep "
    "fgrep rg fd ag jq yq tee cp mv ln dd mkdir install mktemp truncate mkfifo uniq split csplit shuf nice nohup "
    "setsid stdbuf ionice chrt taskset flock script perl python3 node ruby php lua make less more curl wget ssh "
    "rsync busybox xxd od hexdump strings file column iconv ar zip unzip gzip zcat zgrep bc dc ed watch parallel "
    "strace sqlite3 openssl date printenv printf expr seq tr cut paste join comm diff cmp patch basename dirname "
    "realpath readlink stat du df pwd id whoami uname hostname tree sleep true false test [ numfmt factor nl fold "
    "fmt pr tac rev sum md5sum sha1sum sha256sum cksum base64 base32 tsort expand unexpand ptx nproc arch tty "
    "time setarch prlimit run-parts getopt look lscpu ps pgrep who users uptime free getent nm objdump readelf "
    "ldd infocmp tput stty locale getconf xz xzcat bzip2 lz4 zstd"
).split()
SECONDS, GRACE = 2.0, 0.4  # for the text itself, and for what it leaves running
UIDS = 61_000  # a user of its own for each sandbox: base + process id, no account has these
CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x1000_0000, 0x2000_0000, 0x4000_0000
PR_SET_CHILD_SUBREAPER = 36
FILES = {
    "f.txt": b"one two\nthree a b\n",
    "g.txt": b"alpha\nbeta\n",
    "-n": b"dash\n",
    "data.json": b'{"a": {"b": 1}}\n',
    "run.sh": b"#!/bin/sh\nexit 0\n",
    "src/a.py": b"print(1)\n",
    "src/b.c": b"int main(void) { return 0; }\n",
    "docs/a.md": b"# a\n",
}


def unshare(flags: int) -> bool:
    return bool(ctypes.CDLL(None).unshare(flags) == 0)


class Sandbox:
    """Makes, uses and removes scratch folders below one base folder."""

    def __init__(self) -> None:
        shm = "/dev/shm"
        self.base = Path(tempfile.mkdtemp(prefix="fuzz-", dir=shm if os.access(shm, os.W_OK) else None))
        self.base.chmod(0o711)
        self.root = os.getuid() == 0
        self.uid = UIDS + os.getpid() % 4000 if self.root else os.getuid()
        self.bin = self.base / "bin"
        self._link_programs()
        self.files = self._template()
        self.walled = unshare(CLONE_NEWNET) if self.root else unshare(CLONE_NEWUSER | CLONE_NEWNET)
        self.count = 0

    def _link_programs(self) -> None:
        self.bin.mkdir()
        for name in PROGRAMS:
            found = shutil.which(name, path="/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin")
            if found:
                (self.bin / name).symlink_to(found)

    def _template(self) -> dict[str, bytes]:
        """The files of a fresh folder, a git repository with one commit among them."""
        folder = self.base / "template"
        for name, content in FILES.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)
        git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"]
        for words in (["init", "-q", "--template="], ["add", "--all", "."], ["commit", "-q", "-m", "one"]):
            if (self.bin / "git").exists():
                subprocess.run([*git, *words], cwd=folder, check=False, env=self._environment(folder))
        found = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        shutil.rmtree(folder)
        return found

    def _environment(self, home: Path) -> dict[str, str]:
        return {"PATH": str(self.bin), "HOME": str(home), "LANG": "C.UTF-8", "TERM": "dumb", "USER": "nobody"}

    def run(self, shell: str, text: str) -> dict[str, bool]:
        """Whether the shell, given this text, makes `pwned`; `late`: it had to be stopped."""
        raw = text.encode("utf-8", "surrogateescape")
        if b"\0" in raw or len(raw) > 100_000:
            return {"ran": False, "late": False}
        self.count += 1
        place = self.base / str(self.count)
        place.mkdir()
        if self.root:
            os.chown(place, self.uid, self.uid)
        child = os.fork()
        if child == 0:
            self._jail(place, shell, raw)
        status = os.waitpid(child, 0)[1]
        ran = any("pwned" in name for _, folders, files in os.walk(place) for name in (*folders, *files))
        shutil.rmtree(place, ignore_errors=True)
        return {"ran": ran, "late": os.waitstatus_to_exitcode(status) == 124}

    def _jail(self, place: Path, shell: str, raw: bytes) -> None:
        """Never returns: waits for the first process of a new process namespace, and ends as it ended."""
        try:
            alone = unshare(CLONE_NEWPID)
            first = os.fork()
            if first == 0:
                self._first(place, shell, raw)
            status = os.waitpid(first, 0)[1]
            if not alone:
                _end_group(first)
            os._exit(os.waitstatus_to_exitcode(status) & 0xFF)
        finally:
            os._exit(99)

    def _first(self, place: Path, shell: str, raw: bytes) -> None:
        """Never returns: drops all rights, fills the folder, runs the text, waits for everything that it started.

        When this process ends, the kernel ends all others of its namespace."""
        try:
            os.setsid()
            ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)  # where there is no namespace, orphans come here too
            if self.root:
                os.setgroups([])
                os.setgid(self.uid)
                os.setuid(self.uid)
            self._limit()
            home, work = place / "home", place / "work"
            home.mkdir()
            self._fill(work)
            os.chdir(work)
            inner = os.fork()
            if inner == 0:
                self._shell(home, shell, raw)
            os._exit(_wait_for_all(inner))
        finally:
            os._exit(98)

    def _limit(self) -> None:
        os.nice(5)
        limits = {
            resource.RLIMIT_CPU: 2,
            resource.RLIMIT_FSIZE: 1 << 20,
            resource.RLIMIT_CORE: 0,
            resource.RLIMIT_NOFILE: 128,
            resource.RLIMIT_AS: 4 << 30,
        }
        if self.root:
            limits[resource.RLIMIT_NPROC] = 64
        for which, most in limits.items():
            resource.setrlimit(which, (most, most))

    def _fill(self, work: Path) -> None:
        for folder in sorted({os.path.dirname(name) for name in self.files}):
            os.makedirs(work / folder, exist_ok=True)
        for name, content in self.files.items():
            (work / name).write_bytes(content)
        (work / "run.sh").chmod(0o755)

    def _shell(self, home: Path, shell: str, raw: bytes) -> None:
        """Never returns: becomes the shell."""
        try:
            null = os.open(os.devnull, os.O_RDWR)
            for number in range(3):
                os.dup2(null, number)
            os.closerange(3, 128)
            os.execve(f"/bin/{shell}", [shell.encode(), b"-c", raw], self._environment(home))
        finally:
            os._exit(97)

    def close(self) -> None:
        shutil.rmtree(self.base, ignore_errors=True)


def _end_group(leader: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(leader, signal.SIGKILL)


def _wait_for_all(inner: int) -> int:
    """0 when all children have ended, orphans included, 124 when time is up."""
    signal.signal(signal.SIGALRM, lambda *_: os._exit(124))
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    while True:
        try:
            ended = os.waitpid(-1, 0)[0]
        except ChildProcessError:
            return 0
        if ended == inner:
            signal.setitimer(signal.ITIMER_REAL, GRACE)


def main() -> None:
    sandbox = Sandbox()
    try:
        for line in sys.stdin:
            print(json.dumps(sandbox.run(*json.loads(line))), flush=True)
    finally:
        sandbox.close()


if __name__ == "__main__":
    main()
