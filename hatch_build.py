"""Compiles the hook's client, the runner of contained calls and the command tables while a wheel or an editable
installation is built, and for a wheel the decision path too (scripts/compiled.py), if mypyc is installed: `make wheel`.
Without a C compiler there are only the tables: Python serves as the client, and nothing is contained.

`python hatch_build.py` compiles only the C programs, in the source tree."""

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

# Folder, sources and name of each program, and its exit status when started without arguments.
CLIENT = (os.path.join("src", "assent", "hook"), ("client.c",), "assent-hook", 2)
RUNNER_SOURCES = ("runner.c", "inside.c", "restrict.c", "watch.c", "changed.c", "beside.c")
RUNNER = (os.path.join("src", "assent", "contain"), RUNNER_SOURCES, "assent-contain", 126)
FLAGS = (
    "-std=c11 -O2 -Wall -Wextra -Werror=implicit-function-declaration -Werror=return-type -Werror=format "
    "-fstack-protector-strong -D_FORTIFY_SOURCE=2 -Wl,-z,relro,-z,now,-z,noexecstack -s"
).split()
# The first starts quickest, and no environment variable of an agent loads a library into it.
WAYS = (("-fPIE", "-static-pie"), ("-fno-pie", "-no-pie", "-static"), ("-fPIE", "-pie"))


class CompiledHook(BuildHookInterface):
    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict) -> None:
        if self.target_name != "wheel":
            return
        for program in (CLIENT, RUNNER):
            self.program(program, build_data)
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
        """They go into the wheel: the folder that it is installed in may not be writable."""
        for path in tables(self.root):
            build_data["force_include"][path] = os.path.relpath(path, os.path.join(self.root, "src"))

    def finalize(self, version: str, build_data: dict, artifact_path: str) -> None:
        if hasattr(self, "made"):
            self.made.cleanup()

    def program(self, program: tuple, build_data: dict) -> None:
        folder, _, name, _ = program
        why = compile_program(self.root, program)
        if why:
            self.app.display_warning(f"assent: `{name}` was left out: {why}")
            return
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform}"
        build_data["artifacts"].append(f"/{folder}/{name}")


def tables(root: str) -> list[str]:
    """Compile the tables of commands, agent programs and remote channels in the source tree; return their paths."""
    sys.path.insert(0, os.path.join(root, "src"))
    sys.dont_write_bytecode = False
    from assent.agents import known
    from assent.policy import remote_channels
    from assent.programs.catalog import catalog

    every = (catalog, known.catalog, remote_channels.catalog)
    for each in every:
        each.save()
    return [each.path for each in every]


def compile_program(root: str, program: tuple) -> str:
    """Compile a program beside its sources; return why there is none, `""` if it runs."""
    folder, names, name, wrongly = program
    sources = [os.path.join(root, folder, each) for each in names]
    placed = os.path.join(root, folder, name)
    if os.path.lexists(placed):
        os.unlink(placed)
    if sys.platform != "linux":
        return f"it is for Linux, and this is {sys.platform}"
    compiler = next(filter(None, map(shutil.which, (os.environ.get("CC") or "cc", "gcc", "clang"))), None)
    if compiler is None:
        return "there is no C compiler"
    said = ""
    with tempfile.TemporaryDirectory(dir=os.path.join(root, folder)) as scratch:
        made = os.path.join(scratch, name)
        for way in WAYS:
            done = subprocess.run([compiler, *FLAGS, *way, "-o", made, *sources], capture_output=True, text=True)
            said = done.stderr.strip()
            if done.returncode == 0 and runs(made, wrongly):
                shutil.copyfile(made, f"{placed}.new")
                os.chmod(f"{placed}.new", 0o755)
                os.replace(f"{placed}.new", placed)
                return ""
    return f"`{compiler}` does not make one that runs: {said[-500:]}"


def runs(program: str, wrongly: int) -> bool:
    try:
        return subprocess.run([program], capture_output=True).returncode == wrongly
    except OSError:
        return False


if __name__ == "__main__":
    here = os.path.dirname(os.path.abspath(__file__))
    left_out = [f"{each[2]} was left out: {why}" for each in (CLIENT, RUNNER) if (why := compile_program(here, each))]
    sys.exit("; ".join(left_out) or 0)
