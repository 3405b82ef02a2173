"""`assent install`: our hook in the settings of an agent program, and a policy to begin with. Decides no call.

Everything is shown before it is done. The settings keep all that is in them; a file that cannot be read is refused."""

from __future__ import annotations

import argparse
import json
import os
import re
import secrets
import sys

from assent.agents import known, permissions, settings
from assent.agents.adapter import deadline_within
from assent.agents.capabilities import CAPABILITIES
from assent.agents.settings import Hole, jsonc
from assent.agents.settings.entry import HookEntry, guarded
from assent.cli import import_, install_others
from assent.cli.command import MODES
from assent.contract import AssentError, PayloadError, PolicyError, SettingsError, Value
from assent.engine import configure
from assent.hook import asking, compiled_client, launcher, renewal, server_script, settings_file, starting
from assent.hook.hook import DEADLINE
from assent.policy import rewrite, shipped
from assent.policy.settings import TIMEOUT, UNSEEN
from assent.programs.catalog import catalog
from assent.server.access import caller_token
from assent.server.listening import PORT, SOCKET_FILE, running
from assent.state import files, hosts
from assent.state.files import state_folder

DESCRIPTION = "Put Assent in front of every tool call of an agent program."
EPILOG = (
    "The settings keep all that is in them, and a copy is made. Run it again after an update of Assent. "
    "`assent doctor` then tries whether the hook really blocks."
)
MARGIN = 30  # seconds between our deadline and that of the program
NAMED = re.compile(r'"name":\s*"(assent-[0-9a-f]{16})"')
INERT = 1  # exit status: it was written, and the program will not load it


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("runtime", metavar="RUNTIME", choices=settings.RUNTIMES, help="the agent program")
    parser.add_argument("--scope", default="user", help=f"user (the default), project, managed{more_scopes()}")
    parser.add_argument("--project", metavar="DIR", default="", help="the project's folder (default: this one)")
    parser.add_argument("--dry-run", action="store_true", help="show what would change, and change nothing")
    parser.add_argument("--yes", action="store_true", help="take the offered policy too, without a question")
    parser.add_argument("--no-policy", action="store_true", help="the hook alone: offer no policy")
    parser.add_argument("--mode", choices=MODES, default=shipped.STARTING, help="the mode to offer (default: auto)")
    parser.add_argument("--http", action="store_true", help="ask the server over HTTP; needs a server that always runs")
    parser.add_argument("--start-server", action="store_true", help="let a hook that finds no server start one")
    parser.add_argument("--harden", action="store_true", help="also set what closes ways around the hook")
    parser.add_argument(
        "--strip-comments", action="store_true", help="make the settings plain JSON, where the program takes no other"
    )


def more_scopes() -> str:
    """The scopes that only some programs have."""
    usual = ("user", "project", "managed")
    found = ((name, scope) for name in settings.RUNTIMES for scope in settings.load(name).places if scope not in usual)
    return "".join(f"; {name}: {scope}" for name, scope in found)


class Plan(Value):
    """What an installation would write. `before` is None where the settings file is not there."""

    __slots__ = ("host", "before", "after", "objection", "holes")

    def __init__(
        self, host: hosts.Host, before: str | None, after: str, objection: str, open_holes: tuple[Hole, ...]
    ) -> None:
        self.host = host
        self.before = before
        self.after = after
        self.objection = objection
        self.holes = open_holes


def run(options: argparse.Namespace) -> int:
    here = configure.place(os.path.abspath(options.project or os.getcwd()), os.environ)
    plan = planned(options, here)
    show(plan)
    policy = offered(options, here)
    if options.dry_run:
        if options.start_server:
            print(f"`server.start = true` would be in {files.user_file(here.state)}")
        print("nothing was changed")
        return 0
    install(plan, here.state)
    if policy is not None:
        path, before, after = policy
        import_.save(here.state, path, before, after)
        print(f"wrote {path}")
        if options.runtime in permissions.RUNTIMES:
            import_.keep(import_.gather(options.runtime, here.home, here.project), here)
    start_server(options, here)
    print(f"installed in {plan.host.file}; try it with `assent doctor {options.runtime}`")
    closed = plan.host.scope == "managed" and not open_to_all(plan.host)
    return INERT if plan.objection or closed else 0


