"""The checks of `assent doctor`: each installation, each agent program and this machine → findings with what to do.
Changes nothing."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from functools import partial

from assent import __version__
from assent.agents import known, settings
from assent.agents.capabilities import CAPABILITIES, Evidence
from assent.agents.settings import Hole, jsonc
from assent.agents.settings.entry import argv_of
from assent.agents.settings.hooks import Wired
from assent.cli import doctor_trials
from assent.cli.status import last_start
from assent.contract import AssentError
from assent.engine import configure
from assent.hook import compiled_client, launcher, other_settings, server_script, settings_file, starting
from assent.server import local, remote_channels
from assent.server.listening import running
from assent.state import files, hosts, pause
from assent.trail.verify import verify

STATUS_TIMEOUT = 2.0  # seconds for a server to answer
RESTART = "restart it: `assent stop`, then `assent serve --background`"
VERIFY = "run `assent audit verify`"
CHECK_YOURSELF = "see a denied call fail before you rely on it"
DEADLINE = re.compile(r"--deadline[ ']+(\d+)")
PROXIES = ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy")


class Grade(IntEnum):
    """How bad one finding is for the guard."""

    FINE = 0
    NOTE = 1
    EXPOSED = 2  # it holds here, but a repository can switch it off before the program starts
    BLOCKS = 3  # every call is blocked, also those that should run
    OPEN = 4  # the hook is called, and does not block
    OFF = 5  # the program does not call the hook


@dataclass(frozen=True, slots=True)
class GuardState:
    """What a guard does, in words, and the exit status if it is the worst one."""

    word: str
    means: str
    status: int


HOLDS = GuardState("holds", "forbidden calls are blocked, harmless calls run", 0)
STATES = {
    Grade.FINE: HOLDS,
    Grade.NOTE: HOLDS,
    Grade.EXPOSED: HOLDS,
    Grade.BLOCKS: GuardState("blocks everything", "no call runs, not even a harmless one", 3),
    Grade.OPEN: GuardState("does not block", "forbidden calls run", 1),
    Grade.OFF: GuardState("off", "calls run unchecked", 1),
}
WORDS = {
    Grade.FINE: "ok",
    Grade.NOTE: "note",
    Grade.EXPOSED: "weak",
    Grade.BLOCKS: "BLOCKS",
    Grade.OPEN: "OPEN",
    Grade.OFF: "OFF",
}


@dataclass(frozen=True, slots=True)
class DoctorFinding:
    """One thing that was checked. `about` is an agent program, or `assent`."""

    grade: Grade
    about: str
    text: str
    fix: str = ""


Findings = Iterator[DoctorFinding]
fine = partial(DoctorFinding, Grade.FINE)
note = partial(DoctorFinding, Grade.NOTE)
open_ = partial(DoctorFinding, Grade.OPEN)
off = partial(DoctorFinding, Grade.OFF)


def worst(grades: Iterable[Grade]) -> GuardState:
    """The state of a guard with such findings. Letting calls run is worse than blocking them."""
    return STATES[max(grades, default=Grade.FINE)]


# ---------------------------------------------------------------- this machine


def _contained(here: configure.Place) -> Findings:
    """Whether contained runs are possible here, and hold."""
    from assent.cli import doctor_contain

    try:
        why, out, tried = doctor_contain.tried(here)
    except AssentError as error:
        why, out, tried = str(error), (), 0
    if why:
        text = f"contained runs are on, but nothing can run contained here: {why}; such calls are asked about"
        yield note("assent", text, "fix that and run `assent doctor` again, or remove `[contain]`")
    for each in out:
        yield open_("assent", f"a contained run reaches {each}", "remove `[contain]` from the policy, and report this")
    if tried and not out:
        yield fine("assent", f"contained runs hold: {tried} ways out were tried, and none is open")


def machine(here: configure.Place) -> Findings:
    yield from _policy(here)
    yield from _files(here.state)
    yield from _trail(f"{here.state}/audit")
    yield from _server(here.state)
    yield from _contained(here)
    for text, fix in remote_channels.findings(here.state, os.environ):
        yield note("assent", text, fix)
    if pause.lasts(here.state):
        yield note("assent", "the protection of Assent itself is paused", "end it with `assent pause --end`")


def _policy(here: configure.Place) -> Findings:
    try:
        found = configure.open_gate(here, os.environ)[0].settings
    except AssentError as error:
        text = f"the policy does not load, so every call is denied: {error}"
        yield DoctorFinding(Grade.BLOCKS, "assent", text, "correct the policy")
        return
    capped = "".join(f", capped by {clamp}" for clamp in found.clamps)
    yield fine("assent", f"the policy loads, mode {found.mode.word}{capped}")
    if found.mode.word == "yolo":
        yield note("assent", "mode yolo skips all rules but managed ones and the floor", "choose `auto` or `full_auto`")
    if found.start and server_script.is_current(here.state, here.home):
        yield fine("assent", "a hook that finds no server starts one")
    elif found.start:
        text = "hooks may start the server, but their start script is missing or from another installation"
        yield note("assent", text, "run `assent install RUNTIME --start-server` again")


def _files(state: str) -> Findings:
    for path, forbidden in (
        (state, 0o077),
        (files.user_file(state), 0o022),
        (launcher.path(state), 0o022),
        (compiled_client.path(state), 0o022),
    ):
        try:
            status = os.stat(path)
        except OSError:
            continue
        if status.st_uid not in (os.geteuid(), 0) or stat.S_IMODE(status.st_mode) & forbidden:
            yield note("assent", f"`{path}` is open to other users", f"chmod go-rwx {path}")


def _trail(folder: str) -> Findings:
    try:
        found = verify(folder)
    except (AssentError, OSError) as error:
        yield note("assent", f"the trail cannot be read: {error}", VERIFY)
        return
    if found.fault is not None:
        yield note("assent", f"the trail is not intact: {found.fault}", VERIFY)
    elif os.path.isdir(folder) and not os.access(folder, os.W_OK):
        yield note("assent", "the trail cannot be written, so only reading calls run", f"chmod u+w {folder}")
    else:
        yield fine("assent", f"the trail is intact: {found.lines} lines")


def _server(state: str) -> Findings:
    found = running(state)
    if found is None and starting.is_starting(state):
        yield fine("assent", "a server is starting")
    elif found is None:
        yield fine("assent", "no server runs: questions go to the agent program's own dialog")
        if why := last_start(state):
            yield note("assent", f"no server runs{why}", "start one with `assent serve --background`")
    if found is None:
        return
    try:
        status = local.ask(found, "GET", "/v1/status", timeout=STATUS_TIMEOUT)
    except AssentError as error:
        yield note("assent", f"a server runs and does not answer: {error}", RESTART)
        return
    if (version := str(status["version"])) != __version__:
        yield note("assent", f"the server has version {version}, this is {__version__}", RESTART)
    else:
        yield fine("assent", f"a server runs, pid {found.pid}")
    for name, state, why in remote_channels.channel_states(status):
        words = f"{name} is {state}{f': {why}' if why else ''}"
        yield fine("assent", words) if state == "up" else note("assent", words, f"see docs/{name}.md")


# ---------------------------------------------------------------- an installation


def installation(host: hosts.Host, here: configure.Place) -> Findings:
    """Whether the hook is in settings that the program reads, can be started, and really blocks."""
    runtime, again = host.runtime, f"run `assent install {host.runtime} --scope {host.scope}`"
    found = settings.load(runtime)
    try:
        text = settings_file.text_of(host.file)
        if text is None:
            yield off(runtime, f"`{host.file}` is missing, so there is no hook", again)
            return
        hooks = found.wired(text, host.file)
        objection = found.objection(text)
        open_holes = found.holes(text, http=any(hook.url for hook in hooks))
    except AssentError as error:
        fix = f"{again} as root" if host.scope == "managed" else "correct the file"
        yield off(runtime, f"`{host.file}` cannot be read: {error}", fix)
        return
    hook = found.first(hooks)
    if hook is None:
        yield off(runtime, f"`{host.file}` does not call Assent before tool calls", again)
        return
    if objection:
        fix = f"run `assent install {runtime} --strip-comments`, or correct it"
        yield off(runtime, f"`{host.file}`: {objection}", fix)
    yield from _holes(runtime, host.file, open_holes)
    yield from _confined(runtime, found.confines(text), here)
    if found.executable and not os.access(host.file, os.X_OK):
        yield off(runtime, f"`{host.file}` is not executable, so the program ignores it", f"chmod u+x {host.file}")
    if host.scope != "managed" and (why := found.distrusted(text, host.file)):
        yield off(runtime, why, again)
    folder = launcher.MANAGED if host.scope == "managed" else here.state
    yield from _fired(runtime, hook, here)
    yield from _times(runtime, hook, here, again)
    yield from _stale(runtime, hook, folder, again)
    if not hook.url:
        yield from _client(runtime, text, folder, again)


def _confined(runtime: str, sandbox: tuple[str, str], here: configure.Place) -> Findings:
    """Whether a sandbox of the program's own keeps contained runs from starting."""
    closes, fix = sandbox
    try:
        if not closes or configure.open_gate(here, os.environ)[0].settings.contain is None:
            return
    except AssentError:  # the policy does not load, which is reported elsewhere
        return
    text = f"no contained run starts in this program's own sandbox, which closes {closes}; such calls are asked about"
    yield note(runtime, text, fix)


