"""Tasks of poe, mise, hatch, pdm, pixi, tox and aliases of cargo: their commands are read, nothing is proved."""

from __future__ import annotations

from assent.contract import Pattern
from assent.effects.shell.code_files import scripts
from assent.effects.shell.command import Arg, CommandEffects, Run
from assent.effects.shell.record import ShellJob, Walk
from assent.effects.shell.tasks import manifests, recipes
from assent.effects.shell.tasks.recipes import Recipe

_DEEPEST = 12
_PROJECT = "pyproject.toml"
_MISE = (
    *("mise.toml", ".mise.toml", "mise.local.toml", ".mise.local.toml", "mise/config.toml", ".mise/config.toml"),
    *(".config/mise.toml", ".config/mise/config.toml"),
)
_MISE_FOLDERS = ("mise-tasks", ".mise-tasks", "mise/tasks", ".mise/tasks", ".config/mise/tasks")
# The files of each runner, and the keys of the table of tasks in them.
_PLACES: dict[str, tuple[tuple[str, tuple[str, ...]], ...]] = {
    "poe": (
        (_PROJECT, ("tool", "poe", "tasks")),
        ("poe_tasks.toml", ("tasks",)),
        ("poe_tasks.toml", ("tool", "poe", "tasks")),
    ),
    "mise": tuple((name, ("tasks",)) for name in _MISE),
    "hatch": (
        (_PROJECT, ("tool", "hatch", "envs")),
        ("hatch.toml", ("envs",)),
    ),
    "pdm": ((_PROJECT, ("tool", "pdm", "scripts")),),
    "pixi": (("pixi.toml", ("tasks",)), (_PROJECT, ("tool", "pixi", "tasks"))),
    "cargo": ((".cargo/config.toml", ("alias",)), (".cargo/config", ("alias",))),
}
_VALUED = frozenset(
    """-C --root --directory --cd -j --jobs -o --output -s --shell -t --tool -p --project -e --env
    --manifest-path""".split()
)
_FOLDERS = frozenset("-C --root --directory --cd -p --project".split())
_ALIASES = {"rtx": "mise"}
_CARGO_OWN = frozenset(
    """build check clean doc new init add remove run test bench update search publish install uninstall fmt clippy b c d
    r t""".split()
)
_INI_SECTION = Pattern(r"\[([^\]]+)\]\s*")
_INI_KEY = Pattern(r"([\w-]+)\s*[=:]\s*(.*)")
_TOX_OTHER = Pattern(r"\{\[([^\]]+)\](\w+)\}")
_TOX_HOLE = Pattern(r"\{([^{}]*)\}")


def find(walk: Walk, job: ShellJob, base: str, summary: CommandEffects) -> list[Recipe]:
    base = _ALIASES.get(base, base)
    folder, words = _line(walk, job, base)
    if base == "tox":
        return _tox(walk, job, folder)
    if not words:
        return []
    name, given = words[0], words[1:]
    out = []
    for file, keys in _PLACES[base]:
        path = recipes.nearest(walk, folder, (file,))
        if not path:
            continue
        place = path.rpartition("/")[0] or "/"
        for mark in (".cargo", "mise", ".mise", ".config/mise", ".config"):
            if file.startswith(f"{mark}/") and file.count("/") == mark.count("/") + 1:
                place = path.removesuffix(f"/{file}") or "/"
        for text in recipes.texts(walk, job, path):
            document = manifests.toml(text)
            if document is None:
                scripts.note(walk, job, path)
                continue
            table = manifests.table(document, *keys)
            if base == "hatch":
                rest = [word for word in words if word[:1] != "+"] or words
                before = [job.argv[at + 1] for at, word in enumerate(job.argv[:-1]) if word in ("-e", "--env")]
                table, name = _hatch(table, rest[0], str(before[0]) if before else "")
                given = rest[1:]
            if base == "pixi":
                for feature in manifests.table(document, *keys[:-1], "feature").values():
                    table.update(manifests.table(feature, "tasks"))
            for other in _included(walk, job, place, document) if base == "poe" else ():
                table = {**manifests.table(other, "tasks"), **manifests.table(other, *keys), **table}
            task = _TomlTask(base, table, place)
            for chosen in _chosen(base, table, [name, *given]):
                task.run(chosen[0], [*chosen[1:]], 0)
            if task.runs:
                recipe = Recipe(path, name, place, task.runs, task.steps)
                recipe.exact = False
                recipe.bins = (f"{place}/.venv/bin",) if base in ("poe", "pdm", "hatch") else ()
                out.append(recipe)
    if base == "mise":
        out += _mise_files(walk, folder, name, given)
    return out