def open_to_all(host: hosts.Host) -> bool:
    """Whether every user of the machine can read the settings and start the hook; says which."""
    path, follows = install_others.problem(host.words, host.file)
    if path:
        print(f"WARNING: other users cannot read `{path}`: {follows}", file=sys.stderr)
    else:
        how = "tried as `nobody`" if os.geteuid() == 0 else "told from the permissions"
        print(f"every user of this machine can read the settings and start the hook ({how})")
    return not path


# ---------------------------------------------------------------- the hook


def planned(options: argparse.Namespace, here: configure.Place) -> Plan:
    """What would be written. Raises SettingsError where the file must be left alone."""
    runtime, found = options.runtime, settings.load(options.runtime)
    if options.scope not in found.places:
        raise PayloadError(f"{runtime} has no scope `{options.scope}`; it has {', '.join(found.places)}")
    file = settings_file.expanded(found.places[options.scope], here.home, here.project)
    version = hosts.version(runtime)
    deadline, timeout = times(runtime, here)
    url, headers = http_hook(options, here.state, version, deadline) if options.http else ("", ())
    socket = os.path.join(here.state, SOCKET_FILE)
    folder = launcher.MANAGED if options.scope == "managed" else here.state
    words = launcher.launcher(folder, runtime, socket=socket, deadline=deadline)
    if not compiled_client.why_not(folder):
        words = compiled_client.words(words, folder)
    if blocking(runtime) and version and not hosts.at_least(version, blocking(runtime)):
        words = guarded(words)  # it does not know the key by which a broken hook blocks
    before = settings_file.text_of(file)
    name = hook_name(before or "") if found.secret_name else "assent"
    entry = HookEntry(words, timeout, url=url, headers=headers, file=file, name=name)
    text = before or ""
    try:
        if options.strip_comments:
            text = jsonc.stripped(text)
        after = found.install(text, entry)
        open_holes = (*found.holes(after, http=options.http), *missing(runtime, options.scope, after))
        closing = found.needed(after) if options.scope == "managed" else ()
        if options.harden:
            closing += tuple(hole for hole in open_holes if hole.key)
            open_holes = tuple(hole for hole in open_holes if not hole.key)
        keys = tuple((e.key, json.dumps(e.value), jsonc.source(after, e.key)) for e in closing)
        keys = tuple(each for each in keys if each[2] != each[1])
        after = hardened(after, closing)
        objection = found.objection(after)
    except SettingsError as error:
        raise SettingsError(f"`{file}` was left as it is: {error}") from None
    host = hosts.Host(
        runtime,
        options.scope,
        file,
        version=version,
        names=hosts.process_names(runtime),
        words=words,
        made=before is None,
        set=keys,
        stripped=options.strip_comments and text != (before or ""),
    )
    return Plan(host, before, after, objection, open_holes)


def hook_name(text: str) -> str:
    """A name for the hook that no repository can know, or the one that it has already: by its name a project's settings
    can switch it off."""
    found = NAMED.search(text)
    return found[1] if found else f"assent-{secrets.token_hex(8)}"


def times(runtime: str, here: configure.Place) -> tuple[int, int]:
    """Our own deadline above the longest wait for a person, and the program's timeout above that."""
    try:
        gate, _ = configure.open_gate(here, os.environ)
        wait = gate.settings.timeout + gate.settings.unseen
    except AssentError:  # a policy that does not load is no reason to install nothing
        wait = TIMEOUT + UNSEEN
    deadline = max(DEADLINE, wait + MARGIN)
    longest = int(CAPABILITIES[runtime].longest)
    if longest:
        deadline = min(deadline, deadline_within(longest))
    return deadline, min(deadline + MARGIN, longest or deadline + MARGIN)


