"""`assent uninstall`: takes what the installation put in out of an agent program's settings, and nothing else.

A copy that was made at the installation is never put back: what was changed since stays."""

from __future__ import annotations

import argparse
import json
import os

from assent.agents import settings
from assent.agents.settings import jsonc
from assent.cli.install import beside
from assent.contract import PayloadError, SettingsError
from assent.engine import configure
from assent.hook import asking, launcher, settings_file, starting
from assent.state import hosts

DESCRIPTION = "Take Assent out of an agent program's settings. Everything else in them stays, also later changes."


PROGRAMS = (launcher.NAME, launcher.ASKING, "assent-hook")  # what installations put into their folder


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("runtime", metavar="RUNTIME", choices=settings.RUNTIMES, help="the agent program")
    parser.add_argument("--scope", default="", help="user, project or managed (default: wherever it was installed)")
    parser.add_argument("--project", metavar="DIR", default="", help="the project's folder (default: this one)")
    parser.add_argument("--dry-run", action="store_true", help="show what would change, and change nothing")


def run(options: argparse.Namespace) -> int:
    here = configure.place(os.path.abspath(options.project or os.getcwd()), os.environ)
    found = settings.load(options.runtime)
    if options.scope and options.scope not in found.places:
        raise PayloadError(f"{options.runtime} has no scope `{options.scope}`; it has {', '.join(found.places)}")
    gone = [host for host in installations(options, here) if taken_out(host, here.state, dry_run=options.dry_run)]
    if not gone:
        print(f"Assent is not installed in {options.runtime}")
    elif not options.dry_run:
        swept(here.state, managed=any(host.scope == "managed" for host in gone))
    return 0


def installations(options: argparse.Namespace, here: configure.Place) -> list[hosts.Host]:
    """Those on record, and the files in which one may stand without a record."""
    found = [host for host in hosts.registered(here.state) if host.runtime == options.runtime]
    for scope, place in settings.load(options.runtime).places.items():
        file = settings_file.expanded(place, here.home, here.project)
        if all(host.file != file for host in found):
            found.append(hosts.Host(options.runtime, scope, file))
    return [host for host in found if not options.scope or host.scope == options.scope]


def taken_out(host: hosts.Host, state: str, *, dry_run: bool) -> bool:
    """Whether there was something to take out."""
    before = settings_file.text_of(host.file)
    if before is None:
        if not dry_run:
            hosts.forget(state, host)
        return False
    found = settings.load(host.runtime)
    try:
        after = before
        for key, value, was in host.set:
            after = jsonc.put_back(after, key, json.loads(value), was)
        after = found.uninstall(after)
    except SettingsError as error:
        raise SettingsError(f"`{host.file}` was left as it is: {error}") from None
    if after == before:
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
    print(f"taken out of {host.file}")
    if host.stripped:
        print(
            f"comments that --strip-comments took out stay out; a copy of before is in {state}/{settings_file.BACKUPS}"
        )
    return True


def swept(state: str, *, managed: bool) -> None:
    """Take the launcher away where no program calls it any more; tell what stays. `managed`: also everybody's."""
    left = hosts.registered(state)
    for folder in (state, launcher.MANAGED) if managed else (state,):
        if any((host.scope == "managed") is (folder == launcher.MANAGED) for host in left):
            continue
        for path in (os.path.join(folder, launcher.FOLDER, name) for name in PROGRAMS):
            if os.path.isfile(path):
                settings_file.remove(path)
                print(f"removed {path}")
    if not left and starting.runs(state):
        print("the server still runs; `assent stop` ends it")
    if not left and os.path.isdir(state):
        print(f"your policy, grants, trail and copies of settings stay in {state}; remove that folder if you are done")
