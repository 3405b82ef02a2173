"""What an approval is bound to: a digest of a call, of its resolved targets, and of the files that it would run.

Two digests of the same call are equal only if nothing that the person was shown or that would run has changed. File
names that a script computes at run time are not found: an approval is bound to the files that its text names."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator, Mapping
from stat import S_ISDIR, S_ISREG

from assent.contract import (
    READ_ONLY,
    Call,
    Effect,
    Facts,
    Invocation,
    Kind,
    Lowering,
    Operation,
    dumps,
    loads,
    re,
    sha256,
)
from assent.contract.tools import canonical
from assent.programs.traits import has
from assent.state.files import read

WHOLE = 64 * 1024 * 1024  # bytes of a file that are read; a longer one counts by its state
FILES = 256  # files read; with more, the digest never repeats
# Programs that run a file of the current folder, or of a given one.
_NODE = ("package.json", "index.js")
_PYTHON = ("pyproject.toml", "setup.py", "setup.cfg")
_COMPOSE = ("compose.yaml", "compose.yml", "docker-compose.yaml", "docker-compose.yml")
LISTS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("make", "gmake"), ("GNUmakefile", "makefile", "Makefile")),
    **dict.fromkeys(("npm", "pnpm", "yarn", "bun", "npx", "bunx"), ("package.json", ".npmrc", "package-lock.json")),
    **dict.fromkeys(("node", "nodejs", "tsx", "ts-node"), _NODE),
    **dict.fromkeys(("pip", "pip3", "uv", "poetry", "pdm", "hatch", "tox"), (*_PYTHON, "tox.ini", "uv.lock")),
    **dict.fromkeys(("pytest", "py.test"), ("conftest.py", "pytest.ini", "tox.ini", *_PYTHON)),
    **dict.fromkeys(("python", "python3"), ("__main__.py", "conftest.py", *_PYTHON)),
    **dict.fromkeys(("gradle", "gradlew"), ("build.gradle", "build.gradle.kts", "settings.gradle")),
    **dict.fromkeys(("mvn", "mvnw"), ("pom.xml",)),
    **dict.fromkeys(("docker", "podman", "docker-compose", "podman-compose"), ("Dockerfile", *_COMPOSE)),
    "just": ("justfile", "Justfile", ".justfile"),
    "task": ("Taskfile.yml", "Taskfile.yaml"),
    "rake": ("Rakefile", "rakefile"),
    "bundle": ("Gemfile", "Rakefile"),
    "nox": ("noxfile.py",),
    "invoke": ("tasks.py",),
    "cargo": ("Cargo.toml", "build.rs"),
    "go": ("go.mod", "main.go"),
    "cmake": ("CMakeLists.txt",),
    "composer": ("composer.json",),
    "deno": ("deno.json", "deno.jsonc"),
    "terraform": ("main.tf",),
    "pre-commit": (".pre-commit-config.yaml",),
    "git": (".git/hooks/pre-commit", ".git/hooks/commit-msg", ".git/hooks/pre-push", ".pre-commit-config.yaml"),
}
_ENDINGS = ("", ".js", ".py", "/__main__.py")  # endings of a script or module named without one


def identity(call: Call) -> str:
    """Identifies the identical call: tool, arguments, folder and shell. The agent's own description is not included."""
    given: Mapping[str, object] = call.input
    if canonical(call.tool) == "bash":
        given = {key: value for key, value in given.items() if str(key).lower() != "description"}
    return _hash(["call", call.tool, _json(given), call.cwd, call.shell])


