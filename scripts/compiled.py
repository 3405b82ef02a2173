"""Compiles the modules that every decision goes through, with mypyc. Decides nothing about who gets them.

The sources stay unchanged: a copy is compiled, and the result is put beside them, so that Python finds it first.
`python -m scripts.compiled FOLDER` makes a package in FOLDER that can be imported from there.

A compiled function has no recursion limit, so none of these modules may rely on `RecursionError`: they count the
nesting of text from outside. tests/test_compiled.py checks that, tests/properties/test_shell.py tries it."""

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
# Names of modules as paths. Not included: enumerations, classes that get their parts at run time, and the net around
# the shell reader, which catches what compiled code raises when it is called.
MODULES = """
    engine/cache engine/engine engine/journal trail/line trail/segments
    contract/call contract/decision contract/effect contract/tools contract/value
    effects/addresses effects/native effects/paths effects/runtimes
    effects/shell/* effects/shell/syntax/* effects/shell/syntax/__init__ effects/shell/code_files/*
    effects/shell/tasks/runners effects/shell/tasks/recipes effects/shell/tasks/*_tasks
    programs/option effects/shell/commands/options
    effects/shell/commands/roles programs/row effects/shell/commands/interpret effects/shell/commands/command_effects
    effects/shell/commands/given_code effects/shell/commands/line effects/shell/commands/verbs
    effects/shell/commands/cover effects/shell/commands/possible programs/traits
    programs/table effects/shell/commands/readers/find effects/shell/commands/readers/git
    effects/shell/commands/readers/__init__ effects/code/sed effects/shell/commands/readers/web
    effects/code/awk effects/code/jq effects/shell/commands/readers/files
    facts/below facts/code facts/gitdir facts/githooks facts/globs facts/guarded facts/links facts/observe state/pause
    facts/repository state/resident facts/settings facts/workspace
    policy/below policy/concerns policy/dangers policy/decide policy/flips policy/floor policy/floor_commands
    policy/frozen_rules policy/globs policy/grants policy/index policy/match policy/parts policy/policy
    policy/possible policy/ruleset policy/strict policy/suggest
""".split()
OPEN = frozenset({"Value", "Engine"})  # classes that others inherit from, which are not compiled
SET_BY_TESTS = frozenset({"FOREIGN", "LONGEST", "MOST_ENTRIES"})  # constants that stay names of their modules
FLAGS = "-O3 -g0 -w -fPIC -fwrapv -fvisibility=hidden -fstack-protector-strong -DNDEBUG".split()


class NotCompiled(Exception):
    """Nothing was compiled; the text says why."""


def main() -> None:
    try:
        made = compiled(Path(sys.argv[1]).resolve())
    except NotCompiled as why:
        sys.exit(f"compiled: {why}")
    print(f"{len(made)} compiled files in {sys.argv[1]}")


def compiled(folder: Path) -> list[str]:
    """Copy the package into a folder and compile it there; the results, by their paths in that folder.

    A module that was compiled there before from the same text is not compiled again."""
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
    """A module as mypyc takes it, with the same line numbers.

    Of `if TYPE_CHECKING: … else: …` the checker sees the first half and the interpreter runs the second: here both get
    the definitions of the second. A class that is open to others says so."""
    lines = text.split("\n")
    for node in ast.parse(text).body:
        match node:
            case ast.If(test=ast.Name("TYPE_CHECKING"), orelse=[_, *_]):
                made = {name for each in node.orelse for name in _names(each)}
                kept = [ast.unparse(each).split("\n") for each in node.body if _is_kept(each, made)]
                imports = "; ".join(
                    [
                        "from typing import Any",
                        *(one for one, *rest in kept if not rest),
                    ]
                )
                longer = [line for each in kept if len(each) > 1 for line in each]
                new = [
                    "if TYPE_CHECKING:",
                    *(f"    {line}" for line in (imports, *longer)),
                    "; ".join(map(_typed, node.orelse)),
                ]
                old = slice(node.lineno - 1, node.end_lineno)
                lines[old] = new + [""] * (len(lines[old]) - len(new))
            case ast.ImportFrom("__future__"):
                lines[node.lineno - 1] += "; MYPY = False"
            case ast.ClassDef(name) if name in OPEN:
                lines[node.lineno - 3] = "if MYPY: from mypy_extensions import mypyc_attr"
                lines[node.lineno - 2] = "@mypyc_attr(allow_interpreted_subclasses=True)"
    return constant("\n".join(lines))


