"""An ordinary user with a home folder and a workspace, who runs commands bare or contained."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest

from assent.contain import sandbox, ticket, words
from assent.contain.profile import Profile, profile_for
from assent.contract import Call
from assent.policy.contain_settings import ContainSettings

NOBODY = 65534
SECONDS = 60.0
POLICY = Path(__file__).parents[2] / "src/assent/policy"
SECRET = "CANARY-5d1f"


def needed(*, root: bool = False) -> None:
    """Skip, with the reason, what this machine cannot do; fail if everything must be there."""
    why = ""
    if not os.path.isfile(sandbox.source()):
        why = "the runner was not built: there was no C compiler"
    elif not words.bubblewrap():
        why = "bubblewrap is not installed"
    elif root and os.geteuid() != 0:
        why = "needs root"
    if why:
        assert os.environ.get("CI") != "true", f"{why}, and CI must have it"
        pytest.skip(why)


def exact(folder: Path) -> None:
    """Skip if the receipt of a run in a folder does not list what it changed: see LOCAL in changed.c."""
    kind = subprocess.run(["stat", "-f", "-c", "%t", str(folder)], capture_output=True, text=True).stdout.strip()
    if kind not in ("ef53", "58465342", "9123683e", "f2f52010", "ca451a4e"):
        pytest.skip(f"the file system of `{folder}` does not tell every change")


@cache
def globs(file: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The globs of `write(…)` and of `path(…)` in shipped rules."""
    rules = tomllib.loads((POLICY / file).read_text())
    texts = [rule for kind in rules.values() for entry in kind for rule in entry.get("rules", ())]
    return (
        tuple(each[6:-1] for each in texts if each.startswith("write(")),
        tuple(each[5:-1] for each in texts if each.startswith("path(")),
    )


class Done:
    """How a command ended. `receipt` is None for one that ran bare."""

    def __init__(self, status: int, output: str, receipt: ticket.Receipt | None = None) -> None:
        self.status = status
        self.output = output
        self.receipt = receipt

    def __repr__(self) -> str:
        return f"status {self.status}, {self.receipt}\n{self.output}"


class Box:
    """One user's folders. As root the user is `nobody`, unless it shall be root."""

    def __init__(self, *, user: int | None = None) -> None:
        self.user = (NOBODY if os.geteuid() == 0 else os.geteuid()) if user is None else user
        self.folder = Path(tempfile.mkdtemp(prefix="contained-")).resolve()
        self.folder.chmod(0o755)
        self.home, self.work = self.folder / "home", self.folder / "projects/work"
        self.state = self.home / ".assent"
        self.work.mkdir(parents=True)
        self.home.mkdir()
        self._own()
        self.environ = {
            "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "GITHUB_TOKEN": SECRET,
        }

    def _own(self) -> None:
        if os.geteuid() == 0:
            for path in (self.folder, *self.folder.rglob("*")):
                os.chown(path, self.user, self.user, follow_symlinks=False)

    @contextmanager
    def as_user(self) -> Iterator[None]:
        """This process with the user's powers, for calls of the API."""
        before = os.geteuid(), os.getegid()
        if before[0] == 0 and self.user != 0:
            os.setegid(self.user)
            os.seteuid(self.user)
        try:
            yield
        finally:
            os.seteuid(before[0])
            os.setegid(before[1])

    def put(self, path: str, text: str = "", mode: int = 0o644) -> Path:
        """A file below the folder of the box."""
        made = self.folder / path
        with self.as_user():
            made.parent.mkdir(parents=True, exist_ok=True)
            made.write_text(text)
            made.chmod(mode)
        return made

    def profile(
        self,
        *,
        installs: bool = False,
        settings: ContainSettings | None = None,
        protected: Sequence[str] = (),
        roots: Sequence[str] = (),
    ) -> Profile:
        writes, more = globs("defaults.toml")[0], globs("floor.toml")
        with self.as_user():
            return profile_for(
                settings or ContainSettings(),
                Call("bash", {}, cwd=str(self.work)),
                roots=roots or [str(self.work)],
                home=str(self.home),
                state=str(self.state),
                environ=self.environ,
                protects=lambda _: False,
                guards=lambda _: False,
                installs=installs,
                protected=(*writes, *more[0], *protected),
                guarded=more[1],
            )

    def issue(self, command: str, profile: Profile | None = None, *, now: float | None = None, shell: str = "") -> str:
        """A ticket, with the runner in its place."""
        with self.as_user():
            if not os.path.exists(words.runner(str(self.state))):
                self.state.mkdir(exist_ok=True, mode=0o700)
                sandbox.install(str(self.state))
            return ticket.issue(
                str(self.state),
                profile or self.profile(),
                command=command,
                shell=shell or "/bin/bash",
                cwd=str(self.work),
                digest="digest",
                session="session",
                now=time.time() if now is None else now,
            )

    def start(
        self,
        command: Sequence[str],
        *,
        environ: Mapping[str, str] | None = None,
        stdin: int = subprocess.DEVNULL,
        stdout: int = subprocess.PIPE,
        stderr: int = subprocess.STDOUT,
        pass_fds: Sequence[int] = (),
        start_new_session: bool = False,
    ) -> subprocess.Popen[str]:
        """A process of the user."""
        other = os.geteuid() == 0
        return subprocess.Popen(
            command,
            cwd=self.work,
            env=dict(environ or self.environ),
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            text=True,
            pass_fds=pass_fds,
            start_new_session=start_new_session,
            user=self.user if other else None,
            group=self.user if other else None,
            extra_groups=[] if other else None,
        )

    def outside(self, command: str, *, stdin: int = subprocess.DEVNULL, pass_fds: Sequence[int] = ()) -> Done:
        """Run a command bare."""
        return self.finish(self.start(["/bin/bash", "-c", command], stdin=stdin, pass_fds=pass_fds))

    def inside(
        self,
        command: str,
        profile: Profile | None = None,
        *,
        environ: Mapping[str, str] | None = None,
        stdin: int = subprocess.DEVNULL,
        pass_fds: Sequence[int] = (),
    ) -> Done:
        """Run a command contained."""
        id = self.issue(command, profile)
        words_of_it = [words.runner(str(self.state)), id]
        done = self.finish(self.start(words_of_it, environ=environ, stdin=stdin, pass_fds=pass_fds))
        return Done(done.status, done.output, self.receipt(id))

    def finish(self, process: subprocess.Popen[str]) -> Done:
        try:
            output, _ = process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise
        return Done(process.returncode, output)

    def receipt(self, id: str) -> ticket.Receipt | None:
        with self.as_user():
            return ticket.receipt(str(self.state), id)

    def close(self) -> None:
        subprocess.run(["chmod", "-R", "u+rwX", str(self.folder)], capture_output=True)
        shutil.rmtree(self.folder, ignore_errors=True)
