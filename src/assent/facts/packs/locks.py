"""Lock files, manifests and settings of package managers: which folders of the project an install uses, and whether it
takes packages of the public registries only and runs nothing of the project itself."""

from __future__ import annotations

import json
import posixpath

from assent.contract import Pattern

SETTING_KEYS = frozenset(
    "engine-strict save-exact save-prefix fund audit auto-install-peers strict-peer-dependencies shamefully-hoist "
    "legacy-peer-deps loglevel progress package-lock nodelinker enabletelemetry prefer-workspace-packages "
    "link-workspace-packages resolution-mode public-hoist-pattern[] ignore-scripts node-linker hoist".split()
)
LIFECYCLE = tuple(
    "preinstall install postinstall preprepare prepare postprepare prepublish dependencies predependencies "
    "postdependencies".split()
)
SETS_HOOKS = frozenset({"husky", "husky install", "husky || true", "husky install || true"})
HOOK_SETTERS = frozenset({("husky",), ("husky", "install")})  # commands in these scripts
REGISTRIES = (
    *("https://registry.npmjs.org/", "https://registry.yarnpkg.com/", "https://pypi.org/simple"),
    *("https://files.pythonhosted.org/", "https://rubygems.org/", "https://index.crates.io/"),
    *("https://github.com/rust-lang/crates.io-index", "https://npm.jsr.io/", "https://opencollective.com/"),
)
_ADDRESS = Pattern(
    r"[A-Za-z][A-Za-z0-9+.-]*://[^\s\"'#,)}\]]*|git@[^\s\"']+|(?:file|link|portal|github|exec|patch):[^\s\"']+"
)
_GEM_LINE = Pattern(
    r"(?:#.*|source ['\"]https://rubygems\.org/?['\"]|ruby ['\"][0-9.~> ]+['\"]|end|group(?: :\w+,?)+ do|"
    r"gem ['\"][\w-]+['\"](?:, *['\"][0-9.~>=< ]+['\"])*(?:, *(?:require: (?:false|['\"][\w/-]+['\"])|group: :\w+|"
    r"groups?: \[[\w: ,]+\]|platforms: (?:%i)?\[[\w: ,]+\]))*)?(?: *#.*)?$"
)
_SOURCE = Pattern(r"source = \{ (\w+) = \"([^\"]*)\" \}")
_BACKEND = Pattern(r"build-backend *= *[\"']([^\"']*)[\"']")
BACKENDS = frozenset(
    "hatchling.build setuptools.build_meta flit_core.buildapi poetry.core.masonry.api uv_build pdm.backend".split()
)
# In a `pyproject.toml`: other indexes, and code of the project that runs in a build.
STEERED = (
    *(
        "backend-path",
        "tool.uv.index",
        "index-url",
        "find-links",
        "tool.uv.pip",
        "tool.uv.sources",
        "tool.poetry.source",
    ),
    *("tool.poetry.build", "build.hooks", "metadata.hooks", "attr =", "attr=", 'source = "code"', "tool.pdm.build"),
    *("cmdclass", "hatch-vcs", "tool.hatch.build.targets.custom", "requires-plugins"),
)
_CARGO_SOURCE = Pattern(r"^source = \"(.*)\"$")


