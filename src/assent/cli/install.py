"""`assent install`: adds the hook to an agent program's settings, and offers a policy to start from.

Every change is shown before it is made. Other settings stay; a file that cannot be read is left alone."""

from __future__ import annotations

import argparse
import json
import os
import re
import secrets
import sys
from dataclasses import dataclass

from assent.agents import known, permissions, settings
from assent.agents.adapter import deadline_within
from assent.agents.capabilities import CAPABILITIES
from assent.agents.settings import Hole, jsonc
from assent.agents.settings.entry import HookEntry, guarded
from assent.cli import import_, install_contain, install_others
from assent.cli.command import MODES, PROJECT_FOLDER, agent_program, flag, one_of, place, takes, typed
from assent.contain import sandbox
from assent.contract import AssentError, PayloadError, PolicyError, SettingsError
from assent.contract.packs import OFFERED, PACKS
from assent.engine import configure
from assent.hook import asking, compiled_client, launcher, server_script, settings_file, starting
from assent.hook.hook import DEADLINE, renew
from assent.policy import rewrite, shipped
from assent.policy.settings import TIMEOUT, UNSEEN
from assent.programs.catalog import catalog
from assent.server import access
from assent.server.listening import PORT, SOCKET_FILE, running
from assent.state import files, hosts
from assent.state.files import state_folder

DESCRIPTION = "Add the hook to an agent program's settings, so that each of its tool calls passes the gate."
EPILOG = (
    "Other settings stay as they are, and a copy is made. Run it again after an update of Assent. "
    "`assent doctor` then tests whether the hook really blocks."
)
MARGIN = 30  # seconds between our deadline and the program's timeout
NAMED = re.compile(r'"name":\s*"(assent-[0-9a-f]{16})"')
INERT = 1  # exit status: it was written, but the program will not load it


def more_scopes() -> str:
    """The scopes that only some programs have."""
    usual = ("user", "project", "managed")
    found = ((name, scope) for name in settings.RUNTIMES for scope in settings.load(name).places if scope not in usual)
    return "".join(f"; {name}: {scope}" for name, scope in found)


arguments = takes(
    {
        "runtime": agent_program(settings.RUNTIMES),
        "--scope": {"default": "user", "help": f"user (the default), project, managed{more_scopes()}"},
        "--project": PROJECT_FOLDER,
        "--dry-run": flag("show what would change, and change nothing"),
        "--yes": flag("also write the offered policy, without asking"),
        "--no-policy": flag("install the hook alone, and offer no policy"),
        "--mode": one_of(MODES, f"the mode to offer (default: {shipped.STARTING})", default=shipped.STARTING),
        "--http": flag("let the hook ask the server over HTTP; needs a server that always runs"),
        "--start-server": flag("let a hook that finds no server start one"),
        "--contain": flag("let unproved code run contained instead of asking, if bubblewrap is installed"),
        "--harden": flag("also change settings that would let calls bypass the hook"),
        "--strip-comments": flag("remove comments from the settings, if the program reads only plain JSON"),
    }
)


@dataclass(frozen=True, slots=True)
class InstallPlan:
    """What an installation would write. `before` is None if there is no settings file."""

    host: hosts.Host
    before: str | None
    after: str
    objection: str
    holes: tuple[Hole, ...]


def run(options: argparse.Namespace) -> int:
    here = place(options.project)
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
    install_contain.offer(options, here, agreed)
    print(f"installed in {plan.host.file}; try it with `assent doctor {options.runtime}`")
    closed = plan.host.scope == "managed" and not open_to_all(plan.host)
    return INERT if plan.objection or closed else 0


def open_to_all(host: hosts.Host) -> bool:
    """Whether every user of the machine can read the settings and start the hook; says which."""
    path, follows = install_others.problem(host.words, host.file)
    if path:
        print(f"WARNING: other users cannot read `{path}`: {follows}", file=sys.stderr)
    else:
        how = "tested as `nobody`" if os.geteuid() == 0 else "by the permissions"
        print(f"every user of this machine can read the settings and start the hook ({how})")
    return not path


# ---------------------------------------------------------------- the hook


