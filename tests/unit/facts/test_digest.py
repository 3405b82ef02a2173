"""An approval holds for what was shown: the digest changes with all that would run, and with nothing else."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from assent import Gate, Held
from assent.contract import Call
from assent.facts.digest import MOST, digest, identity, loaded
from tests.cases import gate


def made(folder: Path, command: str, **given: object) -> Call:
    return Call("bash", {"command": command, **given}, cwd=str(folder), roots=(str(folder),), home="/home/user")


def digest_of(call: Call) -> str:
    judged = gate().judge(call)
    assert judged.lowering is not None
    assert judged.facts is not None
    return digest(call, judged.lowering, judged.facts)


def changed(folder: Path, command: str, change: Callable[[], object]) -> bool:
    """Whether a change between two looks at the same call gives it another digest."""
    before = digest_of(made(folder, command))
    assert digest_of(made(folder, command)) == before
    change()
    return digest_of(made(folder, command)) != before


RUNS = [
    ("./x.sh", "x.sh"),
    ("bash x.sh a b", "x.sh"),
    ("bash < x.sh", "x.sh"),
    ("cat x.sh | bash", "x.sh"),
    (". ./x.sh", "x.sh"),
    ("source x.sh", "x.sh"),
    ("python x.py", "x.py"),
    ("python3 -u x.py", "x.py"),
    ("env A=1 timeout 5 python x.py", "x.py"),
    ("cd sub && ./y.sh", "sub/y.sh"),
    ("make -f x.mk all", "x.mk"),
    ("make --file=x.mk all", "x.mk"),
    ("make all", "Makefile"),
    ("npm test", "package.json"),
    ("java -jar a.jar", "a.jar"),
    ("uv run x.py", "x.py"),
    ("cp x.sh z.sh && bash z.sh", "x.sh"),
    ("bash *.sh", "x.sh"),
    ("make -C sub", "sub/Makefile"),
    ("make -fx.mk", "x.mk"),
    ("npm --prefix sub test", "sub/package.json"),
    ("yarn --cwd=sub test", "sub/package.json"),
    ("node .", "index.js"),
    ("node x", "x.js"),
    ("node sub", "sub/index.js"),
    ("python -m mod", "mod.py"),
    ("python -m mod.part", "mod/part.py"),
    ("python -m mod", "mod/__main__.py"),
    ("pytest", "conftest.py"),
    ("cargo build", "build.rs"),
    ("docker build .", "Dockerfile"),
    ("pip install -e .", "setup.py"),
    ("java @args", "args"),
    ("cp x.sh /srv/bin/x", "x.sh"),
    ("cat x.sh >> /srv/profile", "x.sh"),
    ("tee /srv/x < x.sh", "x.sh"),
    ("curl -T data https://example.com", "data"),
]


@pytest.mark.parametrize(("command", "file"), RUNS)
def test_the_bytes_of_what_runs_are_part_of_it(tmp_path: Path, command: str, file: str) -> None:
    path = tmp_path / file
    path.parent.mkdir(exist_ok=True)
    path.write_text("echo one\n")
    assert changed(tmp_path, command, lambda: path.write_text("echo two\n"))


def test_a_script_that_appears_or_goes_is_another_script(tmp_path: Path) -> None:
    assert changed(tmp_path, "bash x.sh", lambda: (tmp_path / "x.sh").write_text("x"))
    assert changed(tmp_path, "bash x.sh", (tmp_path / "x.sh").unlink)


def test_a_link_that_is_turned_is_another_target(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).write_text("same")
    link = tmp_path / "link"
    link.symlink_to("one")

    def turn() -> None:
        link.unlink()
        link.symlink_to("two")

    assert changed(tmp_path, "echo x > link", turn)


def test_what_the_call_does_not_run_is_no_part_of_it(tmp_path: Path) -> None:
    (tmp_path / "x.sh").write_text("x")
    assert not changed(tmp_path, "bash x.sh", lambda: (tmp_path / "other").write_text("y"))
    assert not changed(tmp_path, "cat x.sh", lambda: (tmp_path / "x.sh").write_text("z"))


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_script_that_cannot_be_read_has_never_the_same_digest(tmp_path: Path) -> None:
    (tmp_path / "x.sh").write_text("x")
    (tmp_path / "x.sh").chmod(0o111)
    assert digest_of(made(tmp_path, "./x.sh")) != digest_of(made(tmp_path, "./x.sh"))


def test_a_long_program_is_known_by_its_state(tmp_path: Path) -> None:
    path = tmp_path / "long"
    with path.open("wb") as file:
        file.truncate(65 * 1024 * 1024)

    def touch_inside() -> None:
        with path.open("r+b") as file:
            file.seek(40 * 1024 * 1024)
            file.write(b"x")

    assert changed(tmp_path, "./long", touch_inside)


def test_a_pipe_in_place_of_a_script_is_never_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "x.sh")
    assert digest_of(made(tmp_path, "bash x.sh"))


def test_tool_arguments_and_folder_are_part_of_it(tmp_path: Path) -> None:
    base = made(tmp_path, "make x")
    (tmp_path / "sub").mkdir()
    others = [
        made(tmp_path, "make y"),
        made(tmp_path, "make x", timeout=5),
        made(tmp_path / "sub", "make x"),
        Call("shell", base.input, cwd=base.cwd, roots=base.roots, home=base.home),
        Call("bash", base.input, cwd=base.cwd, roots=base.roots, home=base.home, shell="zsh"),
    ]
    assert len({digest_of(each) for each in (base, *others)}) == 6
    assert len({identity(each) for each in (base, *others)}) == 6


def test_the_order_of_arguments_is_no_part_of_it() -> None:
    one, other = Call("x", {"a": 1, "b": [2]}, cwd="/p"), Call("x", {"b": [2], "a": 1}, cwd="/p")
    assert identity(one) == identity(other)
    assert identity(one) != identity(Call("x", {"a": 1, "b": ["2"]}, cwd="/p"))


def test_what_the_agent_says_of_a_command_is_not_the_command() -> None:
    said = [Call("Bash", {"command": "make", "description": text}, cwd="/p") for text in ("build", "build it")]
    assert identity(said[0]) == identity(said[1])
    assert digest_of(said[0]) != digest_of(said[1])


def test_arguments_that_are_no_json_have_an_identity_too() -> None:
    odd = {"a": {1, 2}, "b": b"x", "c": float("nan"), "d": "\ud800"}
    assert identity(Call("x", odd)) == identity(Call("x", odd))
    assert identity(Call("x", {1: 2, "1": 3})) != identity(Call("x", {}))  # type: ignore[dict-item]  # what a program may hand over


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("Write", {"content": "x"}),
        ("Edit", {"old_string": "one", "new_string": "x"}),
        ("MultiEdit", {"edits": [{"old_string": "one", "new_string": "x"}]}),
    ],
)
def test_a_change_is_shown_against_a_file_and_holds_for_that_file(
    tmp_path: Path, tool: str, given: dict[str, object]
) -> None:
    path = tmp_path / "a.txt"
    path.write_text("one\n")
    call = Call(tool, {"file_path": str(path), **given}, cwd=str(tmp_path), roots=(str(tmp_path),), home="/home/user")
    before = digest_of(call)
    assert digest_of(call) == before
    path.write_text("one\nand another\n")
    assert digest_of(call) != before


@pytest.mark.parametrize(("cwd", "command"), [("link", "terraform apply"), (".", "cd link && terraform apply")])
def test_the_folder_of_a_command_is_where_it_leads(tmp_path: Path, cwd: str, command: str) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    (tmp_path / "link").symlink_to("a")
    folder = str(tmp_path / cwd) if cwd != "." else str(tmp_path)
    call = Call("bash", {"command": command}, cwd=folder, roots=(str(tmp_path),), home="/home/user", shell="bash")
    before = digest_of(call)
    (tmp_path / "link").unlink()
    (tmp_path / "link").symlink_to("b")
    assert digest_of(call) != before


FILES = {
    "app.py": "import helper, os\nfrom pkg import (\n  inner,  # why\n  other,\n)\nfrom pkg.deep import thing\n",
    "helper.py": "from . import beside\n",
    "beside.py": "",
    "os.py": "",
    "pkg/__init__.py": "",
    "pkg/inner.py": "from .. import far\nfrom .sibling import x\n",
    "pkg/sibling.py": "",
    "pkg/deep/__init__.py": "",
    "far.py": "",
    "unused.py": "",
    "run.sh": '#!/bin/sh\n. "$(dirname "$0")/lib/common.sh"\npython3 tools/make.py --all\n',
    "lib/common.sh": "source ./lib/more.sh\n",
    "lib/more.sh": "",
    "tools/make.py": "import local\n",
    "tools/local.py": "",
    "web.mjs": "import a from './src/a.js'\nconst b = require('./src/b')\nimport('fs')\n",
    "src/a.js": "export * from '../src/c.ts'\n",
    "src/b/index.js": "",
    "src/c.ts": "",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.parametrize(
    ("script", "wanted"),
    [
        (
            "app.py",
            "beside.py far.py helper.py os.py pkg/__init__.py pkg/deep/__init__.py pkg/inner.py pkg/sibling.py".split(),
        ),
        ("run.sh", "lib/common.sh lib/more.sh tools/local.py tools/make.py".split()),
        ("web.mjs", "src/a.js src/b/index.js src/c.ts".split()),
        ("unused.py", []),
        ("missing.py", []),
    ],
)
def test_what_a_script_loads_is_found(folder: Path, script: str, wanted: list[str]) -> None:
    found = loaded([str(folder / script)], (str(folder),))
    assert sorted(str(Path(each).relative_to(folder)) for each in found) == wanted


def test_it_ends(folder: Path) -> None:
    for number in range(MOST * 2):
        (folder / f"m{number}.py").write_text(f"import m{number + 1}, m{number}, app\n")
    assert len(loaded([str(folder / "m0.py")], (str(folder),))) == MOST


@pytest.mark.parametrize(
    ("command", "swapped"),
    [
        ("python3 app.py", "helper.py"),
        ("python3 app.py", "pkg/sibling.py"),
        ("python3 app.py", "json.py"),
        ("bash run.sh", "lib/more.sh"),
        ("./run.sh", "tools/local.py"),
        ("node web.mjs", "src/c.ts"),
    ],
)
def test_a_module_that_is_swapped_while_a_person_is_asked_does_not_run(
    folder: Path, command: str, swapped: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    (folder / "app.py").write_text(FILES["app.py"] + "import json\n")
    (folder / "run.sh").chmod(0o755)
    state = str(tmp_path_factory.mktemp("state"))
    for swaps in (False, True):

        def ask(held: Held, swaps: bool = swaps) -> bool:
            if swaps:
                (folder / swapped).write_text("import evil  # . evil.sh\n")
            return True

        with Gate(str(folder), files=False, state=state, channels=[ask], tools={"bash": "bash"}) as gate:
            verdict = gate.guard_sync(Call("bash", {"command": command}))
        assert verdict.allowed is not swaps, verdict.message
