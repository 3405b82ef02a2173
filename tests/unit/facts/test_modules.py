"""Whether a file in a folder poses as a module of Python's library."""

from __future__ import annotations

from pathlib import Path

import pytest

from assent.contract import Effect, Kind, Lowering, Operation, Target
from assent.facts.links import Links
from assent.facts.modules import posing
from assent.facts.observe import observe


@pytest.fixture(autouse=True)
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTHONPATH", raising=False)
    monkeypatch.delenv("PYTHONHOME", raising=False)


def loading(folder: Path, *others: Effect) -> Lowering:
    return Lowering("bash", (*others, Effect(Operation.EXECUTE, Target(Kind.MODULES, str(folder)))))


def told(folder: Path, *others: Effect) -> str:
    return posing(str(folder), Links(None), loading(folder, *others))


@pytest.mark.parametrize(
    "name",
    [
        "json.py",
        "re.pyc",
        "enum.so",
        "_json.abi3.so",
        "JSON.py",
        "_strptime.py",
        "_colorize.py",
        "org.py",
        "keyword.py",
    ],
)
def test_a_file_with_the_name_of_a_library_module_poses_as_it(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("")
    assert told(tmp_path) == f"`{tmp_path}/{name}` has the name of a module of Python's library"


@pytest.mark.parametrize(
    "name", ["app.py", "json.txt", "types.ts", "_config.yml", "__init__.py", "__main__.py", "README"]
)
def test_other_files_do_not(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("")
    (tmp_path / "__pycache__").mkdir()
    assert told(tmp_path) == ""


def test_a_folder_poses_only_as_a_package(tmp_path: Path) -> None:
    (tmp_path / "json").mkdir()
    (tmp_path / "email").mkdir()
    assert told(tmp_path) == ""
    (tmp_path / "json/__init__.py").write_text("")
    assert "json" in told(tmp_path)


def test_a_link_is_what_it_is_called(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("")
    (tmp_path / "re.py").symlink_to(tmp_path / "x")
    assert told(tmp_path) != ""


@pytest.mark.parametrize("name", ["PYTHONPATH", "PYTHONHOME"])
def test_other_places_for_modules_are_not_looked_at(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "src")
    assert told(tmp_path) != ""


def write(name: str, **more: bool) -> Effect:
    target = Target(Kind.PATH, name, certain=more.get("certain", True), pattern=more.get("pattern", False))
    return Effect(Operation.WRITE, target, recursive=more.get("recursive", False))


def test_what_the_call_itself_may_put_there_counts(tmp_path: Path) -> None:
    harmless = [
        write(f"{tmp_path}/out.json"),
        Effect(Operation.READ, Target(Kind.PATH, f"{tmp_path}/json.py")),
        Effect(Operation.DELETE, Target(Kind.PATH, f"{tmp_path}/json.py")),
        Effect(Operation.EXECUTE, Target(Kind.REPOSITORY, str(tmp_path))),
    ]
    assert [told(tmp_path, effect) for effect in harmless] == [""] * len(harmless)
    makers = [
        write(f"{tmp_path}/json.py"),
        write(f"{tmp_path}/json/__init__.py"),
        write(""),
        write(f"{tmp_path}/x", recursive=True),
        write(f"{tmp_path}/*.txt", pattern=True),
        write(f"{tmp_path}/x", certain=False),
        Effect(Operation.WRITE, Target(Kind.REPOSITORY, str(tmp_path))),
        Effect(Operation.EXECUTE, Target(Kind.PROGRAM, "make")),
        Effect(Operation.DELEGATE, Target(Kind.AGENT, "x")),
    ]
    assert "" not in [told(tmp_path, effect) for effect in makers]


def test_facts_tell_of_modules_by_folder_and_without_a_host_of_roots_alone(tmp_path: Path) -> None:
    facts = observe(loading(tmp_path), roots=(str(tmp_path),), home="", cwd="")
    assert facts.modules == {str(tmp_path): ""}
    inside = observe(loading(tmp_path), roots=(str(tmp_path),), home="", cwd="", given={})
    below = observe(loading(tmp_path / "sub"), roots=(str(tmp_path),), home="", cwd="", given={})
    assert inside.modules == {str(tmp_path): ""}
    assert below.modules == {f"{tmp_path}/sub": "the folder is not looked at"}


def loaded(path: Path, *others: Effect) -> str:
    return posing(f"data:{path}", Links(None), Lowering("bash", others))


def test_data_is_what_is_a_file_or_is_nowhere(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("{}")
    (tmp_path / "folder.json").mkdir()
    (tmp_path / "code.json.js").write_text("")
    assert posing("data:", Links(None), Lowering("bash")) == ""
    assert [loaded(tmp_path / name) for name in ("a.json", "none.json")] == ["", ""]
    assert loaded(tmp_path / "folder.json") == f"`{tmp_path}/folder.json` is no data"
    assert loaded(tmp_path / "code.json") == f"`{tmp_path}/code.json.js` is no data"


def test_data_that_the_call_itself_may_replace_is_none(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text("{}")
    assert loaded(path, write(f"{tmp_path}/other")) == ""
    others = [
        write(f"{path}/index.js"),
        write(f"{path}.js"),
        write(str(tmp_path), recursive=True),
        write(""),
        Effect(Operation.DELETE, Target(Kind.PATH, str(path)), recursive=True, lossless=True),
        Effect(Operation.EXECUTE, Target(Kind.PROGRAM, "make")),
    ]
    assert "" not in [loaded(path, effect) for effect in others]


def test_a_package_may_begin_with_a_library_file(tmp_path: Path) -> None:
    (tmp_path / "json").mkdir()
    (tmp_path / "json/__init__.abi3.so").write_text("")
    assert told(tmp_path) == f"`{tmp_path}/json` has the name of a module of Python's library"


def test_a_link_that_the_call_makes_may_be_a_package(tmp_path: Path) -> None:
    made = Effect(Operation.WRITE, Target(Kind.PATH, f"{tmp_path}/json"))
    assert told(tmp_path, made) == "another part of the command may put a module there"


def test_data_behind_a_link_is_what_the_link_leads_to(tmp_path: Path) -> None:
    (tmp_path / "x.js").write_text("")
    (tmp_path / "y.json").write_text("{}")
    for name, target in (("code.json", "x.js"), ("data.json", "y.json")):
        (tmp_path / name).symlink_to(tmp_path / target)
    facts = [posing(f"data:{tmp_path}/{name}", Links(None), loading(tmp_path)) for name in ("code.json", "data.json")]
    assert facts == [f"`{tmp_path}/code.json` leads to a file of another sort", ""]


def test_code_that_only_computes_is_told_of_by_its_own_name(tmp_path: Path) -> None:
    lowering = Lowering("bash", (Effect(Operation.EXECUTE, Target(Kind.MODULES, f"pure:{tmp_path}")),))
    before = observe(lowering, roots=(str(tmp_path),), home="/home/a", cwd=str(tmp_path)).modules
    (tmp_path / "stringprep.py").write_text("")
    after = observe(lowering, roots=(str(tmp_path),), home="/home/a", cwd=str(tmp_path)).modules
    reason = f"`{tmp_path}/stringprep.py` has the name of a module of Python's library"
    assert (before, after) == ({f"pure:{tmp_path}": ""}, {f"pure:{tmp_path}": reason})