def digest(call: Call, lowering: Lowering, facts: Facts) -> str:
    """SHA-256 over tool, arguments, folder, the resolved targets, and the bytes of the files that the call runs and of
    the local files that these load.

    If a file that would run cannot be read, or there are too many, the digest never repeats."""
    targets = [_target(effect, facts) for effect in lowering.effects]
    folders = {call.cwd, *(cwd for invocation in lowering.invocations for cwd in invocation.cwds)}
    targets.append([_real(folder) for folder in sorted(folders)])
    files = _files(lowering, facts)
    runs = [[path, _content(path, must=must)] for path, must in files.items()]
    runs += [[_real(path), found] for path, found in lowering.read]
    if len(runs) > FILES:
        runs = [["", _unique()]]
    elif files:
        more = loaded(files, tuple(sorted(folder for folder in folders if folder.startswith("/"))))
        runs += [[path, _content(path, must=False)] for path in more]
    return _hash(["digest", call.tool, _json(call.input), call.cwd, call.shell, targets, runs])


def running(lowering: Lowering, facts: Facts) -> dict[int, tuple[tuple[str, str], ...]]:
    """The files that each command runs by name or takes its tasks from, with a digest of their current content. An
    unknown or unreadable file never has the same digest twice."""
    found: dict[int, dict[str, str]] = {}
    steps_of = {(index, manifest) for index, manifest, _, _ in lowering.recipes}
    for effect in lowering.effects:
        if effect.operation is not Operation.EXECUTE:
            continue
        files, target = found.setdefault(effect.invocation, {}), effect.target
        named = (target.name, *facts.expansions.get(target.name, ())) if target.kind is Kind.PATH else ()
        for name in (target.name.partition(":")[2],) if target.kind is Kind.CODE else named:
            if target.kind is not Kind.CODE or (effect.invocation, name) not in steps_of:
                path = _real(_leads(name, facts))
                files[path] = _content(path, must=True) if path else _unique()
    code = dict(lowering.read)
    followed = {index: True for index, _, _, _ in lowering.recipes}
    followed.update((index, False) for index, _, _, resolved in lowering.recipes if not resolved)
    for index, invocation in enumerate(lowering.invocations):
        if index in found and not followed.get(index):
            found[index].update((path, _recipe(path)) for path in _tasks(invocation))
        if invocation.file in code:
            for runner in lowering.runners(invocation.within):
                found.setdefault(runner, {})[_real(invocation.file)] = code[invocation.file]
    for index, manifest, steps, _ in lowering.recipes:
        for runner in lowering.runners(index):
            files, path = found.setdefault(runner, {}), _real(manifest)
            files[path] = _hash([files.get(path, ""), steps])
    return {index: tuple(files.items()) for index, files in found.items() if files}


def _recipes(program: str) -> tuple[str, ...]:
    """The files that define tasks, by the program that reads them. Of `package.json` only the scripts count."""
    if has(program, "package-scripts"):
        return ("package.json",)
    return LISTS[program] if has(program, "task-runner") else ()


def _tasks(invocation: Invocation) -> Iterator[str]:
    """The recipes of a command's folder and of folders that it names; a Python module there."""
    names, words = _recipes(invocation.program), invocation.words
    module = words[words.index("-m") + 1 :][:1] if "-m" in words and invocation.program.startswith("py") else ()
    for cwd in invocation.cwds:
        if not cwd.startswith("/") or "\0" in cwd:
            continue
        for folder in dict.fromkeys((cwd, *(os.path.join(cwd, word) for word in _pieces(words) if word and names))):
            yield from _existing(folder, names)
        for name in module:
            yield from _existing(os.path.join(cwd, name.replace(".", "/")), (".py", "/__main__.py"), "")


def _recipe(path: str) -> str:
    """A text for the tasks in a file: only the scripts of a manifest, so that a new dependency changes nothing."""
    content = _content(path, must=True)
    if not path.endswith((".json", ".jsonc")):
        return content
    try:
        value = loads(read(path, WHOLE)[0])
    except (OSError, ValueError, RecursionError):
        value = None
    keys = ("scripts", "tasks", "workspaces")
    return _hash(["scripts", _json([value.get(key) for key in keys])]) if isinstance(value, dict) else content


