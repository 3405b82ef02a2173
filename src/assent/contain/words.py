"""The command lines of bubblewrap and the proxy for a profile, and the paths of these programs."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from assent.contain.profile import Profile

PLACES = ("/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap", "/run/current-system/sw/bin/bwrap")
PROGRAM = "assent-contain"
SMALL = 64 << 20  # bytes of the smallest tmpfs
NAMESPACES = "--unshare-user --unshare-pid --unshare-ipc --unshare-uts --unshare-net --unshare-cgroup-try".split()


def bubblewrap() -> str:
    """The path of bubblewrap; `""` if there is none. Never searched for in PATH."""
    return next(filter(os.path.exists, PLACES), "")


def runner(state: str) -> str:
    """The installed runner: in Assent's folder, next to the hook's client."""
    return os.path.join(state, "bin", PROGRAM)


def words(profile: Profile) -> list[str]:
    """The options for bubblewrap. The runner adds protected paths, the folder of the call and the command."""
    found = [*NAMESPACES, "--die-with-parent", "--as-pid-1", "--clearenv"]
    for name, value in profile.environment.items():
        found += ["--setenv", name, value]
    # A folder before its content: a later mount covers an earlier one.
    for _, given in sorted(_mounts(profile).items(), key=lambda each: each[0].split("/")):
        found += given
    found += ["--dir", "/run", "--dir", "/var", "--symlink", "/tmp", "/var/tmp"]
    found += ["--remount-ro", "/dev", "--remount-ro", "/proc"]  # root could write settings of the kernel there
    for path in profile.hidden:
        if any(_within(path, each) for each in (*profile.readable, *profile.writable)):
            found += _hide(path)
    return found


def _mounts(profile: Profile) -> dict[str, list[str]]:
    """The options of each mount, by its path."""
    half = str(max(profile.memory // 2, SMALL))
    found = {
        "/tmp": ["--perms", "1777", "--size", half, "--tmpfs", "/tmp"],
        profile.home: ["--perms", "0700", "--size", half, "--tmpfs", profile.home],
        "/proc": ["--proc", "/proc"],
        "/dev": ["--dev", "/dev"],
        "/dev/shm": ["--perms", "1777", "--size", half, "--tmpfs", "/dev/shm"],
    }
    if profile.cache:
        cache = f"{profile.home}/.cache"
        found[cache] = ["--bind", profile.cache, cache]
    found |= {link: ["--symlink", target, link] for link, target in profile.links}
    found |= {path: ["--ro-bind", path, path] for path in profile.readable}
    found |= {path: ["--bind", path, path] for path in profile.writable}
    found |= {path: ["--ro-bind" if profile.frozen else "--bind", path, path] for path in profile.roots}
    return found


def _hide(path: str) -> list[str]:
    if os.path.isdir(path):
        return ["--perms", "0555", "--tmpfs", path, "--remount-ro", path]
    return ["--ro-bind", "/dev/null", path] if os.path.exists(path) else []


def _within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder + "/")


def written(profile: Profile) -> tuple[str, ...]:
    """The writable folders, for Landlock."""
    return (*(() if profile.frozen else profile.roots), *profile.writable, profile.home, "/tmp", "/dev")


def proxy_words(network: Sequence[str]) -> list[str]:
    """The proxy's command line: an isolated interpreter with only the package on its path."""
    package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    script = f"import sys; sys.path.insert(0, {package!r}); from assent.contain.proxy import main; main(sys.argv[1:])"
    return [sys.executable, "-ISXutf8", "-c", script, *network]
