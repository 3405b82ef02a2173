"""Files of code that are found by other names than paths: local modules, `python -m`, TypeScript runners. Only existing
files count, and nothing is proved by them."""

from __future__ import annotations

from assent.contract import Effect, Kind, Operation, Pattern
from assent.effects.paths import normal
from assent.effects.shell import flows
from assent.effects.shell.code_files import scripts
from assent.effects.shell.command import Arg, Run
from assent.effects.shell.record import ShellJob, Walk

MOST_MODULES = 24  # modules of one file of code, transitively
_DEEPEST = 6
_PYTHON = Pattern(
    r"(?m)^[ \t]*(?:from[ \t]+(?P<dots>\.*)(?P<from>[\w.]*)[ \t]+import[ \t]+\(?(?P<names>[\w, \t]*)"
    r"|import[ \t]+(?P<import>[\w., \t]+))"
)
# Library modules that are not searched for in the project: facts do that for proofs.
_USUAL = frozenset(
    """__future__ abc argparse ast asyncio base64 collections contextlib copy csv dataclasses datetime decimal enum
    functools glob hashlib importlib inspect io itertools json logging math os pathlib pickle platform random re shutil
    signal socket sqlite3 string subprocess sys tempfile textwrap threading time traceback types typing unittest urllib
    uuid warnings""".split()
)
_NODE = Pattern(r"(?:\brequire\s*\(|\bimport\s*\(|\bfrom|\bimport)\s*['\"](\.[^'\"\n]+)['\"]")
_RUBY = Pattern(r"\brequire_relative\s*\(?\s*['\"]([^'\"\n]+)['\"]|\bload\s*\(?\s*['\"](\./[^'\"\n]+)['\"]")
_PHP = Pattern(r"\b(?:include|require)(?:_once)?\b[^;\n]*?['\"]/?([\w./-]+\.php)['\"]")
_NODE_ENDINGS = (".js", ".ts", ".mjs", ".cjs", ".tsx", ".jsx", ".mts", ".cts")
# Ending of a file → its interpreter, for runners.
_BY_ENDING = {
    ".py": "python3", ".ipynb": "python3", ".rb": "ruby", ".php": "php", ".R": "Rscript", ".r": "Rscript",
    ".jl": "julia", ".exs": "elixir", ".exp": "expect", ".tcl": "tclsh", ".go": "go", ".java": "java",
    ".swift": "swift", ".groovy": "groovy", ".scala": "scala", ".kts": "kotlin", ".csx": "dotnet", ".dart": "dart",
    ".raku": "raku", ".nim": "nim", ".cr": "crystal", ".sh": "bash", ".bash": "bash", ".bats": "bash",
    **dict.fromkeys(_NODE_ENDINGS, "node"),
}  # fmt: skip
CODE_ENDINGS = frozenset((*_BY_ENDING, ".rs", ".t", ".jsx", ".tsx"))
# Python modules that run the file in the next word.
_RUN_FILES = frozenset(
    """pdb cProfile profile trace coverage runpy torch.distributed.run torch.distributed.launch
    accelerate.commands.launch streamlit IPython memray scalene viztracer kernprof debugpy ipdb pudb""".split()
)
# What runs if a program is given a folder, or nothing.
_MAINS = {"go": ("run", "main.go"), "cargo": ("run", "src/main.rs")}


class LoadedModules:
    """The visible effects of the modules of a file of code, and the commands that each starts."""

    __slots__ = ("effects", "bodies", "seen")

    def __init__(self) -> None:
        self.effects: list[Effect] = []
        self.bodies: list[tuple[str, tuple[Run, ...]]] = []
        self.seen: set[str] = set()


def loaded(walk: Walk, job: ShellJob, language: str, path: str, root: str) -> LoadedModules:
    """The modules that a file of code loads, and those that they load. `root`: where Python looks for them."""
    out, todo = LoadedModules(), [(path, 0)]
    while todo:
        file, depth = todo.pop(0)
        code = walk.code.get(file)
        if code is None or code.problem or depth >= _DEEPEST:
            continue
        for name in _named(language, file, code.text, root):
            if name not in out.seen and name != path and len(out.bodies) < MOST_MODULES:
                out.seen.add(name)
                if _add(walk, job, language, name, out):
                    todo.append((name, depth + 1))
    return out


