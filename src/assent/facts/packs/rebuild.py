"""The pack `rebuild`: removing ignored files that a build recreates.

Proved of every path that is removed: it lies in the session's own repository, below a folder of the workspace; a name
of the lists below is in it; git ignores it by a `.gitignore` that is unchanged since the session's start; it has no
tracked files, in the index or in the last commit; it is no repository, and not named like secrets or data; and neither
the call nor the session moved anything there."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from stat import S_ISDIR

from assent.contract import Effect, Kind, Lowering, Operation
from assent.facts import gitrun
from assent.facts.gitdir import Repository
from assent.facts.globs import expand
from assent.facts.packs.pack_call import PackCall
from assent.facts.repository import discovered, harm

MOST = 200  # paths of one call
MOST_BELOW = 50_000  # entries below the folders of one call
# Made by tools and used by nothing else: their content is not checked.
CACHES = frozenset(
    "node_modules bower_components __pycache__ .pytest_cache .mypy_cache .ruff_cache .pytype .tox .nox .eggs .turbo "
    ".parcel-cache .next .nuxt .svelte-kit .angular .vite .docusaurus .gradle .nyc_output htmlcov .eslintcache "
    ".stylelintcache .swc .rpt2_cache .rollup.cache .webpack .expo .dart_tool .terragrunt-cache .DS_Store".split()
)
CACHE_FILES = (
    *("*.pyc", "*.pyo", "*.egg-info", "*.tsbuildinfo", ".coverage", ".coverage.*", "coverage.xml", "npm-debug.log*"),
    *("yarn-error.log*", "yarn-debug.log*", "pnpm-debug.log*"),
)
# Made by a build, but people may keep other files there: their content is checked.
BUILT = frozenset(
    "dist build out target coverage obj _build .output .build .cache storybook-static cmake-build-debug "
    "cmake-build-release DerivedData bazel-out".split()
)
TEMPORARY = frozenset("tmp temp .tmp log logs .cache".split())
TEMPORARY_FILES = ("*.log", "*.log.*", "cache", "caches", "*.cache", "*.tmp", "*.pid")
# Never recreated: secrets, data, and repositories.
KEPT = (
    *(".env", ".env.*", "*.env", ".envrc", "*.db", "*.db-*", "*.db3", "*.sqlite", "*.sqlite-*", "*.sqlite3", "*.mdb"),
    *("*.sqlite3-*", "*.rdb", "*.sql", "*.sql.*", "*.dump", "*.bak", "*.backup", "*.pem", "*.key", "*.p12", "*.pfx"),
    *("*.jks", "*.keystore", "*.kdbx", "*.gpg", "*.asc", "*.age", "id_rsa*", "id_ed25519*", "id_ecdsa*", "*.tfstate"),
    *("*.tfstate.*", "*.parquet", ".git", "credentials*", "secret*", "*.ipynb", "*.psd", "*.docx", "*.xlsx"),
)
# Programs that remove their operands and follow no links.
REMOVERS = frozenset("rm rmdir unlink rimraf find python python3 node nodejs ruby".split())
FOLLOWS = ("-L", "-H", "-follow")  # options of find


def proved(call: PackCall) -> Iterator[Effect]:
    wanted: dict[Effect, tuple[str, ...]] = {}
    for at, effect in enumerate(call.lowering.effects):
        if _is_plain_removal(effect, call.lowering) and not _is_filled(effect, at, call):
            paths = _paths(effect, call)
            if paths is not None:
                wanted[effect] = paths
    every = dict.fromkeys(path for paths in wanted.values() for path in paths)
    if not every or len(every) > MOST:
        return
    fine = _made_again(tuple(every), call)
    yield from (effect for effect, paths in wanted.items() if fine.issuperset(paths))


def _is_plain_removal(effect: Effect, lowering: Lowering) -> bool:
    target = effect.target
    if effect.operation is not Operation.DELETE or target.kind is not Kind.PATH:
        return False
    if effect.lossless or not target.name or not target.certain:
        return False
    if effect.invocation < 0:
        return not effect.recursive
    command = lowering.invocations[effect.invocation]
    follows = command.program == "find" and any(word.startswith(FOLLOWS) for word in command.words)
    return command.program in REMOVERS and not follows


def _is_filled(effect: Effect, at: int, call: PackCall) -> bool:
    """Whether the call may put something into a path that it removes: it moves files there, or writes there before; or
    it changes which files git tracks."""
    name = effect.target.name
    moves = {each.invocation for each in call.lowering.effects if each.lossless or _is_taken(each)}
    for place, each in enumerate(call.lowering.effects):
        if each.target.kind is Kind.TREE:
            return True
        if each.operation is not Operation.WRITE or each.target.kind is not Kind.PATH:
            continue
        moved = each.invocation in moves
        program = call.lowering.invocations[each.invocation].program if each.invocation >= 0 else ""
        if not moved and (place > at or program == "mkdir"):
            continue
        other = each.target
        if not other.name or not other.certain or other.pattern or _overlap(name, other.name, call):
            return True
    return False


def _is_taken(effect: Effect) -> bool:
    """Whether code moves files away, as `shutil.move` does."""
    return effect.operation is Operation.DELETE and effect.recursive and "recursive-delete" not in effect.dangers


def _overlap(one: str, other: str, call: PackCall) -> bool:
    forms = [(a.rstrip("/"), b.rstrip("/")) for a in (one, call.links.canonical(one)) for b in (other,)]
    forms += [(a, call.links.canonical(b)) for a, b in forms]
    return any(a == b or a.startswith(b + "/") or b.startswith(a + "/") for a, b in forms)


def _paths(effect: Effect, call: PackCall) -> tuple[str, ...] | None:
    """The canonical paths that an effect removes; None if unknown, or if one is a link."""
    target = effect.target
    named: Iterable[str] = (target.raw or target.name,)
    if target.pattern:
        matches = expand(target.raw or target.name) if "**" not in target.name else _anywhere(target.name)
        if matches is None:
            return None
        named = matches or (target.name.replace("/**/", "/"),)
    found = []
    for path in named:
        real = _real(path, call)
        if not real or real != _real(posixpath.normpath(path), call):
            return None
        found.append(real)
    return tuple(found)


def _anywhere(pattern: str) -> tuple[str, ...] | None:
    """The paths that `folder/**/name` matches, at any depth, with the folder itself; None if there are too many."""
    top, _, last = pattern.partition("/**/")
    if not last or "/" in last or "**" in last or any(sign in top for sign in "*?[{\\"):
        return None
    found: list[str] = []
    count = 0
    for folder, folders, files in os.walk(top):
        count += len(folders) + len(files)
        found += [posixpath.join(folder, name) for name in (*folders, *files) if fnmatchcase(name, last)]
        if count > MOST_BELOW or len(found) > MOST:
            return None
    return tuple(found)


def _real(path: str, call: PackCall) -> str:
    """The resolved path; `""` if its last name is a link."""
    folder, _, last = path.rstrip("/").rpartition("/")
    around = call.links.canonical(folder or "/")
    if not around or last in ("", ".", ".."):
        return ""
    plain = f"{around.rstrip('/')}/{last}"
    return plain if call.links.canonical(path.rstrip("/")) == plain else ""


# ---------------------------------------------------------------- by their names


def _made_again(paths: tuple[str, ...], call: PackCall) -> set[str]:
    by_repository: dict[str, tuple[Repository, list[str]]] = {}
    budget = [MOST_BELOW]
    for path in paths:
        if not call.is_inside(path) or call.history.moved_to(path):
            continue
        around = _folder_above(path)
        found = discovered(around, call.links) if around else None
        if not isinstance(found, Repository) or harm(found.top, call.roots, call.links, call.home):
            continue
        if path.startswith(found.top + "/") and _is_made(path, found.top, budget):
            by_repository.setdefault(found.top, (found, []))[1].append(path)
    return {path for found, mine in by_repository.values() for path in _ignored(found, mine, call)}


def _folder_above(path: str) -> str:
    """The nearest existing folder above a path."""
    while path and path != "/":
        path = posixpath.dirname(path)
        if os.path.isdir(path):
            return path
    return ""


def _is_made(path: str, top: str, budget: list[int]) -> bool:
    """Whether a build makes a path, by its names and its content."""
    names = path[len(top) + 1 :].split("/")
    if any(_matches(name, KEPT) for name in names) or os.path.lexists(posixpath.join(path, ".git")):
        return False
    if any(name in CACHES or _matches(name, CACHE_FILES) for name in names):
        return True
    folders = names[:-1]
    listed = any(name in BUILT for name in names) or (
        any(name in TEMPORARY for name in folders) and _matches(names[-1], TEMPORARY_FILES)
    )
    return listed and _keeps_nothing(path, budget)


def _matches(name: str, patterns: tuple[str, ...]) -> bool:
    folded = name.lower()
    return any(fnmatchcase(folded, pattern) for pattern in patterns)


def _keeps_nothing(path: str, budget: list[int]) -> bool:
    """Whether nothing below a path is worth keeping, by name; false if there is too much to check."""
    try:
        if not S_ISDIR(os.lstat(path).st_mode):
            return True
    except FileNotFoundError:
        return True
    except OSError:
        return False
    waiting = [path]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    budget[0] -= 1
                    if budget[0] < 0 or _matches(entry.name, KEPT):
                        return False
                    if entry.is_dir(follow_symlinks=False) and entry.name not in CACHES:
                        waiting.append(entry.path)
        except OSError:
            return False
    return True


# ---------------------------------------------------------------- by git


def _ignored(repository: Repository, paths: list[str], call: PackCall) -> list[str]:
    """The paths that git ignores and that have no tracked files."""
    top = repository.top
    names = {path[len(top) + 1 :]: path for path in paths if "\n" not in path}
    asked = [f"./{name}" if os.path.lexists(path) else f"./{name}/" for name, path in names.items()]
    status, out = gitrun.run(
        repository,
        ("check-ignore", "-v", "-n", "-z", "--no-index", "--stdin"),
        given=b"".join(os.fsencode(name) + b"\0" for name in asked),
    )
    fields = [os.fsdecode(each) for each in out.split(b"\0")[:-1]]
    if status not in (0, 1) or len(fields) != 4 * len(asked):
        return []
    sources = {
        name[2:].rstrip("/"): source
        for source, _, pattern, name in zip(*(iter(fields),) * 4, strict=True)
        if source and not pattern.startswith("!")
    }
    kept = {source: posixpath.join(top, source) for source in sources.values() if _is_ignore_file(source)}
    untouched = call.history.as_before(tuple(kept.values()), call.links)
    fine = [name for name in names if kept.get(sources.get(name, "")) in untouched or _ignores_itself(names[name])]
    if not fine:
        return []
    status, out = gitrun.run(repository, (gitrun.LITERALLY, "ls-files", "-z", "--with-tree=HEAD", "--", *fine))
    tracked = [os.fsdecode(each) for each in out.split(b"\0")[:-1]]
    if status != 0:
        return []
    return [names[name] for name in fine if not any(f"{each}/".startswith(name + "/") for each in tracked)]


def _is_ignore_file(source: str) -> bool:
    return source == ".gitignore" or source.endswith("/.gitignore")


def _ignores_itself(path: str) -> bool:
    """Whether a tool's folder has the tool's own `.gitignore` for all of it."""
    if posixpath.basename(path) not in CACHES:
        return False
    try:
        with open(posixpath.join(path, ".gitignore"), "rb") as file:
            return b"*" in file.read(4096).splitlines()
    except OSError:
        return False
