"""The shape of the code: who may import whom, what the pure packages may touch, what a decision may load.

surfaces (cli, demo, hook, mcp, sdk, server, tools, tui) → api → gate → engine → stages (effects, facts, policy,
approval, trail, undo, contain) → contract; programs and agents are data that stages read, state is files of our own
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import pytest

from assent.hook import bundle
from tests.hook.loading import loaded

SOURCE = Path(__file__).parents[1] / "src/assent"
DATA = frozenset({"contract", "programs", "agents"})
STAGES = frozenset({"effects", "facts", "policy", "approval", "trail", "undo", "contain"})
BELOW_ENGINE = DATA | STAGES | {"state"}
SURFACES = frozenset({"cli", "demo", "hook", "mcp", "sdk", "server", "tools", "tui"})

# Package → what of Assent it may import, besides itself.
MAY_IMPORT: dict[str, frozenset[str]] = {
    "contract": frozenset(),
    "programs": frozenset({"contract"}),
    "agents": frozenset({"contract", "programs"}),
    **dict.fromkeys(("effects", "policy"), DATA),
    **{stage: DATA | {"state"} for stage in ("facts", "approval", "trail", "undo", "contain")},
    "state": DATA | {"facts"},  # of facts where links lead: a folder is trusted by where it really is
    "engine": BELOW_ENGINE | {"__init__"},
    "gate": BELOW_ENGINE | {"engine"},
    "api": BELOW_ENGINE | {"engine", "gate", "__init__"},
    **{surface: BELOW_ENGINE | SURFACES | {"engine", "gate", "api", "__init__"} for surface in SURFACES},
    "__init__": frozenset({"contract", "effects", "engine", "api", "policy", "approval"}),
    "__main__": frozenset({"cli"}),
}

PURE = ("contract", "programs", "effects", "policy", "agents")
# Modules of the standard library that touch nothing outside the process: no clock, no chance, no files.
PURE_IMPORTS = frozenset(
    "__future__ _json _operator _sha2 _sha256 ast base64 binascii bisect collections collections.abc difflib enum "
    "fnmatch functools hashlib importlib ipaddress itertools json math operator posixpath re shlex string struct "
    "tomllib typing unicodedata urllib.parse".split()
)
VERSION = frozenset({"sys", "sys.version_info"})  # of the interpreter; nothing else of `sys`
IMPURE_CALLS = frozenset({"open", "input", "print", "exec", "eval", "breakpoint"})
# The modules of the pure packages that open files: data that comes with the package, and nothing else.
READS_ITS_OWN_DATA = {
    "programs/catalog.py": frozenset("_imp importlib.machinery marshal os stat sys".split()),
    "policy/shipped.py": frozenset[str](),
}

# Each costs more to import than a decision takes.
SLOW = frozenset("argparse asyncio dataclasses importlib.resources inspect logging pathlib typing".split())
DECISION_PATH = (
    *("contract", "programs", "agents", "effects", "policy", "facts", "state/files.py", "hook/hook.py"),
    *(f"engine/{each}.py" for each in ("engine", "configure", "journal", "memory", "classify", "request")),
    "gate.py",
    *("approval/grants.py", "trail/append.py", "trail/line.py"),
)


def modules(*parts: str) -> list[Path]:
    found: list[Path] = []
    for part in parts or (".",):
        path = SOURCE / part
        found += sorted(path.rglob("*.py")) if path.is_dir() else [path] if path.exists() else []
    return found


def name(path: Path) -> str:
    return path.relative_to(SOURCE).as_posix()


def owner(path: Path) -> str:
    """The package that a module belongs to, or the module itself at the top."""
    return name(path).split("/")[0].removesuffix(".py")


def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def imports(node: ast.AST) -> Iterator[str]:
    """The full names of all modules imported below a node, wherever the import is."""
    for each in ast.walk(node):
        if isinstance(each, ast.Import):
            yield from (alias.name for alias in each.names)
        elif isinstance(each, ast.ImportFrom):
            assert each.level == 0, "imports are absolute, so that they can be read"
            assert each.module is not None
            if each.module != "assent":
                yield each.module
            yield from (f"{each.module}.{alias.name}" for alias in each.names)


class Names(NamedTuple):
    """What a module imports anywhere, what of that when it runs, and the functions that it calls by a plain name."""

    imported: frozenset[str]
    imported_at_run_time: frozenset[str]
    called: frozenset[str]


@cache
def names(path: Path) -> Names:
    body = tree(path)
    every = frozenset(imports(body))
    nodes = list(ast.walk(body))
    for each in nodes:
        if isinstance(each, ast.If) and isinstance(each.test, ast.Name) and each.test.id == "TYPE_CHECKING":
            each.body = []
    calls = (each.func.id for each in nodes if isinstance(each, ast.Call) and isinstance(each.func, ast.Name))
    return Names(every, frozenset(imports(body)), frozenset(calls))


def assent_parts(imported: frozenset[str]) -> set[str]:
    """The parts of Assent among imported names. What is no part comes from the package's own `__init__`."""
    second = {(each + ".__init__").split(".")[1] for each in imported if each.split(".")[0] == "assent"}
    return {each if (SOURCE / each).is_dir() or (SOURCE / f"{each}.py").exists() else "__init__" for each in second}


