"""`assent doctor`: tests whether the hook really blocks, and prints findings with what to do. Repairs nothing."""

from __future__ import annotations

import argparse
import json
import os
import textwrap
from dataclasses import replace

from assent.agents import settings
from assent.agents.settings.hooks import SHELL, Wired
from assent.cli import doctor_checks
from assent.cli.command import PROJECT_FOLDER, flag, place, takes
from assent.cli.doctor_checks import HOLDS, STATES, WORDS, DoctorFinding, Grade, note, off, worst
from assent.contract import AssentError
from assent.contract.display import one_line
from assent.engine import configure
from assent.hook import compiled_client, launcher, settings_file
from assent.state import hosts

DESCRIPTION = (
    "Test for each installed agent program whether the hook really blocks: runs the command in its settings with a "
    "call that must be denied, one that must run, and garbage. Checks versions, policy, trail and server too."
)
EPILOG = (
    "exit status: 0 every guard holds, 1 a guard is off or does not block (also where none is installed), 2 error, "
    "3 a guard blocks everything"
)
RUNTIME = {"nargs": "?", "metavar": "RUNTIME", "choices": settings.RUNTIMES}
arguments = takes(
    {
        "runtime": {**RUNTIME, "help": "check this agent program alone"},
        "--start": flag("also start the program itself, offline, with a fake model that tries a forbidden call"),
        "--json": flag("print the findings as JSON"),
        "--project": PROJECT_FOLDER,
    }
)


def run(options: argparse.Namespace) -> int:
    found = examine(options.runtime or "", place(options.project), start=options.start)
    if options.json:
        rows = [{"grade": WORDS[each.grade], "about": each.about, "text": each.text, "fix": each.fix} for each in found]
        print(json.dumps(rows, indent=1))
    else:
        show(found)
    return worst(each.grade for each in found).status


def examine(runtime: str, here: configure.Place, *, start: bool) -> list[DoctorFinding]:
    """All findings, of one agent program or of all."""
    found: list[DoctorFinding] = []
    known: list[hosts.Host] = []
    try:
        known = list(hosts.registered(here.state))
    except AssentError as error:
        found.append(note("assent", str(error), "run `assent install` again"))
    known += [host for host in unregistered(here) if all(each.file != host.file for each in known)]
    chosen = [host for host in known if runtime in ("", host.runtime)]
    for name in dict.fromkeys(host.runtime for host in chosen):
        found += check_program(name, [host for host in chosen if host.runtime == name], here)
        if start:
            found += doctor_checks.rehearsed(name, here)
    if not chosen:
        text = f"Assent is not installed in {runtime or 'an agent program'}"
        found.append(off(runtime or "assent", text, f"run `assent install {runtime or 'RUNTIME'}`"))
    return [*found, *doctor_checks.machine(here)]


def check_program(runtime: str, installed: list[hosts.Host], here: configure.Place) -> list[DoctorFinding]:
    """The findings of all installations in one program. If one of them holds, the others that are off do no harm."""
    found = [(host, list(doctor_checks.installation(host, here))) for host in installed]
    holding = [host.scope for host, findings in found if worst(each.grade for each in findings) is HOLDS]
    hooks = [hook for host in installed for hook in hooks_of(host)]
    return [
        *(
            replace(each, grade=min(each.grade, Grade.NOTE)) if holding else each
            for _, findings in found
            for each in findings
        ),
        *doctor_checks.program(
            runtime,
            here,
            http=any(hook.url for hook in hooks),
            guarded=bool(hooks) and all(hook.words[:2] == SHELL for hook in hooks),
            scopes=frozenset(holding or (host.scope for host in installed)),
            static=bool(hooks) and all(hook.words[:1] == (compiled_client.path(here.state),) for hook in hooks),
        ),
    ]


def unregistered(here: configure.Place) -> list[hosts.Host]:
    """Installations that are in settings, but not recorded."""
    found = []
    for runtime in settings.RUNTIMES:
        for scope, where in settings.load(runtime).places.items():
            file = settings_file.expanded(where, here.home, here.project)
            try:
                if settings.load(runtime).wired(settings_file.text_of(file) or "", file):
                    found.append(hosts.Host(runtime, scope, file))
            except AssentError:
                # The machine's settings, unreadable to this user, may hold a guard that is meant for everybody.
                if scope == "managed" and os.path.isdir(launcher.MANAGED):
                    found.append(hosts.Host(runtime, scope, file))
    return found


def hooks_of(host: hosts.Host) -> tuple[Wired, ...]:
    try:
        return settings.load(host.runtime).wired(settings_file.text_of(host.file) or "", host.file)
    except AssentError:
        return ()


def show(found: list[DoctorFinding]) -> None:
    print("\n".join(summary(found)) + "\n")
    width = max(len(each.about) for each in found)
    for each in sorted(found, key=lambda each: (each.about == "assent", each.about, -each.grade)):
        print(f"{WORDS[each.grade]:6} {each.about:{width}}  {one_line(each.text, 300)}")
        if each.fix:
            print(textwrap.indent(f"→ {each.fix}", " " * (width + 9)))


def summary(found: list[DoctorFinding]) -> list[str]:
    """The state of each guard, worst first, with its worst finding."""
    lines = []
    for name in dict.fromkeys(each.about for each in found if each.about != "assent") or ["assent"]:
        # A policy that does not load blocks every program.
        bad = max((each for each in found if each.about in (name, "assent")), key=lambda each: each.grade)
        state = STATES[bad.grade]
        why = f": {one_line(bad.text, 200)}" if state is not HOLDS else ""
        lines.append((-bad.grade, f"{name}: {state.word} ({state.means}){why}"))
    exposed = [f"{each.about}: {each.text}; {each.fix}" for each in found if each.grade is Grade.EXPOSED]
    return [line for _, line in sorted(lines)] + exposed
