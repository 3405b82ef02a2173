"""What `assent doctor` looks at: each installation and this machine → findings with what to do. Changes nothing."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator

from assent import __version__
from assent.agents import known, settings
from assent.agents.capabilities import CAPABILITIES, Evidence
from assent.agents.settings import Hole, jsonc
from assent.agents.settings.entry import argv_of
from assent.agents.settings.hooks import Wired
from assent.cli import doctor_probe, doctor_rehearsal
from assent.cli.doctor_states import Finding, Grade, fine, note
from assent.cli.status import told
from assent.contract import AssentError
from assent.engine import configure
from assent.hook import compiled_client, launcher, other_settings, server_script, settings_file, starting
from assent.server import local, remote_channels
from assent.server.listening import running
from assent.state import files, hosts, pause
from assent.trail.verify import verify

QUICK = 2.0  # seconds for a server to answer
ANEW = "start it anew: `assent stop`, then `assent serve --background`"
DEADLINE = re.compile(r"--deadline[ ']+(\d+)")
PROXIES = ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy")


def off(about: str, text: str, fix: str) -> Finding:
    return Finding(Grade.OFF, about, text, fix)


def open_(about: str, text: str, fix: str) -> Finding:
    return Finding(Grade.OPEN, about, text, fix)


# ---------------------------------------------------------------- this machine


def machine(here: configure.Place) -> Iterator[Finding]:
    yield from _policy(here)
    yield from _state(here.state)
    yield from _server(here.state)
    yield from _start(here)
    for text, fix in remote_channels.findings(here.state, os.environ):
        yield note("assent", text, fix)
    end = pause.until(here.state)
    if end:
        yield note("assent", "the protection of Assent itself is paused", "end it with `assent pause --end`")


def _policy(here: configure.Place) -> Iterator[Finding]:
    try:
        gate, _ = configure.open_gate(here, os.environ)
    except AssentError as error:
        text = f"the policy does not load, so every call is denied: {error}"
        yield Finding(Grade.BLOCKS, "assent", text, "correct the policy")
        return
    held = "".join(f", held down by {clamp}" for clamp in gate.settings.clamps)
    yield fine("assent", f"the policy loads, mode {gate.settings.mode.word}{held}")
    if gate.settings.mode.word == "yolo":
        yield note("assent", "mode yolo skips all rules but managed ones and the floor", "choose `auto` or `full_auto`")


def _state(state: str) -> Iterator[Finding]:
    for path, loose in (
        (state, 0o077),
        (files.user_file(state), 0o022),
        (launcher.path(state), 0o022),
        (compiled_client.path(state), 0o022),
    ):
        try:
            status = os.stat(path)
        except OSError:
            continue
        if status.st_uid not in (os.geteuid(), 0) or stat.S_IMODE(status.st_mode) & loose:
            yield note("assent", f"`{path}` is open to other users", f"chmod go-rwx {path}")
    try:
        found = verify(f"{state}/audit")
    except (AssentError, OSError) as error:
        yield note("assent", f"the trail cannot be read: {error}", "look at it with `assent audit verify`")
        return
    if found.fault is not None:
        yield note("assent", f"the trail is not whole: {found.fault}", "look at it with `assent audit verify`")
    elif os.path.isdir(f"{state}/audit") and not os.access(f"{state}/audit", os.W_OK):
        yield note("assent", "the trail cannot be written, so only reading calls run", f"chmod u+w {state}/audit")
    else:
        yield fine("assent", f"the trail is whole: {found.lines} lines")


def _start(here: configure.Place) -> Iterator[Finding]:
    """Whether a hook that finds no server can start one, where it may."""
    try:
        wanted = configure.open_gate(here, os.environ)[0].settings.start
    except AssentError:
        return
    if wanted and server_script.is_current(here.state, here.home):
        yield fine("assent", "a hook that finds no server starts one")
    elif wanted:
        text = "hooks may start the server, and what they start is missing or of another installation"
        yield note("assent", text, "run `assent install RUNTIME --start-server` again")


def _server(state: str) -> Iterator[Finding]:
    found = running(state)
    if found is None and starting.is_starting(state):
        yield fine("assent", "a server is being started")
        return
    if found is None:
        yield fine("assent", "no server runs: questions go to the agent program's own dialog")
        if why := told(state):
            yield note("assent", f"no server runs{why}", "start one with `assent serve --background`")
        return
    try:
        status = local.ask(found, "GET", "/v1/status", timeout=QUICK)
        version = str(status["version"])
    except AssentError as error:
        yield note("assent", f"a server runs and does not answer: {error}", ANEW)
        return
    if version != __version__:
        yield note("assent", f"the server is of version {version}, this is {__version__}", ANEW)
    else:
        yield fine("assent", f"a server runs, pid {found.pid}")
    for name, state, why in remote_channels.standing(status):
        words = f"{name} is {state}{f': {why}' if why else ''}"
        yield fine("assent", words) if state == "up" else note("assent", words, f"see docs/{name}.md")


# ---------------------------------------------------------------- an installation


def installation(host: hosts.Host, here: configure.Place) -> Iterator[Finding]:
    """Whether the hook is in settings that the program reads, starts, and really blocks."""
    runtime, again = host.runtime, f"run `assent install {host.runtime} --scope {host.scope}`"
    found = settings.load(runtime)
    try:
        text = settings_file.text_of(host.file)
        if text is None:
            yield off(runtime, f"`{host.file}` is gone, and the hook with it", again)
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
    if found.executable and not os.access(host.file, os.X_OK):
        yield off(runtime, f"`{host.file}` cannot be executed, and is passed over", f"chmod u+x {host.file}")
    if host.scope != "managed" and (why := found.distrusted(text, host.file)):
        yield off(runtime, why, again)
    folder = launcher.MANAGED if host.scope == "managed" else here.state
    yield from _fired(runtime, hook, here)
    yield from _times(runtime, hook, here, again)
    yield from _stale(runtime, hook, folder, again)
    if not hook.url:
        yield from _client(runtime, text, folder, again)


def _client(runtime: str, text: str, state: str, again: str) -> Iterator[Finding]:
    """Whether the compiled client or the one in Python is started."""
    why = compiled_client.why_not(state)
    if compiled_client.path(state) not in text:
        if why:
            yield fine(runtime, f"the hook starts in Python; the compiled client is not used: {why}")
        else:
            yield note(runtime, "the hook starts in Python, and there is a compiled client, which starts faster", again)
    elif not compiled_client.is_current(state):
        yield note(runtime, "the compiled client is of another version", again)
    elif why:
        yield note(runtime, f"the settings start the compiled client, and {why}", again)
    else:
        yield fine(runtime, "the hook is the compiled client, and decides in Python where no server answers")


def _holes(runtime: str, file: str, found: tuple[Hole, ...]) -> Iterator[Finding]:
    for hole in found:
        yield Finding(Grade.OFF if hole.inert else Grade.NOTE, runtime, f"`{file}`: {hole.text}", hole.fix)


def _fired(runtime: str, hook: Wired, here: configure.Place) -> Iterator[Finding]:
    wrong = doctor_probe.tried(runtime, hook, here.project)
    for each in wrong:
        grade = Grade.OPEN if each.open else Grade.BLOCKS
        fix = f"run `assent install {runtime}`, then this again"
        if hook.url:
            fix = "start the server: `assent serve --background`"
        yield Finding(grade, runtime, f"the hook fails: {each.text}", fix)
    if not wrong:
        yield fine(runtime, "the hook blocks what it must, and lets the harmless run")
    if hook.weakness:
        yield open_(runtime, hook.weakness, f"run `assent install {runtime}` again")


def _times(runtime: str, hook: Wired, here: configure.Place, again: str) -> Iterator[Finding]:
    """The longest wait for a person < our own deadline < the program's timeout."""
    given = DEADLINE.search(" ".join(hook.words))
    headers = dict(hook.headers).get("Assent-Deadline", "")
    deadline = int(given[1]) if given else int(headers) if headers.isdigit() else 0
    limit = int(CAPABILITIES[runtime].longest)
    ends = min(each for each in (hook.timeout, limit) if each) if hook.timeout or limit else 0
    if deadline and ends and deadline >= ends:
        yield open_(runtime, f"the program goes on after {ends:.0f} s, before the hook has blocked", again)
    try:
        gate, _ = configure.open_gate(here, os.environ)
    except AssentError:
        return
    wait = gate.settings.timeout + gate.settings.unseen
    if deadline and limit and wait >= deadline:
        text = f"a person has {deadline} s to answer at most, as this program waits {limit} s for a hook"
        yield note(runtime, text, "nothing to do; what is not answered by then is denied")
    elif deadline and wait >= deadline:
        yield note(runtime, f"a person has {wait} s to answer, and the hook blocks after {deadline} s", again)


