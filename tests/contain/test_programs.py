"""Ordinary work goes on inside, offline: scripts, tests, builds, in a fresh project."""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contain.box import Box, needed


def program(name: str) -> str:
    """The path of a program; skips if it is not installed."""
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"`{name}` is not installed")
    return os.path.realpath(found) if name in ("node", "npm") else found


@pytest.fixture
def other() -> Iterator[Box]:
    """The folders of whoever runs the tests, whose toolchains others may not read."""
    needed()
    made = Box(user=os.geteuid())
    for each in (".cargo/bin", ".rustup", ".pyenv", "go"):
        real = Path.home() / each
        if real.is_dir():
            (made.home / each).parent.mkdir(exist_ok=True)
            (made.home / each).symlink_to(real)
    yield made
    made.close()


def test_a_python_script(box: Box) -> None:
    box.put(
        "projects/work/a.py", "import helper, json, sqlite3, tempfile\nprint(helper.x)\nopen('out', 'w').write('y')\n"
    )
    box.put("projects/work/helper.py", "x = 3\n")
    done = box.inside("python3 a.py")
    assert (done.status, done.output) == (0, "3\n")
    assert (box.work / "out").read_text() == "y"


def test_processes_and_locks_of_python(box: Box) -> None:
    text = "import multiprocessing\nif __name__ == '__main__':\n"
    text += "    with multiprocessing.Pool(3) as pool:\n        print(sum(pool.map(abs, range(50))))\n"
    box.put("projects/work/a.py", text)
    assert box.inside("python3 a.py").output == "1225\n"


def test_a_server_and_its_client_on_loopback(box: Box) -> None:
    box.put("projects/work/hello", "hello\n")
    serves = "python3 -m http.server 8765 --bind 127.0.0.1 > log 2>&1 &"
    assert box.inside(f"{serves} until curl -sf http://127.0.0.1:8765/hello; do sleep 0.1; done").output == "hello\n"


def test_make_with_jobs(box: Box) -> None:
    program("make")
    box.put("projects/work/Makefile", "all: a b\na b:\n\techo $@ > $@.out\n")
    done = box.inside("make -j4 && cat a.out b.out")
    assert (done.status, done.output.splitlines()[-2:]) == (0, ["a", "b"])


def test_a_c_program(box: Box) -> None:
    program("cc")
    box.put("projects/work/a.c", '#include <stdio.h>\nint main(void) { puts("hi"); }\n')
    assert box.inside("cc -o a a.c && ./a").output == "hi\n"


def test_a_node_script(box: Box) -> None:
    program("node")
    box.put(
        "projects/work/a.js",
        "require('fs').writeFileSync('out', 'x'); new Worker; function Worker() { console.log(1) }\n",
    )
    done = box.inside("node a.js")
    assert (done.status, done.output) == (0, "1\n")
    assert (box.work / "out").read_text() == "x"


def test_workers_and_children_of_node(box: Box) -> None:
    program("node")
    text = """
const { Worker, isMainThread, parentPort } = require('worker_threads');
if (isMainThread) new Worker(__filename).on('message', (text) => {
  console.log(text, require('child_process').execSync('echo child').toString().trim());
  require('child_process').fork(__filename + '.child').on('message', (text) => { console.log(text); process.exit() });
}); else parentPort.postMessage('worker');
"""
    box.put("projects/work/a.js", text)
    box.put("projects/work/a.js.child", "process.send('forked')")
    assert box.inside("node a.js").output == "worker child\nforked\n"


def test_npm_test(box: Box) -> None:
    program("npm")
    box.put("projects/work/package.json", '{"name": "a", "version": "1.0.0", "scripts": {"test": "node --test"}}')
    box.put("projects/work/test/a.test.js", "require('node:test')('adds', () => require('assert').equal(1 + 1, 2))\n")
    box.put("projects/work/node_modules/b/index.js", "")
    done = box.inside("npm test")
    assert (done.status, "pass 1" in done.output) == (0, True), done


def test_npm_installs_a_package_of_the_project_where_the_call_installs(box: Box) -> None:
    program("npm")
    box.put("projects/work/package.json", '{"name": "a", "version": "1.0.0", "dependencies": {"b": "file:./b"}}')
    box.put("projects/work/b/package.json", '{"name": "b", "version": "1.0.0"}')
    box.put("projects/work/node_modules/.keep")
    assert box.inside("npm install --offline --no-audit --no-fund").status != 0
    done = box.inside("npm install --offline --no-audit --no-fund", box.profile(installs=True))
    assert done.status == 0, done
    assert (box.work / "node_modules/b").exists()


def pytest_in(box: Box) -> None:
    """A virtual environment of the project with pytest."""
    box.put("projects/work/test_a.py", "def test_it(tmp_path):\n    (tmp_path / 'x').write_text('y')\n")
    assert box.outside("/usr/bin/python3 -m venv --without-pip .venv").status == 0
    target = next((box.work / ".venv/lib").glob("python3*/site-packages"))
    for name in ("pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments", "py"):
        found = importlib.util.find_spec(name)
        assert found is not None
        assert found.origin is not None
        if os.path.basename(found.origin) == "__init__.py":
            shutil.copytree(Path(found.origin).parent, target / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(found.origin, target)


def test_pytest(box: Box) -> None:
    if box.outside("/usr/bin/python3 -m venv --help").status != 0:
        pytest.skip("the system's Python makes no virtual environments")
    pytest_in(box)
    done = box.inside(".venv/bin/python -m pytest -q")
    assert (done.status, "1 passed" in done.output) == (0, True), done
    assert done.receipt is not None
    assert done.receipt.quarantined == ()


def test_cargo_build(other: Box) -> None:
    cargo = program("cargo")
    other.environ["PATH"] = f"{os.path.dirname(cargo)}:{other.environ['PATH']}"
    if other.outside("cargo --version").status != 0:
        pytest.skip("cargo does not run with another home folder")
    other.put("projects/work/Cargo.toml", '[package]\nname = "a"\nversion = "0.1.0"\nedition = "2021"\n')
    other.put("projects/work/src/main.rs", 'fn main() { println!("hi"); }\n')
    done = other.inside("cargo build --offline && ./target/debug/a")
    assert (done.status, done.output.splitlines()[-1]) == (0, "hi"), done


def test_go_test(other: Box) -> None:
    go = program("go")
    other.environ["PATH"] = f"{os.path.dirname(go)}:{other.environ['PATH']}"
    other.put("projects/work/go.mod", "module a\n\ngo 1.20\n")
    other.put("projects/work/a_test.go", 'package a\n\nimport "testing"\n\nfunc TestIt(t *testing.T) {}\n')
    done = other.inside("go test ./...")
    assert done.status == 0, done
