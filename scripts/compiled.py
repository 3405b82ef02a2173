"""Compiles the modules that every decision goes through, with mypyc. Decides nothing about who gets them.

The sources stay what they are: a copy is compiled, and what comes out lies beside them, where Python finds it first.
`python -m scripts.compiled FOLDER` makes a package in FOLDER that can be imported from there.

A compiled function knows no limit to how deep calls go, so none of these modules may rest on `RecursionError`: what
text from outside nests, they count. tests/test_compiled.py holds that, tests/properties/test_shell.py tries it."""

from __future__ import annotations

import ast
import hashlib
import json
import os
import shutil
import subprocess
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE, LIBRARY, WORK = "assent", "assent_decision", ".work"
# Names of modules as paths. Not among them: enumerations, classes that get their parts while they run, and the net
# around the reader of the shell, which catches what compiled code raises when it is called.
MODULES = """
    engine/engine
    contract/call contract/decision contract/effect contract/tools contract/value
    effects/native effects/paths
    effects/shell/* effects/shell/syntax/* effects/shell/syntax/__init__
    programs/option effects/shell/commands/options
    effects/shell/commands/roles programs/row effects/shell/commands/interpret effects/shell/commands/command_effects
    effects/shell/commands/line
    programs/table effects/shell/commands/readers/find effects/shell/commands/readers/git
    effects/shell/commands/readers/__init__ effects/code/sed effects/shell/commands/readers/web
    effects/code/awk effects/code/jq effects/shell/commands/readers/files
    facts/below facts/gitdir facts/githooks facts/globs facts/guarded facts/links facts/observe state/pause
    facts/repository state/resident facts/settings facts/workspace
    policy/below policy/concerns policy/dangers policy/decide policy/flips policy/floor policy/globs policy/grants
    policy/index policy/match policy/parts policy/policy policy/strict policy/suggest
""".split()
OPEN = frozenset({"Value", "Engine"})  # classes that others inherit from, which are not compiled
FLAGS = "-O3 -g0 -w -fPIC -fwrapv -fvisibility=hidden -fstack-protector-strong -DNDEBUG".split()


class NotCompiled(Exception):
    """Why there is nothing."""


def main() -> None:
    try:
        made = compiled(Path(sys.argv[1]).resolve())
    except NotCompiled as why:
        sys.exit(f"compiled: {why}")
    print(f"{len(made)} compiled files in {sys.argv[1]}")


def compiled(folder: Path) -> list[str]:
    """Copy the package into a folder and compile it there; what came out, by its path in that folder.

    What was compiled there before, from the same text, is not compiled again."""
    source, work = ROOT / "src" / PACKAGE, folder / WORK
    for place in (folder, work):
        shutil.rmtree(place / PACKAGE, ignore_errors=True)
        shutil.copytree(source, place / PACKAGE, ignore=shutil.ignore_patterns("__pycache__", "*.so"))
    paths = modules(source)
    for path in paths:
        (work / path).write_text(ready((work / path).read_text()))
    extensions = _translated(work, paths)
    objects = _objects(work, sorted({file for files in extensions.values() for file in files}))
    made = []
    for name, files in extensions.items():
        path = name.replace(".", "/") + sysconfig.get_config_var("EXT_SUFFIX")
        _run(
            [*_compiler(), "-shared", "-s", "-Wl,-z,relro,-z,now", *(objects[file] for file in files), "-o", path],
            folder,
        )
        made.append(path)
    return made


def modules(source: Path) -> list[str]:
    """The files of the modules to compile, from the folder above the package's."""
    found = {word: sorted(source.glob(f"{word}.py")) for word in MODULES}
    missing = [word for word, files in found.items() if not files]
    if missing:
        raise NotCompiled(f"no module is named {', '.join(missing)}")
    every = (
        file for word, files in found.items() for file in files if file.stem != "__init__" or word.endswith(file.stem)
    )
    return sorted({str(file.relative_to(source.parent)) for file in every})


# ---------------------------------------------------------------- for mypyc