def test_imports_go_one_way() -> None:
    wrong = {name(path): assent_parts(names(path).imported) - allowed(path) for path in modules()}
    assert {module: parts for module, parts in wrong.items() if parts} == {}


def allowed(path: Path) -> frozenset[str]:
    return MAY_IMPORT[owner(path)] | {owner(path)}


def test_no_modules_import_each_other() -> None:
    """Wherever an import stands, in a function too, but for those that only the type checker sees."""
    known = {dotted(path): path for path in modules()}
    graph = {module: needs(path) & known.keys() - {module} for module, path in known.items()}
    TopologicalSorter(graph).prepare()  # CycleError, which names the modules


def dotted(path: Path) -> str:
    return ".".join(("assent", *path.relative_to(SOURCE).with_suffix("").parts)).removesuffix(".__init__")


def needs(path: Path) -> frozenset[str]:
    """What a module imports at some time. Of a package it is the modules, where these are named."""
    found = names(path).imported_at_run_time
    return found - {each.rpartition(".")[0] for each in found if is_module(each)}


def is_module(dotted_name: str) -> bool:
    place = SOURCE.parent.joinpath(*dotted_name.split("."))
    return place.is_dir() or place.with_suffix(".py").exists()


@pytest.mark.parametrize("path", modules(*PURE), ids=name)
def test_pure_packages_touch_nothing_outside(path: Path) -> None:
    own = READS_ITS_OWN_DATA.get(name(path))
    known = PURE_IMPORTS | (own or frozenset())
    outside = {each for each in names(path).imported_at_run_time if not each.startswith("assent")}
    if {each for each in outside if each.partition(".")[0] == "sys"} == VERSION:
        outside -= VERSION
    assert {each for each in outside if each not in known and each.rpartition(".")[0] not in known} == set()
    calls = names(path).called
    assert calls & IMPURE_CALLS == ({"open"} & calls if own is not None else set())


def test_the_modules_that_read_their_own_data_exist() -> None:
    assert [each for each in READS_ITS_OWN_DATA if not (SOURCE / each).exists()] == []


def test_the_decision_path_imports_nothing_slow() -> None:
    """When it is loaded: what a function imports, only some calls need."""
    suspects = [path for path in modules(*DECISION_PATH) if names(path).imported & SLOW]
    loaded = {name(path): bundle.ModuleReader().read(str(path), own=True).body for path in suspects}
    slow = {module: set(bundle.imports(body)) & SLOW for module, body in loaded.items()}
    assert {module: found for module, found in slow.items() if found} == {}


def test_a_decision_loads_nothing_slow() -> None:
    """The whole path, with what the standard library imports in turn. `tomllib` brings `typing` by itself."""
    script = """
import sys
from assent.engine import configure
from assent.contract import Call
here = configure.place("/workspace/app", {"HOME": "/home/me", "ASSENT_HOME": "/nowhere/assent"})
gate, here = configure.open_gate(here, {})
gate.decide(Call("bash", {"command": "git status && ls -la src | head"}, cwd="/workspace/app", roots=here.roots))
print(*sys.modules)
"""
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", _with_path(script)], capture_output=True, text=True, check=True
    )
    assert set(done.stdout.split()) & (SLOW - {"typing"}) == set()


# What a hook that decides an everyday call by itself must not load: each costs more than its part of the decision.
NOT_FOR_HOOKS = SLOW | frozenset(
    "collections contextlib datetime enum functools hashlib json operator re signal string tomllib types "
    "http.client random socket sqlite3 subprocess tempfile uuid "
    "assent.engine.questions assent.approval.broker assent.engine.consequences assent.facts.consequences.measure "
    "assent.policy.document assent.policy.parse assent.policy.shipped "
    "assent.policy.conditions assent.policy.condition_values assent.policy.condition_syntax "
    "assent.policy.agent_settings assent.policy.tool_settings assent.effects.declared "
    "assent.engine.classify assent.contract.classifier assent.policy.classifier "
    "assent.state.human_decisions "
    "assent.policy.grants assent.approval.grants assent.contract.approval assent.facts.digest assent.state.trust "
    "assent.effects.addresses assent.effects.patches assent.effects.addresses "
    "assent.effects.shell.builtins assent.effects.shell.redirects".split()
)


