"""`assent install --scope managed` as root with a closed umask, seen by another user, in an /etc of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from assent.agents import probes, settings
from assent.agents.adapter import Rendered
from assent.cli import install_others

SOURCE = Path(__file__).parents[2] / "src"
SYSTEM = "/usr/bin/python3"  # an interpreter that everybody can start, whatever the one of these tests is
MANAGED = [name for name in settings.RUNTIMES if "managed" in settings.load(name).places]
NOBODY = 65534
OURS = 'mount --bind "$0" /etc && umask 077 && exec "$@"'

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("unshare") is None or not os.access(SYSTEM, os.X_OK),
    reason="settings of the whole machine need root, a mount namespace and a Python of the system",
)


class Machine:
    """An /etc, a home for root and one for a user."""

    def __init__(self, base: Path) -> None:
        base.chmod(0o755)
        self.etc, self.root, self.user = base / "etc", base / "root", base / "user"
        self.etc.mkdir()
        for name in ("passwd", "group", "ld.so.cache", "nsswitch.conf"):
            shutil.copy(f"/etc/{name}", self.etc)
        self.root.mkdir(0o700)
        (self.user / "project").mkdir(parents=True)
        for path in (self.user, self.user / "project"):
            os.chown(path, NOBODY, NOBODY)

    def run(self, *words: str, text: str = "", user: bool = False) -> subprocess.CompletedProcess[str]:
        home = self.user if user else self.root
        if user:
            words = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", *words)
        return subprocess.run(
            ["unshare", "--mount", "sh", "-c", OURS, str(self.etc), *words],
            input=text,
            capture_output=True,
            text=True,
            cwd=self.user / "project",
            env={"HOME": str(home), "PATH": "/usr/bin:/bin"},
            timeout=120,
            check=False,
        )

    def assent(self, *words: str, user: bool = False) -> subprocess.CompletedProcess[str]:
        code = "import sys; sys.path.insert(0, sys.argv.pop(1)); from assent.cli.main import main; sys.exit(main())"
        return self.run(SYSTEM, "-I", "-c", code, str(SOURCE), *words, user=user)


@pytest.fixture
def machine() -> Iterator[Machine]:
    base = Path(tempfile.mkdtemp(prefix="assent-managed-"))  # that of pytest is closed to others
    yield Machine(base)
    shutil.rmtree(base)


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


@pytest.mark.parametrize("runtime", MANAGED)
def test_another_user_can_read_the_settings_and_is_guarded(runtime: str, machine: Machine) -> None:
    done = machine.assent("install", runtime, "--scope", "managed", "--no-policy")
    assert (done.returncode, "tested as `nobody`" in done.stdout) == (0, True), done.stdout + done.stderr
    place = settings.load(runtime).places["managed"]
    file = machine.etc / place.removeprefix("/etc/")
    folders = [file.parent, machine.etc / "assent", machine.etc / "assent" / "bin"]
    assert [mode(each) for each in folders] == [0o755] * 3
    assert (mode(file), file.stat().st_uid) == (0o644, 0)
    read = machine.run("cat", place, user=True)
    assert read.stdout == file.read_text()
    hook = settings.load(runtime).first(settings.load(runtime).wired(read.stdout, place))
    assert hook is not None
    event = json.dumps(probes.event(runtime, probes.FORBIDDEN, str(machine.user / "project")))
    ended = machine.run(*hook.words, text=event, user=True)
    assert probes.understood(runtime, Rendered(ended.stdout, ended.stderr, ended.returncode)) == probes.BLOCKED


def test_the_doctor_of_a_user_sees_a_hook_for_the_whole_machine(machine: Machine) -> None:
    machine.assent("install", "claude", "--scope", "managed", "--no-policy")
    seen = machine.assent("doctor", user=True)
    assert "the hook blocks a forbidden call, and lets a harmless one run" in seen.stdout, seen.stdout + seen.stderr
    assert "another installation" not in seen.stdout
    assert seen.returncode == 0


def test_a_file_that_an_earlier_installation_closed_is_opened_again(machine: Machine) -> None:
    machine.assent("install", "claude", "--scope", "managed", "--no-policy")
    folder = machine.etc / "claude-code"
    (folder / "managed-settings.json").chmod(0o600)
    folder.chmod(0o700)
    seen = machine.assent("doctor", user=True)
    assert (seen.returncode, "cannot be read" in seen.stdout) == (1, True), seen.stdout
    done = machine.assent("install", "claude", "--scope", "managed", "--no-policy")
    assert done.returncode == 0, done.stderr
    assert (mode(folder), mode(folder / "managed-settings.json")) == (0o755, 0o644)


def test_what_others_cannot_read_is_named(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(0o700)
    (closed / "file").write_text("")
    assert install_others.unreadable((SYSTEM, str(closed / "file"))) == str(closed / "file")
    assert install_others.unreadable((SYSTEM,)) == ""
