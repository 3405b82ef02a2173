"""Whether a read-only git command would run programs in a folder: by the repository's owner, its settings and its
index.

Trusts the user's own global settings; runs no git."""

from __future__ import annotations

import os
import posixpath
import time
from collections.abc import Callable, Iterable
from stat import S_ISDIR

from assent.contract import Pattern, keep
from assent.facts.gitconfig import INCLUDES, GitConfigError, GitSetting, entries, runs_program, shown
from assent.facts.gitdir import Repository, is_git_folder, is_linked, is_main, opened
from assent.facts.links import Links, names_in, status
from assent.state.files import read

MAX_CONFIG = 256 * 1024
MAX_FILES = 40  # configuration files of one repository, included ones and submodules' too
MAX_MODULES = 200
MAX_DEPTH = 64
_COARSE = 50_000_000  # nanoseconds

# Hook folders whose contents the shipped rules guard against unapproved writes.
GUARDED_HOOKS = frozenset({".husky", ".husky/_", ".githooks", ".git/hooks"})
# The one hook that reading runs: `git status` and `git diff` refresh the index.
_READ_HOOK = "post-index-change"

_DRIVE = Pattern(r"/[A-Za-z]:(?:/|$)")  # a Windows path, joined to the cwd

Sign = tuple[int, int, int, int] | None  # of a file at one moment; None: it is not there


_SCRATCH = ("/tmp/", "/private/tmp/", "/dev/shm/")


def harm(
    folder: str,
    roots: tuple[str, ...],
    links: Links,
    home: str = "",
    *,
    portable: bool = False,
    stays: Callable[[], bool] = lambda: False,
) -> str:
    """Say why git is not harmless in a folder; `""` if it is.

    `roots` are the session's, canonical forms included. `portable`: there is no file system to read, so only a
    root itself is known to be the session's. `stays` tells whether nothing in the call can make the folder: then, if
    it is missing outside the workspace, git cannot start there at all."""
    here = links.canonical(folder)
    if not here:
        return f"where `{folder}` leads is not known"
    there = None if portable else links.status(here)
    if there is None or not S_ISDIR(there.st_mode):
        missing = portable or not os.path.lexists(here)
        elsewhere = not _is_inside(here, roots) or (":" in here and _DRIVE.search(here) is not None)
        if missing and (here in roots or (not portable and elsewhere and stays())):
            return ""
        return f"`{folder}` is not the session's repository"
    found = links.once(("repository", here), discovered, here, links)
    if isinstance(found, str):
        return found
    if found is None:
        return "" if _is_inside(here, roots) else f"`{folder}` is outside the workspace"
    if not _is_own(found, roots, links):
        return f"`{found.top}` is another repository than the session's"
    return links.once(("settings", found.gitdir, found.top, home), _settings, found, links, home)


def is_quiet(folder: str, roots: tuple[str, ...], links: Links, home: str) -> bool:
    """Whether read-only git runs nothing in a folder of another repository. In the workspace and in temporary folders
    an agent may have written its settings."""
    here = links.canonical(folder)
    if not here or here.startswith(_SCRATCH) or _is_inside(here, roots):
        return False
    found = links.once(("repository", here), discovered, here, links)
    if not isinstance(found, Repository) or not is_main(found):
        return False
    return bool(links.once(("settings", found.gitdir, found.top, home), _settings, found, links, home) == "")


def _is_inside(path: str, roots: Iterable[str]) -> bool:
    return any(path == root or path.startswith(root + "/") for root in roots)


def discovered(folder: str, links: Links) -> Repository | str | None:
    """The repository that git finds from a canonical folder upwards, a reason, or None if there is none."""
    for _ in range(MAX_DEPTH):
        found = _opened(folder, links)
        if found is not None:
            return found
        parent = posixpath.dirname(folder)
        if is_git_folder(folder):
            around = opened(parent, links)  # inside `.git` itself, or with `--git-dir`
            if isinstance(around, Repository) and around.gitdir == folder:
                return around
            return f"`{folder}` is a bare repository"
        if parent == folder:
            return None
        folder = parent
    return f"`{folder}` is too deep to find its repository"


def _opened(folder: str, links: Links) -> Repository | str | None:
    """As `opened`, cached for plain repositories for as long as the entries of `.git` stay the same."""
    at = time.time_ns()
    try:
        file = os.lstat(f"{folder.rstrip('/')}/.git")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError):
        return opened(folder, links)
    now = (file.st_mtime_ns, file.st_ctime_ns, file.st_mode, file.st_ino)
    remembered = _plain.get(folder)
    if remembered and remembered[1] == now:
        return remembered[0]
    found = opened(folder, links)
    if isinstance(found, Repository) and is_main(found) and _are_settled((now,), at):
        keep(_plain, folder, (found, now), 64)
    return found