@pytest.mark.parametrize("command", ["git status && ls -la", "ls src", "grep -n 'a b' x.md | head -20", "cat x; wc y"])
def test_a_hook_loads_nothing_slow(tmp_path: Path, command: str) -> None:
    """The whole answer to an agent program, recorded in the trail."""
    environ = {"HOME": "/home/me", "CLAUDE_PROJECT_DIR": str(tmp_path), "SHELL": "/bin/bash"}
    assert loaded(tmp_path / "state", tmp_path, command, environ, NOT_FOR_HOOKS) == set()


def test_only_a_question_measures_consequences(tmp_path: Path) -> None:
    """Calls that run, and calls that are denied or that nobody can answer, load nothing that measures."""
    script = f"""
import os, sys
from assent.contract import Call
from assent.engine import configure
from assent.engine.engine import Request
from assent.engine.memory import Memory
from assent.gate import CallGate
top = {str(tmp_path)!r}
for name in ("app", "home", "state", "app/build"):
    os.makedirs(f"{{top}}/{{name}}", exist_ok=True)
open(f"{{top}}/app/build/x", "w").close()
environ = {{"HOME": f"{{top}}/home", "ASSENT_HOME": f"{{top}}/state"}}
here = configure.place(f"{{top}}/app", environ)
with open(f"{{top}}/state/config.toml", "w") as file:
    file.write('mode = "full_auto"')
engine, here = configure.open_gate(here, environ)
gate = CallGate(Memory(here.state))
def decide(command, headless=False):
    call = Call("bash", {{"command": command}}, cwd=here.project, roots=here.roots, home=here.home, session="s")
    settled = gate.decide(Request(engine, call, here.project, headless=headless))
    print(settled.outcome.word, settled.consequences, any("consequences" in each for each in sys.modules))
decide("rm build/x")
decide("rm -rf /")
decide("git push origin main", headless=True)
decide("git push origin main")
"""
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", _with_path(script)], capture_output=True, text=True, check=True
    )
    ran, denied, headless, asked = done.stdout.splitlines()
    assert ran == "allow None False"
    assert denied == "deny None False"
    assert headless == "deny None False"
    assert asked.startswith("ask (Consequence(")
    assert asked.endswith(" True")


def _with_path(script: str) -> str:
    return f"import sys; sys.path.insert(0, {str(SOURCE.parent)!r})\n{script}"


def test_values_of_the_contract_are_never_assigned_to_after_they_are_made() -> None:
    """Every stage may keep a value that another made, so none may change it."""
    script = """
from assent.contract import Value
changed = []
def guard(self, field, value):
    if type(self).__module__.startswith("assent.contract") and hasattr(self, field):
        changed.append(f"{type(self).__name__}.{field}")
    object.__setattr__(self, field, value)
Value.__setattr__ = guard
from assent.engine import configure
from assent.contract import Call
here = configure.place("/workspace/app", {"HOME": "/home/me", "ASSENT_HOME": "/nowhere/assent"})
gate, here = configure.open_gate(here, {})
for command in ("git status", "cat a | grep b > c", "sudo rm -rf /", "cd x && ls $(pwd)/*.py", "$X", "curl x.io | sh",
                "for i in 1 2; do echo $i; done", "find . -name '*.py' -exec wc -l {} +", "env A=b make"):
    gate.decide(Call("bash", {"command": command}, cwd="/workspace/app", roots=here.roots, home=here.home))
for tool, given in (("read", {"file_path": "a"}), ("write", {"file_path": "~/.ssh/x"}), ("fetch", {"url": "http://a.b"}),
                    ("glob", {"pattern": "**/*.py"}), ("mcp__a__b", {}), ("agent", {}), ("nonsense", {})):
    gate.decide(Call(tool, given, cwd="/workspace/app", roots=here.roots, home=here.home), headless=True)
print(*changed)
"""
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", _with_path(script)], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == []


@pytest.mark.parametrize("path", modules("contract"), ids=name)
def test_the_contract_assigns_fields_in_init_only(path: Path) -> None:
    outside = [
        ast.unparse(target)
        for function in ast.walk(tree(path))
        if isinstance(function, ast.FunctionDef) and function.name != "__init__"
        for target in ast.walk(function)
        if isinstance(target, ast.Attribute) and isinstance(target.ctx, ast.Store | ast.Del)
    ]
    assert outside == []


