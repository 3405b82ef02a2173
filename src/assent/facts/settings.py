"""Whether a program would find settings files that it obeys, as its row lists them (docs/commands.md). Reads files by
key, runs nothing, and treats an unreadable file as a setting."""

from __future__ import annotations

import os
from collections.abc import Iterator

from assent.contract import Effect, Kind, Lowering, Operation
from assent.facts.links import Links, names_in

MOST_ENTRIES = 20_000  # names looked at below a folder
MOST_PARENTS = 64
DATABASES = (".db", ".db3", ".sqlite", ".sqlite3", ".s3db", ".sl3", ".duckdb", ".ddb")
# Programs whose rows say `**/` do not look into these either.
SKIPPED = frozenset(
    """.git .hg .svn .jj node_modules .venv venv __pycache__ .tox .nox .eggs .mypy_cache .ruff_cache
    .pytest_cache""".split()
)


def obeyed(
    name: str, lowering: Lowering, links: Links, *, roots: tuple[str, ...] = (), home: str, portable: bool = False
) -> str:
    """Say which settings file exists, or may be made by another part of the call; `""` if none.

    `name` holds the folder, the row's entries and the operands, with NUL between. `portable`: there is no file system
    to read, so only files that the call itself makes exist."""
    cwd, entries, *operands = name.split("\0")
    made = [effect for effect in lowering.effects if _may_make(effect)]
    search = _SettingsSearch(cwd, operands, made, links, roots, home, portable=portable)
    return next((found for entry in entries.split(" ") if (found := search.entry(entry))), "")


def _may_make(effect: Effect) -> bool:
    """Whether an effect makes files. Code that runs is judged on its own: it could do all that settings can."""
    kind = effect.target.kind
    return kind in (Kind.PATH, Kind.REPOSITORY) if effect.operation is Operation.WRITE else kind is Kind.TREE