def _is_own(found: Repository, roots: tuple[str, ...], links: Links) -> bool:
    """Whether a repository is the session's: its top is a root or holds one, or it is a worktree or submodule of it."""
    if found.top in roots or any(root.startswith(found.top.rstrip("/") + "/") for root in roots):
        return True
    for root in roots:
        own = discovered(links.canonical(root) or root, links)
        if not isinstance(own, Repository):
            continue
        if found.common == own.common and (is_main(found) or is_linked(found, links)):
            return True
        if found.gitdir.startswith(f"{own.common}/modules/") and found.common == found.gitdir:
            return _is_inside(found.top, (own.top,))
    return False


# ---------------------------------------------------------------- settings

_plain: dict[str, tuple[Repository, Sign]] = {}
_known: dict[tuple[Repository, str], tuple[str, dict[str, Sign]]] = {}


def _settings(repository: Repository, links: Links, home: str) -> str:
    """Why a repository's settings are not harmless. Cached for as long as no file that was read changes."""
    key = (repository, home)  # settings may be in the home folder
    remembered = _known.get(key)
    if remembered and _are_as_before(remembered[1]):
        return remembered[0]
    at, scan = time.time_ns(), _ConfigScan(links, home)
    reason = scan.repository(repository)
    if _are_settled(scan.signs.values(), at):
        keep(_known, key, (reason, scan.signs), 64)
    return reason


def _are_as_before(signs: dict[str, Sign]) -> bool:
    for path, old in signs.items():  # noqa: SIM110  # on the path of every call of git, and faster than `all`
        if sign(path) != old:
            return False
    return True


def _are_settled(signs: Iterable[Sign], at: int) -> bool:
    """Whether a later change is certain to show: file times are coarse, so a file that changed just before it was read
    may have changed again unnoticed. `at` is when reading began, in nanoseconds."""
    return at - max((sign[1] for sign in signs if sign), default=0) > _COARSE


def sign(path: str) -> Sign:
    """A signature of a file's state."""
    file = status(path)
    return (file.st_mtime_ns, file.st_ctime_ns, file.st_size, file.st_ino) if file else None


class _ConfigScan:
    """One scan of a repository's settings, and the signs of every file that the answer depends on."""

    __slots__ = ("links", "home", "signs", "files")

    def __init__(self, links: Links, home: str) -> None:
        self.links = links
        self.home = home
        self.signs: dict[str, Sign] = {}
        self.files = 0

    def repository(self, repository: Repository, depth: int = 0) -> str:
        """The first reason found in the settings, the hooks, and the submodules that git looks into by itself."""
        if depth > 8:
            return f"submodules nest too deep in `{repository.top}`"
        reason = self._config(posixpath.join(repository.common, "config"), repository)
        reason = reason or self._config(posixpath.join(repository.gitdir, "config.worktree"), repository)
        return reason or self._hooks(posixpath.join(repository.common, "hooks")) or self._submodules(repository, depth)

    def _stamp(self, path: str) -> bool:
        """Note that the answer depends on a path; return whether anything is there."""
        self.signs[path] = sign(path)
        return self.signs[path] is not None

    # -- configuration files

    def _config(self, path: str, repository: Repository, depth: int = 0) -> str:
        if not self._stamp(path):
            return ""
        self.files += 1
        if depth > 5 or self.files > MAX_FILES:
            return f"`{path}` is one included file too many"
        try:
            settings = settings_in(path)
        except OSError as error:
            return f"`{path}` cannot be read: {error.strerror}"
        except GitConfigError as error:
            return f"`{path}` cannot be read: {error}"
        for entry in settings:
            value = "" if entry.value is None else entry.value
            if entry.name in INCLUDES:
                reason = self._included(value, path, repository, depth)
            elif entry.name == "core.hookspath":
                reason = self._hooks_path(value, repository)
            elif entry.name == "core.worktree":
                reason = self._worktree(value, repository)
            else:
                reason = f"`{shown(entry)}` in `{path}` can make git run a program" if runs_program(entry) else ""
            if reason:
                return reason
        return ""

    def _included(self, value: str, path: str, repository: Repository, depth: int) -> str:
        """Follow an include whether or not its condition holds now."""
        if value.startswith("~/"):
            value = self.home + value[1:]
        elif value.startswith(("~", "%(")):
            return f"`{path}` includes `{value}`, which cannot be followed"
        return self._config(posixpath.join(posixpath.dirname(path), value), repository, depth + 1)

    def _worktree(self, value: str, repository: Repository) -> str:
        """A repository may only name its own working tree, as submodules do."""
        named = self.links.canonical(posixpath.join(repository.gitdir, value))
        return "" if named == repository.top else f"`core.worktree` of `{repository.top}` is another folder"

    # -- hooks

    def _hooks_path(self, value: str, repository: Repository) -> str:
        hooks = value.rstrip("/").removeprefix("./")
        if hooks.startswith(repository.top + "/"):
            hooks = hooks[len(repository.top) + 1 :]
        if hooks not in GUARDED_HOOKS:
            return f"`core.hooksPath` of `{repository.top}` is `{value}`"
        return self._hooks(posixpath.join(repository.top, hooks))

    def _hooks(self, folder: str) -> str:
        hook = posixpath.join(folder, _READ_HOOK)
        return f"`{hook}` runs when git reads" if self._stamp(hook) else ""

    # -- submodules: `git status` and `git diff` start git in each of them

    def _submodules(self, repository: Repository, depth: int) -> str:
        self._stamp(posixpath.join(repository.gitdir, "index"))
        paths = gitlinks(repository.gitdir)
        if paths is None or len(paths) > MAX_MODULES:
            return f"the submodules of `{repository.top}` cannot be read"
        for path in paths:
            place = posixpath.join(repository.top, path)
            top = self.links.canonical(place)
            if not top and not path.isprintable() and not os.path.lexists(place):
                continue  # bytes of the index that are no name
            if not top:
                return f"where the submodule `{path}` leads is not known"
            if not self._stamp(posixpath.join(top, ".git")):
                continue
            found = opened(top, self.links)
            if not isinstance(found, Repository):
                return found or f"`{top}` cannot be read"
            if reason := self.repository(found, depth + 1):
                return reason
        return ""


