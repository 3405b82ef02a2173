"""Tasks of just, Task, deno, Composer, nox, invoke and rake: their commands are read, nothing is proved."""

from __future__ import annotations

from assent.contract import Pattern, plain_yaml
from assent.effects.shell.code_files import scripts
from assent.effects.shell.command import Arg, CommandEffects, Run
from assent.effects.shell.record import ShellJob, Walk
from assent.effects.shell.tasks import manifests, recipes
from assent.effects.shell.tasks.justfile import Justfile
from assent.effects.shell.tasks.recipes import Recipe
from assent.programs.traits import has

_MOST_IMPORTS = 16
_DEEPEST = 12
_FIELD = Pattern(r"\{\{\s*\.(\w+)\s*\}\}")
_TEMPLATE = Pattern(r"\{\{.*?\}\}", 16)
_COMMENT = Pattern(r'("(?:[^"\\]|\\.)*")|//[^\n]*|/\*.*?\*/', 16)
_COMMA = Pattern(r'("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])', 16)
_RAKE_TASK = Pattern(r"(?m)^([ \t]*)(?:multi)?task[ (]+(?::([\w?!]+)|['\"]([\w:.-]+)['\"]|([a-z_]\w*):)([^\n]*)$")
_RAKE_LOADS = Pattern(r"(?m)^\s*(?:import|load)[ (]+['\"]([\w./-]+)['\"]")
_RAKE_NAME = Pattern(r"[:'\"]([\w:.-]+)")
_RAKE_SHELL = Pattern(r"(?m)(^|[\s;{(|&])sh([ (]+['\"%])")
_RAKE_FILES = Pattern(r"(?m)(^|[\s;{(|&])(rm_rf|rm_r|rm_f|rm|rmtree|mv|cp_r|cp|remove_dir|remove_entry)([ (])(?!=)")


def find(walk: Walk, job: ShellJob, base: str, summary: CommandEffects) -> list[Recipe]:
    words = [word if isinstance(word, str) else recipes.shown(word) for word in job.argv[1:]]
    folder = job.state.cwds[0]
    finder = {"just": _just, "task": _task, "go-task": _task, "deno": _deno, "composer": _composer}.get(base)
    if finder is None:
        finder = {"nox": _sessions, "invoke": _sessions, "inv": _sessions, "fab": _sessions, "rake": _rake}[base]
    return finder(walk, job, folder, words)


def _unread(walk: Walk, job: ShellJob, recipe: Recipe) -> Recipe:
    recipe.doubt()
    scripts.note(walk, job, recipe.file)
    return recipe


# ---------------------------------------------------------------- just


def _just(walk: Walk, job: ShellJob, folder: str, words: list[str]) -> list[Recipe]:
    named = place = ""
    rest: list[str] = []
    overrides: dict[str, str] = {}
    words = list(words)
    while words:
        word = words.pop(0)
        name, equals, value = word.partition("=")
        if word[:1] == "-" and not rest:
            if name in ("-f", "--justfile", "-d", "--working-directory", "--set", "--shell", "--dotenv-path", "-c"):
                value = value if equals else words.pop(0) if words else ""
            if name in ("-f", "--justfile"):
                named = recipes.folder_in(walk, folder, value)
            elif name in ("-d", "--working-directory"):
                place = recipes.folder_in(walk, folder, value)
            elif name == "--set":
                overrides[value] = words.pop(0) if words else ""
            elif name == "-c" or name == "--command":
                return []
        elif equals and name.isidentifier() and not rest:
            overrides[name] = value
        else:
            rest.append(word)
    if rest and "/" in rest[0]:
        above, _, rest[0] = rest[0].rpartition("/")
        folder = recipes.folder_in(walk, folder, above)
        rest = [each for each in rest if each]
    path = named or recipes.nearest(walk, folder, ("justfile", "Justfile", ".justfile"))
    if not path:
        return []
    place = place or path.rpartition("/")[0] or "/"
    out = []
    for text in recipes.texts(walk, job, path):
        found = Justfile(path.rpartition("/")[0] or "/")
        found.read(text)
        seen = [path]
        for name in found.imports:  # grows
            inner = recipes.folder_in(walk, found.folder, name)
            if inner in seen or len(seen) > _MOST_IMPORTS:
                continue
            seen.append(inner)
            for other in recipes.texts(walk, job, inner):
                found.read(other)
        found.variables.update((name, recipes.quoted(value)) for name, value in overrides.items())
        shown = found.texts(rest)
        shell = [each.strip(" '\"") for each in found.settings.get("shell", "[sh,-cu]").strip("[] ").split(",")]
        for name in found.variables:
            found.value(name, {})  # commands in back-ticks
        before = "".join(f"export {name}={recipes.quoted(found.value(name, {}))}\n" for name in found.exported)
        name = shell[0].rpartition("/")[2]
        runs = [recipes.script(each, place) for each in dict.fromkeys(found.ran)]
        for each in shown:
            if each.startswith("#!") or has(name, "shell"):
                each = each if each.startswith("#!") else before + each
                runs.append(recipes.script(each, place, name if has(name, "shell") else "sh"))
            else:
                runs.append(Run(argv=(*shell, each), cwd=place))
        recipe = Recipe(path, " ".join(rest) or "default", place, runs, [*shell, before, *found.ran, *shown])
        recipe.exact = False
        out.append(_unread(walk, job, recipe) if found.unread or "dotenv-path" in found.settings else recipe)
    return out


