"""Which settings files a program would find, on a real file system."""

from __future__ import annotations

from pathlib import Path

import pytest

from assent.contract import Effect, Kind, Lowering, Operation, Target
from assent.facts.links import Links
from assent.facts.settings import obeyed

NONE = Lowering("bash")


def look(folder: Path, entry: str, *operands: Path, lowering: Lowering = NONE, home: str = "/h", root: str = "") -> str:
    name = "\0".join((str(folder), entry, *map(str, operands)))
    return obeyed(name, lowering, Links(None), home=home, roots=(root,) if root else ())


def writes(*paths: Path | str, recursive: bool = False, certain: bool = True) -> Lowering:
    targets = (Target(Kind.PATH, str(path), certain=certain) for path in paths)
    return Lowering("bash", tuple(Effect(Operation.WRITE, target, recursive=recursive) for target in targets))


def test_a_file_in_the_folder(tmp_path: Path) -> None:
    assert look(tmp_path, ".ugrep") == ""
    (tmp_path / ".ugrep").write_text("")
    assert look(tmp_path, ".ugrep") == f"`{tmp_path}/.ugrep` is there"
    assert look(tmp_path / "below", ".ugrep") == ""


def test_a_link_that_leads_nowhere_is_a_file(tmp_path: Path) -> None:
    (tmp_path / ".ugrep").symlink_to("gone")
    assert look(tmp_path, ".ugrep")


def test_files_with_names_of_a_pattern(tmp_path: Path) -> None:
    (tmp_path / ".x.beam").write_text("")
    assert look(tmp_path, "[!.]*.beam") == ""
    (tmp_path / "x.beam").write_text("")
    assert look(tmp_path, "[!.]*.beam") == f"`{tmp_path}/x.beam` is there"
    (tmp_path / "tls").mkdir()
    assert look(tmp_path, "tls/lib*.so*") == ""
    (tmp_path / "tls" / "libm.so.6").write_text("")
    assert look(tmp_path, "tls/lib*.so*") == f"`{tmp_path}/tls/libm.so.6` is there"
    assert look(tmp_path / "tls", "^[!.]*.beam") == f"`{tmp_path}/x.beam` is there"


def test_a_file_with_a_name_of_a_pattern_that_the_call_makes(tmp_path: Path) -> None:
    assert look(tmp_path, "[!.]*.beam", lowering=writes(tmp_path / "x.beam"))
    assert look(tmp_path, "[!.]*.beam", lowering=writes(tmp_path / "x.erl")) == ""
    assert look(tmp_path, "[!.]*.beam", lowering=writes("", certain=False))


def test_the_files_that_a_justfile_includes(tmp_path: Path) -> None:
    file = tmp_path / "Justfile"
    file.write_text("# import 'a'\nset shell := ['sh']\nbuild:\n    import os\nmodule:\n  x\nimported := '1'\n")
    assert look(tmp_path, "^[jJ]ustfile#!") == ""
    for line in ("import 'a'", 'import? "a"', "mod a", "mod? a 'b'", "[doc('x')] mod a", "import\t'a'", "import'a'"):
        file.write_text(f"x := '1'\n{line}\n")
        assert look(tmp_path, "^[jJ]ustfile#!"), line


def test_a_file_above_the_folder_up_to_the_home(tmp_path: Path) -> None:
    below = tmp_path / "project" / "a" / "b"
    below.mkdir(parents=True)
    (tmp_path / "project" / ".npmrc").write_text("x=1")
    assert look(below, "^.npmrc") == f"`{tmp_path}/project/.npmrc` is there"
    assert look(below, "^.npmrc", home=str(tmp_path / "project")) == ""
    assert look(below, ".npmrc") == ""


def test_a_file_beside_an_operand(tmp_path: Path) -> None:
    (tmp_path / "a.db").write_text("")
    assert look(tmp_path, "{}-journal", tmp_path / "a.db") == ""
    (tmp_path / "a.db-journal").write_text("")
    assert look(tmp_path, "{}-journal", tmp_path / "a.db") == f"`{tmp_path}/a.db-journal` is there"


def test_an_operand_that_would_be_made(tmp_path: Path) -> None:
    (tmp_path / "a.db").write_text("")
    assert look(tmp_path, "+{}", tmp_path / "a.db") == ""
    assert look(tmp_path, "+{}", tmp_path / "b.db") == f"`{tmp_path}/b.db` would be made"
    assert look(tmp_path, "+{}", tmp_path / "b.db", root=str(tmp_path))
    assert look(tmp_path, "+{}.db", tmp_path / "b.db", root=str(tmp_path)) == ""
    assert look(tmp_path, "+{}.db", tmp_path / "b.db")
    assert look(tmp_path, "+{}.db", tmp_path / "conftest.py", root=str(tmp_path))