def _target(effect: Effect, facts: Facts) -> list[str]:
    target = effect.target
    leads = (_leads(target.name, facts), _leads(target.raw, facts), *facts.expansions.get(target.name, ()))
    return [effect.operation.value, target.kind.value, target.name, *leads]


def _hash(value: list[object]) -> str:
    return sha256(dumps(value, spaced=True).encode("ascii")).hexdigest()


def _json(value: object) -> str:
    try:
        return dumps(value, ordered=True, spaced=True, default=_odd)
    except (TypeError, ValueError, RecursionError):
        return repr(value)


def _odd(value: object) -> object:
    """A value that is not JSON: a mapping as a dict, else its `repr`."""
    return dict(value.items()) if hasattr(value, "items") else repr(value)


def _leads(path: str, facts: Facts) -> str:
    return facts.canonical.get(path, path)


# ---------------------------------------------------------------- what would run


def _files(lowering: Lowering, facts: Facts) -> dict[str, bool]:
    """The files that decide what the call does, by resolved path; true for those that it runs by name.

    In addition to the scripts, these are all files given to a running command, by its words or on its input: any of
    them may change what the program does."""
    found: dict[str, bool] = {}
    if not lowering.gaps and all(each.operation in READ_ONLY for each in lowering.effects):
        return found
    for effect in lowering.effects:
        target = effect.target
        shown = effect.operation is Operation.WRITE and effect.invocation < 0  # shown as a diff to the current file
        if target.kind is not Kind.PATH or not (shown or effect.operation in (Operation.EXECUTE, Operation.READ)):
            continue
        for name in (target.name, target.raw, *facts.expansions.get(target.name, ())):
            path = _leads(name, facts)
            if path and not (target.pattern and name == target.name):
                found[path] = found.get(path, False) or effect.operation is Operation.EXECUTE
    busy = {each.invocation for each in lowering.effects if each.operation is Operation.EXECUTE}
    for index, invocation in enumerate(lowering.invocations):
        if index in busy or lowering.gaps:
            for path in _given(invocation):
                found.setdefault(path, False)
    return dict(list(found.items())[: FILES + 1])


def _given(invocation: Invocation) -> Iterator[str]:
    """Files that a command's words name, and those that it searches for in its folder or in a given one."""
    names = LISTS.get(invocation.program, ())
    for cwd in invocation.cwds:
        if not cwd.startswith("/") or "\0" in cwd:
            continue
        yield from _existing(cwd, names)
        for word in dict.fromkeys(filter(None, _pieces(invocation.words))):
            path = os.path.join(cwd, word)
            if os.path.isdir(path):
                yield from _existing(path, names)
            yield from _existing(path, _ENDINGS, "")


def _existing(folder: str, names: tuple[str, ...], between: str = "/") -> Iterator[str]:
    for name in names:
        if os.path.isfile(path := f"{folder}{between}{name}"):
            yield os.path.realpath(path)


def _pieces(words: tuple[str, ...]) -> Iterator[str]:
    """Every piece of a word that could be a file: `--file=x`, `-fx`, `@x`; a module as its path."""
    for word in words:
        if len(word) < 4096 and "\0" not in word:
            yield word
            yield word.partition("=")[2]
            if word[:1] == "-" or word[:1] == "@":
                yield word[2:] if word[0] == "-" else word[1:]
            elif "." in word and "/" not in word:
                yield word.replace(".", "/")


def _real(folder: str) -> str:
    return os.path.realpath(folder) if folder.startswith("/") and "\0" not in folder else folder


def _content(path: str, *, must: bool) -> str:
    """A text for the current content of a file. `must`: it is run by name, so its bytes have to be known."""
    try:
        status = os.stat(path)
        if S_ISDIR(status.st_mode):
            return f"folder {_content(f'{path}/__main__.py', must=False)}" if must else "folder"
        if not S_ISREG(status.st_mode):
            return f"other {status.st_mode} {status.st_rdev}"
        if status.st_size > WHOLE:  # every write changes the ctime, which no user can set back
            times = f"{status.st_mtime_ns} {status.st_ctime_ns}"
            return f"long {status.st_dev} {status.st_ino} {status.st_size} {times}"
        return sha256(read(path, WHOLE)[0]).hexdigest()
    except (FileNotFoundError, NotADirectoryError):
        return "absent"
    except (OSError, ValueError) as error:
        longer = isinstance(error, OSError) and error.errno == errno.EFBIG
        return "unread" if not must and not longer else _unique()