# ---------------------------------------------------------------- Task


class _Taskfile:
    """The tasks of a Taskfile, with those of the files that it includes."""

    __slots__ = ("tasks", "variables", "folder", "unread", "runs", "ran", "given")

    def __init__(self, folder: str, given: dict[str, str]) -> None:
        self.tasks: dict[str, object] = {}
        self.variables: dict[str, object] = {}
        self.folder = folder
        self.unread = False
        self.runs: list[tuple[str, str]] = []
        self.given = given

    def filled(self, text: object, local: dict[str, object], depth: int = 0) -> str:
        if not isinstance(text, str):
            return ""

        def value(name: str) -> str:
            if name in self.given:
                return self.given[name]
            found = local.get(name, self.variables.get(name))
            if isinstance(found, dict) and isinstance(found.get("sh"), str):
                command = self.filled(found["sh"], {}, depth + 1) if depth < _DEEPEST else ""
                self.runs.append((command, self.folder))
                return f"$({command})"
            if isinstance(found, str):
                return self.filled(found, {}, depth + 1) if depth < _DEEPEST else ""
            known = {"ROOT_DIR": self.folder, "TASKFILE_DIR": self.folder, "USER_WORKING_DIR": self.folder}
            return known.get(name, "" if name == "CLI_ARGS" else f"${{{name}}}")

        return str(_TEMPLATE.sub("${task_value}", _FIELD.sub(lambda found: value(found[1]), text)))

    def run(self, name: str, around: dict[str, object], depth: int = 0) -> None:
        task = self.tasks.get(name)
        if task is None and ":" not in name:
            called = (each for each in self.tasks.values() if isinstance(each, dict))
            task = next((each for each in called if name in _texts(each.get("aliases"))), None)
        if task is None or depth > _DEEPEST:
            self.unread = self.unread or depth > 0 or name != "default"
            return
        body = task if isinstance(task, dict) else {"cmds": task}
        inner = body.get("vars")
        local = {**around, **(inner if isinstance(inner, dict) else {})}
        folder = self.folder
        if isinstance(body.get("dir"), str):
            given = self.filled(body["dir"], local)
            folder = given if given.startswith("/") else f"{self.folder}/{given}"
        for each in _items(body.get("deps")):
            self.step(each if isinstance(each, dict) else {"task": each}, local, folder, depth)
        for key in ("status", "preconditions"):
            for each in _items(body.get(key)):
                self.step({"cmd": each.get("sh")} if isinstance(each, dict) else each, local, folder, depth)
        for each in _items(body.get("cmds", body.get("cmd"))):
            self.step(each, local, folder, depth)

    def step(self, step: object, local: dict[str, object], folder: str, depth: int) -> None:
        if isinstance(step, dict):
            inner = step.get("vars")
            if isinstance(step.get("task"), str):
                name = self.filled(step["task"], local)
                self.run(name, {**local, **(inner if isinstance(inner, dict) else {})}, depth + 1)
                return
            step = step.get("cmd", step.get("defer"))
            if isinstance(step, dict):
                self.step(step, local, folder, depth + 1)
                return
        text = self.filled(step, local)
        if text:
            self.runs.append((text, folder))


