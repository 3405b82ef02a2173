"""What a contained run passes on: handles, signals, status, the terminal; and what ends it."""

from __future__ import annotations

import fcntl
import os
import pty
import shlex
import signal
import struct
import subprocess
import termios
import time
from contextlib import suppress
from pathlib import Path

import pytest

from assent.contain import words
from assent.policy.contain_settings import ContainSettings
from tests.contain.box import SECONDS, SECRET, Box, Done, exact, needed
from tests.contain.escapes import python


def started(
    box: Box, command: str, *, stdin: int = subprocess.DEVNULL, stdout: int = subprocess.PIPE
) -> subprocess.Popen[str]:
    return box.start([words.runner(str(box.state)), box.issue(command)], stdin=stdin, stdout=stdout)


def wait_for(path: Path) -> None:
    end = time.monotonic() + SECONDS
    while not path.exists():
        assert time.monotonic() < end, f"`{path}` did not appear"
        time.sleep(0.01)


@pytest.mark.parametrize("status", [0, 1, 42, 255])
def test_the_exit_status_is_that_of_the_command(box: Box, status: int) -> None:
    assert box.inside(f"exit {status}").status == status


@pytest.mark.parametrize("name", ["TERM", "KILL", "SEGV", "ABRT", "INT", "PIPE"])
def test_a_command_that_a_signal_ends_ends_the_run_the_same_way(box: Box, name: str) -> None:
    number = signal.Signals[f"SIG{name}"]
    done = box.inside(f"kill -{name} $$; sleep 5")
    assert done.receipt is not None
    assert (done.status, done.receipt.signal) == (-number, number)


@pytest.mark.parametrize("name", ["TERM", "INT", "HUP", "USR1", "USR2", "QUIT"])
def test_a_signal_reaches_the_command(box: Box, name: str) -> None:
    run = started(box, f"trap 'echo got {name}; exit 7' {name}; touch ready; while :; do sleep 0.05; done")
    wait_for(box.work / "ready")
    output: list[str] = []
    for _ in range(6):  # one that comes while bash starts `sleep` was once missed, on a busy machine
        run.send_signal(signal.Signals[f"SIG{name}"])
        with suppress(subprocess.TimeoutExpired):
            output = run.communicate(timeout=SECONDS / 6)[0].splitlines()
            break
    assert (output[-1], run.returncode) == (f"got {name}", 7)  # before that bash may say how `sleep` ended


def test_standard_input_and_both_outputs_pass_through(box: Box) -> None:
    with box.as_user():  # a pipe can be opened again by whoever made it
        reading, writing = os.pipe()
    command = "tr a-z A-Z; echo error >&2; echo x > /dev/stderr; echo y > /dev/stdout"
    run = started(box, command, stdin=subprocess.PIPE, stdout=writing)
    os.close(writing)
    run.communicate("hello\n", timeout=SECONDS)
    with open(reading) as output:
        assert output.read() == "HELLO\nerror\nx\ny\n"


def test_an_output_that_is_a_file_can_be_written_by_its_names(box: Box) -> None:
    file = box.put("out")
    with open(file, "ab") as output:
        run = started(box, "echo one; echo two >> /dev/stdout; echo three >> /proc/self/fd/1", stdout=output.fileno())
        run.wait(SECONDS)
    assert file.read_text() == "one\ntwo\nthree\n"


def test_a_reader_that_goes_away_ends_a_writer(box: Box) -> None:
    run = started(box, "yes")
    assert run.stdout is not None
    run.stdout.read(10)
    run.stdout.close()
    assert run.wait(SECONDS) == -signal.SIGPIPE


def test_the_runner_killed_ends_everything(box: Box) -> None:
    run = started(box, "echo $$ > pid; touch ready; sleep 173205")
    wait_for(box.work / "ready")
    run.kill()
    run.wait(SECONDS)
    end = time.monotonic() + SECONDS
    while box.outside("pgrep -f 'sleep 17320[5]'").status == 0:
        assert time.monotonic() < end, "it still runs"
        time.sleep(0.05)


def test_the_time_limit_ends_everything(box: Box) -> None:
    profile = box.profile(settings=ContainSettings(seconds=1))
    done = box.inside("trap '' TERM; echo begun; while :; do sleep 1; done", profile)
    assert done.receipt is not None
    assert (done.output, done.status, done.receipt.timed_out, done.receipt.failed) == ("begun\n", -9, True, True)