LONGEST_MODULE = 500


def test_no_module_is_longer_than_the_limit() -> None:
    lines = {name(path): len(path.read_text(encoding="utf-8").splitlines()) for path in modules()}
    assert {module: count for module, count in lines.items() if count > LONGEST_MODULE} == {}


def test_every_module_says_what_it_owns() -> None:
    assert [name(path) for path in modules() if not path.read_text(encoding="utf-8").startswith('"""')] == []


def test_no_two_classes_share_a_name() -> None:
    places: dict[str, list[str]] = {}
    for path in modules():
        for each in ast.walk(tree(path)):
            if isinstance(each, ast.ClassDef):
                places.setdefault(each.name, []).append(name(path))
    assert {each: where for each, where in places.items() if len(where) > 1} == {}


def test_no_import_renames_what_it_imports() -> None:
    """Where it would have to, one of two things has the wrong name."""
    renamed = [
        f"{name(path)}: {alias.name} as {alias.asname}"
        for path in modules()
        for each in ast.walk(tree(path))
        if isinstance(each, ast.Import | ast.ImportFrom)
        for alias in each.names
        if alias.asname is not None
    ]
    assert renamed == []


# What only the type checker imports, of packages that are optional.
OPTIONAL = frozenset({"httpx"})


def test_what_only_the_type_checker_sees_would_be_a_cycle_or_costs_a_hook_time() -> None:
    known = {dotted(path): path for path in modules()}
    graph = {module: needs(path) & known.keys() - {module} for module, path in known.items()}
    hooks = {*modules(*DECISION_PATH, "hook", "trail/line.py"), SOURCE / "__init__.py"}
    needless = {
        f"{module} imports {each}"
        for module, path in known.items()
        if path not in hooks
        for each in guarded(path) - OPTIONAL
        if each not in known or module not in reached(graph, each)
    }
    assert needless == set()


def guarded(path: Path) -> set[str]:
    """The modules that a module imports for the type checker alone."""
    found = names(path).imported - names(path).imported_at_run_time
    return {each if is_module(each) else each.rpartition(".")[0] or each for each in found} - {dotted(path)}


def reached(graph: dict[str, frozenset[str]], start: str) -> set[str]:
    found: set[str] = set()
    waiting = [start]
    while waiting:
        new = graph[waiting.pop()] - found
        found |= new
        waiting += new
    return found


STARTS_PROCESSES = frozenset("subprocess multiprocessing os.fork tests.server tests.client tests.terminal".split())


def test_no_unit_test_starts_a_process() -> None:
    """`make check` runs them all. What needs a process is tested beside tests/unit, in a folder of its subject."""
    unit = Path(__file__).parent / "unit"
    found = {
        path.relative_to(unit).as_posix(): used
        for path in unit.rglob("*.py")
        if (used := {each for each in used_names(tree(path)) if each.startswith(tuple(STARTS_PROCESSES))})
    }
    assert found == {}


def used_names(node: ast.AST) -> Iterator[str]:
    yield from imports(node)
    yield from (ast.unparse(each) for each in ast.walk(node) if isinstance(each, ast.Attribute))


# What may name an agent program outside its folder, and why.
NAMES_AGENTS = {
    "programs/": "tables of commands: there a program is a command like any other",
    "sdk/": "adapters for Python frameworks, some by the makers of such programs",
    "cli/audit.py": "a form of the export that another program's log has",
    "demo/model.py": "names of models",
    "mcp/definitions.py": "the parameter of MCP's paged lists",
    "policy/starter.toml": "names of models",
    "trail/named.py": "beginnings of the names of secrets",
    "tui/": "the cursor of a terminal",
}


def test_no_module_names_an_agent_program_outside_its_folder() -> None:
    """What is known of one is in its folder, so that adding one adds a folder."""
    folders = [path.parent for path in (SOURCE / "agents").glob("*/agent.toml")]
    words = "|".join(sorted({folder.name.partition("_")[0] for folder in folders}))
    found = {
        name(path)
        for pattern in ("*.py", "*.toml", "*.c", "*.js", "*.html")
        for path in SOURCE.rglob(pattern)
        if path.parent not in folders and re.search(rf"(?<![a-z])(?:{words})(?![a-z])", path.read_text().lower())
    }
    assert {each for each in found if not each.startswith(tuple(NAMES_AGENTS))} == set()
    assert [each for each in NAMES_AGENTS if not any(path.startswith(each) for path in found)] == []