def _add(walk: Walk, job: ShellJob, language: str, path: str, out: LoadedModules) -> bool:
    """Read one module. Returns whether it exists."""
    code = walk.code.get(path)
    if code is None:
        walk.wants[path] = None
        return False
    if code.problem or not code.text:
        return not code.problem
    found = scripts.visible(walk, job.state.cwds[0], language, path, code.text)
    out.effects += [each for each in found.effects if each.target.kind not in (Kind.MODULES, Kind.CODE)]
    out.bodies.append((path, found.runs))
    return True


def _named(language: str, path: str, text: str, root: str) -> list[str]:
    """The possible files of the modules that a text loads."""
    folder = path.rpartition("/")[0]
    if flows.family(language) == "python":
        return _of_python(folder, text, root)
    if flows.family(language) == "node":
        return [each for name in _NODE.findall(text) for each in _of_node(folder, name)]
    pattern = _RUBY if language.startswith("ruby") else _PHP if language.startswith("php") else None
    found = [next(filter(None, match.groups()), "") for match in pattern.finditer(text)] if pattern is not None else []
    ending = ".rb" if language.startswith("ruby") else ".php"
    return [normal(f"{folder}/{name}" + ("" if name.endswith(ending) else ending)) for name in found if name]


def _of_python(folder: str, text: str, root: str) -> list[str]:
    out: list[str] = []
    for match in _PYTHON.finditer(text):
        if match["import"] is not None:
            names = [part.split()[0] for part in match["import"].split(",") if part.split()]
            out += [each for name in names for each in _python_files(root, name)]
            continue
        base = root
        if match["dots"]:
            base = normal(f"{folder}/{'../' * (len(match['dots']) - 1)}")
        inner = [part.split()[0] for part in match["names"].split(",") if part.split()]
        if match["from"]:
            out += _python_files(base, match["from"], inner)
        else:
            out += [each for name in inner for each in _python_files(base, name)]
    return out


def _python_files(base: str, name: str, inner: list[str] | None = None) -> list[str]:
    """The files of `name`, of its packages, and of the names imported from it."""
    pieces = name.split(".")
    if pieces[0] in _USUAL:
        return []
    places = ["/".join(pieces[: end + 1]) for end in range(len(pieces))]
    packages = [f"{base}/{place}/__init__.py" for place in places]
    return [*packages, f"{base}/{places[-1]}.py", *(f"{base}/{places[-1]}/{each}.py" for each in inner or ())]


def _of_node(folder: str, name: str) -> list[str]:
    place = normal(f"{folder}/{name}")
    if scripts.ending(name) in _NODE_ENDINGS:
        stem = place[: -len(scripts.ending(name))]
        return [place, *(f"{stem}{ending}" for ending in (".ts", ".tsx") if scripts.ending(name) == ".js")]
    return [*(place + ending for ending in _NODE_ENDINGS), f"{place}/index.js", f"{place}/index.ts"]


def entries(walk: Walk, path: str, kind: str, *, is_folder: bool) -> list[str]:
    """The files that an interpreter may run for a folder, or for a name without its ending."""
    if kind == "python":
        return [f"{path}/__main__.py"] if is_folder else []
    if not is_folder:
        return [path + ending for ending in (".js", ".cjs", ".mjs")]
    code = walk.code.get(f"{path}/package.json")
    if code is None:
        walk.wants[f"{path}/package.json"] = None
        return []
    from assent.effects.shell.tasks import manifests

    main = (manifests.json_object(code.text) or {}).get("main") if not code.problem else None
    named = _of_node(path, f"./{main}") if isinstance(main, str) and main else []
    return [*named, f"{path}/index.js", f"{path}/index.cjs", f"{path}/index.mjs"]


# ---------------------------------------------------------------- files by other names