def test_a_signal_to_its_own_group_stays_inside(box: Box) -> None:
    """Bare it reaches whoever is in the same group: the agent program."""
    around = "trap 'echo hit' TERM; {}; true"
    bare = box.finish(box.start(["bash", "-c", around.format("bash -c 'kill -TERM 0'")], start_new_session=True))
    assert "hit" in bare.output
    run = f"{words.runner(str(box.state))} {box.issue('kill -TERM 0')}"
    assert box.finish(box.start(["bash", "-c", around.format(run)], start_new_session=True)).output == "Terminated\n"


def test_handles_are_not_inherited(box: Box) -> None:
    box.put("home/.ssh/id_rsa", SECRET)
    handle = os.open(box.home / ".ssh", os.O_RDONLY)
    file = os.open(box.home / ".ssh/id_rsa", os.O_RDONLY)
    try:
        command = f"cat /proc/self/fd/{handle}/id_rsa /proc/self/fd/{file} /proc/self/fd/{handle}/../.ssh/id_rsa"
        assert SECRET in box.outside(command, pass_fds=(handle, file)).output
        assert SECRET not in box.inside(command, pass_fds=(handle, file)).output
        done = box.inside("ls /proc/self/fd", pass_fds=(handle, file))
        assert done.output.split() == ["0", "1", "2", "3"]  # the last is of `ls` itself
    finally:
        os.close(handle)
        os.close(file)


def test_a_folder_as_standard_input_is_refused(box: Box) -> None:
    box.put("home/.ssh/id_rsa", SECRET)
    handle = os.open(box.home / ".ssh", os.O_RDONLY)
    try:
        assert SECRET in box.outside("cat /proc/self/fd/0/id_rsa", stdin=handle).output
        done = box.inside("cat /proc/self/fd/0/id_rsa", stdin=handle)
    finally:
        os.close(handle)
    assert (done.status, done.output) == (126, "assent: the command was not run: a standard handle is a folder\n")


def test_closed_handles_are_nothing_else(box: Box) -> None:
    id = box.issue("cat; echo out; echo err >&2; ls /proc/self/fd > handles")
    done = box.outside(f"{words.runner(str(box.state))} {id} <&- >&- 2>&-")
    assert done.status == 0
    assert (box.work / "handles").read_text().split() == ["0", "1", "2", "3"]


@pytest.mark.parametrize("file", ["environ", "maps", "mem", "auxv", "exe", "root/", "cwd/", "fd/", "map_files/"])
def test_the_first_process_inside_is_closed(box: Box, file: str) -> None:
    command = f"ls -L /proc/PID/{file} > out && head -c1 /proc/PID/{file} > out || ls /proc/PID/{file}; true"
    assert "denied" not in box.inside(command.replace("PID", "$$")).output
    assert "denied" in box.inside(command.replace("PID", "1")).output


def test_the_first_process_inside_cannot_be_killed(box: Box) -> None:
    assert box.inside("kill -9 1; kill -KILL 1; echo alive").output.endswith("alive\n")


def test_only_named_variables_are_set(box: Box) -> None:
    done = box.inside(
        "env", environ={**box.environ, "AWS_SECRET_ACCESS_KEY": SECRET, "LD_PRELOAD": "x", "BASH_ENV": "y"}
    )
    names = {line.partition("=")[0] for line in done.output.splitlines()}
    assert names == {"PATH", "HOME", "LANG", "TMPDIR", "ASSENT_CONTAINED", "PWD", "SHLVL", "_"}


def test_a_program_from_memory_runs_and_is_as_closed(box: Box) -> None:
    box.put("home/.ssh/id_rsa", SECRET)
    command = python(f"""
handle = os.memfd_create("x")
os.write(handle, open("/bin/cat", "rb").read())
os.execve(handle, ["cat", "/proc/self/comm", "{box.home}/.ssh/id_rsa"], {{}})""")
    done = box.inside(command)
    assert done.output.splitlines()[0] in ("3", "4", "memfd:x", "cat"), done
    assert SECRET not in done.output


def test_one_workspace_sees_nothing_of_another(box: Box) -> None:
    box.put("projects/other/x", SECRET)
    assert box.inside("ls -A .. ../..").output.split() == ["..:", "work", "../..:", "home", "projects"]