def ready(text: str) -> str:
    """A module as mypyc takes it, every line where it was.

    Of `if TYPE_CHECKING: … else: …` the checker sees the first half and the interpreter runs the second: here what the
    second makes is made for both. A class that is open to others says so."""
    lines = text.split("\n")
    for node in ast.parse(text).body:
        match node:
            case ast.If(test=ast.Name("TYPE_CHECKING"), orelse=[_, *_]):
                made = {name for each in node.orelse for name in _names(each)}
                kept = [ast.unparse(each).split("\n") for each in node.body if _is_kept(each, made)]
                told = "; ".join(
                    [
                        "from typing import Any",
                        *(one for one, *rest in kept if not rest),
                    ]
                )
                longer = [line for each in kept if len(each) > 1 for line in each]
                new = [
                    "if TYPE_CHECKING:",
                    *(f"    {line}" for line in (told, *longer)),
                    "; ".join(map(_typed, node.orelse)),
                ]
                old = slice(node.lineno - 1, node.end_lineno)
                lines[old] = new + [""] * (len(lines[old]) - len(new))
            case ast.ImportFrom("__future__"):
                lines[node.lineno - 1] += "; MYPY = False"
            case ast.ClassDef(name) if name in OPEN:
                lines[node.lineno - 3] = "if MYPY: from mypy_extensions import mypyc_attr"
                lines[node.lineno - 2] = "@mypyc_attr(allow_interpreted_subclasses=True)"
    return "\n".join(lines)


def _names(node: ast.stmt) -> list[str]:
    match node:
        case ast.Assign(targets=[ast.Name(name)]):
            return [name]
        case ast.Import(names) | ast.ImportFrom(names=names):
            return [each.asname or each.name for each in names]
        case _:
            raise NotCompiled(f"`{ast.unparse(node)}` is not known in the other half of `if TYPE_CHECKING`")


def _is_kept(node: ast.stmt, made: set[str]) -> bool:
    """Whether anything is left of a statement without the names that the other half makes."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        node.names = [each for each in node.names if (each.asname or each.name) not in made]
        return bool(node.names)
    return True


def _typed(node: ast.stmt) -> str:
    """Something that is made, as it looks to both: a module that comes later may be anything."""
    match node:
        case ast.Assign(targets=[ast.Name(name)], value=value):
            return f"{name}: Any = {ast.unparse(value)}"
        case _:
            return ast.unparse(node)


def _translated(work: Path, paths: list[str]) -> dict[str, list[str]]:
    """The C sources of each extension, by its name."""
    (work / "mypy.ini").write_text("[mypy]\n")
    script = (
        "import json\nfrom mypyc.build import mypycify\n"
        f"made = mypycify({paths!r}, multi_file=True, group_name={LIBRARY!r})\n"
        "print(json.dumps({each.name: each.sources for each in made}))\n"
    )
    said = _run([sys.executable, "-c", script], work)
    sources: dict[str, list[str]] = json.loads(said.splitlines()[-1])
    return sources


# ------------------------------------------------------------------- for C


def _objects(work: Path, files: list[str]) -> dict[str, str]:
    """Every source compiled; from the same text and headers it is taken as it is."""
    import mypyc.build

    library = Path(mypyc.build.__file__).parent / "lib-rt"
    headers = hashlib.sha256(b"".join(each.read_bytes() for each in sorted((work / "build").rglob("*.h"))))
    command = [*_compiler(), *FLAGS]
    command += [f"-I{each}" for each in (library, work / "build", sysconfig.get_path("include"))]
    (work / "objects").mkdir(exist_ok=True)

    def one(file: str) -> str:
        key = headers.copy()
        key.update(repr(command).encode() + (work / file).read_bytes())
        made = str(work / "objects" / f"{key.hexdigest()[:32]}.o")
        if not os.path.exists(made):
            _run([*command, "-c", file, "-o", f"{made}.new"], work)
            os.replace(f"{made}.new", made)
        return made

    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        return dict(zip(files, pool.map(one, files), strict=True))


def _compiler() -> list[str]:
    return (os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc").split()


def _run(command: list[str], folder: Path) -> str:
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    except OSError as error:
        raise NotCompiled(f"`{command[0]}` does not start: {error}") from error
    if done.returncode:
        raise NotCompiled(f"`{command[0]}` failed: {(done.stdout + done.stderr).strip()[-3000:]}")
    return done.stdout


if __name__ == "__main__":
    main()
