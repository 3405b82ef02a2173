"""`assent uninstall`: removes from an agent program's settings what the installation added, and nothing else.

The copy from the installation is never restored: later changes stay."""

from __future__ import annotations

import argparse
import json
import os

from assent.agents import settings
from assent.agents.settings import jsonc
from assent.cli.command import PROJECT_FOLDER, agent_program, flag, place, takes
from assent.cli.install import beside
from assent.contract import PayloadError, SettingsError
from assent.engine import configure
from assent.hook import asking, launcher, settings_file, starting
from assent.state import hosts

DESCRIPTION = "Remove the hook from an agent program's settings. All other settings stay, including later changes."
PROGRAMS = (launcher.NAME, launcher.ASKING, "assent-hook", "assent-contain")  # what installations put into their folder
arguments = takes(
    {
        "runtime": agent_program(settings.RUNTIMES),
        "--scope": {"default": "", "help": "user, project or managed (default: wherever it is installed)"},
        "--project": PROJECT_FOLDER,
        "--dry-run": flag("show what would change, and change nothing"),
    }
)


def run(options: argparse.Namespace) -> int:
    here = place(options.project)
    found = settings.load(options.runtime)
    if options.scope and options.scope not in found.places:
        raise PayloadError(f"{options.runtime} has no scope `{options.scope}`; it has {', '.join(found.places)}")
    gone = [host for host in installations(options, here) if remove(host, here.state, dry_run=options.dry_run)]
    if not gone:
        print(f"Assent is not installed in {options.runtime}")
    elif not options.dry_run:
        clean_up(here.state, managed=any(host.scope == "managed" for host in gone))
    return 0


def installations(options: argparse.Namespace, here: configure.Place) -> list[hosts.Host]:
    """The recorded installations, and the settings files that may hold one without a record."""
    found = [host for host in hosts.registered(here.state) if host.runtime == options.runtime]
    for scope, where in settings.load(options.runtime).places.items():
        file = settings_file.expanded(where, here.home, here.project)
        if all(host.file != file for host in found):
            found.append(hosts.Host(options.runtime, scope, file))
    return [host for host in found if not options.scope or host.scope == options.scope]


def remove(host: hosts.Host, state: str, *, dry_run: bool) -> bool:
    """Remove one installation; return whether there was one."""
    found, before = settings.load(host.runtime), settings_file.text_of(host.file)
    after = before or ""
    try:
        for key, value, was in host.set if before is not None else ():
            after = jsonc.put_back(after, key, json.loads(value), was)
        after = found.uninstall(after) if before is not None else ""
    except SettingsError as error:
        raise SettingsError(f"`{host.file}` was left as it is: {error}") from None
    if before is None or after == before:
        if not dry_run:
            hosts.forget(state, host)
        return False
    print(settings_file.difference(host.file, before, after), end="")
    if dry_run:
        return True
    settings_file.keep_copy(state, host.file, before)
    if not after and (host.made or found.whole):
        settings_file.remove(host.file)
    else:
        settings_file.replace(host.file, after)
    hosts.forget(state, host)
    asking.remove(host.runtime, host.file)
    if host.scope in found.beside:
        path, text = beside(host)
        if settings_file.text_of(path) == text:
            settings_file.remove(path)
    print(f"removed from {host.file}")
    if host.stripped:
        print(f"comments that --strip-comments removed are not restored; a copy is in {state}/{settings_file.BACKUPS}")
    return True


def clean_up(state: str, *, managed: bool) -> None:
    """Remove the launcher if no program calls it any more; print what stays. `managed`: also that of all users."""
    left = hosts.registered(state)
    for folder in (state, launcher.MANAGED) if managed else (state,):
        if any((host.scope == "managed") is (folder == launcher.MANAGED) for host in left):
            continue
        for path in (os.path.join(folder, launcher.FOLDER, name) for name in PROGRAMS):
            if os.path.isfile(path):
                settings_file.remove(path)
                print(f"removed {path}")
    if not left and starting.runs(state):
        print("the server still runs; `assent stop` stops it")
    if not left and os.path.isdir(state):
        print(f"your policy, grants, trail and copies of settings stay in {state}; remove that folder to delete them")