def blocking(runtime: str) -> str:
    """The version since which the program blocks where a hook breaks, if its settings say so."""
    return dict(CAPABILITIES[runtime].since).get("onFailure", "")


def missing(runtime: str, scope: str, text: str) -> tuple[Hole, ...]:
    """The ways that stay open unless the settings close them."""
    return tuple(
        hole for hole in settings.load(runtime).wanting(scope) if jsonc.objects(text).get(hole.key) != hole.value
    )


def hardened(text: str, open_holes: tuple[Hole, ...]) -> str:
    for hole in open_holes:
        if hole.key:
            text = jsonc.with_value(text, hole.key, hole.value)
    return text


def http_hook(
    options: argparse.Namespace, state: str, version: str, deadline: int
) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Where the server would listen, how a caller shows that it is one, and how long it waits."""
    can = CAPABILITIES[options.runtime]
    if not can.http or not blocking(options.runtime):
        raise PayloadError(f"{options.runtime} is not asked over HTTP; leave --http out")
    since = blocking(options.runtime)
    if not hosts.at_least(version, since):
        shown = version or "of a version that is not known"
        raise PayloadError(f"over HTTP a lost server would let calls run: {can.title} is {shown}, and it needs {since}")
    if options.scope == "project":
        raise PayloadError("a project's settings are shared, and the server's token is yours; use --scope user")
    found = running(state)
    port = found.port if found is not None else PORT
    token = caller_token(state_folder(state))
    headers = (("Authorization", f"Bearer {token}"), ("Assent-Deadline", str(deadline)))
    return f"http://127.0.0.1:{port}/hook/{options.runtime}", headers


def show(plan: Plan) -> None:
    host = plan.host
    if plan.after == plan.before:
        print(f"{host.file} has the hook already")
    print(settings_file.difference(host.file, plan.before or "", plan.after), end="")
    title = CAPABILITIES[host.runtime].title
    if not host.version:
        print(f"note: `{hosts.PROGRAMS[host.runtime]}` was not found, or does not say its version", file=sys.stderr)
    for what, since in CAPABILITIES[host.runtime].since:
        if host.version and not hosts.at_least(host.version, since):
            print(
                f"WARNING: {title} {host.version} ignores `{what}`: a hook that breaks lets the call run; "
                f"update it to {since} or later",
                file=sys.stderr,
            )
    if host.scope == "project":
        print(
            "note: this file is the project's: for others it blocks every call until they install too", file=sys.stderr
        )
    for hole in plan.holes:
        print(f"note: {hole.text}; {hole.fix}", file=sys.stderr)
    if host.scope != "managed" and CAPABILITIES[host.runtime].exposed:
        print(f"WARNING: {exposed(host.runtime)}", file=sys.stderr)
    if plan.objection:
        print(f"WARNING: {host.file}: {plan.objection}", file=sys.stderr)
        print(
            "WARNING: until then nothing in that file counts, and no call is checked. "
            f"`assent install {host.runtime} --strip-comments` makes it plain JSON (a copy is kept)",
            file=sys.stderr,
        )


def exposed(runtime: str) -> str:
    """What a repository can do to a hook that is not the machine's, and what to do about it."""
    can = CAPABILITIES[runtime]
    closed = f"`assent install {runtime} --scope managed`, as root, closes that"
    fix = closed if can.managed else "the program has no settings that withstand it: look at a repository first"
    return f"before the program starts, {can.exposed}; {fix}"


