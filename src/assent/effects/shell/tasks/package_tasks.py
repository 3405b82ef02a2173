"""Scripts in `package.json`, as npm, pnpm, yarn and bun run them."""

from __future__ import annotations

from assent.effects.shell.command import Arg, CommandEffects, Run
from assent.effects.shell.record import ShellJob, Walk
from assent.effects.shell.tasks import manifests, recipes
from assent.effects.shell.tasks.recipes import Recipe
from assent.programs.traits import has

_RUN = frozenset("run run-script rum urn".split())
_INSTALLS = frozenset("install i ci clean-install in ins isntall".split())
_INSTALLED = ("preinstall", "install", "postinstall", "preprepare", "prepare", "postprepare")
_OWN_NAMES = {**dict.fromkeys(("test", "tst", "t"), "test"), "start": "start", "stop": "stop", "restart": "restart"}
_MOST_NAMES = 8
# Options that change neither which script runs nor how.
_FLAGS = {
    "npm": frozenset(
        """--silent -s -q --quiet -d --verbose --if-present --ignore-scripts --foreground-scripts --no-audit --no-fund
        --no-update-notifier --color --no-color --no-progress --offline --prefer-offline --no-workspaces""".split()
    ),
    "pnpm": frozenset(
        """-s --silent --color --no-color --stream --parallel --aggregate-output --bail --no-bail --if-present --sort
        --no-sort --reverse --sequential --fail-if-no-match --use-stderr""".split()
    ),
    "yarn": frozenset("-s --silent --verbose --no-progress --non-interactive".split()),
    "bun": frozenset("--silent --if-present".split()),
}
_VALUED = {
    "npm": frozenset("--loglevel --prefix -C -w --workspace".split()),
    "pnpm": frozenset(
        "--filter -F --filter-prod -C --dir --prefix --loglevel --reporter --workspace-concurrency".split()
    ),
    "yarn": frozenset(("--cwd",)),
    "bun": frozenset("--cwd --filter -F".split()),
}
_FOLDER = frozenset("--prefix -C --dir --cwd".split())
_NAMED = frozenset("-w --workspace --filter -F --filter-prod".split())
_ALL = frozenset("-r --recursive --workspaces -ws --include-workspace-root -iwr".split())
# Names of scripts that are no command in any version of pnpm, in addition to those with a colon.
_PLAIN_NAMES = frozenset(
    "build lint format fmt typecheck type-check check-types tsc dev e2e coverage compile serve preview validate".split()
)
# Further settings that change which scripts run, in addition to the rows.
_OBEYED = (
    "^.npmrc~(?mi)^\\s*(?:workspaces?|include-workspace-root|verify-deps-before-run|recursive)\\b",
    "^pnpm-workspace.yaml~verifyDepsBeforeRun",
)
_PROVED = frozenset(("npm", "pnpm"))  # they run a script by `sh`, and find programs in `node_modules/.bin` and PATH


class Line:
    """A command line of a package manager that runs a script. `folder`: the given folder (`""`: none);
    `packages`: the workspaces that it names; `every`: it runs in all of them; `exact`: every option is known."""

    __slots__ = ("name", "given", "folder", "packages", "every", "exact", "bare", "root")

    def __init__(self) -> None:
        self.name = ""
        self.given: list[str | Arg] = []
        self.folder = ""
        self.packages: list[str] = []
        self.every = False
        self.root = False
        self.exact = True
        self.bare = False


def find(walk: Walk, job: ShellJob, base: str, summary: CommandEffects) -> list[Recipe]:
    line = _line(walk, job, base, summary)
    if line is None or not line.name:
        return []
    installs = line.name == "install" and not line.exact and job.argv[-1] not in _RUN
    if installs and (line.given or "--ignore-scripts" in job.argv):
        return []
    start = line.folder or job.state.cwds[0]
    folder = _package(walk, start, up=not line.folder or base != "npm")
    if not folder:
        return _program(line, start) if base != "npm" else []
    folders, exact = [folder], line.exact
    if line.packages or line.every or line.root:
        folders, known = _workspaces(walk, job, base, folder, line)
        exact = exact and known
    found = [recipe for each in folders for recipe in _recipes(walk, job, each, line)]
    if not found and base != "npm":
        return _program(line, folder)
    exact = exact and not any(isinstance(word, Arg) for word in line.given) and base in _PROVED
    exact = exact and (not line.bare or line.name in _PLAIN_NAMES or ":" in line.name)
    root = walk.tables.row(base)
    for recipe in found:
        recipe.bins = tuple(f"{each}/node_modules/.bin" for each in recipes.parents(recipe.folder))
        recipe.obeys = (*root.obeys, *_OBEYED)
        recipe.exact = recipe.exact and exact and not _has_own_shell(walk, recipe.bins)
    return found


def _program(line: Line, folder: str) -> list[Recipe]:
    """`pnpm vitest`: without a script of that name, it is a program of the project."""
    if not line.bare or line.packages or line.every or not has(line.name, "script-runner"):
        return []
    recipe = Recipe("", line.name, folder, [Run(argv=(line.name, *line.given), cwd=folder)], [line.name])
    recipe.exact = False
    return [recipe]