def _items(value: object) -> list[object]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _texts(value: object) -> list[str]:
    return manifests.strings(value) or [] if value is not None else []


_TASKFILES = tuple(
    f"{name}{dist}.{end}" for dist in ("", ".dist") for name in ("Taskfile", "taskfile") for end in ("yml", "yaml")
)


def _task(walk: Walk, job: ShellJob, folder: str, words: list[str]) -> list[Recipe]:
    named, names, given = "", [], {}
    words = list(words)
    while words:
        word = words.pop(0)
        name, equals, value = word.partition("=")
        if word == "--":
            given["CLI_ARGS"] = " ".join(recipes.quoted(each) for each in words)
            break
        if word[:1] == "-":
            if name in ("-t", "--taskfile", "-d", "--dir", "-C", "--concurrency", "-o", "--output", "-I", "--interval"):
                value = value if equals else words.pop(0) if words else ""
            if name in ("-t", "--taskfile"):
                named = recipes.folder_in(walk, folder, value)
            elif name in ("-d", "--dir"):
                folder = recipes.folder_in(walk, folder, value)
        elif equals:
            given[name] = value
        else:
            names.append(word)
    path = named or recipes.nearest(walk, folder, _TASKFILES)
    out = []
    for text in recipes.texts(walk, job, path) if path else ():
        found = _Taskfile(path.rpartition("/")[0] or "/", given)
        _read_taskfile(walk, job, found, text, "", 0)
        for name in names or ["default"]:
            found.run(name, {})
        for each in found.variables.values():
            found.filled("{{.x}}", {"x": each})  # the output of commands
        runs = [Run(script=each, cwd=place, shell="bash") for each, place in dict.fromkeys(found.runs)]
        recipe = Recipe(path, " ".join(names) or "default", found.folder, runs, [each for each, _ in found.runs])
        recipe.exact = False
        out.append(_unread(walk, job, recipe) if found.unread else recipe)
    return out


def _read_taskfile(walk: Walk, job: ShellJob, found: _Taskfile, text: str, before: str, depth: int) -> None:
    try:
        document = plain_yaml.read(text)
    except plain_yaml.NotPlainYaml:
        found.unread = True
        return
    found.variables.update(manifests.table(document, "vars"))
    for name, task in manifests.table(document, "tasks").items():
        found.tasks[f"{before}{name}"] = task
    for name, given in manifests.table(document, "includes").items():
        place = given.get("taskfile") if isinstance(given, dict) else given
        if not isinstance(place, str) or "{{" in place or "://" in place or depth > 3:
            found.unread = True
            continue
        path = recipes.folder_in(walk, found.folder, place)
        if not path.endswith((".yml", ".yaml")):
            path = recipes.nearest(walk, path, _TASKFILES, up=False)
        for other in recipes.texts(walk, job, path) if path else ():
            _read_taskfile(walk, job, found, other, f"{before}{name}:", depth + 1)


# ---------------------------------------------------------------- deno, Composer