def install(plan: Plan, state: str) -> None:
    """Write the launcher, the settings and the record of the installation."""
    host = plan.host
    public = host.scope == "managed"
    folder = launcher.MANAGED if public else state
    asked = settings.load(host.runtime).asking
    launcher.write(folder, asked.script if asked is not None else "")
    renewal.renew(launcher.bundle())
    catalog.save()
    known.catalog.save()
    if not compiled_client.why_not(folder):
        compiled_client.write(folder)
    if host.scope == "user":
        asking.write(host.runtime, state, host.file)
    if plan.after != plan.before and plan.before is not None:
        print(f"a copy of the settings is in {settings_file.keep_copy(state, host.file, plan.before)}")
    # Also where nothing changed: an earlier installation may have left it closed to others.
    if plan.after != plan.before or public:
        found = settings.load(host.runtime)
        settings_file.replace(host.file, plan.after, executable=found.executable, public=public)
    if host.scope in settings.load(host.runtime).beside:
        path, text = beside(host)
        settings_file.replace(path, text)
    hosts.register(state, host)


def beside(host: hosts.Host) -> tuple[str, str]:
    """The file that must stand beside the settings, and what is in it."""
    place, text = settings.load(host.runtime).beside[host.scope]
    return os.path.normpath(os.path.join(os.path.dirname(host.file), place)), text


# ---------------------------------------------------------------- the policy


def offered(options: argparse.Namespace, here: configure.Place) -> tuple[str, str | None, str] | None:
    """Mode, packs and imported rules for the user's policy, shown; None where they are not wanted, or not asked for."""
    if options.no_policy:
        return None
    path = files.user_file(here.state)
    before = settings_file.text_of(path)
    text = before if before is not None else shipped.starter(options.mode)
    found = import_.Import({}, (), ())
    if options.runtime in permissions.RUNTIMES:
        found = import_.gather(options.runtime, here.home, here.project)
    try:
        after = rewrite.with_mode(text, options.mode)
        after = rewrite.with_packs(after, shipped.PACKS)
        after = import_.added(after, found)
    except PolicyError as error:
        print(f"note: {path} cannot be added to: {error}", file=sys.stderr)
        return None
    if after == before:
        return None
    print(
        f"\nyour policy would be: mode `{options.mode}`, the packs {', '.join(shipped.PACKS)}, and what the "
        f"settings of {CAPABILITIES[options.runtime].title} say already (rules: {found.count})"
    )
    import_.report(found)
    print(settings_file.difference(path, before or "", after), end="")
    if options.dry_run or options.yes or agreed("write this policy?"):
        if "untrusted_mode" in rewrite.read(after):
            print("next: `assent trust` in each project of yours; elsewhere the mode is that of `untrusted_mode`")
        return path, before, after
    print("the policy was left as it is; --yes takes it")
    return None


def start_server(options: argparse.Namespace, here: configure.Place) -> None:
    """Let hooks start the server, where the user says so: by the option, to a question, or in a file that stands."""
    path = files.user_file(here.state)
    before = settings_file.text_of(path)
    try:
        after = rewrite.with_start(before if before is not None else import_.NEW)
        starts = rewrite.starts(after)
    except PolicyError as error:
        print(f"note: {path} cannot be added to: {error}", file=sys.stderr)
        return
    if not starts:
        if options.start_server:
            print(f"note: {path} says `server.start = false`, and that stays", file=sys.stderr)
        return
    said = after == before
    if not said and not options.start_server:
        wanted = "a hook asks the server many times faster than it decides alone; start one where none runs?"
        if options.no_policy or not agreed(wanted):
            return
    why = server_script.write(here.state, here.home)
    if why:
        fix = "install its libraries with `pip install 'assent[server]'`, then run this again"
        print(f"note: hooks cannot start the server: {why}; {fix}", file=sys.stderr)
        return
    starting.note(here.state, "")
    if not said:
        import_.save(here.state, path, before, after)
        print(f"hooks start the server where none runs: `server.start = true` is in {path}")


def agreed(question: str) -> bool:
    """Whether a person at the terminal says yes. Without one, nobody did."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return False
    try:
        return input(f"{question} [y/N] ").strip().lower() in ("y", "yes")
    except EOFError:
        return False