def _stale(runtime: str, hook: Wired, state: str, again: str) -> Iterator[Finding]:
    """Whether the launcher is as this version writes it, and in this folder."""
    if hook.url:
        return
    try:
        text = settings_file.text_of(launcher.path(state))
    except AssentError:
        text = None
    words = argv_of(hook.words)
    whole = settings.load(runtime).executable  # the file in the settings' place is the hook, and calls the launcher
    if launcher.path(state) not in words and not whole:
        yield note(runtime, "the settings call another Assent than this one", again)
    elif text != launcher.script() or not (whole or launcher.FLAGS in words):
        yield note(runtime, "the launcher is of another version", again)
    if "--home" in words[:-1] and (home := words[words.index("--home") + 1]) != state:
        yield note(runtime, f"the hook keeps to the policy and the trail in `{home}`, not in `{state}`", again)


# ---------------------------------------------------------------- a program


def program(
    runtime: str,
    here: configure.Place,
    *,
    http: bool,
    guarded: bool = False,
    scopes: frozenset[str] = frozenset({"user"}),
    static: bool = False,
) -> Iterator[Finding]:
    """What does not depend on one installation: the version, the environment, the project's own settings. `static`: the
    program starts the compiled client, and no shell before it."""
    can = CAPABILITIES[runtime]
    version = hosts.version(runtime)
    if not version:
        yield note(runtime, f"`{hosts.PROGRAMS[runtime]}` is not on the PATH, or says no version", "check the PATH")
    for what, since in can.since:
        if version and not hosts.at_least(version, since):
            text = f"version {version} ignores `{what}`: a hook that breaks lets the call run"
            if guarded:
                text = f"version {version} ignores `{what}`; a line of shell blocks in its place"
            yield Finding(Grade.NOTE if guarded else Grade.OPEN, runtime, text, f"update it to {since} or later")
    if version and hosts.numbers(version) < hosts.numbers(can.version):
        yield note(runtime, f"version {version} is older than {can.version}, which was tried", "update it")
    if can.source is not Evidence.OBSERVED:
        yield note(
            runtime, "it was never tried with the program itself", "see a denied call fail before you rely on it"
        )
    if can.exposed and "managed" not in scopes:
        closed = f"run `assent install {runtime} --scope managed` as root, which withstands that"
        fix = closed if can.managed else "look at a repository before you start the program in it"
        yield Finding(Grade.EXPOSED, runtime, f"before the program starts, {can.exposed}", fix)
    if broken := can.fails_open:
        text = f"a hook that ends in one of these ways does not block in this program: {', '.join(broken)}"
        yield note(runtime, text, "nothing to do; docs/runtimes.md says what follows then")
    for name in known.lists("environment", "elsewhere").get(runtime, ()):
        if os.environ.get(name):
            yield off(runtime, f"`{name}` is set here: the program reads other settings", f"unset {name}")
    if http and any(os.environ.get(name) for name in PROXIES) and not _exempt():
        text = "a proxy is set without NO_PROXY: the HTTP hook is not reached, and every call is blocked"
        yield note(runtime, text, "export NO_PROXY=127.0.0.1,localhost")
    withstood = can.managed and "managed" in scopes
    for path, hole in other_settings.around(runtime, here, http=http, scopes=scopes):
        if withstood and not path.startswith("/etc/"):
            hole = Hole(f"{hole.text}; the hook of the machine's settings withstands it", hole.fix)
        preloads = "`LD_" in hole.text and static  # it is for programs that load libraries, and this one loads none
        yield from _holes(runtime, path, (Hole(hole.text, hole.fix) if preloads else hole,))
    yield from _wanting(runtime, here)