def _client(runtime: str, text: str, state: str, again: str) -> Findings:
    why, started = compiled_client.why_not(state), compiled_client.path(state) in text
    if why and not started:
        yield fine(runtime, f"the hook starts in Python; the compiled client is not used: {why}")
    elif not started:
        yield note(runtime, "the hook starts in Python, but there is a compiled client, which starts faster", again)
    elif not compiled_client.is_current(state):
        yield note(runtime, "the compiled client has another version", again)
    elif why:
        yield note(runtime, f"the settings start the compiled client, but {why}", again)
    else:
        yield fine(runtime, "the hook is the compiled client; it decides in Python if no server answers")


def _holes(runtime: str, file: str, found: tuple[Hole, ...]) -> Findings:
    for hole in found:
        yield DoctorFinding(Grade.OFF if hole.inert else Grade.NOTE, runtime, f"`{file}`: {hole.text}", hole.fix)


def _fired(runtime: str, hook: Wired, here: configure.Place) -> Findings:
    failures = doctor_trials.try_hook(runtime, hook, here.project)
    install = f"run `assent install {runtime}`, then this again"
    for each in failures:
        grade = Grade.OPEN if each.open else Grade.BLOCKS
        fix = "start the server: `assent serve --background`" if hook.url else install
        yield DoctorFinding(grade, runtime, f"the hook fails: {each.text}", fix)
    if not failures:
        yield fine(runtime, "the hook blocks a forbidden call, and lets a harmless one run")
    if hook.weakness:
        yield open_(runtime, hook.weakness, f"run `assent install {runtime}` again")


