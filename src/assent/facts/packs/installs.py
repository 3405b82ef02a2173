"""The pack `installs`: installing what a lock file or a requirements file of the project names.

Proved: the command is one of those below with plain options and names no package; the lock file, the manifest and every
settings file that the program reads in the project are unchanged since the session's start; the lock file has only
packages of the public registries; no script of the project itself runs, except one that sets git's hooks; and no other
code runs before it in the call.
The scripts of the packages do run: a person accepts that with this pack."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterator

from assent.contract import Effect, Invocation, Kind, Operation, Pattern
from assent.facts.gitdir import Repository
from assent.facts.packs import locks
from assent.facts.packs.pack_call import PackCall
from assent.facts.packs.untouched import written_in
from assent.facts.repository import discovered

QUIET = frozenset("-q --quiet -s --silent --no-progress --no-color -v --verbose".split())
# The words of a command → options that change neither the packages nor their source.
FORMS: dict[tuple[str, ...], frozenset[str]] = {
    ("npm", "ci"): frozenset(
        "--ignore-scripts --no-audit --no-fund --prefer-offline --offline --omit=dev --omit=optional --include=dev "
        "--legacy-peer-deps --production".split()
    ),
    ("pnpm", "install"): frozenset(
        "--frozen-lockfile --prefer-offline --offline --ignore-scripts --prod -P -r".split()
    ),
    ("pnpm", "i"): frozenset("--frozen-lockfile --prefer-offline --offline --ignore-scripts --prod -P -r".split()),
    ("yarn", "install"): frozenset(
        "--frozen-lockfile --immutable --ignore-scripts --prefer-offline --non-interactive".split()
    ),
    ("yarn",): frozenset("--frozen-lockfile --immutable --ignore-scripts --prefer-offline --non-interactive".split()),
    ("bun", "install"): frozenset("--frozen-lockfile --ignore-scripts --production".split()),
    ("pip", "install"): frozenset(
        "--no-cache-dir --no-deps --disable-pip-version-check --no-input --upgrade -U".split()
    ),
    ("pip3", "install"): frozenset(
        "--no-cache-dir --no-deps --disable-pip-version-check --no-input --upgrade -U".split()
    ),
    ("uv", "sync"): frozenset(
        "--frozen --locked --dev --no-dev --all-extras --all-groups --no-install-project --offline".split()
    ),
    ("uv", "pip", "sync"): frozenset("--strict --offline --require-hashes".split()),
    ("uv", "pip", "install"): frozenset("--strict --offline --require-hashes --upgrade -U".split()),
    ("poetry", "install"): frozenset("--no-root --sync -n --no-interaction --all-extras --no-ansi".split()),
    ("bundle", "install"): frozenset({"--local"}),
    ("go", "mod", "download"): frozenset({"-x"}),
    ("cargo", "fetch"): frozenset({"--locked", "--offline", "--frozen"}),
}
WITH_NAMES = frozenset(
    "--extra --group --with --without --only -E --extras --no-group".split()
)  # of groups, no packages
FROZEN = frozenset({"--frozen-lockfile", "--immutable"})
MUST_FREEZE = frozenset({"pnpm", "yarn", "bun"})
OF_NODE = frozenset({"npm", "pnpm", "yarn", "bun"})
# Program → the manifest, its lock files, and further files that change an install.
MANIFESTS: dict[str, tuple[str, tuple[str, ...], tuple[str, ...]]] = {
    "npm": ("package.json", ("npm-shrinkwrap.json", "package-lock.json"), (".npmrc",)),
    "pnpm": ("package.json", ("pnpm-lock.yaml",), (".npmrc", "pnpm-workspace.yaml")),
    "yarn": ("package.json", ("yarn.lock",), (".npmrc", ".yarnrc", ".yarnrc.yml")),
    "bun": ("package.json", ("bun.lock",), (".npmrc", "bunfig.toml")),
    "uv": ("pyproject.toml", ("uv.lock",), ("uv.toml", "setup.py", "setup.cfg", "hatch_build.py", "build.py")),
    "poetry": ("pyproject.toml", ("poetry.lock",), ("poetry.toml", "setup.py", "setup.cfg", "build.py")),
    "bundle": ("Gemfile", ("Gemfile.lock",), (".bundle/config",)),
    "go": ("go.mod", ("go.sum",), ("go.work", "go.work.sum")),
    "cargo": (
        "Cargo.toml",
        ("Cargo.lock",),
        (".cargo/config", ".cargo/config.toml", "rust-toolchain", "rust-toolchain.toml"),
    ),
}
# Files whose code would run: if one exists, nothing is proved.
CODE = (".pnpmfile.cjs", ".pnpmfile.mjs", ".pnp.cjs", ".yarn/plugins", ".yarn/releases", "binding.gyp", "patches")
_REQUIREMENT = Pattern(
    r"([A-Za-z0-9][A-Za-z0-9._-]*)(?:\[[A-Za-z0-9_., -]*\])? *"
    r"(?:(?:[<>=!~]=?|===)[^;#@/\\ ]*(?:, *[<>=!~]=?[^;#@/\\ ]*)*)? *"
    r"(?:;[^#@\\]*)?(?: *\\?| *(?:--hash=[a-z0-9]+:[0-9a-f]+ *\\?)+)?(?: *#.*)?$"
)
_ARCHIVES = (".zip", ".whl", ".gz", ".tgz", ".tar", ".bz2", ".tbz", ".xz", ".txz", ".lzma", ".egg")
_HASH = Pattern(r"(?:--hash=[a-z0-9]+:[0-9a-f]+ *)+\\?$")
MOST_REQUIREMENTS = 20  # files that include each other
MOST_MEMBERS = 60


def proved(call: PackCall) -> Iterator[Effect]:
    fine: set[int] = set()
    for index, command in call.commands(FORMS_OF):
        if "/" in command.words[0] or call.runs_before(index, fine) or not _is_named_by_project(command, call):
            continue
        fine.add(index)
        yield from call.runs(index, ("install",))
        for inner, script in enumerate(call.lowering.invocations):
            if script.within == index and _sets_hooks(command.program, script, call):
                fine.add(inner)
                yield from call.runs(inner, ())


def _sets_hooks(program: str, script: Invocation, call: PackCall) -> bool:
    """Whether a command in a script of a proved install is the one that sets git's hooks, from a package that the
    session did not write."""
    if script.words not in locks.HOOK_SETTERS or not script.literal or script.forfeit or len(script.cwds) != 1:
        return False
    if any(
        effect.operation is Operation.WRITE
        and effect.target.kind is Kind.PATH
        and (not effect.target.certain or effect.target.pattern or "/node_modules" in effect.target.name)
        for effect in call.lowering.effects
    ):
        return False
    folder, top = script.cwds[0], _top(script.cwds[0], call)
    places = [f"{folder}/node_modules"] if program != "npm" else []  # `npm ci` first deletes its own
    while top and folder.startswith(top + "/"):
        folder = posixpath.dirname(folder)
        places.append(f"{folder}/node_modules")
    return not any(os.path.lexists(place) and written_in(call, place) for place in places)


FORMS_OF = frozenset(form[0] for form in FORMS)


def _is_named_by_project(command: Invocation, call: PackCall) -> bool:
    words = command.words
    form = next((words[:count] for count in (3, 2, 1) if words[:count] in FORMS), ())
    if not form:
        return False
    read = _options(words[len(form) :], FORMS[form], ("-r", "--requirement", "--requirements"))
    if read is None:
        return False
    files, operands, given = read
    folder = call.links.canonical(command.cwds[0])
    if form[0] in ("pip", "pip3") or form[:2] == ("uv", "pip"):
        files = [*files, *operands] if form == ("uv", "pip", "sync") else files
        plain = not operands or form == ("uv", "pip", "sync")
        return plain and bool(files) and all(_is_plain_requirements(folder, file, call) for file in files)
    if operands or files or (form[0] in MUST_FREEZE and not FROZEN & given):
        return False
    return _is_locked(form[0], folder, "--ignore-scripts" in given, call)


def _options(
    words: tuple[str, ...], plain: frozenset[str], files: tuple[str, ...]
) -> tuple[list[str], list[str], frozenset[str]] | None:
    """The files that `-r` names, the operands, and the options; None if there is another option."""
    named: list[str] = []
    operands: list[str] = []
    given: set[str] = set()
    waiting = iter(words)
    for word in waiting:
        option, equals, value = word.partition("=")
        if word in files:
            named.append(next(waiting, ""))
        elif option in files and equals:
            named.append(value)
        elif word in WITH_NAMES:
            next(waiting, "")
        elif option in WITH_NAMES and equals:
            continue
        elif word.startswith("-"):
            if word not in plain and word not in QUIET:
                return None
            given.add(word)
        else:
            operands.append(word)
    return (named, operands, frozenset(given)) if all(named) else None


def _top(folder: str, call: PackCall) -> str:
    found = discovered(folder, call.links)
    return found.top if isinstance(found, Repository) else ""


# ---------------------------------------------------------------- requirements files


def _is_plain_requirements(folder: str, name: str, call: PackCall) -> bool:
    """Whether a requirements file, with its includes, names only packages of the index."""
    top = _top(folder, call)
    waiting, seen = [posixpath.normpath(posixpath.join(folder, name))], set[str]()
    while waiting:
        path = waiting.pop()
        if path in seen:
            continue
        seen.add(path)
        text = call.text(path)
        if len(seen) > MOST_REQUIREMENTS or text is None or not top or not path.startswith(top + "/"):
            return False
        for line in text.splitlines():
            line = line.strip()
            if not line or line.startswith("#") or _HASH.match(line):
                continue
            words = line.split()
            if words[0] in ("-r", "-c", "--requirement", "--constraint") and len(words) == 2:
                waiting.append(posixpath.normpath(posixpath.join(posixpath.dirname(path), words[1])))
            elif not (found := _REQUIREMENT.match(line)) or found[1].lower().endswith(_ARCHIVES):
                return False
    settings = [posixpath.join(folder, each) for each in ("pip.conf", ".venv/pip.conf", "venv/pip.conf", "uv.toml")]
    steered = "[tool.uv" in (call.text(posixpath.join(folder, "pyproject.toml")) or "")
    return not steered and not any(map(call.has, settings)) and call.are_as_before(tuple(seen))


# ---------------------------------------------------------------- lock files


def _is_locked(program: str, folder: str, no_scripts: bool, call: PackCall) -> bool:
    manifest, locked, besides = MANIFESTS[program]
    top = _top(folder, call)
    while top and not call.has(posixpath.join(folder, manifest)):
        if folder == top or not folder.startswith(top):
            return False
        folder = posixpath.dirname(folder)
    lock = next((each for each in locked if call.has(posixpath.join(folder, each))), "")
    if not top or not lock or (program in OF_NODE and any(call.has(posixpath.join(folder, each)) for each in CODE)):
        return False
    text = call.text(posixpath.join(folder, lock))
    said = call.text(posixpath.join(folder, manifest))
    if text is None or said is None:
        return False
    members = locks.members(program, text, said)
    if members is None or len(members) > MOST_MEMBERS:
        return False
    # settings files count in every folder down from the top of the repository
    around = [folder]
    while around[-1] != top:
        around.append(posixpath.dirname(around[-1]))
    used = {posixpath.join(folder, lock)}
    for place in (folder, *(posixpath.normpath(posixpath.join(folder, each)) for each in members)):
        if place != top and not place.startswith(top + "/"):
            return False
        used.add(posixpath.join(place, manifest))
        used.update(path for each in besides if call.has(path := posixpath.join(place, each)))
    used.update(path for place in around for each in besides if call.has(path := posixpath.join(place, each)))
    if not call.are_as_before(tuple(used)):
        return False
    texts = {path: call.text(path) or "" for path in used}
    if not all(locks.is_plain_setting(path, text) for path, text in texts.items()):
        return False
    manifests = [text for path, text in texts.items() if posixpath.basename(path) == manifest]
    if program in OF_NODE:
        return no_scripts or all(map(locks.runs_nothing, manifests))
    return program not in ("uv", "poetry") or all(map(locks.builds_plainly, manifests))
