"""The part of `assent doctor` that tries to break out of a contained run, with the profile that calls get here."""

from __future__ import annotations

import os
import shlex
import socket
import subprocess
import tempfile
import time

from assent.contain import sandbox, ticket
from assent.contract import Call
from assent.engine import configure, containment
from assent.engine.engine import Request

PATIENCE = 30.0  # seconds
TOKEN = "ASSENT_TRIAL_TOKEN"
OUT, DONE = "OUT ", "TRIED"


def tried(here: configure.Place) -> tuple[str, tuple[str, ...], int]:
    """Why nothing can be contained here, the ways out that are open, and how many were tried. Nothing is tried if
    contained runs are off."""
    engine = configure.open_gate(here, os.environ)[0]
    settings = engine.settings.contain
    if settings is None:
        return "", (), 0
    if why := sandbox.why_not(here.state, again=True):
        return why, (), 0
    with tempfile.TemporaryDirectory(prefix="assent-doctor-") as folder, tempfile.TemporaryDirectory() as outside:
        root = os.path.realpath(folder)
        os.makedirs(f"{root}/.git/hooks")
        with open(f"{root}/.git/config", "w", encoding="utf-8") as file:
            file.write("[core]\n")
        with socket.create_server(("127.0.0.1", 0)) as server:
            ways = escapes(here, root, os.path.realpath(outside), server.getsockname()[1])
            script = "\n".join(
                [*(f"( {way} ) >/dev/null 2>&1 && echo {shlex.quote(OUT + name)}" for name, way in ways.items())]
            )
            call = Call("bash", {"command": script}, cwd=root, roots=(root,), home=here.home, shell="bash")
            request = Request(engine, call, root, rewrites=True, environ={**os.environ, TOKEN: "secret"})
            profile = containment.profile_of(settings, here.state, request, engine.judge(call))
            id = ticket.issue(
                *(here.state, profile),
                command=f"{script}\necho {DONE}",
                shell="/bin/bash",
                cwd=root,
                digest="",
                session="",
                now=time.time(),
            )
            said = _run(ticket.command_line(here.state, id), root)
    if DONE not in said:
        return f"the trial run ended early: {' '.join(said[-1:]) or 'it said nothing'}", (), 0
    return "", tuple(line[len(OUT) :] for line in said if line.startswith(OUT)), len(ways)


def escapes(here: configure.Place, root: str, outside: str, port: int) -> dict[str, str]:
    """Targets that a contained run must not reach, each with a command that succeeds if it does."""
    state, home, away = shlex.quote(here.state), shlex.quote(here.home), shlex.quote(outside)
    return {
        "Assent's own folder": f"ls {state}/config.toml || ls {state}/bin || ls {state}/contain",
        "the SSH keys": f"ls {home}/.ssh",
        "credentials of clouds": f"ls {home}/.aws || ls {home}/.config/gcloud || ls {home}/.kube",
        "a folder outside the workspace": f"test -d {away}",
        "files outside the workspace, by a link": f"ln -s {away} link && echo x > link/file && test -e link/file",
        "a write to the system": "echo x > /etc/assent-trial || echo x > /usr/assent-trial",
        "the hooks of git": "echo x > .git/hooks/pre-commit",
        "the settings of git": "echo x >> .git/config",
        "the git folder, by another name": "mv .git other",
        "a port of this machine": f"exec 3<>/dev/tcp/127.0.0.1/{port}",
        "the network": "cat /sys/class/net/*/operstate | grep -q up || ip route | grep -q default",
        "a variable of the environment": f'test -n "${TOKEN}"',
        "a process outside": f"kill -0 {os.getpid()} && test -r /proc/{os.getpid()}/environ",
        "the memory of the machine": "head -c1 /dev/mem || head -c1 /dev/kmsg",
        "another user's rights": "sudo -n true || su -c true root < /dev/null",
        "a mount of its own": "unshare --user --map-root-user --mount true",
        "a socket of the session": 'ls /run/user/*/bus /var/run/docker.sock /tmp/.X11-unix "$SSH_AUTH_SOCK"',
    }


def _run(command: str, folder: str) -> list[str]:
    environ = {**os.environ, TOKEN: "secret"}
    words = ["/bin/bash", "-c", command]
    try:
        done = subprocess.run(
            words, cwd=folder, env=environ, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return [str(error)]
    return (done.stdout + done.stderr).splitlines()