def _times(runtime: str, hook: Wired, here: configure.Place, again: str) -> Findings:
    """Check that the longest wait for a person < our own deadline < the program's timeout."""
    given = DEADLINE.search(" ".join(hook.words))
    headers = dict(hook.headers).get("Assent-Deadline", "")
    deadline = int(given[1]) if given else int(headers) if headers.isdigit() else 0
    limit = int(CAPABILITIES[runtime].longest)
    ends = min(each for each in (hook.timeout, limit) if each) if hook.timeout or limit else 0
    if deadline and ends and deadline >= ends:
        yield open_(runtime, f"the program continues after {ends:.0f} s, before the hook has blocked", again)
    try:
        found = configure.open_gate(here, os.environ)[0].settings
    except AssentError:
        return
    wait = found.timeout + found.unseen
    if deadline and limit and wait >= deadline:
        text = f"a person has {deadline} s to answer at most, as this program waits {limit} s for a hook"
        yield note(runtime, text, "nothing to do; a question without an answer by then is denied")
    elif deadline and wait >= deadline:
        yield note(runtime, f"a person has {wait} s to answer, and the hook blocks after {deadline} s", again)


def _stale(runtime: str, hook: Wired, state: str, again: str) -> Findings:
    """Whether the launcher is the one that this version writes, in this folder."""
    if hook.url:
        return
    try:
        text = settings_file.text_of(launcher.path(state))
    except AssentError:
        text = None
    words = argv_of(hook.words)
    whole = settings.load(runtime).executable  # the file in the settings' place is the hook, and calls the launcher
    if launcher.path(state) not in words and not whole:
        yield note(runtime, "the settings call another installation of Assent", again)
    elif text != launcher.script() or not (whole or launcher.FLAGS in words):
        yield note(runtime, "the launcher has another version", again)
    if "--home" in words[:-1] and (home := words[words.index("--home") + 1]) != state:
        yield note(runtime, f"the hook uses the policy and the trail in `{home}`, not in `{state}`", again)