def find_everywhere(walk: Walk, job: ShellJob, base: str, summary: CommandEffects) -> list[Recipe]:
    """The scripts that `turbo run`, `lerna run` and `run-s` start, in all packages or in this one. Nothing is exact."""
    words = [word for word in job.argv[1:] if isinstance(word, str) and word[:1] != "-"]
    every = base in ("turbo", "lerna")
    names = words[1:] if every and words[:1] in (["run"], ["exec"]) else words
    folder = _package(walk, job.state.cwds[0], up=True)
    found: list[Recipe] = []
    for name in names[:_MOST_NAMES] if folder else ():
        line = Line()
        line.name, line.every, line.exact = name.rpartition("#")[2], every, False
        folders = [folder]
        if every:
            manager = "npm" if recipes.is_absent(walk, f"{folder}/pnpm-workspace.yaml") else "pnpm"
            folders, _ = _workspaces(walk, job, manager, folder, line)
        found += [recipe for each in folders for recipe in _recipes(walk, job, each, line)]
    for recipe in found:
        recipe.exact = False
    return found


def _has_own_shell(walk: Walk, bins: tuple[str, ...]) -> bool:
    """Whether the shell that runs the script, or the interpreter of the runner, may be a program of the project."""
    outer, walk.bins = walk.bins, (*bins, *walk.bins)
    found = recipes.may_be_own(walk, "sh", alone=True) or recipes.may_be_own(walk, "node", alone=True)
    walk.bins = outer
    return found


# ---------------------------------------------------------------- the command line


def _line(walk: Walk, job: ShellJob, base: str, summary: CommandEffects) -> Line | None:
    line = Line()
    given = list(job.argv[1:])
    if base == "yarn" and given[:1] == ["workspace"] and len(given) > 2 and isinstance(given[1], str):
        line.packages.append(given[1])
        given = given[2:]
    elif base == "yarn" and given[:2] in (["workspaces", "run"], ["workspaces", "foreach"]):
        line.every, line.exact, given = True, False, given[2:]
    positional: list[str] = []
    while given and not line.name:
        word = given.pop(0)
        if not isinstance(word, str):
            return None
        if word[:1] == "-" and len(word) > 1:
            _option(walk, job, base, line, word, given)
            continue
        positional.append(word)
        _named(base, line, positional, summary)
    after = False
    while given:
        word = given.pop(0)
        if word == "--" and not after:
            after = True
            line.exact = line.exact and base == "npm"  # others pass it on or not, by version
        elif base == "npm" and not after and isinstance(word, str) and word[:1] == "-" and len(word) > 1:
            _option(walk, job, base, line, word, given)
        else:
            line.given.append(word)
            line.exact = line.exact and (after or isinstance(word, str))
    return line


def _named(base: str, line: Line, positional: list[str], summary: CommandEffects) -> None:
    """Take the name of the script from the operands."""
    first = positional[0]
    if len(positional) > 1 or (first not in _RUN and first not in _INSTALLS and base == "npm"):
        line.name = positional[-1] if first in _RUN else _OWN_NAMES.get(first, "")
    elif first in _OWN_NAMES and base != "bun":
        line.name = _OWN_NAMES[first]
    elif first in _INSTALLS:
        line.name, line.exact = "install", False
    elif first not in _RUN and (not summary.subcommand or line.packages):
        line.name, line.bare = first, True


def _option(walk: Walk, job: ShellJob, base: str, line: Line, word: str, given: list[str | Arg]) -> None:
    name, equals, value = word.partition("=")
    if name in _VALUED[base] and not equals:
        following = given.pop(0) if given else ""
        value = following if isinstance(following, str) else ""
    if name in _FOLDER and name in _VALUED[base]:
        line.folder = recipes.folder_of(job, walk, value) if value else ""
        line.exact = line.exact and bool(line.folder)
    elif name in _NAMED and name in _VALUED[base]:
        line.packages.append(value)
        line.exact = line.exact and bool(value)
    elif base == "pnpm" and name in ("-w", "--workspace-root"):
        line.root = True
    elif name in _ALL:
        line.every = True
    elif name not in _FLAGS[base] and name not in _VALUED[base]:
        line.exact = False


# ---------------------------------------------------------------- folders


def _package(walk: Walk, start: str, *, up: bool) -> str:
    """The folder of the nearest package; `""` if there is none, or it is not yet known."""
    found = recipes.code(walk, f"{start}/package.json")
    if found is None or not start:
        return ""
    if found.problem != "absent" or f"{start}/package.json" in walk.written:
        return start
    above = recipes.parents(start)[1:] if up else []
    known = [recipes.is_absent(walk, f"{each}/package.json") for each in above]
    if any(f"{each}/package.json" in walk.wants for each in above) or not recipes.is_absent(
        walk, f"{start}/node_modules/"
    ):
        return ""
    for each, absent in zip(above, known, strict=True):
        if not absent:
            return each
        if not recipes.is_absent(walk, f"{each}/node_modules/"):
            return ""
    return ""


