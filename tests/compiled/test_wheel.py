"""The wheel of `make wheel`: the compiled modules are in it beside their sources, and it works with nothing else
installed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from pathlib import Path
from zipfile import ZipFile

import pytest

from scripts import compiled

BUILD = ("-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--disable-pip-version-check")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run([sys.executable, *BUILD, "--wheel-dir", str(folder), str(compiled.ROOT)], check=True)
    (made,) = folder.glob("*.whl")
    return made


def test_a_wheel_holds_every_module_both_ways_and_is_for_one_interpreter(wheel: Path) -> None:
    names = ZipFile(wheel).namelist()
    for path in compiled.modules(compiled.ROOT / "src" / "assent"):
        assert path in names
        assert any(name.startswith(path.removesuffix("py")) and name.endswith(".so") for name in names), path
    assert f"-cp{sys.version_info.major}{sys.version_info.minor}-" in wheel.name


def test_an_installed_wheel_decides_with_what_was_compiled(wheel: Path, tmp_path: Path) -> None:
    venv.create(tmp_path / "venv", with_pip=True)
    python, assent = (str(tmp_path / "venv" / "bin" / name) for name in ("python", "assent"))
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-index", str(wheel)], check=True)
    environ = {"HOME": str(tmp_path), "PATH": os.defpath}
    where = [python, "-c", "import assent.engine.engine; print(assent.engine.engine.__file__)"]
    assert subprocess.run(where, env=environ, capture_output=True, text=True, check=True).stdout.endswith(".so\n")
    check = [assent, "check", "--json", "bash", "sudo rm -rf /"]
    done = subprocess.run(check, env=environ, cwd=tmp_path, capture_output=True, text=True)
    assert json.loads(done.stdout)["outcome"] == "deny"


def test_without_a_compiler_there_is_a_wheel_that_is_not_compiled(tmp_path: Path) -> None:
    environ = {**os.environ, "CC": "/nowhere/cc"}
    done = subprocess.run(
        [sys.executable, *BUILD, "--wheel-dir", str(tmp_path), str(compiled.ROOT)], env=environ, check=True
    )
    assert done.returncode == 0
    (made,) = tmp_path.glob("*.whl")
    assert not [name for name in ZipFile(made).namelist() if name.endswith(".so")]