# ---------------------------------------------------------------- a program


def program(
    runtime: str,
    here: configure.Place,
    *,
    http: bool,
    guarded: bool = False,
    scopes: frozenset[str] = frozenset({"user"}),
    static: bool = False,
) -> Findings:
    """Findings that do not depend on one installation: the version, the environment, the project's own settings.
    `guarded`: a line of shell blocks if the hook breaks. `static`: the program starts the compiled client without a
    shell."""
    can = CAPABILITIES[runtime]
    version = hosts.version(runtime)
    if not version:
        text = f"`{hosts.PROGRAMS[runtime]}` is not on the PATH, or does not print its version"
        yield note(runtime, text, "check the PATH")
    for what, since in can.since:
        if version and not hosts.at_least(version, since):
            grade = Grade.NOTE if guarded else Grade.OPEN
            then = "a line of shell blocks instead" if guarded else "a hook that breaks lets the call run"
            text = f"version {version} ignores `{what}`: {then}"
            yield DoctorFinding(grade, runtime, text, f"update it to {since} or later")
    if version and hosts.numbers(version) < hosts.numbers(can.version):
        yield note(runtime, f"version {version} is older than {can.version}, which was tested", "update it")
    if can.source is not Evidence.OBSERVED:
        yield note(runtime, "this was never tested with the program itself", CHECK_YOURSELF)
    if can.exposed and "managed" not in scopes:
        managed = f"run `assent install {runtime} --scope managed` as root, which prevents that"
        fix = managed if can.managed else "check a repository before you start the program in it"
        yield DoctorFinding(Grade.EXPOSED, runtime, f"before the program starts, {can.exposed}", fix)
    if broken := can.fails_open:
        text = f"a hook that ends in one of these ways does not block in this program: {', '.join(broken)}"
        yield note(runtime, text, "nothing to do; docs/runtimes.md describes what happens then")
    for name in known.lists("environment", "elsewhere").get(runtime, ()):
        if os.environ.get(name):
            yield off(runtime, f"`{name}` is set here: the program reads other settings", f"unset {name}")
    if http and any(os.environ.get(name) for name in PROXIES) and not _exempt():
        text = "a proxy is set without NO_PROXY: the HTTP hook is not reached, and every call is blocked"
        yield note(runtime, text, "export NO_PROXY=127.0.0.1,localhost")
    protected = can.managed and "managed" in scopes
    for path, hole in other_settings.around(runtime, here, http=http, scopes=scopes):
        if protected and not path.startswith("/etc/"):
            hole = Hole(f"{hole.text}; the hook of the machine's settings still blocks", hole.fix)
        preloads = "`LD_" in hole.text and static  # has no effect on a program that loads no libraries
        yield from _holes(runtime, path, (Hole(hole.text, hole.fix) if preloads else hole,))
    yield from _wanting(runtime, here)


def rehearsed(runtime: str, here: configure.Place) -> Findings:
    """The program itself, started here with its own settings: does it let the hook block?"""
    if runtime not in doctor_trials.RUNTIMES:
        yield note(runtime, "the program cannot be started for a test", CHECK_YOURSELF)
        return
    blocked, said = doctor_trials.try_program(runtime, here.project)
    if blocked:
        yield fine(runtime, "the program was started here, and the hook blocked a forbidden call")
    elif blocked is None:
        yield note(runtime, f"the program was started, and made no call: {said}", "start it by hand once")
    else:
        text = f"the program was started here, and the hook did not block a forbidden call: {said}"
        yield open_(runtime, text, f"run `assent install {runtime}`, then this again")


def _exempt() -> bool:
    listed = os.environ.get("NO_PROXY") or os.environ.get("no_proxy") or ""
    return any(each.strip() in ("127.0.0.1", "*") for each in listed.split(","))


def _wanting(runtime: str, here: configure.Place) -> Findings:
    """The settings that the program needs so that nothing bypasses the hook."""
    found = settings.load(runtime)
    file = settings_file.expanded(found.places["user"], here.home, here.project)
    try:
        text = settings_file.text_of(file) or "" if found.wanting() else ""
        missing = [hole for hole in found.wanting() if jsonc.objects(text).get(hole.key) != hole.value]
    except AssentError:
        return
    for hole in missing:
        yield note(runtime, hole.text, hole.fix)
