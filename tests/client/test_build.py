"""C programs are compiled if there is a working compiler, and left out otherwise. The command tables are always
compiled."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def build() -> ModuleType:
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def source(tmp_path: Path, build: ModuleType) -> Path:
    """A source tree with the client alone, and an old build of it."""
    folder, sources, program, _ = build.CLIENT
    made = tmp_path / str(folder)
    made.mkdir(parents=True)
    for each in sources:
        shutil.copy(ROOT / folder / each, made)
    (made / program).write_text("old")
    return made


def test_with_a_compiler_there_is_one_that_runs(build: ModuleType, source: Path, tmp_path: Path) -> None:
    if shutil.which("cc") is None:
        pytest.skip("there is no C compiler")
    assert build.compile_program(str(tmp_path), build.CLIENT) == ""
    assert sorted(each.name for each in source.iterdir()) == ["assent-hook", "client.c"]
    assert subprocess.run([source / "assent-hook"], capture_output=True).returncode == 2


def test_the_runner_of_contained_calls_is_compiled_the_same_way(build: ModuleType, tmp_path: Path) -> None:
    if shutil.which("cc") is None:
        pytest.skip("there is no C compiler")
    folder = tmp_path / str(build.RUNNER[0])
    shutil.copytree(
        ROOT / build.RUNNER[0], folder, ignore=shutil.ignore_patterns("*.py", "__pycache__", "assent-contain*")
    )
    assert build.compile_program(str(tmp_path), build.RUNNER) == ""
    assert subprocess.run([folder / "assent-contain"], capture_output=True).returncode == 126


def test_without_a_compiler_there_is_none(
    build: ModuleType, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    monkeypatch.delenv("CC", raising=False)
    assert build.compile_program(str(tmp_path), build.CLIENT) == "there is no C compiler"
    assert [each.name for each in source.iterdir()] == ["client.c"]


@pytest.mark.parametrize(
    "does", ["exit 1", "exit 0", 'for each; do test "$before" = -o && cp /bin/true $each; before=$each; done']
)
def test_what_a_broken_compiler_makes_is_not_taken(
    build: ModuleType, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, does: str
) -> None:
    fake = tmp_path / "cc"
    fake.write_text(f"#!/bin/sh\necho broken >&2\n{does}\n")
    fake.chmod(0o755)
    monkeypatch.setenv("CC", str(fake))
    assert build.compile_program(str(tmp_path), build.CLIENT) == f"`{fake}` does not make one that runs: broken"
    assert [each.name for each in source.iterdir()] == ["client.c"]


def test_a_source_that_does_not_compile_leaves_none(build: ModuleType, source: Path, tmp_path: Path) -> None:
    if shutil.which("cc") is None:
        pytest.skip("there is no C compiler")
    (source / "client.c").write_text("int main(void) { return nothing(); }\n")
    assert "does not make one that runs" in build.compile_program(str(tmp_path), build.CLIENT)
    assert [each.name for each in source.iterdir()] == ["client.c"]


def test_the_tables_are_compiled_in_the_source_tree(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__", "page", "*.so"))
    script = f"import sys; sys.path.insert(0, {str(ROOT)!r}); import hatch_build as build; build.tables(sys.argv[1])"
    words = [sys.executable, "-I", "-S", "-B", "-c", script, str(tmp_path)]
    subprocess.run(words, capture_output=True, text=True, check=True)
    for package, least in (("programs", 100_000), ("agents", 10_000)):
        assert (tmp_path / f"src/assent/{package}/__pycache__/tables").stat().st_size > least