def members(program: str, lock: str, manifest: str) -> list[str] | None:
    """The other folders of the project that an install uses; None if the lock file has more than packages of the
    public registries, or the manifest is not fully understood."""
    match program:
        case "npm":
            return _members_of_npm(lock)
        case "pnpm":
            return _members_of_pnpm(lock)
        case "yarn" | "bun":
            return [] if _has_known_addresses(lock) and '"workspaces"' not in manifest else None
        case "uv":
            lines = [line for line in lock.splitlines() if line.lstrip().startswith("source")]
            read = [_SOURCE.fullmatch(line) for line in lines]
            if any(each is None for each in read) or not _has_known_addresses(lock):
                return None
            kinds = [(each[1], each[2]) for each in read if each is not None]
            strange = any(
                not value.startswith(REGISTRIES) if kind == "registry" else kind not in ("editable", "virtual")
                for kind, value in kinds
            )
            return [value for kind, value in kinds if kind != "registry"] if not strange else None
        case "poetry":
            return [] if "[package.source]" not in lock and _has_known_addresses(lock) else None
        case "bundle":
            gems = all(_GEM_LINE.match(line.strip()) for line in manifest.splitlines())
            sections = {line for line in lock.splitlines() if line and not line.startswith(" ")}
            known = sections <= {"GEM", "PLATFORMS", "DEPENDENCIES", "RUBY VERSION", "BUNDLED WITH", "CHECKSUMS"}
            return [] if gems and known and _has_known_addresses(lock) else None
        case "cargo":
            sources = [each[1] for line in lock.splitlines() if (each := _CARGO_SOURCE.match(line))]
            plain = ("registry+https://github.com/rust-lang/crates.io-index", "sparse+https://index.crates.io/")
            return [] if all(each in plain for each in sources) and "[workspace" not in manifest else None
        case _:
            return []  # go: checksums verify every module


def _members_of_npm(lock: str) -> list[str] | None:
    found = []
    try:
        for name, each in json.loads(lock)["packages"].items():
            resolved = each.get("resolved", "")
            if each.get("link"):
                found.append(resolved)
            elif resolved:
                if not resolved.startswith(REGISTRIES):
                    return None
            elif "node_modules" in name and not each.get("inBundle"):
                return None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    return found


def _members_of_pnpm(lock: str) -> list[str] | None:
    found, inside = [], False
    for line in lock.splitlines():
        if not line.startswith(" "):
            inside = line.startswith("importers:")
        elif inside and line.startswith("  ") and line[2:3] not in ("", " ", "#"):
            found.append(line.strip().partition(":")[0].strip("'\""))
    named = [line for line in lock.splitlines() if not line.lstrip().startswith(("deprecated:", "version: link:"))]
    return found if _has_known_addresses("\n".join(named)) and "directory:" not in lock else None


def _has_known_addresses(lock: str) -> bool:
    """Whether a lock file names only addresses of the public registries, and no other source."""
    return all(found.startswith(REGISTRIES) for found in _ADDRESS.findall(lock))


def is_plain_setting(path: str, text: str) -> bool:
    """Whether a settings file of the project sets no other registries, scripts or shells."""
    name = posixpath.basename(path)
    if name in (".npmrc", ".yarnrc", ".yarnrc.yml"):
        return all(map(_is_plain_line, text.splitlines()))
    if name == "pnpm-workspace.yaml":
        keys = [line.partition(":")[0] for line in text.splitlines() if line.strip() and line[0] not in " #-"]
        return all(key in ("packages", "catalog", "catalogs", "onlyBuiltDependencies") for key in keys)
    if name.startswith("rust-toolchain"):
        return "path" not in text
    return name not in ("bunfig.toml", "uv.toml", "config", "config.toml", "poetry.toml", "go.work")


def _is_plain_line(line: str) -> bool:
    key, _, value = line.strip().replace(": ", "=", 1).partition("=")
    key = key.strip().lower()
    if not key or key.startswith(("#", ";", "//registry.npmjs.org/")) or key in SETTING_KEYS:
        return True
    return key == "registry" and value.strip().strip("'\"").rstrip("/") + "/" in REGISTRIES


def builds_plainly(manifest: str) -> bool:
    """Whether a `pyproject.toml` names no index, and its build runs no code of the project."""
    if any(word in manifest for word in STEERED):
        return False
    named = _BACKEND.findall(manifest)
    return all(each in BACKENDS for each in named) and ("[build-system]" not in manifest or len(named) == 1)


def runs_nothing(manifest: str) -> bool:
    """Whether a `package.json` has no script that an install runs, other than one that sets git's hooks."""
    try:
        found = json.loads(manifest)
        scripts = found.get("scripts", {})
        return all(str(scripts[name]).strip() in SETS_HOOKS for name in LIFECYCLE if name in scripts)
    except (ValueError, AttributeError, TypeError, RecursionError):
        return False
