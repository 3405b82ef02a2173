"""`assent hook`: one event of an agent program in, its answer in that program's own form out. Never fails open.

Every fault in here becomes the program's own form of a block; exactly one answer is printed, and nothing else."""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # `signal` without its enumerations
import os
import sys
from time import monotonic, time
from typing import TYPE_CHECKING

from assent import agents
from assent.agents.adapter import ATTENDED, DECIDING, Adapter, Event, Rendered, deadline_within
from assent.contract import AssentError, PayloadError, PolicyError, Reply, fault, launched

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from assent.engine.engine import Engine

DESCRIPTION = "Answer one event of an agent program. Agent programs run this; `assent install` tells them to."
EPILOG = "The event is read from standard input; the answer is in the program's own form."
LARGEST = 64 * 1024 * 1024  # bytes of an event
DECIDING_TIME = 45  # seconds for a decision that asks nobody; `engine/copies.py` says how many are for a copy
MODEL_TIME = 20  # seconds of that for a decision with a model, before a copy
GRACE = 2.0  # more seconds of CPU time, to print the timeout
MARGIN = 2  # seconds of the decision that a model may not use
DEADLINE = 570  # seconds, less than programs give a hook
YOUNG = 60  # seconds: a bundle that never becomes fresh is not rebuilt by every hook
# Options in the launcher's command line; the last two come from the compiled client, which has read the event.
WORDS = ("home", "socket", "project", "alone", "fault")
BLOCKED = 2


def arguments(parser: argparse.ArgumentParser) -> None:
    from assent.agents import known

    parser.add_argument("runtime", metavar="RUNTIME", choices=known.runtimes(), help="the agent program")
    parser.add_argument("--home", metavar="DIR", default="", help="Assent's folder (default: ~/.assent)")
    parser.add_argument("--socket", metavar="PATH", default="", help="the server's socket (default: in that folder)")
    parser.add_argument("--project", metavar="DIR", default="", help="the project's folder, if the event has none")
    parser.add_argument(
        "--deadline", metavar="SECONDS", type=int, default=DEADLINE, help=f"the hook's time limit (default: {DEADLINE})"
    )


def run(options: argparse.Namespace) -> int:
    given = {name: getattr(options, name) for name in ("home", "socket", "project", "deadline")}
    return serve(options.runtime, **given)


def direct(words: list[str]) -> int:
    """The same for the command line that `assent install` writes, without loading argparse. Any other is a block."""
    try:
        name, runtime, *rest = words
        given = dict(zip(rest[::2], rest[1::2], strict=True))
        deadline = int(given.pop("--deadline", DEADLINE))
        home, socket, project, alone, broken = (given.pop(f"--{each}", "") for each in WORDS)
        if name != "hook" or given:
            raise ValueError(name)
        agents.load(runtime)
    except (ValueError, KeyError) as error:
        os.write(2, f"Assent could not decide: its hook was called wrongly ({error}); run `assent doctor`\n".encode())
        return BLOCKED
    if broken:
        return leave(agents.load(runtime).render(None, fault(broken))) if _can_answer() else BLOCKED
    return serve(runtime, home=home, socket=socket, project=project, deadline=deadline, alone=bool(alone))


def serve(
    runtime: str, *, home: str = "", socket: str = "", project: str = "", deadline: int = DEADLINE, alone: bool = False
) -> int:
    """Answer the event on standard input on standard output; return the exit status. `alone`: the server was tried
    before."""
    if not _can_answer():
        return BLOCKED
    adapter = agents.load(runtime)
    if adapter.limit:  # the settings may be of an older version
        deadline = min(deadline, deadline_within(adapter.limit))
    until = monotonic() + deadline
    agreed: list[str] = []
    _alarm(adapter, deadline)
    try:
        text, environ = _event_text(adapter), _environment(adapter)
        project = project or _host_folder()
        where = "" if alone else socket or _socket(home, environ)
        rendered = _by_server(adapter, text, environ, where, project, until - 1) if where else None
        if rendered is None:
            left = min(DECIDING_TIME, int(until - monotonic()))
            _alarm(adapter, left)
            patience = min(left, MODEL_TIME) - MARGIN
            rendered = answer(adapter, text, environ, state=home, project=project, patience=patience, agreed=agreed)
    except AssentError as error:
        rendered = adapter.render(None, fault(str(error)))
    except BaseException as error:
        rendered = adapter.render(None, fault(f"Assent failed inside: {type(error).__name__}: {error}"))
    _decided()
    status = leave(rendered)
    for each in agreed:
        from assent.hook import starting

        starting.start(each)
    return status