def _line(walk: Walk, job: ShellJob, base: str) -> tuple[str, list[str]]:
    """The folder of a command line, and its words from the name of the task on."""
    folder = job.state.cwds[0]
    words = [word if isinstance(word, str) else recipes.shown(word) for word in job.argv[1:]]
    runs = {"mise": ("run", "r"), "hatch": ("run",), "pdm": ("run",), "pixi": ("run",)}.get(base, ())
    found = False
    while words:
        word = words[0]
        name, equals, value = word.partition("=")
        if word[:1] == "-" and len(word) > 1:
            words.pop(0)
            if name in _VALUED and not equals:
                value = words.pop(0) if words else ""
            if name in _FOLDERS and value:
                folder = recipes.folder_in(walk, folder, value)
        elif runs and not found and (word in runs or word in ("tasks", "task", "t")):
            found = word in runs
            words.pop(0)
        elif (runs and not found and base in ("hatch", "pixi")) or (
            base == "cargo" and (word in _CARGO_OWN or word[:1] == "+")
        ):
            return folder, []
        else:
            break
    return folder, words


def _chosen(base: str, table: dict[str, object], words: list[str]) -> list[list[str]]:
    """The tasks that words name, each with its own words. mise takes several, and patterns."""
    found: list[list[str]] = [[]]
    for word in words:
        if word == ":::" and base == "mise":
            found.append([])
        else:
            found[-1].append(word)
    out = []
    for each in found:
        name = each[0].removeprefix("//").lstrip(":") if each else ""
        if base == "mise" and "*" in name:
            out += [[other, *each[1:]] for other in table if other.startswith(name.partition("*")[0])]
        elif each:
            out.append([name if base == "mise" else each[0], *each[1:]])
    return out


def _included(walk: Walk, job: ShellJob, folder: str, document: dict[str, object]) -> list[dict[str, object]]:
    """Further files with tasks of poe."""
    value = manifests.table(document, "tool", "poe").get("include")
    found = []
    for each in value if isinstance(value, list) else [value]:
        name = each.get("path") if isinstance(each, dict) else each
        if isinstance(name, str):
            path = recipes.folder_in(walk, folder, name)
            for text in recipes.texts(walk, job, path):
                other = manifests.toml(text) if path.endswith(".toml") else manifests.json_object(text)
                if other is None:
                    scripts.note(walk, job, path)
                else:
                    found.append(other)
    return found