def test_a_file_in_or_above_an_operands_folder(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / ".clang-format").write_text("")
    assert look(tmp_path, "{}/.clang-format", tmp_path / "src")
    assert look(tmp_path, "^{}/.clang-format", tmp_path / "src" / "a.c")
    assert look(tmp_path, "^{}/.clang-format", tmp_path / "lib" / "a.c") == ""
    assert look(tmp_path, "{}/.clang-format") == ""


def test_a_file_anywhere_below(tmp_path: Path) -> None:
    deep = tmp_path / "src" / "a" / "b"
    deep.mkdir(parents=True)
    assert look(tmp_path, "**/ruff.toml", tmp_path / "src") == ""
    (tmp_path / "node_modules" / "x").mkdir(parents=True)
    (tmp_path / "node_modules" / "x" / "ruff.toml").write_text("")
    assert look(tmp_path, "**/ruff.toml") == ""
    (deep / "ruff.toml").write_text("")
    assert look(tmp_path, "**/ruff.toml", tmp_path / "src") == f"`{deep}/ruff.toml` is there"


def test_files_that_a_pattern_matches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "packer-template.json").write_text("")
    assert look(tmp_path, "packer-plugin-*") == ""
    assert look(tmp_path, "*/*/packer-plugin-*") == ""
    (tmp_path / "a" / "b" / "packer-plugin-x").write_text("")
    assert look(tmp_path, "packer-plugin-*") == ""
    assert look(tmp_path, "*/*/packer-plugin-*") == f"`{tmp_path}/a/b/packer-plugin-x` is there"
    (tmp_path / "packer-plugin-y").write_text("")
    assert look(tmp_path, "packer-plugin-*") == f"`{tmp_path}/packer-plugin-y` is there"
    monkeypatch.setattr("assent.facts.settings.MOST_ENTRIES", 2)
    assert look(tmp_path, "x-*") == "too many files to look for `x-*`"


def test_a_pattern_meets_what_the_call_itself_may_write(tmp_path: Path) -> None:
    made = tmp_path / "packer-plugin-z"
    assert look(tmp_path, "packer-plugin-*", lowering=writes(made)) == f"another part of the command may write `{made}`"
    assert look(tmp_path, "packer-plugin-*", lowering=writes("", certain=False))
    assert look(tmp_path, "packer-plugin-*", lowering=writes(tmp_path / "other")) == ""
    assert look(tmp_path, "*/*/packer-plugin-*", lowering=writes(tmp_path / "a", recursive=True))


def test_too_many_files_below_are_not_proved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assent.facts.settings.MOST_ENTRIES", 5)
    for number in range(9):
        (tmp_path / str(number)).write_text("")
    assert look(tmp_path, "**/ruff.toml") == "too many files to look for `**/ruff.toml`"


RUFF = "^pyproject.toml#tool.ruff!line-length,lint.select,target-*"


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("[tool.ruff]\nline-length = 100\n[tool.ruff.lint]\nselect = ['E']", ""),
        ("[tool.black]\nanything = 1", ""),
        ("[project]\nname = 'x'", ""),
        ("tool.ruff.target-version = 'py311'", ""),
        ("[tool.ruff]\ncache-dir = '/x'", "tool.ruff.cache-dir"),
        ("tool = { ruff = { extend = 'x' } }", "tool.ruff.extend"),
        ('"tool".ruff."cache-dir" = 1', "tool.ruff.cache-dir"),
        ("[tool.ruff.lint]\nfixable = []", "tool.ruff.lint.fixable"),
        ("[tool.ruff]", "tool.ruff"),
        ("not toml", "something that cannot be read"),
    ],
)
def test_toml_is_read_by_key(tmp_path: Path, text: str, key: str) -> None:
    (tmp_path / "pyproject.toml").write_text(text)
    assert look(tmp_path, RUFF) == (f"`{tmp_path}/pyproject.toml` sets `{key}`" if key else "")


NPM = "^.npmrc#!save-exact,fund,registry=https://a.example/*"


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("; a note\nsave-exact = true\nfund=false\n", ""),
        ("registry=https://a.example/npm", ""),
        ("registry=https://evil.example/", "registry"),
        ("  registry = https://evil.example/", "registry"),
        ("fund=1\rregistry=https://evil.example/", "registry"),
        ('"registry"=https://evil.example/', "registry"),
        ("REGISTRY=x", "registry"),
        ("registry[]=x", "registry"),
        ("@a:registry=x", "@a:registry"),
        ("node-options", "node-options"),
    ],
)
def test_ini_is_read_by_key(tmp_path: Path, text: str, key: str) -> None:
    (tmp_path / ".npmrc").write_text(text)
    assert look(tmp_path, NPM) == (f"`{tmp_path}/.npmrc` sets `{key}`" if key else "")


