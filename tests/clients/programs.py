"""Installs the pinned agent programs from package.json, once, outside the repository. Runs none of them.

The folder is named after the manifest, so moving a version makes a new one. `ASSENT_CLIENTS` moves the folders."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
MANIFEST, LOCK = HERE / "package.json", HERE / "package-lock.json"
MACHINES = {"x86_64": "x64", "aarch64": "arm64"}
PACKAGES = {
    "claude": "@anthropic-ai/claude-code",
    "codex": "@openai/codex",
    "gemini": "@google/gemini-cli",
    "opencode": "opencode-ai",
    "qwen": "@qwen-code/qwen-code",
    "copilot": "@github/copilot",
    "cline": "cline",
}


class Missing(Exception):
    """This machine cannot run the programs; the text says what it lacks."""


@dataclass(frozen=True)
class Programs:
    """How to start each program: the words before its own arguments."""

    claude: tuple[str, ...]
    codex: tuple[str, ...]
    gemini: tuple[str, ...]
    opencode: tuple[str, ...]
    qwen: tuple[str, ...]
    copilot: tuple[str, ...]
    cline: tuple[str, ...]


def versions() -> dict[str, str]:
    """The pinned version of each program, by the name that this project gives it."""
    pinned = json.loads(MANIFEST.read_text())["dependencies"]
    return {name: pinned[package] for name, package in PACKAGES.items()}


def ready() -> Programs:
    """The installed programs, installing them first if this manifest was never installed here."""
    machine = MACHINES.get(platform.machine())
    if machine is None or not sys.platform.startswith("linux"):
        raise Missing(f"the agent programs are pinned for linux on x64 and arm64, not for `{platform.machine()}`")
    folder = home() / hashlib.sha256(MANIFEST.read_bytes() + LOCK.read_bytes()).hexdigest()[:16]
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two runs of the tests install once
        if not (folder / "installed").exists():
            install(folder)
            (folder / "installed").touch()
    return located(folder / "node_modules", machine)


def home() -> Path:
    named = os.environ.get("ASSENT_CLIENTS")
    return Path(named) if named else Path.home() / ".cache" / "assent-clients"


def install(folder: Path) -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise Missing("npm is not installed; install Node with npm (Debian, Ubuntu: apt-get install npm)")
    for source in (MANIFEST, LOCK):
        shutil.copy(source, folder)
    print(f"installing the agent programs into {folder} (about 2.1 GB, once)", flush=True)
    words = [npm, "install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    ended = subprocess.run(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if ended.returncode != 0:
        raise Missing(f"npm could not install the agent programs: {ended.stdout.strip()[-800:]}")


def located(modules: Path, machine: str) -> Programs:
    """The native programs themselves, without the launchers that npm's install scripts would complete."""
    node = only(modules, f"node-linux-{machine}/bin/node")
    return Programs(
        claude=(only(modules, f"@anthropic-ai/claude-code-linux-{machine}/claude"),),
        codex=(only(modules, f"@openai/codex-linux-{machine}/vendor/*/bin/codex"),),
        gemini=(node, only(modules, "@google/gemini-cli/bundle/gemini.js")),
        opencode=(only(modules, f"opencode-linux-{machine}/bin/opencode"),),
        qwen=(node, only(modules, "@qwen-code/qwen-code/cli.js")),
        copilot=(only(modules, f"@github/copilot-linux-{machine}/copilot"),),
        cline=(only(modules, f"@cline/cli-linux-{machine}/bin/cline"),),
    )


def only(modules: Path, pattern: str) -> str:
    found = sorted(modules.glob(pattern))
    if len(found) != 1:
        raise Missing(f"`{modules / pattern}` names {len(found)} files; has the package changed its layout?")
    return str(found[0])


def main() -> None:
    """Install before the tests, so that it can be seen. What is missing they tell themselves."""
    try:
        ready()
    except Missing as missing:
        print(missing)
        return
    print("the agent programs:", ", ".join(f"{name} {version}" for name, version in versions().items()))


if __name__ == "__main__":
    main()