class _TomlTask:
    """What a task of a table runs."""

    __slots__ = ("base", "table", "folder", "runs", "steps")

    def __init__(self, base: str, table: dict[str, object], folder: str) -> None:
        self.base = base
        self.table = table
        self.folder = folder
        self.runs: list[Run] = []
        self.steps: list[str] = []

    def run(self, name: str, given: list[str | Arg], depth: int) -> None:
        """A task by its name, with its dependencies."""
        if name not in self.table or depth > _DEEPEST or len(self.runs) > recipes.MOST_RUNS:
            return
        if self.base == "pdm":
            self.run(f"pre_{name}", [], depth + 1)
        self.task(self.table[name], given, depth)
        if self.base == "pdm":
            self.run(f"post_{name}", [], depth + 1)

    def task(self, task: object, given: list[str | Arg], depth: int) -> None:
        if depth > _DEEPEST:
            return
        if isinstance(task, list):
            if self.base == "cargo":
                self.add("cargo " + " ".join(recipes.quoted(str(each)) for each in task), given)
                return
            for each in task:
                self.step(each, given, depth)
            return
        if isinstance(task, str):
            self.add(f"cargo {task}" if self.base == "cargo" else task, given)
            return
        if not isinstance(task, dict):
            return
        for key in ("deps", "depends", "depends-on", "depends_on", "depends_pre"):
            for each in manifests.strings(task.get(key)) or _named(task.get(key)):
                words = each.split() or [""]
                self.run(words[0], [*words[1:]], depth + 1)
        folder = task.get("dir", task.get("cwd", task.get("working_dir")))
        outer = self.folder
        if isinstance(folder, str) and "{" not in folder and "$" not in folder:
            self.folder = folder if folder.startswith("/") else f"{self.folder}/{folder}"
        for key in ("cmd", "shell", "run"):
            value = task.get(key)
            if isinstance(value, list) and key == "cmd":
                self.add(" ".join(recipes.quoted(str(each)) for each in value), given)
            elif isinstance(value, str | list) and not (self.base == "mise" and key == "shell"):
                self.task(value, given, depth + 1)
        if isinstance(task.get("file"), str) and self.base == "mise":
            self.runs.append(Run(argv=(f"{self.folder}/{task['file']}", *given), cwd=self.folder))
        for key in ("sequence", "composite", "parallel"):
            for each in _items(task.get(key)):
                self.step(each, given, depth + 1)
        if isinstance(task.get("ref"), str):
            words = str(task["ref"]).split() or [""]
            self.run(words[0], [*words[1:], *given], depth + 1)
        for key in ("script", "call", "expr"):
            if isinstance(task.get(key), str) and self.base in ("poe", "pdm"):
                self.called(str(task[key]))
        for each in _items(task.get("switch")):
            self.step(each, given, depth + 1)
        if isinstance(task.get("control"), dict | str):
            self.task(task["control"], [], depth + 1)
        self.folder = outer

    def step(self, step: object, given: list[str | Arg], depth: int) -> None:
        """One of several: the name of another task, or a task of its own."""
        words = step.split() if isinstance(step, str) else []
        if words and words[0] in self.table and self.base in ("poe", "pdm", "hatch") and depth <= _DEEPEST:
            self.run(words[0], [*words[1:]], depth + 1)
        elif isinstance(step, dict) and isinstance(step.get("task"), str) and self.base == "mise":
            self.run(str(step["task"]), [], depth + 1)
        else:
            self.task(step, given, depth + 1)

    def add(self, text: str, given: list[str | Arg]) -> None:
        self.steps.append(text)
        words = text.split()
        if text.lstrip().startswith("#!"):
            self.runs.append(recipes.script(text.lstrip(), self.folder))
            return
        if self.base == "hatch":
            text = text.replace("{args}", " ".join(recipes.quoted(str(each)) for each in given))
            if words and words[0] in self.table and len(self.runs) <= recipes.MOST_RUNS and len(self.steps) < 64:
                self.run(words[0], [*words[1:]], 1)
                return
            self.runs.append(Run(script=text, cwd=self.folder, shell="sh"))
            return
        self.runs.append(recipes.with_arguments(text, given, self.folder))

    def called(self, text: str) -> None:
        """A Python function by its name: `package.module:function(…)`."""
        module, _, function = text.partition(":")
        self.steps.append(text)
        code = f"import {module}; {module}.{function}" if function and module.replace(".", "").isidentifier() else text
        self.runs.append(Run(argv=("python3", "-c", code), cwd=self.folder))