def started(walk: Walk, job: ShellJob, base: str, kind: str) -> scripts.ScriptEffects | None:
    """The code that `python -m name` finds in its folder, or that a runner of scripts is given."""
    if len(job.state.cwds) != 1 or not job.state.cwds[0]:
        return None
    cwd = job.state.cwds[0]
    if kind == "python":
        name = module_name(job.argv)
        if name in _RUN_FILES:
            return _first_file(walk, job, cwd)
        pieces = name.replace(".", "/") if name else ""
        files = [f"{cwd}/{pieces}.py", f"{cwd}/{pieces}/__main__.py"] if pieces else []
        files += _python_files(cwd, name)[:-1] if pieces else []
        return _script(walk, job, base, files, cwd)
    if base in ("pip", "pip3"):
        return _built(walk, job, cwd)
    return _main(walk, job, base, cwd) if base in _MAINS else _first_file(walk, job, cwd)


def _built(walk: Walk, job: ShellJob, cwd: str) -> scripts.ScriptEffects | None:
    """The code that `pip install .` runs from a package in a folder."""
    words = [word for word in job.argv[1:] if isinstance(word, str) and word[:1] != "-"]
    folders = [word for word in words[1:] if word == "." or word.startswith(("./", "../", "/", ".["))]
    if words[:1] not in (["install"], ["wheel"]) or not folders:
        return None
    place = normal(f"{cwd}/{folders[0].partition('[')[0]}") if folders[0][:1] != "/" else normal(folders[0])
    return _script(walk, job, "python3", [f"{place}/setup.py"], place)


def _main(walk: Walk, job: ShellJob, base: str, cwd: str) -> scripts.ScriptEffects | None:
    """The program that `go run` or `cargo run` builds from a folder."""
    verb, main = _MAINS[base]
    words = [word for word in job.argv[1:] if isinstance(word, str) and word[:1] != "-"]
    if words[:1] != [verb]:
        return None
    named = words[1] if base == "go" and len(words) > 1 else "."
    manifest = job.argv[job.argv.index("--manifest-path") + 1 :][:1] if "--manifest-path" in job.argv else ()
    if base == "cargo" and manifest and isinstance(manifest[0], str):
        named = manifest[0].rpartition("/")[0] or "."
    if named.endswith(".go"):
        return _first_file(walk, job, cwd)
    place = normal(named if named[:1] == "/" else f"{cwd}/{named}")
    return _script(walk, job, base, [f"{place}/{main}"], place)


def _first_file(walk: Walk, job: ShellJob, cwd: str) -> scripts.ScriptEffects | None:
    """The first word that is a file of code."""
    for word in job.argv[1:]:
        interpreter = _BY_ENDING.get(scripts.ending(word), "") if isinstance(word, str) and word[:1] != "-" else ""
        if isinstance(word, str) and interpreter:
            path = normal(word if word[:1] == "/" else f"{cwd}/{word}")
            return _script(walk, job, interpreter, [path], path.rpartition("/")[0])
    return None


def module_name(argv: list[str | Arg] | tuple[str | Arg, ...]) -> str:
    for place, word in enumerate(argv[1:-1], 1):
        if word == "-m":
            name = argv[place + 1]
            return name if isinstance(name, str) and name.replace(".", "").isidentifier() else ""
        if not isinstance(word, str) or word[:1] != "-":
            return ""
    return ""


def _script(walk: Walk, job: ShellJob, language: str, files: list[str], root: str) -> scripts.ScriptEffects | None:
    return together(collected(walk, job, language, files, root, follows=True))


def collected(
    walk: Walk, job: ShellJob, language: str, files: list[str], root: str, *, follows: bool = False
) -> LoadedModules:
    """The visible effects of these files, if they exist; `follows`: also of the modules that they load."""
    out = LoadedModules()
    for path in dict.fromkeys(files):
        if _add(walk, job, language, path, out) and follows:
            more = loaded(walk, job, language, path, root)
            out.effects += more.effects
            out.bodies += more.bodies
    return out


def together(*found: LoadedModules) -> scripts.ScriptEffects | None:
    """The visible effects, as those of the command that loads the files; None if there are none."""
    out = LoadedModules()
    for each in found:
        out.effects += each.effects
        out.bodies += each.bodies
    script = scripts.ScriptEffects(tuple(each for each in out.effects if not is_itself(each) or each.dangers))
    script.bodies = out.bodies
    return script if out.bodies else None


def is_itself(effect: Effect) -> bool:
    """Whether an effect only says that unproved code runs."""
    return effect.operation is Operation.EXECUTE and effect.target.kind is Kind.PROGRAM