def _deno(walk: Walk, job: ShellJob, folder: str, words: list[str]) -> list[Recipe]:
    if words[:1] != ["task"]:
        return []
    rest = words[1:]
    while rest and rest[0][:1] == "-":
        if rest[0] in ("--cwd", "-c", "--config", "-f", "--filter") and len(rest) > 1:
            folder = recipes.folder_in(walk, folder, rest[1]) if rest[0] == "--cwd" else folder
            rest = rest[1:]
        rest = rest[1:]
    path = recipes.nearest(walk, folder, ("deno.json", "deno.jsonc"))
    other = recipes.nearest(walk, folder, ("package.json",))
    out = []
    for file, key in ((path, "tasks"), (other, "scripts")):
        for text in recipes.texts(walk, job, file) if file and rest else ():
            plain = _COMMA.sub(lambda found: found[1] or "", _COMMENT.sub(lambda found: found[1] or "", str(text)))
            tasks = manifests.table(manifests.json_object(str(plain)), key)
            place = file.rpartition("/")[0] or "/"
            steps = _deno_steps(tasks, rest[0], 0)
            if steps:
                given: list[str | Arg] = [*rest[1:]]
                runs = [Run(script=each, cwd=place, shell="sh") for each in steps[:-1]]
                runs.append(recipes.with_arguments(steps[-1], given, place))
                recipe = Recipe(file, rest[0], place, runs, steps)
                recipe.exact = False
                out.append(recipe)
    return out


def _deno_steps(tasks: dict[str, object], name: str, depth: int) -> list[str]:
    task = tasks.get(name)
    if isinstance(task, str):
        return [task]
    if not isinstance(task, dict) or depth > _DEEPEST:
        return []
    before = [step for each in _texts(task.get("dependencies")) for step in _deno_steps(tasks, each, depth + 1)]
    own = task.get("command")
    return [*before, *([own] if isinstance(own, str) else [])]


def _composer(walk: Walk, job: ShellJob, folder: str, words: list[str]) -> list[Recipe]:
    names, rest = [], list(words)
    while rest:
        word = rest.pop(0)
        if word in ("-d", "--working-dir") and rest:
            folder = recipes.folder_in(walk, folder, rest.pop(0))
        elif word.startswith("--working-dir="):
            folder = recipes.folder_in(walk, folder, word.partition("=")[2])
        elif word[:1] != "-":
            names.append(word)
            if names[0] not in ("run", "run-script"):
                break
            if len(names) == 2:
                break
    name = names[-1] if names else ""
    path = recipes.nearest(walk, folder, ("composer.json",))
    out = []
    for text in recipes.texts(walk, job, path) if path and name else ():
        table = manifests.table(manifests.json_object(text), "scripts")
        place = path.rpartition("/")[0] or "/"
        events = {
            "install": ("pre-install-cmd", "post-install-cmd", "pre-autoload-dump", "post-autoload-dump"),
            "update": ("pre-update-cmd", "post-update-cmd", "pre-autoload-dump", "post-autoload-dump"),
            "require": ("pre-update-cmd", "post-update-cmd", "pre-autoload-dump", "post-autoload-dump"),
            "dump-autoload": ("pre-autoload-dump", "post-autoload-dump"),
        }.get(name, (name,))
        steps = [step for event in events for step in _composer_steps(table, event, 0)]
        if steps:
            given: list[str | Arg] = [*(word for word in rest if word != "--")]
            runs = [recipes.with_arguments(step, given if name in events else [], place) for step in steps]
            recipe = Recipe(path, name, place, runs, steps)
            recipe.exact = False
            recipe.bins = (f"{place}/vendor/bin",)
            out.append(recipe)
    return out


def _composer_steps(table: dict[str, object], name: str, depth: int) -> list[str]:
    if depth > _DEEPEST:
        return []
    out: list[str] = []
    for step in _texts(table.get(name)):
        if step.startswith(("@php ", "@composer ")):
            out.append(step[1:])
        elif step.startswith("@putenv "):
            out.append(f"export {step[8:]}")
        elif step.startswith("@"):
            out += _composer_steps(table, step[1:].split(" ")[0], depth + 1)
        elif "::" not in step.split(" ")[0]:
            out.append(step)
    return out


# ---------------------------------------------------------------- nox, invoke, rake


