"""The commit at a session's start, and which files are unchanged since.

INVARIANT: nothing in a repository is trusted. The id of the commit is kept with the session; git only reads objects,
without the repository's configuration, and each one is verified by its own hash, from that id down to the file."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterable, Sequence

from assent.contract import keep
from assent.facts.gitdir import Repository, only_line, opened
from assent.facts.links import Links
from assent.state.files import read

LONGEST = 32 * 1024 * 1024  # bytes of a file of code, and of what git prints
MOST = 64  # files that are compared at a time
REMEMBERED = 4096  # files of commits
_DEEPEST = 64  # folders around a session's own
_PACKED = 16 * 1024 * 1024  # bytes of the list of refs
_REFS = 5  # symbolic refs in a chain
_SECONDS = 3.0
_PLACES = ("/usr/bin/git", "/usr/local/bin/git", "/opt/homebrew/bin/git", "/bin/git")
_DIGITS = frozenset("0123456789abcdef")
_FILES = ("100644", "100755", "100664")
_known: dict[tuple[str, str], str] = {}  # (commit, path in it) → id of the file there, `""` if there is none


# ---------------------------------------------------------------- at the start of a session


def commit_of(folder: str) -> tuple[str, str]:
    """The working tree around a folder, and the id of the commit that is checked out there; empty if there is none.
    Runs no git."""
    links = Links()
    place = links.canonical(folder)
    for _ in range(_DEEPEST):
        found = opened(place, links) if place else None
        if isinstance(found, Repository):
            id = _head(found)
            return (found.top, id) if id else ("", "")
        parent = posixpath.dirname(place)
        if found is not None or parent == place:
            break
        place = parent
    return "", ""


def start_of(folder: str) -> tuple[str, str, str]:
    """The same, with a digest of the repository's remotes."""
    top, id = commit_of(folder)
    found = opened(top, Links()) if id else None
    return (top, id, remotes(found)) if isinstance(found, Repository) else ("", "", "")


def remotes(repository: Repository) -> str:
    """A digest of the settings of a repository that decide where a push goes and what it sends; `""` if unknown.
    Upstream branches are not included."""
    from hashlib import sha256

    from assent.facts.gitconfig import INCLUDES, GitConfigError
    from assent.facts.repository import settings_in

    found: list[str] = []
    for path in (f"{repository.common}/config", f"{repository.gitdir}/config.worktree"):
        try:
            settings = settings_in(path)
        except FileNotFoundError:
            continue
        except (OSError, GitConfigError):
            return ""
        if any(entry.name in INCLUDES for entry in settings):
            return ""
        found += [
            f"{entry.name}\0{entry.subsection}\0{entry.value}"
            for entry in settings
            if entry.name.startswith(
                ("remote.", "url.", "push.", "http.", "ssh.", "core.ssh", "core.git", "credential.")
            )
        ]
    return sha256("\n".join(found).encode("utf-8", "surrogateescape")).hexdigest()


def _head(repository: Repository) -> str:
    text = only_line(posixpath.join(repository.gitdir, "HEAD"))
    for _ in range(_REFS):
        if _is_id(text):
            return text
        name = text.removeprefix("ref: ").strip()
        if name == text or not name.startswith("refs/") or ".." in name:
            return ""
        text = _loose(repository, name) or _packed(repository, name)
    return ""


def _is_id(text: str) -> bool:
    return len(text) in (40, 64) and _DIGITS.issuperset(text)


def _loose(repository: Repository, name: str) -> str:
    return only_line(posixpath.join(repository.gitdir, name)) or only_line(posixpath.join(repository.common, name))


def _packed(repository: Repository, name: str) -> str:
    try:
        raw = read(posixpath.join(repository.common, "packed-refs"), _PACKED)[0]
    except (OSError, ValueError):
        return ""
    ending = b" " + os.fsencode(name)
    found = next((line for line in raw.split(b"\n") if line.endswith(ending)), ending)
    return found[: -len(ending)].decode("ascii", "replace")


# ---------------------------------------------------------------- which files are the same


def untouched(top: str, commit: str, files: Sequence[tuple[str, str]], links: Links) -> tuple[str, ...]:
    """Those of the `files` (paths, with the SHA-256 of the bytes that were read, `""` if not read) that equal the
    commit. A file that git changes at checkout (line endings, filters) does not."""
    inside: dict[str, tuple[str, str]] = {}
    for path, digest in files[:MOST]:
        real = links.canonical(path)
        name = real[len(top) + 1 :] if real.startswith(top.rstrip("/") + "/") else ""
        if name and "\n" not in name:
            inside[path] = name, _blob(real, digest, len(commit))
    ids = _ids(top, commit, {name for name, blob in inside.values() if blob}, links)
    return tuple(path for path, (name, blob) in inside.items() if blob and ids.get(name) == blob)


def present(top: str, commit: str, paths: Sequence[str], links: Links) -> tuple[str, ...]:
    """The paths that are files in the commit."""
    names = {path: path[len(top) + 1 :] for path in paths[:MOST] if path.startswith(top.rstrip("/") + "/")}
    ids = _ids(top, commit, {name for name in names.values() if "\n" not in name}, links)
    return tuple(path for path, name in names.items() if ids.get(name))


def _blob(path: str, digest: str, length: int) -> str:
    """The git id of a file; `""` if it cannot be read, or has changed since it was read."""
    from hashlib import sha256

    try:
        raw = read(path, LONGEST)[0]
    except (OSError, ValueError):
        return ""
    return "" if digest and sha256(raw).hexdigest() != digest else _hash("blob", raw, length)