def rehearsed(runtime: str, here: configure.Place) -> Iterator[Finding]:
    """The program itself, started here with its own settings: does it let the hook block?"""
    if runtime not in doctor_rehearsal.RUNTIMES:
        yield note(runtime, "it cannot be started for a trial", "see a denied call fail before you rely on it")
        return
    found = doctor_rehearsal.tried(runtime, here.project)
    if found.blocked:
        yield fine(runtime, "the program was started here, and let the hook block a forbidden call")
    elif found.blocked is None:
        yield note(runtime, f"the program was started, and no call was made: {found.text}", "start it by hand once")
    else:
        text = f"the program was started here, and did not let the hook block a forbidden call: {found.text}"
        yield open_(runtime, text, f"run `assent install {runtime}`, then this again")


def _exempt() -> bool:
    listed = os.environ.get("NO_PROXY") or os.environ.get("no_proxy") or ""
    return any(each.strip() in ("127.0.0.1", "*") for each in listed.split(","))


def _wanting(runtime: str, here: configure.Place) -> Iterator[Finding]:
    """What the program leaves open unless the user's settings say otherwise."""
    found = settings.load(runtime)
    file = settings_file.expanded(found.places["user"], here.home, here.project)
    try:
        text = settings_file.text_of(file) or "" if found.wanting() else ""
        missing = [hole for hole in found.wanting() if jsonc.objects(text).get(hole.key) != hole.value]
    except AssentError:
        return
    for hole in missing:
        yield note(runtime, hole.text, hole.fix)