def _can_answer() -> bool:
    """Whether there is a standard output. Opens closed standard handles: the next opened file would get their number,
    and the answer would be written into it."""
    while (handle := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(handle)
    return sys.stdout is not None


def leave(rendered: Rendered) -> int:
    """Print a whole answer. If that fails, the exit status blocks."""
    try:
        for handle, text in ((1, rendered.stdout), (2, rendered.stderr)):
            data = text.encode("utf-8", "backslashreplace")
            while data:
                data = data[os.write(handle, data) :]
    except OSError:
        return BLOCKED
    return rendered.status


def _event_text(adapter: Adapter) -> bytes:
    if adapter.variable:
        return os.environ.get(adapter.variable, "").encode("utf-8", "surrogateescape")
    data = sys.stdin.buffer.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise PayloadError(f"the event is longer than {LARGEST} bytes")
    return data


def _alarm(adapter: Adapter, seconds: int) -> None:
    """Block if a decision takes too long, before the program's own timeout lets the call run.

    A signal handler does not run inside C code. So after some more CPU time the system kills the process: that is a
    block too, by the shell command around it if the program itself would run the call."""

    def too_late(*_: object) -> None:
        os._exit(leave(adapter.render(None, fault(f"no decision within {seconds} seconds"))))

    _signal.signal(_signal.SIGALRM, too_late)
    _signal.pthread_sigmask(_signal.SIG_UNBLOCK, (_signal.SIGALRM, _signal.SIGPROF))  # the parent may have blocked both
    _signal.alarm(max(seconds, 1))
    _signal.signal(_signal.SIGPROF, _signal.SIG_DFL)
    _signal.setitimer(_signal.ITIMER_PROF, min(max(seconds, 1), DECIDING_TIME) + GRACE)


def _decided() -> None:
    """Stop the alarms: none may print a second answer."""
    _signal.signal(_signal.SIGALRM, _signal.SIG_IGN)
    _signal.setitimer(_signal.ITIMER_PROF, 0.0)


def _socket(state: str, environ: Mapping[str, str]) -> str:
    from assent.state import files

    return os.path.join(state or files.assent_home(environ, environ.get("HOME", "")), "server.sock")


def _by_server(
    adapter: Adapter, text: bytes, environ: Mapping[str, str], socket: str, project: str, until: float
) -> Rendered | None:
    """The answer of a running server; None if none answers. ASSENT_MODE holds for this process only."""
    if environ.get("ASSENT_MODE") or not os.path.exists(socket):
        return None
    from assent.hook import client

    try:
        return client.ask(socket, adapter.runtime, text, environ, project, until)
    except ConnectionError:
        return None


def answer(
    adapter: Adapter,
    text: bytes,
    environ: Mapping[str, str],
    *,
    state: str = "",
    project: str = "",
    patience: float = MODEL_TIME - MARGIN,
    agreed: list[str] | None = None,
) -> Rendered:
    """The answer to an event. Never raises. A model may take `patience` seconds. `agreed` receives the state folder if
    the user lets hooks start the server."""
    event: Event | None = None
    try:
        home = environ.get("HOME", "") or os.path.expanduser("~")
        if adapter.names_no_servers:
            from assent.facts import servers

            environ = {**environ, **servers.environment(adapter.runtime, home, project)}
        event = adapter.parse_text(text, environ=environ, home=home, project=project)
        reply = reply_to(
            event, environ, state, adapter.runtime, asks=adapter.asks(event), patience=patience, agreed=agreed
        )
        return adapter.render(event, reply)
    except AssentError as error:
        return adapter.render(event, fault(str(error)))
    except Exception as error:
        return adapter.render(event, fault(f"Assent failed inside: {type(error).__name__}: {error}"))


def _environment(adapter: Adapter) -> dict[str, str]:
    """The environment, with ATTENDED from the program's process.

    INVARIANT: it names no folder of Assent: programs let a project's settings set variables for hooks."""
    dropped = (ATTENDED, "ASSENT_HOME", "ASSENT_HOST_SERVERS")
    environ = {name: value for name, value in os.environ.items() if name not in dropped}
    if adapter.once:
        from assent.facts import host

        if host.unattended(adapter.once):
            environ[ATTENDED] = "0"
    return environ


def _host_folder() -> str:
    """The start folder of the agent program, not that of the call, which the model chooses."""
    try:
        return os.readlink(f"/proc/{os.getppid()}/cwd")
    except OSError:
        return os.getcwd()


def reply_to(
    event: Event,
    environ: Mapping[str, str],
    state: str,
    runtime: str,
    *,
    asks: bool = True,
    patience: float = 0.0,
    agreed: list[str] | None = None,
) -> Reply:
    """The reply to an event, decided in this process. `asks`: an ask opens the program's dialog."""
    for load in launched.DECIDING:
        load()
    from assent.engine import configure
    from assent.engine.engine import unloaded
    from assent.engine.memory import Memory
    from assent.gate import CallGate
    from assent.hook import replies

    call = event.call
    project = call.roots[0] if call is not None and call.roots else ""
    own = {**environ, "ASSENT_HOME": state} if state else environ
    # INVARIANT: without a project there is no workspace and no trust; the folder of a call is the model's choice.
    here = configure.place(project or "/", own, home=call.home if call is not None else "")
    try:
        engine, here = configure.open_quickly(here, own, session=event.session)
    except PolicyError as error:
        return replies.reply_of(unloaded(error)) if event.kind in DECIDING else replies.NOTHING
    # INVARIANT: a server is started only from a folder that the installer named; an environment may name another.
    if engine.settings.start and state and agreed is not None:
        agreed.append(here.state)

    def reopen() -> Engine:
        return configure.open_quickly(here, own, session=event.session)[0]

    gate, left = CallGate(Memory(here.state)), max(patience, 0.1)
    return replies.alone(
        replies.HookRequest(
            event, gate, engine, here, runtime, asks=asks, reopen=reopen, patience=left, environ=environ
        )
    )


def renew(path: str) -> None:
    """Rebuild the bundle, if it is writable and not new."""
    try:
        age = time() - os.stat(path).st_mtime
    except OSError:
        age = YOUNG
    if not 0 <= age < YOUNG and os.access(os.path.dirname(path), os.W_OK) and not sys.dont_write_bytecode:
        from assent.hook import bundle

        bundle.renew()