def _unique() -> str:
    return f"unknown {os.urandom(16).hex()}"


# ---------------------------------------------------------------- what a script loads

MOST = 128  # files
LONGEST = 1024 * 1024  # bytes of a file that is searched for loads
WORDS = 4096  # of a shell script
PYTHON = (".py", ".pyw")
SCRIPT = (".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".jsx", ".tsx")
_IMPORT = r"^[ \t]*(?:from[ \t]+([.\w]+)[ \t]+import[ \t]+(\([^)]*\)|[^\n(;]+)|import[ \t]+([\w., \t]+))"
_LOAD = r"(?:from|require|import)[\s(]*[\"'`](\.{0,2}/[^\"'`\n]+)[\"'`]"
_WORD = r"[\w.+@/-]{1,200}"


def loaded(paths: Iterable[str], folders: tuple[str, ...]) -> list[str]:
    """The files that scripts load, transitively, by resolved path. `folders` are those in which the scripts run."""
    waiting = list(paths)
    seen = set(waiting)
    found: list[str] = []
    while waiting and len(found) < MOST:
        for path in _named(waiting.pop(0), folders):
            if path not in seen:
                seen.add(path)
                found.append(path)
                waiting.append(path)
    return found[:MOST]


def _named(path: str, folders: tuple[str, ...]) -> Iterator[str]:
    try:
        text = read(path, LONGEST)[0].decode("utf-8", "replace")
    except (OSError, ValueError):
        return
    own, first = os.path.dirname(path), text[:200].partition("\n")[0]
    if path.endswith(PYTHON) or (first.startswith("#!") and "python" in first):
        yield from _modules(text, own, folders)
    elif path.endswith(SCRIPT) or (first.startswith("#!") and "node" in first):
        for match in re.finditer(_LOAD, text):
            yield from _existing(os.path.join(own, match[1]), ("", *SCRIPT, ".json", "/index.js", "/index.ts"), "")
    elif path.endswith((".sh", ".bash", ".zsh")) or first.startswith("#!"):
        for number, match in enumerate(re.finditer(_WORD, text)):
            if number > WORDS:
                return
            if "." in match[0] or "/" in match[0]:  # `$(dirname "$0")/lib.sh` shows as `/lib.sh`
                for folder in dict.fromkeys((own, *folders)):
                    yield from _existing(folder, (match[0].lstrip("/"),))


def _modules(text: str, own: str, folders: tuple[str, ...]) -> Iterator[str]:
    for match in re.finditer(_IMPORT, text, 8):  # MULTILINE
        base, names, plain = match[1] or "", match[2] or "", match[3] or ""
        listed = plain or re.sub(r"#[^\n]*|[()]", " ", names)
        modules = [each.split()[0] for each in listed.split(",") if each.split()]
        if not plain:
            modules = [base, *(f"{base}{'' if base.endswith('.') else '.'}{each}" for each in modules)]
        for module in modules:
            for folder, parts in _places(module, own, folders):
                for count in range(1, len(parts) + 1):
                    yield from _existing("/".join((folder, *parts[:count])), (".py", "/__init__.py"), "")


def _places(module: str, own: str, folders: tuple[str, ...]) -> Iterator[tuple[str, list[str]]]:
    dots = len(module) - len(module.lstrip("."))
    for _ in range(dots - 1):
        own = os.path.dirname(own)
    for folder in (own,) if dots else dict.fromkeys((own, *folders)):
        yield folder, [each for each in module.split(".") if each]