class _SettingsSearch:
    __slots__ = ("_cwd", "_operands", "_made", "_links", "_roots", "_home", "_portable")

    def __init__(
        self,
        cwd: str,
        operands: list[str],
        made: list[Effect],
        links: Links,
        roots: tuple[str, ...],
        home: str,
        *,
        portable: bool,
    ) -> None:
        self._cwd = cwd
        self._operands = operands
        self._made = made
        self._links = links
        self._roots = roots
        self._home = home
        self._portable = portable

    def entry(self, entry: str) -> str:
        if entry == "?{}":
            return self._absent()
        if entry == "={}":
            return self._reaching()
        if entry[:3] == "+{}":
            return self._missing(databases=entry == "+{}.db")
        path, by_key, rest = entry.partition("#")
        section, _, harmless = rest.partition("!")
        path, by_text, words = path.partition("~")
        for candidate in self._candidates(path):
            if candidate is None:
                return f"too many files to look for `{path}`"
            if self._is_made(candidate):
                return f"another part of the command may write `{candidate}`"
            if self._portable or not self._links.once(("exists", candidate), os.path.lexists, candidate):
                continue
            if not by_key and not by_text:
                return f"`{candidate}` is there"
            if os.path.islink(candidate) and self._leads_out(candidate):
                return f"`{candidate}` is a link that leads out of the workspace"
            from assent.facts.keyed import odd_key, odd_text

            keys = harmless.split(",") if harmless else []
            if odd := odd_text(candidate, words) if by_text else odd_key(candidate, section, keys):
                return f"`{candidate}` sets `{odd}`"
        return ""

    def _missing(self, *, databases: bool) -> str:
        """An operand that the program would make. `databases`: an empty one in the workspace, with a database's ending,
        is no harm, as nothing obeys it."""
        for each in self._operands if not self._portable else ():
            named = (
                databases
                and each.endswith(DATABASES)
                and any(_lies_at(self._links.canonical(each), root) for root in self._roots)
            )
            if not named and not each.endswith("/:memory:") and not os.path.lexists(each):
                return f"`{each}` would be made"
        return ""

    def _reaching(self) -> str:
        """A database whose own statements reach outside it."""
        for each in self._operands:
            if self._is_made(each):
                return f"another part of the command may write `{each}`"
            if not self._portable and os.path.isfile(each):
                from assent.facts.keyed import reaching

                if found := reaching(each):
                    return found
        return ""

    def _absent(self) -> str:
        """An operand without which the program takes another file."""
        missing = (each for each in self._operands if not self._portable and not os.path.lexists(each))
        return next(
            (f"`{each}` is not there, and the program would use another file with that ending" for each in missing), ""
        )

    def _candidates(self, path: str) -> Iterator[str | None]:
        """The absolute paths that an entry means; None if there are too many."""
        climbs = path[:1] == "^"
        path = path.removeprefix("^")
        if path.startswith("**/"):
            yield from self._below(path[3:])
            return
        if path == "{}" or path.startswith(("{}-", "{}.")):
            yield from (operand + path[2:] for operand in self._operands)
            return
        bases = (self._operands or [self._cwd]) if path.startswith("{}/") else [self._cwd]
        path = path.removeprefix("{}/")
        for base in bases:
            for folder in _upwards(base) if climbs else (base,):
                if folder == self._home:  # the person's own settings
                    break
                if "*" in path or "[" in path:
                    yield from self._matching(folder.rstrip("/"), path)
                else:
                    yield f"{folder.rstrip('/')}/{path}"

    def _matching(self, folder: str, pattern: str) -> Iterator[str | None]:
        """The matches of a pattern in a folder, and the files that the call may put there."""
        from fnmatch import fnmatchcase

        yield f"{folder}/{pattern}"  # for writes to an unknown path
        parts = pattern.split("/")
        for effect in self._made:
            written = effect.target.name
            ends = range(1, len(parts) + 1) if effect.recursive else (len(parts),)
            rest = written[len(folder) + 1 :] if written.startswith(folder + "/") else ""
            if rest and any(fnmatchcase(rest, "/".join(parts[:end])) for end in ends):
                yield written
        found, left = [folder] if not self._portable else [], MOST_ENTRIES
        for part in parts:
            names = [(each, name) for each in found for name in names_in(each)]
            left -= len(names)
            if left < 0:
                yield None
                return
            found = [f"{each}/{name}" for each, name in names if fnmatchcase(name, part)]
        yield from found

    def _below(self, name: str) -> Iterator[str | None]:
        """Files of that name in the folders to search, and those that the call may put there."""
        roots = self._operands or [self._cwd]
        for effect in self._made:
            written = effect.target.name
            if written.rpartition("/")[2] == name and any(_lies_at(written, root) for root in roots):
                yield written
        left = MOST_ENTRIES
        for root in () if self._portable else roots:
            for folder, folders, files in os.walk(root):
                left -= len(folders) + len(files)
                if left < 0:
                    yield None
                    return
                if name in files:
                    yield f"{folder}/{name}"
                folders[:] = [each for each in folders if each not in SKIPPED]

    def _leads_out(self, candidate: str) -> bool:
        """Whether a link exposes another file as a settings file: programs print the lines that they cannot parse."""
        leads = self._links.canonical(candidate)
        return not any(_lies_at(leads, root) for root in self._roots or (self._cwd,))

    def _is_made(self, candidate: str) -> bool:
        if not self._made:
            return False
        leads = candidate if self._portable else self._links.canonical(candidate)
        return any(_reaches(effect, path) for effect in self._made for path in {candidate, leads or candidate})


def _reaches(effect: Effect, path: str) -> bool:
    """Whether an effect may put a file at a path, or a folder above it."""
    target = effect.target
    if target.kind is Kind.TREE:
        return True
    if target.kind is Kind.REPOSITORY:
        return "/.git/" in path
    if not target.name or not target.certain:
        return not target.under or any(_lies_at(path, folder.rstrip("/")) for folder in target.under)
    return target.pattern or _lies_at(path, target.name) or _lies_at(target.name, path)


def _lies_at(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _upwards(folder: str) -> Iterator[str]:
    for _ in range(MOST_PARENTS):
        yield folder
        if folder in ("", "/"):
            return
        folder = folder.rpartition("/")[0] or "/"