def _hash(kind: str, raw: bytes, length: int) -> str:
    from hashlib import sha1, sha256

    data = f"{kind} {len(raw)}\0".encode() + raw
    return (sha256(data) if length == 64 else sha1(data, usedforsecurity=False)).hexdigest()


def _ids(top: str, commit: str, names: set[str], links: Links) -> dict[str, str]:
    """The ids of the files of a commit, by their paths in it."""
    new = sorted(name for name in names if (commit, name) not in _known)
    if new and _is_id(commit):
        for name, id in _asked(top, commit, new, links).items():
            keep(_known, (commit, name), id, REMEMBERED)
    return {name: _known.get((commit, name), "") for name in names}


def _asked(top: str, commit: str, names: list[str], links: Links) -> dict[str, str]:
    """The same, as far as verified: missing objects, and those that do not match their id, are left out."""
    repository = opened(top, links)
    git = next((place for place in _PLACES if os.access(place, os.X_OK)), "")
    if not isinstance(repository, Repository) or not git:
        return {}
    folders = sorted({folder for name in names for folder in _folders(name)})
    wanted = [commit, *(f"{commit}:{folder}" for folder in folders)]
    printed = _fetched(git, posixpath.join(repository.common, "objects"), wanted, len(commit))
    objects = dict(zip(wanted, _objects(printed), strict=False))
    kind, raw = objects.get(commit, ("", b""))
    if kind != "commit" or _hash(kind, raw, len(commit)) != commit:
        return {}
    ids = {"": raw.split(b"\n", 1)[0].removeprefix(b"tree ").decode("ascii", "replace")}
    found: dict[str, str] = {}
    for folder in folders:  # parents first
        kind, raw = objects.get(f"{commit}:{folder}", ("", b""))
        if kind != "tree" or _hash(kind, raw, len(commit)) != ids.get(folder):
            continue
        for mode, name, id in _entries(raw, len(commit) // 2):
            path = posixpath.join(folder, name)
            if mode in _FILES:
                found[path] = id
            elif mode == "40000":
                ids[path] = id
    return {name: found[name] for name in names if name in found}


def _folders(name: str) -> Iterable[str]:
    """The folders of a path, from the top (`""`) down."""
    yield ""
    parts = name.split("/")[:-1]
    yield from ("/".join(parts[: end + 1]) for end in range(len(parts)))


def _fetched(git: str, objects: str, wanted: list[str], length: int) -> bytes:
    """The output of git for objects. It runs in an empty repository of ours that only borrows the other one's objects:
    no configuration, no refs, no replacements, no hooks."""
    import subprocess
    import tempfile

    with tempfile.TemporaryDirectory(prefix="assent-") as folder:
        for name in ("objects", "refs"):
            os.mkdir(posixpath.join(folder, name))
        format = "[core]\n\trepositoryformatversion = 1\n\tbare = true\n"
        format += "[extensions]\n\tobjectformat = sha256\n" if length == 64 else ""
        texts = {"HEAD": "ref: refs/heads/none\n", "config": format, "wanted": "\n".join(wanted) + "\n"}
        for name, text in texts.items():
            with open(posixpath.join(folder, name), "wb") as file:
                file.write(os.fsencode(text))
        environment = {
            "PATH": "/usr/bin:/bin",
            "LC_ALL": "C",
            "HOME": "/nonexistent",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_OBJECT_DIRECTORY": objects,
        }
        try:
            with open(posixpath.join(folder, "wanted"), "rb") as asked:
                process = subprocess.Popen(
                    (git, "--no-pager", f"--git-dir={folder}", "cat-file", "--batch"),
                    stdin=asked,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    cwd=folder,
                    env=environment,
                )
        except OSError:
            return b""
        with process:
            try:
                return _printed(process.stdout.fileno() if process.stdout is not None else -1)
            finally:
                process.kill()


def _printed(handle: int) -> bytes:
    """The whole output, within bounds of size and time; nothing if it is more."""
    from select import select
    from time import monotonic

    chunks: list[bytes] = []
    until, left = monotonic() + _SECONDS, LONGEST
    while left > 0:
        ready, _, _ = select([handle], [], [], max(until - monotonic(), 0))
        if not ready:
            return b""
        chunk = os.read(handle, 1 << 16)
        if not chunk:
            return b"".join(chunks)
        chunks.append(chunk)
        left -= len(chunk)
    return b""


def _objects(printed: bytes) -> Iterable[tuple[str, bytes]]:
    """The kinds and the bytes of objects as `git cat-file --batch` prints them; empty for one that is missing."""
    at = 0
    while at < len(printed):
        end = printed.find(b"\n", at)
        words = printed[at:end].split(b" ") if end >= 0 else []
        if len(words) == 3 and words[2].isdigit():
            start, size = end + 1, int(words[2])
            yield words[1].decode("ascii", "replace"), printed[start : start + size]
            at = start + size + 1
        elif printed[at:end].endswith((b" missing", b" ambiguous")):
            yield "", b""
            at = end + 1
        else:
            return


def _entries(raw: bytes, length: int) -> Iterable[tuple[str, str, str]]:
    """Mode, name and id of the entries of a tree."""
    at = 0
    while at < len(raw):
        blank, end = raw.find(b" ", at), raw.find(b"\0", at)
        if blank < 0 or end < blank or end + 1 + length > len(raw):
            return
        id = raw[end + 1 : end + 1 + length].hex()
        yield raw[at:blank].decode("ascii", "replace"), os.fsdecode(raw[blank + 1 : end]), id
        at = end + 1 + length