def _sessions(walk: Walk, job: ShellJob, folder: str, words: list[str]) -> list[Recipe]:
    """Sessions of nox and tasks of invoke: Python functions. All of them count, and the file's own code."""
    name = {"nox": "noxfile.py", "fab": "fabfile.py"}.get(str(job.argv[0]).rpartition("/")[2], "tasks.py")
    path = recipes.nearest(walk, folder, (name,), up=name == "tasks.py")
    for place, word in enumerate(words):
        if word in ("-f", "--noxfile") and place + 1 < len(words):
            path = recipes.folder_in(walk, folder, words[place + 1])
        elif word in ("-c", "--collection") and place + 1 < len(words) and name != "noxfile.py":
            path = recipes.nearest(walk, folder, (f"{words[place + 1]}.py", f"{words[place + 1]}/__init__.py"))
    wanted = [piece for word in words if word[:1] != "-" for piece in word.replace(",", " ").split()]
    out = []
    for text in recipes.texts(walk, job, path) if path else ():
        found = manifests.python_runs(text, wanted)
        if found is None:
            out.append(_unread(walk, job, Recipe(path, name, folder, [], [text])))
            continue
        root = path.rpartition("/")[0] or "/"
        runs = [
            Run(argv=tuple(each), cwd=root) if len(each) > 1 else Run(script=each[0], cwd=root, shell="bash")
            for each in found[0]
        ]
        runs.append(Run(argv=("python3", "-c", found[1]), cwd=root))
        recipe = Recipe(path, " ".join(wanted) or name, root, runs, [text])
        recipe.exact = False
        out.append(recipe)
    return out


def _rake(walk: Walk, job: ShellJob, folder: str, words: list[str]) -> list[Recipe]:
    """A task with its prerequisites, and the code around tasks, as Ruby text."""
    path = recipes.nearest(walk, folder, ("rakefile", "Rakefile", "rakefile.rb", "Rakefile.rb"))
    names = []
    for place, word in enumerate(words):
        if words[place - 1 : place] in (["-f"], ["--rakefile"]):
            path = recipes.folder_in(walk, folder, word)
        elif word[:1] != "-" and "=" not in word:
            names.append(word.partition("[")[0])
    out = []
    for text in recipes.texts(walk, job, path) if path else ():
        root = path.rpartition("/")[0] or "/"
        for name in _RAKE_LOADS.findall(text)[:_MOST_IMPORTS]:
            other = recipes.folder_in(walk, root, name)
            text = "\n".join(
                [text, *(recipes.texts(walk, job, other) if recipes.code(walk, other) is not None else ())]
            )
        around, tasks = _rake_tasks(text)
        wanted, seen = names or ["default"], dict[str, None]()
        while wanted:
            name = wanted.pop(0)
            if name not in seen and len(seen) < 200:
                seen[name] = None
                wanted += [need for needs, _ in tasks.get(name.rpartition(":")[2], ()) for need in needs]
        bodies = [body for name in seen for _, body in tasks.get(name.rpartition(":")[2], ())]
        code = "\n".join([around, *bodies])
        code = str(_RAKE_SHELL.sub(lambda found: f"{found[1]}system{found[2]}", code))
        code = str(_RAKE_FILES.sub(lambda found: f"{found[1]}FileUtils.{found[2]}{found[3]}", code))
        recipe = Recipe(path, " ".join(names) or "default", root, [Run(argv=("ruby", "-e", code), cwd=root)], [code])
        recipe.exact = False
        out.append(recipe)
    return out


def _rake_tasks(text: str) -> tuple[str, dict[str, list[tuple[list[str], str]]]]:
    """The code around the tasks of a Rakefile, and each task's prerequisites and body, by its indentation."""
    around: list[str] = []
    tasks: dict[str, list[tuple[list[str], str]]] = {}
    lines = text.split("\n")
    place = 0
    while place < len(lines):
        line = lines[place]
        place += 1
        found = _RAKE_TASK.match(line)
        if found is None:
            around.append(line)
            continue
        needs = _RAKE_NAME.findall(found[5].partition("=>")[2] or (found[5] if found[4] else ""))
        body: list[str] = []
        if line.rstrip().endswith("do") or " do |" in line:
            while place < len(lines) and lines[place].rstrip() != f"{found[1]}end":
                body.append(lines[place])
                place += 1
            place += 1
        elif "{" in line or " do " in line:
            body.append(line.partition("{" if "{" in line else " do ")[2])
        tasks.setdefault(found[2] or found[3] or found[4], []).append((needs, "\n".join(body)))
    return "\n".join(around), tasks