def _items(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _named(value: object) -> list[str]:
    """Names in a list of tables (`{ task = "x" }`)."""
    return [str(each["task"]) for each in _items(value) if isinstance(each, dict) and isinstance(each.get("task"), str)]


def _hatch(environments: dict[str, object], word: str, chosen: str) -> tuple[dict[str, object], str]:
    """The scripts of an environment that a word names (`lint:check`), and the name of the script."""
    place, colon, name = word.rpartition(":")
    for each in [chosen] if chosen and not colon else ():
        place, colon = each, ":"
    place = place.rpartition(".")[2].rpartition("+")[2] if colon else "default"
    found: dict[str, object] = {}
    for each in ("default", place):
        found.update(manifests.table(environments, each, "scripts"))
        found.update(manifests.table(environments, each, "extra-scripts"))
    return found, name


def _mise_files(walk: Walk, folder: str, name: str, given: list[str]) -> list[Recipe]:
    """A task that is a file of its own."""
    inner = name.replace(":", "/")
    if not inner or ".." in inner or inner[0] == "/":
        return []
    path = recipes.nearest(walk, folder, tuple(f"{place}/{inner}" for place in _MISE_FOLDERS))
    return [Recipe("", name, folder, [Run(argv=(path, *given))], [])] if path else []


# ---------------------------------------------------------------- tox


def _tox(walk: Walk, job: ShellJob, folder: str) -> list[Recipe]:
    words = [word if isinstance(word, str) else recipes.shown(word) for word in job.argv[1:]]
    positional = words[words.index("--") + 1 :] if "--" in words else []
    wanted: list[str] = []
    named = ""
    for place, word in enumerate(words):
        before = words[place - 1] if place else ""
        if before in ("-e", "--env"):
            wanted += word.split(",")
        elif before in ("-c", "--conf"):
            named = recipes.folder_in(walk, folder, word)
        elif word.startswith("-e") and len(word) > 2:
            wanted += word[2:].split(",")
    path = named or recipes.nearest(walk, folder, ("tox.ini", "tox.toml", "setup.cfg", _PROJECT))
    out = []
    for text in recipes.texts(walk, job, path) if path else ():
        root = path.rpartition("/")[0] or "/"
        steps = _tox_steps(path, text, wanted)
        if steps is None:
            scripts.note(walk, job, path)
            continue
        runs = []
        for step in steps:
            filled = _filled(step, root, positional)
            runs.append(Run(script=filled.lstrip("-! "), cwd=root, shell="sh"))
        if runs:
            recipe = Recipe(path, ",".join(wanted) or "tox", root, runs, steps)
            recipe.exact = False
            out.append(recipe)
    return out


def _filled(step: str, folder: str, positional: list[str]) -> str:
    def value(inside: str) -> str:
        name, _, default = inside.partition(":")
        if name == "posargs":
            return " ".join(recipes.quoted(each) for each in positional) or default
        if name in ("toxinidir", "tox_root", "changedir", "toxworkdir", "work_dir"):
            return folder
        if name in ("envpython", "env_python"):
            return "python3"
        if name == "env":
            return f"${{{default.partition(':')[0]}}}" if default else ""
        return "/" if inside == "/" else f"{folder}/.tox/env" if name.startswith(("env", "tmp", "tox")) else "tox_value"

    return str(_TOX_HOLE.sub(lambda found: value(found[1]), step))


def _tox_steps(path: str, text: str, wanted: list[str]) -> list[str] | None:
    """The commands of some environments; of all if none is named. None: the file cannot be read."""
    if path.endswith(".toml"):
        document = manifests.toml(text)
        if document is None:
            return None
        if path.endswith(_PROJECT):
            legacy = manifests.table(document, "tool", "tox").get("legacy_tox_ini")
            if isinstance(legacy, str):
                return _tox_steps("tox.ini", legacy, wanted)
        root = manifests.table(document, "tool", "tox") if path.endswith(_PROJECT) else dict(document)
        tables = [manifests.table(root, "env_run_base")]
        environments = manifests.table(root, "env")
        tables += [manifests.table(environments, name) for name in wanted or environments]
        out = []
        for table in tables:
            for key in ("commands_pre", "commands", "commands_post"):
                for command in _items(table.get(key)):
                    if isinstance(command, list):
                        out.append(" ".join(recipes.quoted(str(each)) for each in command if isinstance(each, str)))
        return out
    sections = _sections(text)
    base = sections.get("testenv", {})
    names = [name.partition(":")[2] for name in sections if name.startswith("testenv:")]
    chosen = [
        section
        for name in wanted or names
        for section in [sections[each] for each in sections if _names(each, name)] or [{}]
    ] or [{}]
    out = []
    for section in chosen:
        for key in ("commands_pre", "commands", "commands_post", "allowlist_externals"):
            value = section.get(key, base.get(key, "")) if key != "allowlist_externals" else ""
            joined = str(_TOX_OTHER.sub(lambda found: sections.get(found[1], {}).get(found[2], ""), value))
            joined = joined.replace("\\\n", " ")
            for line in joined.split("\n"):
                line = line.strip()
                prefix, colon, rest = line.partition(": ")
                if colon and prefix.replace("-", "").replace(",", "").replace("!", "").replace(".", "").isalnum():
                    line = rest  # for some environments only
                if line and line[0] not in "#":
                    out.append(line)
    return list(dict.fromkeys(out))


def _names(section: str, name: str) -> bool:
    """Whether a section is that of an environment: `testenv:a`, `testenv:{a,b}-c`."""
    before, colon, pattern = section.partition(":")
    if before != "testenv" or not colon:
        return False
    return pattern == name or (
        "{" in pattern
        and all(
            any(part.strip() in piece.split(",") for part in name.split("-"))
            for piece in (each.strip("{}") for each in pattern.split("-"))
        )
    )


def _sections(text: str) -> dict[str, dict[str, str]]:
    """An ini file: sections, keys, and values with the lines that are indented below them."""
    found: dict[str, dict[str, str]] = {}
    section: dict[str, str] = {}
    key = ""
    for line in text.replace("\r\n", "\n").split("\n"):
        head = _INI_SECTION.fullmatch(line)
        if head is not None:
            section, key = found.setdefault(head[1], {}), ""
        elif line[:1] in (" ", "\t") and key:
            section[key] += f"\n{line.strip()}"
        elif (entry := _INI_KEY.fullmatch(line)) is not None:
            key = entry[1]
            section[key] = entry[2]
    return found
