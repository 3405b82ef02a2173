"""What a git command discards: files of the working tree, refs, git's own files, and commits that nothing else may
refer to. Asks git itself, as `gittrees` does; runs no hooks and no filters."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Sequence

from assent.contract import LOSING, Value
from assent.facts.gitconfig import GitConfigError
from assent.facts.gitdir import Repository, opened
from assent.facts.gittrees import Changes, WorkingTree, changes, repository_of
from assent.facts.links import Links
from assent.facts.repository import settings_in
from assent.state.files import read

INDEX, ANY = "-", "?"  # in place of a revision: the index; or git decides whether the next word is one
# Files of a git folder that hold the state of commands.
STATE = (
    *("HEAD", "ORIG_HEAD", "index", "MERGE_HEAD", "MERGE_MSG", "MERGE_MODE", "MERGE_RR", "AUTO_MERGE", "SQUASH_MSG"),
    *("CHERRY_PICK_HEAD", "REVERT_HEAD", "REBASE_HEAD", "COMMIT_EDITMSG", "rebase-merge", "rebase-apply", "sequencer"),
)
MOST_LOG = 16 * 1024 * 1024  # bytes of a log
MOST_REFS = 50_000
MOST_HEAD = 4096  # bytes
HEADS, TAGS, STASH = "refs/heads/", "refs/tags/", "refs/stash"


class GitLoss(Value):
    """Losses other than files of the working tree. `files` are git's own, including absent ones; `packed` are refs
    without a file of their own, by the path that it would have; `wants` are objects that must stay, `left` those that
    stay in any case."""

    __slots__ = ("repository", "files", "packed", "wants", "left")

    def __init__(
        self,
        repository: Repository,
        files: tuple[str, ...] = (),
        packed: tuple[tuple[str, str], ...] = (),
        wants: tuple[str, ...] = (),
        left: tuple[str, ...] = (),
    ) -> None:
        self.repository = repository
        self.files = files
        self.packed = packed
        self.wants = wants
        self.left = left


def would_change(name: str, links: Links) -> Changes | None:
    """The paths that git would write, and those that it would remove, even if content is lost; None if unknown."""
    asked, _, folder = name.partition(":")
    verb, *words = asked.split(" ")
    file = verb == "checkout" and os.path.lexists(posixpath.join(folder, words[0]))
    if verb not in LOSING and not file:
        return changes(name, links)
    found = repository_of(folder, links)
    if found is None:
        return None
    return DiscardingTree(*found).changes(*(("discard", [ANY, *words]) if file else (verb, words)))


def discarded(name: str, links: Links) -> GitLoss | None:
    """What the command of a TREE target discards; None if unknown."""
    asked, _, folder = name.partition(":")
    found = repository_of(folder, links)
    if found is None:
        return None
    verb, *words = asked.split(" ")
    return DiscardingTree(found[0], found[1]).loss(verb, words)


def _nested(folder: str) -> bool | None:
    """Whether a folder is a repository of its own, which `git clean` keeps; None if git may decide differently."""
    found = opened(folder, Links())
    if found is None or isinstance(found, str):
        return False if found is None else None
    try:
        head = read(posixpath.join(found.gitdir, "HEAD"), MOST_HEAD, os.O_NOFOLLOW)[0]
    except OSError:
        return None
    there = all(os.path.isdir(posixpath.join(found.common, name)) for name in ("objects", "refs"))
    return True if there and head.startswith(b"ref: refs/heads/") else None


class DiscardingTree(WorkingTree):
    """A working tree in which git discards something. `here` is the folder in which git runs."""

    __slots__ = ("here",)

    def __init__(self, repository: Repository, here: str) -> None:
        super().__init__(repository)
        self.here = here

    # -- files of the working tree

    def _collect(self, verb: str, words: list[str]) -> bool:
        if verb in ("stash-drop", "stash-clear", "branch-delete", "branch-force", "tag-delete"):
            return True
        if verb == "clean":
            return self._cleaned(words[0], words[1:])
        if not self._is_plain_index():
            return False
        if verb == "discard":
            source, files = self._source(words)
            paths = self._inside(files)
            if not paths or source is None:
                return False
            return self._differs("diff-index" if source else "diff-files", *filter(None, (source,)), paths=paths)
        if verb == "remove":
            return self._tracked(self._inside(words))
        if verb == "rebase":
            return self._rebased(*words)
        target = self._commit(words[0], branch=False)
        return bool(target) and self._differs("diff-index", target)

    def _path(self, name: str, *, new: bool = False, gone: bool = False) -> bool:
        """Note a path, whatever its content: it is overwritten or removed."""
        if not super()._path(name, gone=True):
            return False
        path = posixpath.join(self.repository.top, name)
        self.written[path] = None
        return True

    def _is_lost(self, path: str) -> bool:
        return False  # it is noted

    def _is_plain_index(self) -> bool:
        """Whether git compares every file with the index, without exceptions."""
        status, out = self._run("ls-files", "-v", "-z")
        return status == 0 and all(entry[:2] in (b"H ", b"M ") for entry in out.split(b"\0")[:-1])

    def _source(self, words: list[str]) -> tuple[str | None, list[str]]:
        """The commit from which files are restored (`""`: the index; None: unknown), and the files."""
        first, files = words[0], words[1:]
        if first == INDEX:
            return "", files
        if first != ANY:
            return self._commit(first, branch=False) or None, files
        commit = self._commit(files[0], branch=False)
        there = os.path.lexists(posixpath.join(self.here, files[0]))
        if commit:
            return (None if there or len(files) == 1 else commit), files[1:]
        return "", files

    def _inside(self, files: list[str]) -> list[str]:
        """Files relative to the top; none if one is not in the working tree."""
        found = []
        for file in files:
            path = posixpath.normpath(posixpath.join(self.here, file))
            if path != self.repository.top and not path.startswith(self.repository.top + "/"):
                return []
            found.append(path[len(self.repository.top) + 1 :] or ".")
        return found

    def _tracked(self, paths: list[str]) -> bool:
        status, out = self._run("ls-files", "-z", "--", *paths)
        names = out.split(b"\0")[:-1]
        return bool(paths) and status == 0 and all(self._path(os.fsdecode(name)) for name in names)

    def _cleaned(self, how: str, files: list[str]) -> bool:
        """Untracked files. Without the user's own settings git ignores less here, so these may be too many.

        With `-x` and `-X` git also searches folders that it does not remove."""
        here = self._inside(files or ["."])
        ignored, whole = "x" in how.lower(), bool(files) or "d" in how
        kinds = (*(("--directory",) if whole or not ignored else ()), *(() if ignored else ("--exclude-standard",)))
        status, out = self._run("ls-files", "-z", "--others", *kinds, "--", *here)
        if status != 0 or not here:
            return False
        for raw in out.split(b"\0")[:-1]:
            name = os.fsdecode(raw)
            if name.endswith("/"):
                if not whole and not ignored:
                    continue  # git leaves folders
                nested = _nested(posixpath.join(self.repository.top, name.rstrip("/")))
                if nested is None:
                    return False
                if nested:
                    continue  # and other repositories
            if not super()._path(name.rstrip("/"), gone=True):
                return False
        return True

    def _rebased(self, upstream: str, onto: str) -> bool:
        """All files that the commits on either side change: each commit is recreated, one after the other."""
        old, new = self._commit(upstream, branch=False), self._commit(onto, branch=False)
        base = self._line("merge-base", "HEAD", new) if old and new else ""
        first = self._line("merge-base", "HEAD", old) if base else ""
        status, out = self._run("rev-list", "HEAD", f"^{old}", f"^{new}", "--")
        if not base or not first or status != 0:
            return False
        for commit in out.decode("ascii", "replace").split():
            if not self._differs("diff-tree", "--root", "-m", commit):
                return False
        return (
            self._differs("diff-tree", base, new)
            and self._differs("diff-tree", "HEAD", new)
            and self._differs("diff-index", "HEAD")
        )

    # -- git's own

    def loss(self, verb: str, words: list[str]) -> GitLoss | None:
        import tempfile  # few calls discard something

        with tempfile.TemporaryDirectory(prefix="assent-") as spare:
            self.spare = spare
            return self._loss(verb, words)

    def _loss(self, verb: str, words: list[str]) -> GitLoss | None:
        refs = self._refs()
        if refs is None:
            return None
        head = self._line("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
        branch = self._branch()
        match verb:
            case "reset" | "rebase" | "force":
                target = self._commit(words[-1], branch=False)
                moved = [] if verb == "force" else [branch]
                moved += self._between(refs, words) if verb == "rebase" else []
                return self._lost(refs, moved, self._state(), (head, *self._staged()), (target,))
            case "amend":
                parents = self._run("rev-parse", "HEAD^@")[1].decode("ascii", "replace").split()
                return self._lost(refs, [branch], self._state(), (head, *self._staged()), tuple(parents))
            case "discard":
                index = self._state() if self._source(words)[0] else []
                return self._lost(refs, [], index, self._staged() if index else (), (head,))
            case "remove":
                return self._lost(refs, [], self._state(), self._staged(), (head,))
            case "clean" | "checkout":
                return GitLoss(self.repository)
            case "stash-drop" | "stash-clear":
                return self._dropped(refs, [STASH], head)
            case "branch-delete":
                return self._dropped(refs, [HEADS + word for word in words], head, named=words)
            case "tag-delete":
                return self._dropped(refs, [TAGS + word for word in words], head)
            case "branch-force":
                target = self._commit(words[1], branch=False)
                return self._lost(refs, [HEADS + words[0]], [], (), (head, target)) if target else None
            case _:
                return None

    def missing(self, objects: list[str]) -> list[str]:
        """The objects that git does not have."""
        there = set(self._there(objects))
        return [each for each in objects if each not in there]

    def packed(self, names: list[str]) -> list[str]:
        """The names that are refs now."""
        refs = self._refs() or {}
        return [name for name in names if name.startswith("refs/") and name in refs]

    def replaced(self, paths: list[str], left: list[str]) -> GitLoss:
        """The objects that are lost if git's own files are restored; refs then lead to `left`."""
        refs = self._refs() or {}
        head = self._line("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
        names = [path[len(self.repository.common) + 1 :] for path in paths if path.startswith(self.repository.common)]
        changed = [name for name in names if name.startswith("refs/") or name == "HEAD"]
        logs = [name for name in names if name.startswith("logs/")]
        index = posixpath.join(self.repository.gitdir, "index") in paths
        wants = [head, *(self._staged() if index else ()), *(each for name in logs for each in self._logged(name))]
        lost = self._lost(refs, [name for name in changed if name in refs], [], tuple(wants), tuple(left))
        return GitLoss(self.repository, packed=lost.packed, wants=lost.wants, left=lost.left)

    def _logged(self, name: str) -> list[str]:
        """The objects that a log names. Raises OSError."""
        try:
            lines = read(posixpath.join(self.repository.common, name), MOST_LOG)[0].split(b"\n")
        except FileNotFoundError:
            return []
        return [word.decode("ascii", "replace") for line in lines for word in line.split(b" ")[:2]]

    def _refs(self) -> dict[str, str] | None:
        status, out = self._run("for-each-ref", f"--count={MOST_REFS + 1}", "--format=%(objectname) %(refname)")
        lines = out.decode("utf-8", "surrogateescape").splitlines()
        if status != 0 or len(lines) > MOST_REFS:
            return None
        return {name: value for value, _, name in (line.partition(" ") for line in lines)}

    def _branch(self) -> str:
        """The ref that HEAD names; `""` if it is a commit."""
        status, out = self._run("symbolic-ref", "--quiet", "HEAD")
        return out.decode("utf-8", "surrogateescape").strip() if status == 0 else ""

    def _between(self, refs: dict[str, str], words: list[str]) -> list[str]:
        """Branches among the recreated commits: settings may make git move them."""
        old = self._commit(words[0], branch=False)
        made = set(self._run("rev-list", "HEAD", f"^{old}", "--")[1].decode("ascii", "replace").split())
        return [name for name, value in refs.items() if name.startswith(HEADS) and value in made]

    def _state(self) -> list[str]:
        gitdir = self.repository.gitdir
        shared = [name for name in os.listdir(gitdir) if name.startswith("sharedindex.")]
        return [posixpath.join(gitdir, name) for name in (*STATE, *shared)]

    def _staged(self) -> tuple[str, ...]:
        """The blobs in the index that are not in the last commit, including unmerged ones."""
        _, out = self._run("diff-index", "--cached", "-z", "--raw", "--no-renames", "--no-abbrev", "HEAD", "--")
        found = [field.split(b" ")[3] for field in out.split(b"\0") if field.startswith(b":")]
        _, unmerged = self._run("ls-files", "-u", "-z")
        found += [entry.split(b" ")[1] for entry in unmerged.split(b"\0")[:-1]]
        return tuple(dict.fromkeys(each.decode("ascii", "replace") for each in found if each.strip(b"0")))

    def _dropped(
        self, refs: dict[str, str], names: list[str], head: str, named: list[str] | None = None
    ) -> GitLoss | None:
        """Refs that are removed with their logs, and the objects that only these refer to."""
        logs = [posixpath.join(self.repository.common, "logs", name) for name in names if name in refs]
        try:
            wants = dict.fromkeys(each for name in names for each in self._logged(f"logs/{name}"))
        except OSError:
            return None
        files = [*logs, *self._settings(named or [])]
        return self._lost(refs, names, files, tuple(wants), (head,))

    def _settings(self, branches: list[str]) -> list[str]:
        """The settings file, if it has sections for these branches: they are removed with them."""
        path = posixpath.join(self.repository.common, "config")
        try:
            found = any(each.name.startswith("branch.") and each.subsection in branches for each in settings_in(path))
        except (OSError, GitConfigError):
            found = True
        return [path] if found else []

    def _lost(
        self, refs: dict[str, str], names: list[str], files: list[str], wants: tuple[str, ...], left: tuple[str, ...]
    ) -> GitLoss:
        """`names` are refs that are changed or removed; objects that others refer to stay."""
        changed = [name for name in dict.fromkeys(names) if name]
        paths = {name: posixpath.join(self.repository.common, name) for name in changed}
        loose = [path for name, path in paths.items() if os.path.lexists(path) or name not in refs]
        packed = [(path, refs[name]) for name, path in paths.items() if path not in loose]
        kept = [*wants, *(refs[name] for name in changed if name in refs)]
        others = [value for name, value in refs.items() if name not in paths and name != STASH]  # stashes come and go
        return GitLoss(
            self.repository,
            tuple(dict.fromkeys([*files, *loose])),
            tuple(packed),
            self._there(kept),
            self._there([*left, *others]),
        )

    def _there(self, objects: Sequence[str]) -> tuple[str, ...]:
        """The objects that git has."""
        wanted = [each for each in dict.fromkeys(objects) if len(each) in (40, 64) and each.strip("0")]
        status, out = self._run("cat-file", "--batch-check=%(objectname)", given="\n".join([*wanted, ""]).encode())
        lines = out.decode("ascii", "replace").splitlines() if status == 0 else []
        return tuple(line for line in lines if " " not in line)
