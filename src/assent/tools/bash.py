"""The bash tool: runs exactly the text that was approved, in the session's folder. Reads no shell."""

from __future__ import annotations

import shutil
from collections.abc import Mapping

from assent.tools import opening, process
from assent.tools.tool import Bench, Given, Guarded, Problem, Result, Risk, Stop

SECONDS, MOST_SECONDS = 120, 600
LONGEST = 100_000  # characters of a command
HEAD, TAIL = 20_000, 10_000  # bytes of output that are kept
# Variables by which an environment changes how bash reads a command, or where `cd` leads.
STEERING = frozenset("BASH_ENV ENV SHELLOPTS BASHOPTS CDPATH OLDPWD PS4 GLOBIGNORE POSIXLY_CORRECT BASH_COMPAT".split())


def environment(given: Mapping[str, str], hidden: frozenset[str] = frozenset()) -> dict[str, str]:
    """The environment of a command: without Assent's variables and secrets, and without what changes the reading."""
    return {
        name: value
        for name, value in given.items()
        if not name.startswith(("ASSENT_", "BASH_FUNC_")) and name not in STEERING and name not in hidden
    }


class BashTool(Guarded):
    name = "bash"
    risk = Risk.EXECUTE
    description = (
        "Run a command with bash, in the project's folder. Nothing of it goes on after the call, and it has no input "
        "and no terminal. It passes a permission gate first, so that a person may be asked."
    )
    properties = {
        "command": {"type": "string", "description": "the command"},
        "timeout": {
            "type": "integer",
            "minimum": 1,
            "maximum": MOST_SECONDS,
            "description": f"seconds that it may take, {SECONDS} if not given",
        },
        "description": {"type": "string", "description": "what it is for, in a few words, for whoever is asked"},
    }
    required = ("command",)

    def prepare(self, bench: Bench, given: Given) -> BashJob:
        command = given["command"]
        if not command.strip():
            raise Problem("the command is empty")
        if "\0" in command or len(command) > LONGEST:
            raise Problem(f"a command is text without null characters, of at most {LONGEST} characters")
        return BashJob(bench, command, given.get("timeout"))


class BashJob:
    problem = ""

    def __init__(self, bench: Bench, command: str, seconds: int | None) -> None:
        self._bench = bench
        self._command = command
        self._seconds = seconds or SECONDS
        self.input: dict[str, object] = {"command": command, **({"timeout": seconds} if seconds else {})}

    def run(self, stop: Stop) -> Result:
        bash = shutil.which("bash", path="/bin:/usr/bin:/usr/local/bin") or shutil.which("bash")
        if bash is None:
            raise Problem("there is no bash on this machine")
        environ = {**self._bench.environ, "PWD": self._bench.folder, "TERM": "dumb"}
        with opening.folder(self._bench.folder) as folder:
            ended = process.run(
                [bash, "--noprofile", "--norc", "-c", self._command],
                folder=folder,
                environ=environ,
                seconds=self._seconds,
                stop=stop,
                head=HEAD,
                tail=TAIL,
                kept=True,
            )
        return Result(told(ended, self._seconds), ended.late or ended.status != 0)


def told(ended: process.Ended, seconds: int) -> str:
    """What a model is told of a command that ran."""
    if ended.cut:
        first, last = ended.output[: ended.cut], ended.output[ended.cut :]
        gone = ended.size - len(ended.output)
        note = f"\n[… {gone} of {ended.size} bytes are left out here; send the output to a file to read all …]\n"
        text = first.decode("utf-8", "replace") + note + last.decode("utf-8", "replace")
    else:
        text = ended.output.decode("utf-8", "replace")
    notes = []
    if ended.late:
        with_all = ", with everything that it had started" if ended.gone else ""
        notes.append(f"[ended after {seconds} seconds{with_all}]")
    elif ended.status < 0:
        notes.append(f"[ended by signal {-ended.status}]")
    elif ended.status:
        notes.append(f"[exit status {ended.status}]")
    if not ended.gone:
        notes.append("[something that it started may still run]")
    elif ended.left:
        notes.append("[what it left running in the background was ended]")
    if not text and not notes:
        return "[no output]"
    return "\n".join(filter(None, [text.rstrip("\n"), *notes]))