def constant(text: str) -> str:
    """A module whose constants are `Final`, with a constant for each member of an enumeration that its functions name:
    compiled code looks up neither by name each time."""
    tree, edits, members = ast.parse(text), _Edits(text), _Members()
    imports = {each.name: node for node in tree.body if isinstance(node, ast.ImportFrom) for each in node.names}
    for node in tree.body:
        for each in node.body if isinstance(node, ast.ClassDef) else [node]:
            if isinstance(each, ast.FunctionDef):
                members.generic_visit(each)
    made: dict[str, ast.ImportFrom] = {}
    for kind, member, place in members.found:
        if kind in imports:
            edits.replace(place, f"{kind}_{member}")
            made[f"{kind}_{member}: Final = {kind}.{member}"] = imports[kind]
    for line, origin in made.items():
        edits.after(origin, f"; {line}")
    open_names = {"TYPE_CHECKING", "MYPY", *SET_BY_TESTS}
    open_names |= {name for node in ast.walk(tree) if isinstance(node, ast.Global) for name in node.names}
    for node in tree.body:
        match node:
            case ast.Assign([ast.Name(name) as target], value) if name.isupper() and not _is_type(value):
                if name not in open_names:
                    edits.after(target, ": Final")
            case ast.AnnAssign(ast.Name(name), annotation, ast.expr()) if name not in open_names:
                edits.replace(annotation, f"Final[{ast.unparse(annotation)}]")
            case ast.Assign([ast.Tuple(names)], ast.Tuple(values)) if len(names) == len(values):
                pairs = zip(names, values, strict=True)
                edits.replace(node, "; ".join(f"{ast.unparse(a)}: Final = {ast.unparse(b)}" for a, b in pairs))
    first = next((node for node in tree.body if isinstance(node, ast.ImportFrom)), None)
    if first is not None and not edits.is_empty():
        edits.after(first, "; from typing import Final")
    return edits.made()


def _is_type(value: ast.expr) -> bool:
    return ast.unparse(value).startswith("TypeVar(")


class _Members(ast.NodeVisitor):
    """Finds what may be a member of an enumeration, outside of patterns and annotations."""

    def __init__(self) -> None:
        self.found: list[tuple[str, str, ast.Attribute]] = []

    def visit_Attribute(self, node: ast.Attribute) -> None:
        match node:
            case ast.Attribute(ast.Name(kind), member) if kind[0].isupper() and member.isupper():
                self.found.append((kind, member, node))
            case _:
                self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_arguments(self, node: ast.arguments) -> None:
        pass

    def visit_MatchValue(self, node: ast.MatchValue) -> None:
        pass


class _Edits:
    """Changes to a text at the places of nodes, which count bytes."""

    def __init__(self, text: str) -> None:
        self._lines = text.encode().split(b"\n")
        self._changes: list[tuple[int, int, int, str]] = []

    def replace(self, node: ast.expr | ast.stmt, new: str) -> None:
        """On one line: a node on several stays."""
        if node.end_lineno == node.lineno:
            self._changes.append((node.lineno, node.col_offset, node.end_col_offset or 0, new))

    def after(self, node: ast.expr | ast.stmt, new: str) -> None:
        end = node.end_col_offset or 0
        self._changes.append((node.end_lineno or 0, end, end, new))

    def is_empty(self) -> bool:
        return not self._changes

    def made(self) -> str:
        for line, start, end, new in sorted(self._changes, reverse=True):
            old = self._lines[line - 1]
            self._lines[line - 1] = old[:start] + new.encode() + old[end:]
        return b"\n".join(self._lines).decode()


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
    """Compile every source; reuse the object of the same text and headers."""
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