def test_a_second_run_sees_the_cache_and_no_tmp_of_the_first(box: Box) -> None:
    box.inside("echo 1 > ~/.cache/x; echo 2 > /tmp/x; echo 3 > ~/x; echo 4 > x")
    assert box.inside("cat ~/.cache/x /tmp/x ~/x x 2>/dev/null").output == "1\n4\n"
    assert not (box.home / ".cache").exists()


def test_what_a_run_made_and_must_not_be_there_is_kept_and_named(box: Box) -> None:
    done = box.inside("mkdir .husky a; echo evil > .husky/x; ln -s x a/.envrc; echo fine > b")
    assert done.receipt is not None
    assert sorted(done.receipt.quarantined) == [f"{box.work}/.husky", f"{box.work}/a/.envrc"]
    assert sorted(each.name for each in box.work.iterdir()) == ["a", "b"]
    kept = sorted(each.name for each in (box.state / "contain/quarantine" / done.receipt.id).rglob("*"))
    assert kept == ["1", "2", "x"]


def test_the_files_that_a_run_changed_are_listed(box: Box) -> None:
    exact(box.work)
    for each in ("old/a", "old/b", "moved/c", "deep/d/e", "node_modules/m/x", "link-target"):
        box.put(f"projects/work/{each}", "x")
        os.utime(box.work / each, (1, 1))
    box.outside("find . -exec touch -h -d 2001-01-01 {} +; sleep 2.1")  # as old as files are in practice
    command = (
        "echo y >> old/a; touch -d 2001-01-01 old/a; mv moved other; mkdir -p new/f; echo > new/f/g; "
        "cp -p old/b deep/d/h; ln link-target hard; ln -s x soft; rm deep/d/e"
    )
    done = box.inside(command)
    assert done.receipt is not None
    expected = "deep/d/e deep/d/h hard link-target moved new new/f new/f/g old/a other other/c soft".split()
    assert sorted(done.receipt.changed) == [f"{box.work}/{each}" for each in expected]
    assert done.receipt.removed == (f"{box.work}/moved",)  # a folder, with whatever was in it
    assert done.receipt.complete


UNSEEN = """
with open('old', 'r+b') as file:
    mapped = mmap.mmap(file.fileno(), 0)
    mapped[0]
    mapped[0] = 65
"""


def test_a_file_that_is_written_through_memory_is_listed_or_the_list_is_not_complete(box: Box) -> None:
    """On tmpfs the kernel does not note such a write."""
    box.put("projects/work/old", "x")
    for mounted in (False, True):
        if mounted:
            needed(root=True)
            if subprocess.run(["mount", "-t", "tmpfs", "tmpfs", str(box.work)]).returncode != 0:
                pytest.skip("nothing can be mounted")
            os.chown(box.work, box.user, box.user)
            box.put("projects/work/old", "x")
        try:
            time.sleep(2.1)
            done = box.inside(f"python3 -c {shlex.quote('import mmap' + UNSEEN)}")
            assert (box.work / "old").read_text() == "A"
        finally:
            if mounted:
                subprocess.run(["umount", "-l", str(box.work)], check=True)
        assert done.receipt is not None
        assert done.receipt.changed == (f"{box.work}/old",) or not done.receipt.complete


def test_a_folder_in_the_place_of_another_is_new_and_the_other_is_gone(box: Box) -> None:
    exact(box.work)
    for each in ("a/x/one", "b/two"):
        box.put(f"projects/work/{each}")
    box.outside("find . -exec touch -h -d 2001-01-01 {} +; sleep 2.1")
    done = box.inside("mv a c; mv b a; mv c b")
    assert done.receipt is not None
    assert sorted(done.receipt.changed) == [f"{box.work}/{each}" for each in ("a", "a/two", "b", "b/x", "b/x/one")]
    assert sorted(done.receipt.removed) == [f"{box.work}/{each}" for each in ("a", "a/x", "b")]
    assert done.receipt.complete


def test_too_many_files_are_not_listed_as_if_they_were_all(box: Box) -> None:
    done = box.inside("for i in {1..2100}; do echo > f$i; done")
    assert done.receipt is not None
    assert not done.receipt.complete


