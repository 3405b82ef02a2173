"""The bash tool: runs exactly the text that was approved, in the session's folder."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from functools import partial
from threading import Event

from assent.engine import containment
from assent.tools import opening, process
from assent.tools.tool import Given, GuardedTool, Problem, Result, ToolContext, ToolJob

SECONDS, MOST_SECONDS = 120, 600
LONGEST = 100_000  # characters of a command
CONTAINED = (
    "[it ran contained, where much is closed{}; exactly the same call again asks a person to let it run outside]"
)
HEAD, TAIL = 20_000, 10_000  # bytes of output that are kept
# Variables that change how bash reads a command, or where `cd` goes.
STEERING = frozenset("BASH_ENV ENV SHELLOPTS BASHOPTS CDPATH OLDPWD PS4 GLOBIGNORE POSIXLY_CORRECT BASH_COMPAT".split())


def environment(given: Mapping[str, str], hidden: frozenset[str] = frozenset()) -> dict[str, str]:
    """The environment of a command: without Assent's variables and secrets, and those that change how bash reads it."""
    return {
        name: value
        for name, value in given.items()
        if not name.startswith(("ASSENT_", "BASH_FUNC_")) and name not in STEERING and name not in hidden
    }


class BashTool(GuardedTool):
    name = "bash"
    risk = "execute"
    description = (
        "Run a command with bash in the project's folder. It has no input and no terminal, and whatever it started is "
        "ended with it. It passes a permission gate first, so a person may be asked."
    )
    properties = {
        "command": {"type": "string", "description": "the command"},
        "timeout": {
            "type": "integer",
            "minimum": 1,
            "maximum": MOST_SECONDS,
            "description": f"seconds that it may take, {SECONDS} by default",
        },
        "description": {"type": "string", "description": "what it is for, in a few words, for whoever is asked"},
    }
    required = ("command",)

    def prepare(self, context: ToolContext, given: Given) -> ToolJob:
        command, seconds = given["command"], given.get("timeout")
        if not command.strip():
            raise Problem("the command is empty")
        if "\0" in command or len(command) > LONGEST:
            raise Problem(f"a command is text without null characters, of at most {LONGEST} characters")
        input = {"command": command, **({"timeout": seconds} if seconds else {})}

        def contained(line: str) -> Callable[[Event], Result]:
            return partial(_run_contained, context, line, seconds or SECONDS)

        return ToolJob(input, partial(_run, context, command, seconds or SECONDS), contained=contained)


def _run(context: ToolContext, command: str, seconds: int, stop: Event) -> Result:
    bash = shutil.which("bash", path="/bin:/usr/bin:/usr/local/bin") or shutil.which("bash")
    if bash is None:
        raise Problem("there is no bash on this machine")
    with opening.folder(context.folder) as folder:
        ended = process.run(
            [bash, "--noprofile", "--norc", "-c", command],
            folder=folder,
            environ={**context.environ, "PWD": context.folder, "TERM": "dumb"},
            seconds=seconds,
            stop=stop,
            head=HEAD,
            tail=TAIL,
            supervised=True,
        )
    return Result(report(ended, seconds), ended.late or ended.status != 0)


def _run_contained(context: ToolContext, line: str, seconds: int, stop: Event) -> Result:
    done = _run(context, line, seconds, stop)
    if not done.error:
        return done
    why = containment.failure_of(line)
    return Result(f"{done.text}\n{CONTAINED.format(f', and {why}' if why else '')}", True)


def report(ended: process.Ended, seconds: int) -> str:
    text = ended.output.decode("utf-8", "replace")
    if ended.cut:
        omitted = ended.size - len(ended.output)
        text = (
            ended.output[: ended.cut].decode("utf-8", "replace")
            + f"\n[… {omitted} of {ended.size} bytes are left out here; send the output to a file to read all …]\n"
            + ended.output[ended.cut :].decode("utf-8", "replace")
        )
    notes = []
    if ended.late:
        with_all = ", with everything that it had started" if ended.gone else ""
        notes.append(f"[ended after {seconds} seconds{with_all}]")
    elif ended.status:
        notes.append(f"[ended by signal {-ended.status}]" if ended.status < 0 else f"[exit status {ended.status}]")
    if not ended.gone:
        notes.append("[something that it started may still run]")
    elif ended.left:
        notes.append("[what it left running in the background was ended]")
    return "\n".join(filter(None, [text.rstrip("\n"), *notes])) if text or notes else "[no output]"