def planned(options: argparse.Namespace, here: configure.Place) -> InstallPlan:
    """Compute what would be written. Raises SettingsError if the file must be left alone."""
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
        words = guarded(words)  # it ignores the key that makes a broken hook block
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
    return InstallPlan(host, before, after, objection, open_holes)


def hook_name(text: str) -> str:
    """The hook's name, or a new one that no repository can know: a project's settings could switch the hook off by
    name."""
    found = NAMED.search(text)
    return found[1] if found else f"assent-{secrets.token_hex(8)}"


def times(runtime: str, here: configure.Place) -> tuple[int, int]:
    """Our own deadline above the longest wait for a person, and the program's timeout above that."""
    try:
        gate, _ = configure.open_gate(here, os.environ)
        wait = gate.settings.timeout + gate.settings.unseen
    except AssentError:  # install the hook even if the policy does not load
        wait = TIMEOUT + UNSEEN
    deadline = max(DEADLINE, wait + MARGIN)
    longest = int(CAPABILITIES[runtime].longest)
    if longest:
        deadline = min(deadline, deadline_within(longest))
    return deadline, min(deadline + MARGIN, longest or deadline + MARGIN)


def blocking(runtime: str) -> str:
    """The first version that can be set to block when a hook fails."""
    return dict(CAPABILITIES[runtime].since).get("onFailure", "")


def missing(runtime: str, scope: str, text: str) -> tuple[Hole, ...]:
    """The settings that are missing, without which calls can bypass the hook."""
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
    """The server's address, and the headers with the caller's token and the deadline."""
    can = CAPABILITIES[options.runtime]
    if not can.http or not blocking(options.runtime):
        raise PayloadError(f"{options.runtime} has no HTTP hooks that block; omit --http")
    since = blocking(options.runtime)
    if not hosts.at_least(version, since):
        shown = version or "of an unknown version"
        raise PayloadError(f"without a server HTTP hooks would let calls run: {can.title} is {shown}, it needs {since}")
    if options.scope == "project":
        raise PayloadError("a project's settings are shared, but the server's token is secret; use --scope user")
    found = running(state)
    port = found.port if found is not None else PORT
    token = access.load_token(state_folder(state))
    headers = (("Authorization", f"Bearer {token}"), ("Assent-Deadline", str(deadline)))
    return f"http://127.0.0.1:{port}/hook/{options.runtime}", headers


def show(plan: InstallPlan) -> None:
    host = plan.host
    if plan.after == plan.before:
        print(f"{host.file} has the hook already")
    print(settings_file.difference(host.file, plan.before or "", plan.after), end="")
    title = CAPABILITIES[host.runtime].title
    if not host.version:
        print(f"note: `{hosts.PROGRAMS[host.runtime]}` was not found, or does not print its version", file=sys.stderr)
    for what, since in CAPABILITIES[host.runtime].since:
        if host.version and not hosts.at_least(host.version, since):
            print(
                f"WARNING: {title} {host.version} ignores `{what}`: a hook that breaks lets the call run; "
                f"update it to {since} or later",
                file=sys.stderr,
            )
    if host.scope == "project":
        text = "this file belongs to the project: it blocks every call of others until they install Assent too"
        print(f"note: {text}", file=sys.stderr)
    for hole in plan.holes:
        print(f"note: {hole.text}; {hole.fix}", file=sys.stderr)
    if host.scope != "managed" and CAPABILITIES[host.runtime].exposed:
        print(f"WARNING: {exposed(host.runtime)}", file=sys.stderr)
    if plan.objection:
        print(f"WARNING: {host.file}: {plan.objection}", file=sys.stderr)
        print(
            "WARNING: until that is fixed the program ignores the file, and no call is checked. "
            f"`assent install {host.runtime} --strip-comments` makes it plain JSON (a copy is kept)",
            file=sys.stderr,
        )


def exposed(runtime: str) -> str:
    """How a repository can switch off a hook that is not in the machine's settings, and what to do."""
    can = CAPABILITIES[runtime]
    managed = f"`assent install {runtime} --scope managed`, as root, prevents that"
    fix = managed if can.managed else "the program has no settings that prevent it: check a repository first"
    return f"before the program starts, {can.exposed}; {fix}"


