"""Which packages an install brings, and whether the lock file has them."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from assent.contract import Facts
from assent.effects import shell
from assent.facts.consequences import installs
from assent.facts.consequences.deadline import Deadline

LOCKS = {
    "package-lock.json": '{\n  "packages": {\n    "": {},\n    "node_modules/react": {\n    },\n'
    '    "node_modules/@a/b": {\n    }\n  }\n}\n',
    "yarn.lock": 'react@^18.0.0:\n  version "18.2.0"\n\n"@a/b@^1.0.0":\n  version "1.0.0"\n',
    "pnpm-lock.yaml": "packages:\n\n  react@18.2.0:\n    resolution: {}\n\n  '@a/b@1.0.0':\n    resolution: {}\n",
    "uv.lock": '[[package]]\nname = "requests"\nversion = "2"\n\n[[package]]\nname = "typing-extensions"\n',
    "Cargo.lock": '[[package]]\nname = "serde"\nversion = "1.0"\n\n[[package]]\nname = "syn"\nversion = "2.0"\n',
    "Gemfile.lock": "GEM\n  specs:\n    rails (7.0)\n    rake (13.0)\n",
    "go.sum": "github.com/a/b v1.0.0 h1:x=\ngithub.com/a/b v1.0.0/go.mod h1:y=\nx.org/c v2.0.0/go.mod h1:z=\n",
}


def shown(folder: Path, command: str) -> list[str]:
    lowering = shell.lower(command, cwd=str(folder), home="/home/user")
    facts = Facts(roots=(str(folder),))
    return [each.text for each in installs.measure(lowering.invocations[0], str(folder), facts, Deadline(10.0))]


@pytest.mark.parametrize(
    ("lock", "command", "new", "known"),
    [
        ("package-lock.json", "npm install left-pad@1 react @a/b@2", "left-pad@1", "`react`, `@a/b@2`"),
        ("yarn.lock", "yarn add left-pad react @a/b", "left-pad", "`react`, `@a/b`"),
        ("pnpm-lock.yaml", "pnpm add left-pad react @a/b", "left-pad", "`react`, `@a/b`"),
        ("uv.lock", "uv add flask Requests typing_extensions", "flask", "`Requests`, `typing_extensions`"),
        ("uv.lock", "pip install flask 'requests[socks]>=2'", "flask", "`requests[socks]>=2`"),
        ("Cargo.lock", "cargo add anyhow serde syn@2", "anyhow", "`serde`, `syn@2`"),
        ("go.sum", "go get x.org/new github.com/a/b@v1.0.0", "x.org/new", "`github.com/a/b@v1.0.0`"),
    ],
)
def test_packages_are_new_or_in_the_lock_file(tmp_path: Path, lock: str, command: str, new: str, known: str) -> None:
    (tmp_path / lock).write_text(LOCKS[lock])
    count = known.count("`") // 2
    assert shown(tmp_path, command) == [
        f"installs 1 package new to `{lock}`: `{new}`",
        "what new packages need in turn comes too, and is not known here",
        f"installs {count} package{'s' if count > 1 else ''} that `{lock}` has already: {known}",
    ]


@pytest.mark.parametrize("lock", sorted(LOCKS))
def test_an_install_without_names_brings_what_the_lock_file_has(tmp_path: Path, lock: str) -> None:
    assert installs.number_in(lock, LOCKS[lock]) == 2


def test_what_the_manifest_has_and_the_lock_file_has_not(tmp_path: Path) -> None:
    (tmp_path / "package-lock.json").write_text(LOCKS["package-lock.json"])
    (tmp_path / "package.json").write_text('{"dependencies": {"react": "1"}, "devDependencies": {"vue": "2"}}')
    assert shown(tmp_path, "npm install") == [
        "installs the 2 packages of `package-lock.json`",
        "installs 1 package of `package.json` that `package-lock.json` does not have: `vue`",
    ]


def test_other_installs(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("requests>=2\n# x\n-e .\nflask\n")
    assert shown(tmp_path, "pip install -r requirements.txt") == [
        "installs the 2 packages that `requirements.txt` names: `requests`, `flask`"
    ]
    assert shown(tmp_path, "pip install numpy") == ["installs 1 package: `numpy`; there is no lock file"]
    assert shown(tmp_path, "apt install curl jq") == ["installs 2 packages on this machine: `curl`, `jq`"]
    assert shown(tmp_path, "npm install -g yarn") == ["installs 1 package on this machine: `yarn`"]
    assert shown(tmp_path, "cargo install ripgrep") == ["installs 1 package on this machine: `ripgrep`"]
    assert "not known" in shown(tmp_path, "npm install")[0]
    assert "not known" in shown(tmp_path, 'npm install "$X"')[0]


def test_a_lock_file_that_is_a_pipe_or_a_link_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "package-lock.json")
    (tmp_path / "yarn.lock").symlink_to("/etc/passwd")
    assert shown(tmp_path, "npm install x") == ["installs 1 package: `x`; there is no lock file"]


@pytest.mark.parametrize("lock", sorted(installs._ENTRIES))
def test_no_text_of_a_lock_file_makes_reading_it_slow(lock: str) -> None:
    began = time.process_time()
    for piece in ("@", '"', "a@", '"node_modules/', " ", "'/", "name = ", "x v", "    x ("):
        text = piece * (200_000 // len(piece))
        installs.number_in(lock, text)
        installs.has(lock, text, "a")
    assert time.process_time() - began < 3


def test_a_package_with_a_hostile_name_is_inert(tmp_path: Path) -> None:
    (line, *_) = shown(tmp_path, "npm install $'x\\x1b[2J(.*)+`'")
    assert "\x1b" not in line