def test_git_works_inside_and_its_settings_stay(box: Box) -> None:
    assert box.outside("git init -q .; git config user.name a; git config user.email b; echo x > f").status == 0
    done = box.inside(
        "git add . && git commit -qm one && git branch b && git checkout -q b && git status -sb; git log --format=%s"
    )
    assert (done.status, done.output) == (0, "## b\none\n"), done
    assert done.receipt is not None
    assert done.receipt.quarantined == ()
    assert box.outside("git log --format=%s").output == "one\n"
    assert box.inside("git config core.fsmonitor evil").status != 0


# ---------------------------------------------------------------- a terminal


class Seat:
    """A terminal with one process in it, whose controlling terminal it is."""

    def __init__(self, box: Box, command: list[str], *, size: tuple[int, int] = (24, 80)) -> None:
        self.end, other = pty.openpty()
        fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))
        if os.geteuid() == 0:
            os.fchown(other, box.user, -1)
        script = (
            "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])"
        )
        self.process = box.start(
            ["/usr/bin/python3", "-c", script, *command],
            stdin=other,
            stdout=other,
            stderr=other,
            start_new_session=True,
        )
        os.close(other)
        self.shown = ""

    def wait_for(self, text: str) -> str:
        end = time.monotonic() + SECONDS
        while text not in self.shown:
            assert time.monotonic() < end, self.shown
            self._read()
        return self.shown

    def _read(self) -> bool:
        try:
            data = os.read(self.end, 4096)
        except OSError:
            return False
        self.shown += data.decode()
        return bool(data)

    def type(self, text: str) -> None:
        os.write(self.end, text.encode())

    def finish(self) -> Done:
        while self._read():
            pass
        os.close(self.end)
        return Done(self.process.wait(SECONDS), self.shown.replace("\r\n", "\n"))


def seat(box: Box, command: str, *, size: tuple[int, int] = (24, 80)) -> Seat:
    return Seat(box, [words.runner(str(box.state)), box.issue(command)], size=size)


def test_the_terminal_and_its_size_pass_through(box: Box) -> None:
    done = seat(box, "test -t 0 -a -t 1 && stty size && echo hi > /dev/tty", size=(33, 99)).finish()
    assert (done.status, done.output) == (0, "33 99\nhi\n")


def test_what_is_typed_reaches_the_command(box: Box) -> None:
    terminal = seat(box, "stty -echo; echo name; read x; echo hello $x; read y < /dev/tty; echo and $y")
    terminal.wait_for("name")
    terminal.type("you\n")
    terminal.wait_for("hello you")
    terminal.type("me\n")
    assert terminal.finish().output == "name\nhello you\nand me\n"


def test_control_c_interrupts_the_command(box: Box) -> None:
    terminal = seat(box, "trap 'echo stopped; exit 3' INT; echo ready; while :; do sleep 0.05; done")
    terminal.wait_for("ready")
    terminal.type("\x03")
    done = terminal.finish()
    assert (done.status, "stopped" in done.output) == (3, True), done


def test_a_new_size_reaches_the_command(box: Box) -> None:
    terminal = seat(box, "trap 'stty size; exit' WINCH; echo ready; while :; do sleep 0.05; done")
    terminal.wait_for("ready")
    fcntl.ioctl(terminal.end, termios.TIOCSWINSZ, struct.pack("HHHH", 11, 22, 0, 0))
    assert terminal.finish().output == "ready\n11 22\n"


def test_control_z_stops_the_run_and_it_goes_on(box: Box) -> None:
    runner, id = words.runner(str(box.state)), box.issue("echo ready; sleep 1; read x; echo got $x")
    terminal = Seat(box, ["/bin/bash", "--norc", "-i"])
    terminal.type(f"PS1=; stty -echo\n{runner} {id}\n")
    terminal.wait_for("ready")
    terminal.type("\x1a")
    terminal.wait_for("Stopped")
    terminal.type("fg\n")
    terminal.type("word\n")
    terminal.wait_for("got word")
    terminal.type("exit\n")
    terminal.finish()


TYPES = python("""
import fcntl, termios
try:
    for each in b"evil":
        fcntl.ioctl(0, termios.TIOCSTI, bytes([each]))
    escaped()
except OSError as error:
    ctypes.set_errno(error.errno)
    escaped(False)""")