def test_a_line_that_goes_on_belongs_to_its_key(tmp_path: Path) -> None:
    (tmp_path / "setup.cfg").write_text("[x]\nname = a\n  evil\n[y]\nname = a\n")
    assert look(tmp_path, "setup.cfg#x!name=a") == f"`{tmp_path}/setup.cfg` sets `x.name`"
    assert look(tmp_path, "setup.cfg#y!name=a") == ""


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("nodeLinker: node-modules\nplugins:\n  - path: x\n", "plugins"),
        ("nodeLinker: node-modules\n# yarnPath: x\n", ""),
        ("yarnPath: ./evil.js\n", "yarnPath"),
        ('"yarnPath": ./evil.js\n', "something that cannot be read"),
        ("{yarnPath: ./evil.js}\n", "something that cannot be read"),
        ("nodeLinker: &a x\n", "something that cannot be read"),
        ("nodeLinker: &a\n  b: c\n", ""),
        ("nodeLinker: a\ryarnPath: ./evil.js\n", "something that cannot be read"),
        ("nodeLinker: a\u2028yarnPath: ./evil.js\n", "something that cannot be read"),
        ("nodeLinker: a\r\n", ""),
        ("? yarnPath\n: ./evil.js\n", "something that cannot be read"),
        (" yarnPath: ./evil.js\n", "something that cannot be read"),
        ("---\n yarnPath: ./evil.js\n", "something that cannot be read"),
        ("nodeLinker:\n- a\n- b\n", ""),
        ("nodeLinker: a\n- b\n", "something that cannot be read"),
    ],
)
def test_the_top_of_yaml_is_read_by_key(tmp_path: Path, text: str, key: str) -> None:
    (tmp_path / ".yarnrc.yml").write_text(text, newline="")
    assert look(tmp_path, "^.yarnrc.yml#!nodeLinker") == (f"`{tmp_path}/.yarnrc.yml` sets `{key}`" if key else "")


def test_a_file_that_holds_a_word(tmp_path: Path) -> None:
    assert look(tmp_path, ".env~DOCKER_|COMPOSE_(?!PROJECT)") == ""
    (tmp_path / ".env").write_text("A=1\nCOMPOSE_PROJECT_NAME=x\n")
    assert look(tmp_path, ".env~DOCKER_|COMPOSE_(?!PROJECT)") == ""
    (tmp_path / ".env").write_text("A=1\nDOCKER_HOST=x\n")
    assert look(tmp_path, ".env~DOCKER_|COMPOSE_(?!PROJECT)") == f"`{tmp_path}/.env` sets `DOCKER_`"
    (tmp_path / ".env").write_bytes(b"\xff")
    assert look(tmp_path, ".env~DOCKER_") == f"`{tmp_path}/.env` sets `something that cannot be read`"


def test_an_operand_itself(tmp_path: Path) -> None:
    (tmp_path / "a.yml").write_text("services:\n")
    assert look(tmp_path, "{}#!services", tmp_path / "a.yml") == ""
    assert look(tmp_path, "{}~serv", tmp_path / "a.yml") == f"`{tmp_path}/a.yml` sets `serv`"
    (tmp_path / "a.yml").write_text("include:\n- b.yml\n")
    assert look(tmp_path, "{}#!services", tmp_path / "a.yml") == f"`{tmp_path}/a.yml` sets `include`"
    assert look(tmp_path, "{}#!services") == ""


def test_of_two_equal_json_keys_both_count(tmp_path: Path) -> None:
    (tmp_path / "package.json").write_text('{"type": "evil", "type": "module"}')
    assert look(tmp_path, "package.json#!type=module")
    (tmp_path / "package.json").write_text('{"type": "module"}')
    assert look(tmp_path, "package.json#!type=module") == ""


def test_a_file_that_is_no_file_counts(tmp_path: Path) -> None:
    (tmp_path / "package.json").mkdir()
    assert look(tmp_path, "package.json#scripts!") == f"`{tmp_path}/package.json` sets `something that cannot be read`"


def test_what_the_call_itself_may_write_counts(tmp_path: Path) -> None:
    assert look(tmp_path, ".ugrep", lowering=writes(tmp_path / ".ugrep"))
    assert look(tmp_path / "d", ".ugrep", lowering=writes(tmp_path / "d"))
    assert look(tmp_path, ".venv/bin/python", lowering=writes(tmp_path / ".venv", recursive=True))
    assert look(tmp_path, ".ugrep", lowering=writes("", certain=False))
    assert look(tmp_path, "**/ruff.toml", tmp_path / "src", lowering=writes(tmp_path / "src" / "a" / "ruff.toml"))
    assert look(tmp_path, ".ugrep", lowering=writes(tmp_path / "other.txt")) == ""


def test_a_checkout_may_bring_any_file(tmp_path: Path) -> None:
    tree = Effect(Operation.EXECUTE, Target(Kind.TREE, f"checkout main:{tmp_path}"))
    assert look(tmp_path, ".ugrep", lowering=Lowering("bash", (tree,)))


def test_an_operand_without_which_another_file_is_taken(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("")
    assert look(tmp_path, "?{}", tmp_path / "a.py") == ""
    assert "another file with that ending" in look(tmp_path, "?{}", tmp_path / "a.py", tmp_path / "b.py")
