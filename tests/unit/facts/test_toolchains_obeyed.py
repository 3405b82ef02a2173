"""Linters, formatters and compilers in projects on a real disk: ordinary settings ask nothing; those that run, write or
read elsewhere ask."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.facts.projects import answer, lay

ORDINARY = {
    "pyproject.toml": "[project]\nname = 'x'\n"
    "[tool.black]\nline-length = 100\ntarget-version = ['py311']\nskip_string_normalization = true\n"
    "[tool.isort]\nprofile = 'black'\nknown_first_party = ['x']\nskip_gitignore = false\n"
    "[tool.ruff]\nline-length = 100\n[tool.ruff.lint]\nselect = ['E']\n"
    "[tool.vulture]\nmin_confidence = 80\n"
    "[tool.mypy]\nplugins = ['pydantic.mypy']\n",
    "setup.cfg": "[metadata]\nname = x\n[flake8]\nmax-line-length = 100\nextend-ignore = E203\n"
    "[isort]\nprofile = black\n",
    "tox.ini": "[tox]\nenvlist = py311\n[testenv]\ncommands = pytest\n",
    ".editorconfig": "root = true\n[*]\nindent_style = space\nindent_size = 4\nend_of_line = lf\n"
    "[*.py]\nmax_line_length = 100\n",
    ".yamllint": "extends: default\nignore-from-file: .gitignore\nrules:\n  line-length: disable\n",
    ".shellcheckrc": "disable=SC1091\n",
    ".bandit": "[bandit]\nexclude = tests\nskips = B101\n",
    "biome.json": '{"$schema": "https://biomejs.dev/schemas/2.0.0/schema.json", "vcs": {"enabled": true, '
    '"clientKind": "git"}, "linter": {"rules": {"recommended": true}}, "overrides": [{"includes": ["a"]}]}',
    "rustfmt.toml": 'max_width = 100\nedition = "2021"\n',
    "rust-toolchain.toml": '[toolchain]\nchannel = "1.80"\n',
    "justfile": "set dotenv-load\n\nx := `date`\n\n[private]\nbuild:\n    python -c 'import os'\n    import x\n",
    "package.json": '{"name": "x", "devDependencies": {"eslint": "^9"}}',
    "eslint.config.js": "export default []\n",
    ".golangci.yml": "version: '2'\n",
    ".clang-format": "---\nLanguage: Cpp\nBasedOnStyle: LLVM\nBraceWrapping:\n  AfterClass: true\n...\n",
    "taplo.toml": "[formatting]\nalign_entries = true\n",
    ".tool-versions": "nodejs 20.11.0\npython 3.11.2 system\nelixir 1.16-otp-26\n# a: b\n",
    ".nvmrc": "lts/iron\n",
    ".python-version": "3.11.2\n",
    ".ruby-version": "ruby-3.2.1\n",
    "typos.toml": "[default.extend-words]\nba = 'ba'\n",
    "src/a.py": "x = 1\n",
    "tls/cert.pem": "",
}
EVERYDAY = [
    "black --check .",
    "black --diff src/a.py",
    "isort --check-only src",
    "isort -c --diff .",
    "ruff check .",
    "autopep8 --diff src/a.py",
    "yapf --diff --style pep8 src/a.py",
    "vulture src",
    "bandit -r src -ll",
    "yamllint .",
    "shellcheck a.sh",
    "biome check src",
    "biome lint",
    "rustfmt --check src/main.rs",
    "rustc --version",
    "just --list",
    "golangci-lint version",
    "eslint --version",
    "jest --version",
    "clang-format --dry-run a.c",
    "taplo fmt --check a.toml",
    "typos src",
    "elixir --version",
    "gofmt -l .",
    "tsc --version",
    "mypy --version",
    "cmake --version",
    "node --version",
    "node -e 'console.log(1)'",
    "python -V",
    "python3 -c 'print(1)'",
    "ruby --version",
    "java -version",
]


@pytest.fixture(autouse=True)
def no_path_of_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTHONPATH", raising=False)  # which would say where modules come from


@pytest.mark.parametrize("command", EVERYDAY)
def test_an_ordinary_project_asks_nothing(project: Path, command: str) -> None:
    lay(project, ORDINARY)
    assert answer(project, command, "default") == "allow"


@pytest.mark.parametrize(
    ("command", "files"),
    [
        ("black --check .", {"pyproject.toml": "[tool.black]\ncache-dir = 'evil'\n"}),
        ("black --check src/a.py", {"src/pyproject.toml": "[tool.black]\ncache_dir = 'evil'\n"}),
        ("isort --check-only .", {".isort.cfg": "[settings]\nskip_gitignore = true\n"}),
        ("isort -c src", {".editorconfig": "[*]\nskip_gitignore = true\n"}),
        ("isort -c src", {"setup.cfg": "[tool:isort]\nskip_gitignore = true\n"}),
        ("isort --diff a.py", {"pyproject.toml": "[tool.isort]\nskip_gitignore = true\n"}),
        ("autopep8 a.py", {"setup.cfg": "[pep8]\nin_place = true\n"}),
        ("autopep8 a.py", {"pyproject.toml": "[tool.autopep8]\nin-place = true\n"}),
        ("autopep8 src/a.py", {".flake8": "[flake8]\nin-place = 1\n"}),
        ("bandit -r src", {"src/.bandit": "[bandit]\nconfigfile = /home/dev/.ssh/id_rsa\n"}),
        ("vulture", {"pyproject.toml": "[tool.vulture]\npaths = ['/home/dev']\n"}),
        ("ruff check .", {"ruff.toml": "cache-dir = '/home/dev/x'\n"}),
        ("ruff check src/a.py", {"src/ruff.toml": "cache-dir = '/home/dev/x'\n"}),
        ("ruff analyze graph src", {"pyproject.toml": "[tool.ruff]\nextend = '/home/dev/.netrc'\n"}),
        ("biome check src/a.ts", {"src/biome.json": '{"extends": ["/home/dev/.netrc"]}'}),
        ("biome check src", {"biome.json": '{"extends": ["/home/dev/.netrc"]}'}),
        ("biome lint", {"biome.jsonc": '{"plugins": ["./x.grit"]}'}),
        ("rustfmt --check a.rs", {"rustfmt.toml": 'emit_mode = "Files"\n'}),
        ("rustfmt --check src/a.rs", {"src/.rustfmt.toml": 'emit_mode = "Files"\n'}),
        ("rustc --version", {"rust-toolchain.toml": '[toolchain]\npath = "./evil"\n'}),
        ("just --list", {"justfile": "import '/home/dev/.netrc'\n"}),
        ("just --summary", {"JustFile": "\ufeffimport? x'/home/dev/.netrc'\n"}),
        ("just -l", {".justfile": "[private]\nmod x '/home/dev/.netrc'\n"}),
        ("golangci-lint linters", {".golangci.yml": "version: '2'\n"}),
        ("jest --version", {"node_modules/jest/package.json": "{}"}),
        ("webpack --version", {"node_modules/webpack-cli/package.json": "{}"}),
        ("karma --version", {"node_modules/karma/package.json": "{}"}),
        ("elixir --version", {"inet_db.beam": ""}),
        ("elixir --version", {".tool-versions": "elixir path:/home/dev/evil\n"}),
        ("node --version", {".tool-versions": "nodejs path:./evil\n"}),
        ("node -e 'console.log(1)'", {".nvmrc": "path:./evil\n"}),
        ("node --version", {".volta/hooks.json": "{}"}),
        ("python3 -c 'print(1)'", {".python-version": "../../../evil\n"}),
        ("ruby --version", {".ruby-version": "path:./evil\n"}),
        ("java -version", {".tool-versions": "java path:./evil\n"}),
        ("clang-format a.c", {"libstdc++.so.6": ""}),
        ("clang-tidy --version", {"tls/libm.so.6": ""}),
        ("goimports -l .", {"go.mod": "module m\nrequire evil.example/y v1.0.0\n"}),
        ("taplo fmt --check --diff a.toml", {"taplo.toml": "include = ['/home/dev/x.toml']\n"}),
        ("shellcheck a.sh", {".shellcheckrc": "external-sources=true\n"}),
        ("yamllint .", {".yamllint": "extends: /home/dev/.netrc\n"}),
    ],
)
def test_settings_that_run_write_or_read_elsewhere_ask(project: Path, command: str, files: dict[str, str]) -> None:
    lay(project, files)
    for mode in ("default", "auto"):
        assert answer(project, command, mode) == "ask"


@pytest.mark.parametrize(
    "command",
    [
        "cp x.beam inet_db.beam && elixir --version",
        "echo \"import '/etc/x'\" > Justfile && just --list",
        "printf '[tool.black]\\ncache-dir=\"x\"' > pyproject.toml && black --check .",
        "cp x libz.so.1; clang-tidy --version",
    ],
)
def test_settings_that_the_same_command_writes_ask(project: Path, command: str) -> None:
    assert answer(project, command, "auto") == "ask"


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("just --list", "justfile"),
        ("isort --check-only .", ".isort.cfg"),
        ("autopep8 --diff a.py", "setup.cfg"),
        ("pycodestyle src", "tox.ini"),
        ("pydocstyle src", ".pydocstyle"),
        ("yapf --diff a.py", ".style.yapf"),
        ("clang-format a.c", ".clang-format"),
        ("shellcheck a.sh", ".shellcheckrc"),
    ],
)
def test_settings_that_show_another_file_ask(project: Path, command: str, name: str) -> None:
    (project.parent / "secret").write_text("key: value\n")
    (project / "own").write_text("")
    (project / name).symlink_to("own")
    assert answer(project, command, "default") == "allow"
    (project / name).unlink()
    (project / name).symlink_to(project.parent / "secret")
    assert answer(project, command, "auto") == "ask"
