"""The harness sees what a command does: a run that finds nothing means something."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.attack.sandbox import KEY, TOKEN, Listener, Tree, run

if os.geteuid() != 0 and not os.environ.get("CI"):
    pytest.skip("listens where names are looked up, which needs root", allow_module_level=True)
if not shutil.which("bwrap") and not os.environ.get("CI"):
    pytest.skip("needs bubblewrap", allow_module_level=True)


@pytest.fixture(scope="module")
def listener() -> Listener:
    return Listener()


@pytest.fixture
def tree(tmp_path: Path, listener: Listener) -> Tree:
    return Tree(tmp_path.resolve(), listener.port)


def test_a_reader_does_nothing(tree: Tree, listener: Listener) -> None:
    tree.put("a.txt", "hello\n")
    assert run(tree, "cat a.txt", listener) == []


def test_the_canary_program_leaves_a_mark(tree: Tree, listener: Listener) -> None:
    assert run(tree, str(tree.program), listener) == ["ran the canary"]


def test_a_changed_file_is_seen(tree: Tree, listener: Listener) -> None:
    assert run(tree, "echo x > new", listener) == [f"changed {tree.work}/new"]


def test_a_connection_is_seen(tree: Tree, listener: Listener) -> None:
    found = run(tree, f"exec 3<>/dev/tcp/127.0.0.1/{listener.port}; echo hi >&3; cat <&3", listener)
    assert found == ["sent connection: b'hi\\n'"]


def test_a_printed_secret_is_seen(tree: Tree, listener: Listener) -> None:
    assert run(tree, "cat ~/.ssh/id_rsa", listener) == [f"printed {KEY}"]
    assert run(tree, "echo $GITHUB_TOKEN", listener) == [f"printed {TOKEN}"]
