"""`assent doctor`: does the hook really block? Prints what was found, with what to do. Repairs nothing."""

from __future__ import annotations

import argparse
import json
import os
import textwrap

from assent import configure
from assent.adapters import settings
from assent.adapters.settings.wired import SHELL, Wired, wired
from assent.contract.display import one_line
from assent.contract.errors import AssentError
from assent.ui import checkup, compiled, hostfile, hosts
from assent.ui.checkup import Finding, Grade

DESCRIPTION = (
    "Try for each installed agent program whether the hook really blocks: by the very command in its settings, with a "
    "call that must be denied, one that must run, and garbage. Looks at versions, policy, trail and server too."
)
EPILOG = "exit status: 0 every guard holds, 1 one is inert, 2 error"
WORDS = {Grade.FINE: "ok", Grade.NOTE: "note", Grade.INERT: "INERT"}


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("runtime", nargs="?", metavar="RUNTIME", choices=settings.RUNTIMES, help="one program alone")
    parser.add_argument(
        "--start", action="store_true", help="start the program itself too, offline, with a model that tries a call"
    )
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")
    parser.add_argument("--project", metavar="DIR", default="", help="the project's folder (default: this one)")


def run(options: argparse.Namespace) -> int:
    here = configure.place(os.path.abspath(options.project or os.getcwd()), os.environ)
    found = examined(options.runtime or "", here, start=options.start)
    if options.json:
        rows = [{"grade": WORDS[each.grade], "about": each.about, "text": each.text, "fix": each.fix} for each in found]
        print(json.dumps(rows, indent=1))
    else:
        show(found)
    return 1 if any(each.grade is Grade.INERT for each in found) else 0


def examined(runtime: str, here: configure.Place, *, start: bool = False) -> list[Finding]:
    """Everything that was looked at, installation by installation."""
    found: list[Finding] = []
    try:
        known = list(hosts.registered(here.state))
    except AssentError as error:
        known = []
        found.append(checkup.note("assent", str(error), "run `assent install` again"))
    known += [host for host in unregistered(here) if all(each.file != host.file for each in known)]
    chosen = [host for host in known if runtime in ("", host.runtime)]
    for host in chosen:
        found += checkup.installation(host, here)
    for name in dict.fromkeys(host.runtime for host in chosen):
        hooks = [hook for host in chosen if host.runtime == name for hook in hooks_of(host)]
        guarded = bool(hooks) and all(hook.words[:2] == SHELL for hook in hooks)
        scopes = frozenset(host.scope for host in chosen if host.runtime == name)
        http = any(hook.url for hook in hooks)
        static = bool(hooks) and all(hook.words[:1] == (compiled.path(here.state),) for hook in hooks)
        found += checkup.program(name, here, http=http, guarded=guarded, scopes=scopes, static=static)
        if start:
            found += checkup.rehearsed(name, here)
    if not chosen:
        shown = runtime or "an agent program"
        fix = f"run `assent install {runtime or 'claude'}`"
        grade = Grade.INERT if runtime else Grade.NOTE
        found.append(Finding(grade, runtime or "assent", f"Assent is not installed in {shown}", fix))
    return [*found, *checkup.machine(here)]


def unregistered(here: configure.Place) -> list[hosts.Host]:
    """Installations that stand in settings and on no record."""
    found = []
    for runtime in settings.RUNTIMES:
        for scope, place in settings.load(runtime).places.items():
            file = hostfile.expanded(place, here.home, here.project)
            try:
                if wired(runtime, hostfile.text_of(file) or "", file):
                    found.append(hosts.Host(runtime, scope, file))
            except AssentError:
                continue
    return found


def hooks_of(host: hosts.Host) -> tuple[Wired, ...]:
    try:
        return wired(host.runtime, hostfile.text_of(host.file) or "", host.file)
    except AssentError:
        return ()


def show(found: list[Finding]) -> None:
    width = max(len(each.about) for each in found)
    for each in sorted(found, key=lambda each: (each.about == "assent", each.about, -each.grade)):
        print(f"{WORDS[each.grade]:6} {each.about:{width}}  {one_line(each.text, 300)}")
        if each.fix:
            print(textwrap.indent(f"→ {each.fix}", " " * (width + 9)))
    count = sum(each.grade is Grade.INERT for each in found)
    some = any(each.about != "assent" for each in found)
    holds = "every guard that is installed holds" if some else "no guard is installed: nothing is checked here"
    print(f"\n{count} inert: calls run unchecked there" if count else f"\n{holds}")
