"""`assent doctor`: does the hook really block? Prints what was found, with what to do. Repairs nothing."""

from __future__ import annotations

import argparse
import json
import os
import textwrap

from assent.agents import settings
from assent.agents.settings.hooks import SHELL, Wired
from assent.cli import doctor_checks, doctor_states
from assent.cli.doctor_states import HOLDS, WORDS, Finding, Grade
from assent.contract import AssentError
from assent.contract.display import one_line
from assent.engine import configure
from assent.hook import compiled_client, launcher, settings_file
from assent.state import hosts

DESCRIPTION = (
    "Try for each installed agent program whether the hook really blocks: by the very command in its settings, with a "
    "call that must be denied, one that must run, and garbage. Looks at versions, policy, trail and server too."
)
EPILOG = (
    "exit status: 0 every guard holds, 1 a guard is off or does not block (also where none is installed), 2 error, "
    "3 a guard blocks everything"
)


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
    return doctor_states.worst(each.grade for each in found).status


def examined(runtime: str, here: configure.Place, *, start: bool = False) -> list[Finding]:
    """Everything that was looked at, installation by installation."""
    found: list[Finding] = []
    try:
        known = list(hosts.registered(here.state))
    except AssentError as error:
        known = []
        found.append(doctor_states.note("assent", str(error), "run `assent install` again"))
    known += [host for host in unregistered(here) if all(each.file != host.file for each in known)]
    chosen = [host for host in known if runtime in ("", host.runtime)]
    for name in dict.fromkeys(host.runtime for host in chosen):
        found += looked_at(name, [host for host in chosen if host.runtime == name], here)
        if start:
            found += doctor_checks.rehearsed(name, here)
    if not chosen:
        shown = runtime or "an agent program"
        fix = f"run `assent install {runtime or 'RUNTIME'}`"
        found.append(Finding(Grade.OFF, runtime or "assent", f"Assent is not installed in {shown}", fix))
    return [*found, *doctor_checks.machine(here)]


def looked_at(runtime: str, installed: list[hosts.Host], here: configure.Place) -> list[Finding]:
    """What was found of one program, over all its installations. One that holds makes up for others that are off."""
    each = [list(doctor_checks.installation(host, here)) for host in installed]
    holding = [
        host.scope
        for host, found in zip(installed, each, strict=True)
        if doctor_states.worst(f.grade for f in found) is HOLDS
    ]
    found = [doctor_states.weakened(one) if holding else one for findings in each for one in findings]
    hooks = [hook for host in installed for hook in hooks_of(host)]
    found += doctor_checks.program(
        runtime,
        here,
        http=any(hook.url for hook in hooks),
        guarded=bool(hooks) and all(hook.words[:2] == SHELL for hook in hooks),
        scopes=frozenset(holding or (host.scope for host in installed)),
        static=bool(hooks) and all(hook.words[:1] == (compiled_client.path(here.state),) for hook in hooks),
    )
    return found


def unregistered(here: configure.Place) -> list[hosts.Host]:
    """Installations that stand in settings and on no record."""
    found = []
    for runtime in settings.RUNTIMES:
        for scope, place in settings.load(runtime).places.items():
            file = settings_file.expanded(place, here.home, here.project)
            try:
                if settings.load(runtime).wired(settings_file.text_of(file) or "", file):
                    found.append(hosts.Host(runtime, scope, file))
            except AssentError:
                # What is the machine's and closed to this user may be a guard that was meant for everybody.
                if scope == "managed" and os.path.isdir(launcher.MANAGED):
                    found.append(hosts.Host(runtime, scope, file))
    return found


def hooks_of(host: hosts.Host) -> tuple[Wired, ...]:
    try:
        return settings.load(host.runtime).wired(settings_file.text_of(host.file) or "", host.file)
    except AssentError:
        return ()


def show(found: list[Finding]) -> None:
    for line in summary(found):
        print(line)
    print()
    width = max(len(each.about) for each in found)
    for each in sorted(found, key=lambda each: (each.about == "assent", each.about, -each.grade)):
        print(f"{WORDS[each.grade]:6} {each.about:{width}}  {one_line(each.text, 300)}")
        if each.fix:
            print(textwrap.indent(f"→ {each.fix}", " " * (width + 9)))


def summary(found: list[Finding]) -> list[str]:
    """The state of each guard, worst first, with the worst that was found of it."""
    lines = []
    shared = [each for each in found if each.about == "assent"]
    programs = list(dict.fromkeys(each.about for each in found if each.about != "assent"))
    for name in programs or ["assent"]:
        own = [each for each in found if each.about == name]
        # A policy that does not load blocks every program; what is only noted of this machine is no guard's state.
        worst = max((*own, *shared), key=lambda each: each.grade)
        state = doctor_states.STATES[worst.grade]
        why = f": {one_line(worst.text, 200)}" if state is not HOLDS else ""
        lines.append((-worst.grade, f"{name}: {state.word} ({state.means}){why}"))
    return [line for _, line in sorted(lines)] + [
        f"{each.about}: {each.text}; {each.fix}" for each in found if each.grade is Grade.EXPOSED
    ]
