"""Locates git repositories: `.git` folders and files, common folders, linked worktrees. Runs no git.

`repository` decides whether git is harmless in one."""

from __future__ import annotations

import os
import posixpath
from stat import S_ISDIR, S_ISREG

from assent.contract import Value
from assent.facts.links import Links, names_in
from assent.state.files import read

_SMALL = 8192  # no file that names one path is longer
_MANY = 200  # linked worktrees looked at


class Repository(Value):
    """A repository with a working tree, all paths canonical.

    `top` is the working tree's folder, `gitdir` its resolved `.git`, `common` the folder with the configuration,
    which linked worktrees share."""

    __slots__ = ("top", "gitdir", "common")

    def __init__(self, top: str, gitdir: str, common: str) -> None:
        self.top = top
        self.gitdir = gitdir
        self.common = common


def opened(top: str, links: Links) -> Repository | str | None:
    """Open the repository whose `.git` is in a canonical folder.

    None is a folder without `.git`; a text says why `.git` cannot be read."""
    dot = posixpath.join(top, ".git")
    try:
        mode = os.stat(dot).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return f"`{dot}` is a dangling link" if os.path.lexists(dot) else None
    except (OSError, ValueError):
        return f"`{dot}` cannot be read"
    named = dot
    if not S_ISDIR(mode):
        text = only_line(dot) if S_ISREG(mode) else ""
        if not text.startswith("gitdir: "):
            return f"`{dot}` is no git folder"
        named = posixpath.join(top, text[8:])
    gitdir = links.canonical(named)
    if not gitdir or not is_git_folder(gitdir):
        return f"`{dot}` leads to no git folder"
    common = common_folder(gitdir, links)
    return Repository(top, gitdir, common) if common else f"`{gitdir}/commondir` cannot be read"


def common_folder(gitdir: str, links: Links) -> str:
    """The folder with the configuration of a git folder; `""` if unknown."""
    if not os.path.lexists(posixpath.join(gitdir, "commondir")):
        return gitdir
    named = only_line(posixpath.join(gitdir, "commondir"))
    return links.canonical(posixpath.join(gitdir, named)) if named else ""


def is_git_folder(folder: str) -> bool:
    """Whether git would accept a folder as a git folder (HEAD is not read)."""
    return os.path.lexists(posixpath.join(folder, "HEAD")) and (
        os.path.lexists(posixpath.join(folder, "commondir"))
        or all(os.path.isdir(posixpath.join(folder, name)) for name in ("objects", "refs"))
    )


def linked_worktrees(repository: Repository, links: Links) -> tuple[str, ...]:
    """The tops of a repository's worktrees, the main one and the linked ones, canonical.

    INVARIANT: a hostile `.git` claims no folder. The repository must hold its own configuration or be known to the
    one that does, and every worktree must name it back."""
    if not is_main(repository) and not is_linked(repository, links):
        return ()
    tops = [posixpath.dirname(repository.common)] if posixpath.basename(repository.common) == ".git" else []
    listed = posixpath.join(repository.common, "worktrees")
    for name in sorted(names_in(listed))[:_MANY]:
        if dot := only_line(posixpath.join(listed, name, "gitdir")):
            tops.append(posixpath.dirname(posixpath.join(listed, name, dot)))
    return tuple(top for top in map(links.canonical, tops) if top and _is_worktree_of(top, repository, links))


def _is_worktree_of(top: str, repository: Repository, links: Links) -> bool:
    other = opened(top, links)
    if not isinstance(other, Repository) or other.common != repository.common:
        return False
    return is_main(other) or is_linked(other, links)


def is_main(repository: Repository) -> bool:
    """Whether a repository is a plain one, with everything in its own `.git` folder."""
    return repository.gitdir == repository.common == posixpath.join(repository.top, ".git")


def is_linked(repository: Repository, links: Links) -> bool:
    """Whether a repository is a linked worktree that its common folder knows: each names the other."""
    if posixpath.dirname(repository.gitdir) != posixpath.join(repository.common, "worktrees"):
        return False
    dot = only_line(posixpath.join(repository.gitdir, "gitdir"))
    back = links.canonical(posixpath.join(repository.gitdir, dot)) if dot else ""
    return back == posixpath.join(repository.top, ".git")


def only_line(path: str) -> str:
    """The line of a small file that names a path; `""` if there is none, or more than one."""
    try:
        raw, _ = read(path, _SMALL)
    except (OSError, ValueError):
        return ""
    text = raw.decode("utf-8", "surrogateescape").rstrip("\r\n")
    return "" if "\n" in text else text