def _workspaces(walk: Walk, job: ShellJob, base: str, folder: str, line: Line) -> tuple[list[str], bool]:
    """The folders of the workspaces that a command line means, and whether these are all."""
    root = _root(walk, job, base, folder)
    if line.root and not line.packages and not line.every:
        return [root], root != ""
    listed, known = _members(walk, job, base, root)
    if line.every and not line.packages:
        return [root, *listed], known
    found: list[str] = []
    for name in line.packages:
        plain = name.removesuffix("...").removeprefix("...").removeprefix("{").removesuffix("}").removeprefix("./")
        by_path = recipes.folder_of(job, walk, name) if base == "npm" else f"{root}/{plain}"
        matching = [by_path] if by_path in listed else [each for each in listed if _name(walk, job, each) == plain]
        found += matching
        known = known and len(matching) == 1 and (plain == name or base != "pnpm")
    return found, known


def _root(walk: Walk, job: ShellJob, base: str, folder: str) -> str:
    """The folder that lists the workspaces."""
    for each in recipes.parents(folder):
        if base == "pnpm" and recipes.code(walk, f"{each}/pnpm-workspace.yaml") is not None:
            if not recipes.is_absent(walk, f"{each}/pnpm-workspace.yaml"):
                return each
        elif base != "pnpm" and _entries(walk, job, each) is not None:
            return each
    return folder


def _entries(walk: Walk, job: ShellJob, folder: str) -> list[str] | None:
    if recipes.is_absent(walk, f"{folder}/package.json"):
        return None
    found = _manifest(walk, job, folder)
    value = found.get("workspaces")
    return manifests.strings(value.get("packages") if isinstance(value, dict) else value)


def _members(walk: Walk, job: ShellJob, base: str, root: str) -> tuple[list[str], bool]:
    """The folders that a root lists as workspaces, and whether these are all."""
    if base == "pnpm":
        found_texts = recipes.texts(walk, job, f"{root}/pnpm-workspace.yaml")
        entries = manifests.yaml_list(found_texts[0], "packages") if len(found_texts) == 1 else None
    else:
        entries = _entries(walk, job, root)
    found: dict[str, None] = {}
    known = entries is not None
    for entry in entries or []:
        entry = entry.removeprefix("./").rstrip("/")
        above, _, last = entry.rpartition("/")
        if any(sign in above for sign in "*?[]{}!") or entry[:1] in ("!", "/") or ".." in entry:
            known = False
        elif last == "*":
            names = recipes.code(walk, f"{root}/{above}/" if above else f"{root}/")
            known = known and names is not None and not names.problem
            for name in names.text.split("\n") if names is not None else ():
                place = f"{root}/{above}/{name}".replace("//", "/")
                if name[:1] not in ("", ".") and not recipes.is_absent(walk, f"{place}/package.json"):
                    found[place] = None
        elif any(sign in last for sign in "*?[]{}!"):
            known = False
        else:
            found[f"{root}/{entry}"] = None
    return list(found)[:_MOST_WORKSPACES], known and len(found) <= _MOST_WORKSPACES


_MOST_WORKSPACES = 64


def _manifest(walk: Walk, job: ShellJob, folder: str) -> dict[str, object]:
    """The one text that a `package.json` may have, as an object."""
    found = recipes.texts(walk, job, f"{folder}/package.json")
    return manifests.json_object(found[0]) or {} if len(found) == 1 else {}


def _name(walk: Walk, job: ShellJob, folder: str) -> str:
    name = _manifest(walk, job, folder).get("name")
    return name if isinstance(name, str) else ""


# ---------------------------------------------------------------- scripts


def _recipes(walk: Walk, job: ShellJob, folder: str, line: Line) -> list[Recipe]:
    """The script that a line names in a package, once for each text that the manifest may have."""
    path = f"{folder}/package.json"
    found = []
    for text in recipes.texts(walk, job, path):
        scripts = manifests.table(manifests.json_object(text), "scripts")
        names = _steps(scripts, line.name)
        steps = [script for name in names if isinstance(script := scripts[name], str)]
        if steps and len(steps) == len(names):
            runs = [
                recipes.with_arguments(script, line.given if name == line.name else [], folder)
                for name, script in zip(names, steps, strict=True)
            ]
            found.append(Recipe(path, line.name, folder, runs, steps))
    return found


def _steps(scripts: dict[str, object], name: str) -> list[str]:
    """The scripts that run for a name, with those before and after it."""
    if name == "install":
        return [each for each in _INSTALLED if each in scripts]
    if name == "restart" and name not in scripts:
        middle = [*_steps(scripts, "stop"), *_steps(scripts, "start")]
    else:
        middle = [name] if name in scripts else []
    return [each for each in (f"pre{name}", *middle, f"post{name}") if each in scripts] if middle else []