def settings_in(path: str) -> tuple[GitSetting, ...]:
    """The settings in a file of git's; raises OSError or GitConfigError."""
    return entries(read(path, MAX_CONFIG)[0].decode("utf-8", "surrogateescape"))


def remotes(repository: Repository) -> frozenset[str]:
    """The names of the remotes in a repository's own settings; none if unreadable."""
    try:
        settings = settings_in(posixpath.join(repository.common, "config"))
    except (OSError, GitConfigError):
        return frozenset()
    return frozenset(entry.subsection for entry in settings if entry.name == "remote.url")


# ---------------------------------------------------------------- submodules in the index

MAX_INDEX = 256 * 1024 * 1024

_MODE = b"\0\0\xe0\0"  # 0160000, a commit of another repository
_FIXED = (62, 74)  # bytes of an entry before its name: times, device, inode, mode, owner, size, SHA-1 or -256, flags
_VERSIONS = (b"DIRC\0\0\0\2", b"DIRC\0\0\0\3")  # version 4 compresses names by the previous entry
_TO_MODE = 24
_EXTENDED = 0x4000


def gitlinks(gitdir: str) -> tuple[str, ...] | None:
    """The paths of submodules in the index, and possibly false ones; None if unknown.

    Searches for the four bytes of the mode instead of parsing each entry of a large index. They can occur elsewhere by
    chance: then the path is noise, which names nothing that exists."""
    found: dict[str, None] = {}
    for path in _indexes(gitdir):
        try:
            paths = _paths(read(path, MAX_INDEX)[0])
        except FileNotFoundError:
            continue
        except OSError:
            return None
        if paths is None:
            return None
        found.update(dict.fromkeys(paths))
    return tuple(found)


def _indexes(gitdir: str) -> tuple[str, ...]:
    shared = sorted(name for name in names_in(gitdir) if name.startswith("sharedindex."))
    return tuple(posixpath.join(gitdir, name) for name in ("index", *shared))


def _paths(raw: bytes) -> list[str] | None:
    at = raw.find(_MODE)
    if at < 0:
        return []
    if raw[:8] not in _VERSIONS:
        return None
    found = []
    while at >= 0:
        for fixed in _FIXED:
            name = _name(raw, at - _TO_MODE + fixed)
            if 0 < len(name) <= 4096:
                found.append(name.decode("utf-8", "surrogateescape"))
        at = raw.find(_MODE, at + 1)
    return found


def _name(raw: bytes, begin: int) -> bytes:
    """The name after an entry's fixed part and any flags of version 3."""
    if int.from_bytes(raw[begin - 2 : begin], "big") & _EXTENDED:
        begin += 2
    end = raw.find(b"\0", begin)
    return raw[begin : end if end >= 0 else None]
