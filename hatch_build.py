"""Compiles the hook's client and the command tables while a wheel or an editable installation is built, and for a wheel
the decision path too (scripts/compiled.py), where mypyc is at hand: `make wheel`. Without a C compiler there are only
the tables, and Python serves.

`python hatch_build.py` does only the client, in the source tree."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ImportError:  # run by hand
    BuildHookInterface = object

FOLDER = os.path.join("src", "assent", "hook")
SOURCE, PROGRAM = "client.c", "assent-hook"
FLAGS = (
    "-std=c11 -O2 -Wall -Wextra -Werror=implicit-function-declaration -Werror=return-type -Werror=format "
    "-fstack-protector-strong -D_FORTIFY_SOURCE=2 -Wl,-z,relro,-z,now,-z,noexecstack -s"
).split()
# The first starts quickest, and no variable of an agent's environment brings a library into it.
WAYS = (("-fPIE", "-static-pie"), ("-fno-pie", "-no-pie", "-static"), ("-fPIE", "-pie"))
WRONGLY = 2  # what it ends with where it is started without words


class CompiledHook(BuildHookInterface):
    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict) -> None:
        if self.target_name != "wheel":
            return
        self.client(build_data)
        if version != "editable":
            self.decision_path(build_data)
        self.tables(build_data)

    def decision_path(self, build_data: dict) -> None:
        if importlib.util.find_spec("mypyc") is None:
            return
        sys.path.insert(0, self.root)
        from scripts.compiled import NotCompiled, compiled

        self.app.display_info("assent: the decision path is being compiled, a minute or two")
        self.made = tempfile.TemporaryDirectory()
        try:
            for path in compiled(Path(self.made.name)):
                build_data["force_include"][os.path.join(self.made.name, path)] = path
        except NotCompiled as why:
            build_data["force_include"].clear()
            self.app.display_warning(f"assent: the decision path is not compiled: {why}")
            return
        build_data["pure_python"] = False
        build_data.pop("tag", None)
        build_data["infer_tag"] = True

    def tables(self, build_data: dict) -> None:
        """They go into the wheel: where it is installed, the folder may not be writable."""
        for path in tables(self.root):
            build_data["force_include"][path] = os.path.relpath(path, os.path.join(self.root, "src"))

    def finalize(self, version: str, build_data: dict, artifact_path: str) -> None:
        if hasattr(self, "made"):
            self.made.cleanup()

    def client(self, build_data: dict) -> None:
        why = client(self.root)
        if why:
            self.app.display_warning(f"assent: the compiled client was left out: {why}")
            return
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform}"
        build_data["artifacts"].append(f"/{FOLDER}/{PROGRAM}")


def tables(root: str) -> list[str]:
    """Compile the tables of commands and of agent programs in the source tree; where to."""
    sys.path.insert(0, os.path.join(root, "src"))
    sys.dont_write_bytecode = False
    from assent.agents import known
    from assent.programs.catalog import catalog

    for each in (catalog, known.catalog):
        each.save()
    return [catalog.path, known.catalog.path]


def client(root: str) -> str:
    """Compile the client beside its source; why there is none, `""` where there is one that runs."""
    source, program = os.path.join(root, FOLDER, SOURCE), os.path.join(root, FOLDER, PROGRAM)
    if os.path.lexists(program):
        os.unlink(program)
    if sys.platform != "linux":
        return f"it is for Linux, and this is {sys.platform}"
    compiler = next(filter(None, map(shutil.which, (os.environ.get("CC") or "cc", "gcc", "clang"))), None)
    if compiler is None:
        return "there is no C compiler"
    said = ""
    with tempfile.TemporaryDirectory(dir=os.path.join(root, FOLDER)) as folder:
        made = os.path.join(folder, PROGRAM)
        for way in WAYS:
            done = subprocess.run([compiler, *FLAGS, *way, "-o", made, source], capture_output=True, text=True)
            said = done.stderr.strip()
            if done.returncode == 0 and runs(made):
                shutil.copyfile(made, f"{program}.new")
                os.chmod(f"{program}.new", 0o755)
                os.replace(f"{program}.new", program)
                return ""
    return f"`{compiler}` does not make one that runs: {said[-500:]}"


def runs(program: str) -> bool:
    try:
        return subprocess.run([program], capture_output=True).returncode == WRONGLY
    except OSError:
        return False


if __name__ == "__main__":
    why = client(os.path.dirname(os.path.abspath(__file__)))
    sys.exit(f"the compiled client was left out: {why}" if why else 0)