def test_nothing_can_be_typed_into_the_terminal(box: Box) -> None:
    bare = Seat(box, ["/bin/bash", "-c", TYPES]).finish()
    if "ESCAPED" not in bare.output:
        pytest.skip("this kernel lets nobody type into a terminal")
    assert "failed: EPERM" in seat(box, TYPES).finish().output


def test_requests_with_other_upper_halves_are_the_same_requests(box: Box) -> None:
    other = python("""
for each in (0x5412, 0x541C):
    libc.syscall(ctypes.c_long(16 if X86 else 29), 0, ctypes.c_ulong(each | 1 << 32), ctypes.c_char_p(b"x"))
    escaped(ctypes.get_errno() != errno.EPERM)""")
    assert seat(box, other).finish().output == "failed: EPERM\nfailed: EPERM\n"


def test_a_folder_that_is_exchanged_for_a_link_meanwhile_opens_nothing(box: Box) -> None:
    """By another run in the same workspace, while bubblewrap binds what was looked at."""
    box.put("home/.ssh/id_rsa", SECRET)
    box.put("projects/work/x/.vscode/tasks.json")
    swaps = python("""
os.symlink("/oldroot" + os.environ["HOME"] + "/.ssh", "y")
open("ready", "w")
while not os.path.exists("done"):
    call(316, 276, -100, b"x", -100, b"y", 2)""")
    other = box.start(["bash", "-c", swaps])
    wait_for(box.work / "ready")
    profile = box.profile()
    try:
        ended = [box.inside("cat x/id_rsa y/id_rsa", profile) for _ in range(12)]
    finally:
        box.put("projects/work/done")
        box.finish(other)
    assert [each for each in ended if SECRET in each.output] == []
    assert {each.status for each in ended} <= {1, 126}


def test_a_command_without_the_terminal_cannot_open_it(box: Box) -> None:
    id = box.issue("(exec 3<> /dev/tty) 2> /dev/null && echo opened; echo done")
    bare = box.finish(box.start(["/usr/bin/script", "-qec", "(exec 3<> /dev/tty) && echo opened", "/dev/null"]))
    line = f"{words.runner(str(box.state))} {id} < /dev/null | cat"
    contained = box.finish(box.start(["/usr/bin/script", "-qec", line, "/dev/null"]))
    assert (bare.output.split(), contained.output.split()) == (["opened"], ["done"])


def test_folders_of_programs_in_the_workspace_are_read_only(box: Box) -> None:
    box.environ["PATH"] = f"{box.work}/bin:{box.work}/.venv/bin:{box.environ['PATH']}"
    box.put("projects/work/bin/tool", "mine", 0o755)
    done = box.inside(
        "(echo evil > bin/ls) 2> /dev/null; mv bin x 2> /dev/null; mkdir -p .venv/bin; echo > .venv/bin/ls"
    )
    assert done.receipt is not None
    assert done.receipt.quarantined == (f"{box.work}/.venv/bin",)
    assert [path.name for path in (box.work / "bin").iterdir()] == ["tool"]
    assert not (box.work / "x").exists()


def test_a_link_that_a_run_left_in_its_cache_makes_no_folder_outside(box: Box) -> None:
    assert box.inside(f"ln -s /oldroot{box.home}/made ~/.cache/huggingface").status == 0
    box.put("home/.cache/huggingface/hub/x")
    box.put("home/made/kept")
    assert box.inside("cat ~/.cache/huggingface/hub/x").status == 0
    assert [path.name for path in (box.home / "made").iterdir()] == ["kept"]


def test_a_server_writes_no_files_of_the_workspace_and_has_no_time_limit(box: Box) -> None:
    box.put("projects/work/a/.env", SECRET)
    box.put("projects/work/a/b", "b")
    profile = box.profile(settings=ContainSettings(seconds=1, hidden=["a/.env"])).of_server(writes=False)
    ways = ["echo x > new", "echo x > a/new", "echo x >> a/b", "mv a c", "rm a/b", "chmod 777 a/b", "touch .envrc"]
    tried = "; ".join(f"({way}) 2>/dev/null && echo OPEN" for way in ways)
    done = box.inside(
        f"{tried}; cat a/b; cat a/.env 2>/dev/null; echo fine > ~/x && echo fine > /tmp/x; sleep 1.5; echo over",
        profile,
    )
    assert (done.output, done.status) == ("bover\n", 0)
    assert box.inside("sleep 5", box.profile(settings=ContainSettings(seconds=1))).status != 0