def install(plan: InstallPlan, state: str) -> None:
    """Write the launcher, the settings and the record of the installation."""
    host = plan.host
    public = host.scope == "managed"
    folder = launcher.MANAGED if public else state
    asked = settings.load(host.runtime).asking
    launcher.write(folder, asked.script if asked is not None else "")
    renew(launcher.bundle())
    catalog.renew()
    known.catalog.renew()
    if not compiled_client.why_not(folder):
        compiled_client.write(folder)
    if os.path.isfile(sandbox.source()):
        sandbox.install(state)
    if host.scope == "user":
        asking.write(host.runtime, state, host.file)
    if plan.after != plan.before and plan.before is not None:
        print(f"a copy of the settings is in {settings_file.keep_copy(state, host.file, plan.before)}")
    # Also if nothing changed: an earlier installation may have left it unreadable to others.
    if plan.after != plan.before or public:
        found = settings.load(host.runtime)
        settings_file.replace(host.file, plan.after, executable=found.executable, public=public)
    if host.scope in settings.load(host.runtime).beside:
        path, text = beside(host)
        settings_file.replace(path, text)
    hosts.register(state, host)


def beside(host: hosts.Host) -> tuple[str, str]:
    """The file that must be next to the settings, and its content."""
    relative, text = settings.load(host.runtime).beside[host.scope]
    return os.path.normpath(os.path.join(os.path.dirname(host.file), relative)), text


# ---------------------------------------------------------------- the policy


def offered(options: argparse.Namespace, here: configure.Place) -> tuple[str, str | None, str] | None:
    """Show mode, packs and imported rules for the user's policy; None if they are not to be written."""
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
        after = rewrite.with_packs(after, OFFERED)
        after = import_.added(after, found)
    except PolicyError as error:
        print(f"note: nothing can be added to {path}: {error}", file=sys.stderr)
        return None
    if after == before:
        return None
    print(
        f"\nyour policy would be: mode `{options.mode}`, {found.count} rules from the settings of "
        f"{CAPABILITIES[options.runtime].title}, and these packs, each for what the agent may do without a question:"
    )
    for name in OFFERED:
        print(f"  {name}: {PACKS[name]}")
    print("these are off until you add their names to `[packs] on`:")
    for name in PACKS:
        if name not in OFFERED:
            print(f"  {name}: {PACKS[name]}")
    import_.report(found)
    print(settings_file.difference(path, before or "", after), end="")
    if options.dry_run or options.yes or agreed("write this policy?"):
        if "untrusted_mode" in rewrite.read(after):
            print("next: run `assent trust` in each of your projects; in other folders the mode is `untrusted_mode`")
        return path, before, after
    print("the policy was left as it is; --yes writes it")
    return None


def start_server(options: argparse.Namespace, here: configure.Place) -> None:
    """Let hooks start the server, if the user agrees: by the option, to a question, or in the policy."""
    path = files.user_file(here.state)
    before = settings_file.text_of(path)
    try:
        after = rewrite.with_start(before if before is not None else import_.NEW)
        starts = rewrite.starts(after)
    except PolicyError as error:
        print(f"note: nothing can be added to {path}: {error}", file=sys.stderr)
        return
    if not starts:
        if options.start_server:
            print(f"note: {path} has `server.start = false`, which is not changed", file=sys.stderr)
        return
    said = after == before
    if not said and not options.start_server:
        question = "a hook that asks a server is many times faster; may hooks start one if none runs?"
        if options.no_policy or not agreed(question):
            return
    why = server_script.write(here.state, here.home)
    if why:
        fix = "install its libraries with `pip install 'assent[server]'`, then run this again"
        print(f"note: hooks cannot start the server: {why}; {fix}", file=sys.stderr)
        return
    starting.note(here.state, "")
    if not said:
        import_.save(here.state, path, before, after)
        print(f"hooks start the server if none runs: `server.start = true` is in {path}")


def agreed(question: str) -> bool:
    """Whether a person at the terminal says yes; no if there is none."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return False
    return typed(f"{question} [y/N] ").lower() in ("y", "yes")
