"""Checks, as another user, whether other users can read the files that a machine-wide hook needs."""

from __future__ import annotations

import os
import pwd
import sys

from assent.hook import launcher

NOBODY = 65534
ENOUGH = 64 * 1024  # bytes of an answer


def needed(words: tuple[str, ...], file: str) -> tuple[str, ...]:
    """The files that a user's agent program and the hook that it starts must be able to open."""
    package = os.path.join(launcher.package(), "assent")
    modules = [
        os.path.join(folder, name)
        for folder, _, names in os.walk(package)
        for name in names
        if name.endswith((".py", ".so"))
    ]
    programs = [word for word in words if word.startswith("/") and os.path.isfile(word)]
    return (file, *programs, launcher.interpreter(), os.__file__, *sorted(modules))


def unreadable(paths: tuple[str, ...]) -> str:
    """The first of these files that another user cannot read, `""` if all can be. As root it is tried as `nobody`,
    otherwise derived from the permissions."""
    if os.geteuid() != 0:
        return next((path for path in paths if not _is_open(path)), "")
    reads, writes = os.pipe()
    child = os.fork()
    if child == 0:
        _try_as_nobody(paths, writes)
    os.close(writes)
    with os.fdopen(reads, "rb") as answer:
        found = answer.read(ENOUGH)
    os.waitpid(child, 0)
    return os.fsdecode(found[1:]) if found[:1] == b":" else "" if found == b"." else paths[0]


def _try_as_nobody(paths: tuple[str, ...], answer: int) -> None:
    """Write `.` if all can be read, or `:` and the one that cannot. Ends this process."""
    try:
        user = _nobody()
        os.setgroups([])
        os.setgid(user)
        os.setuid(user)
        found = next((path for path in paths if not _opens(path)), None)
        os.write(answer, b"." if found is None else b":" + os.fsencode(found))
    finally:
        os._exit(0)


def _nobody() -> int:
    try:
        return pwd.getpwnam("nobody").pw_uid
    except KeyError:
        return NOBODY


def _opens(path: str) -> bool:
    try:
        os.close(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK))
    except OSError:
        return False
    return True


def _is_open(path: str) -> bool:
    """Whether the permissions let everybody read a file: it, and the folders that lead to it."""
    real = os.path.realpath(path)
    try:
        if not os.stat(real).st_mode & 0o004:
            return False
        while real != "/":
            real = os.path.dirname(real)
            if not os.stat(real).st_mode & 0o001:
                return False
    except OSError:
        return False
    return True


def problem(words: tuple[str, ...], file: str) -> tuple[str, str]:
    """What other users cannot read, and what follows; both `""` if they can read everything."""
    found = unreadable(needed(words, file))
    if not found:
        return "", ""
    if found == file:
        return found, "their programs do not load these settings, or do not start; make it and its folders readable"
    shown = os.path.dirname(os.path.dirname(sys.executable))
    fix = f"install Assent where everybody can read it (not below `{shown}`), such as /opt/assent, and run this again"
    return found, f"all their calls are blocked; {fix}"
