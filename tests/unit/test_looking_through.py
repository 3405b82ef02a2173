"""Code that a call runs is read with it: what real files on a disk do to a decision."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from assent.contract import Call, Outcome
from assent.engine.engine import Engine
from assent.facts.code import LONGEST
from tests.cases import gate

ALLOW, ASK, DENY = Outcome.ALLOW, Outcome.ASK, Outcome.DENY


class Project:
    """A folder with scripts, and a gate that decides calls in it."""

    def __init__(self, folder: Path, mode: str = "auto") -> None:
        self.root = folder / "project"
        self.home = folder / "home"
        self.root.mkdir()
        self.home.mkdir()
        self.engine: Engine = gate(mode)

    def script(self, name: str, text: str) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
        return path

    def decide(self, command: str) -> Outcome:
        root = str(self.root)
        call = Call("bash", {"command": command}, cwd=root, roots=(root,), home=str(self.home), shell="bash")
        return self.engine.decide(call).outcome


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path.resolve())


def test_a_script_is_what_it_does(project: Project) -> None:
    project.script("look.sh", '#!/bin/bash\nset -eu\ncd "$(dirname "$0")"\ngrep -rn TODO . | head\n')
    project.script("write.sh", "echo x > out.txt\n")
    project.script("frob.sh", "frob\n")
    project.script("wipe.sh", 'rm -rf "$HOME"\n')
    assert project.decide("./look.sh") is ALLOW
    assert project.decide("bash write.sh") is ALLOW
    assert project.decide("bash frob.sh") is ASK
    assert project.decide("bash wipe.sh") is DENY


def test_what_a_script_runs_is_read_too_up_to_a_depth(project: Project) -> None:
    for depth in range(8):
        project.script(f"{depth}.sh", f"bash {depth + 1}.sh\n")
    project.script("8.sh", "ls\n")
    assert project.decide("bash 3.sh") is ALLOW
    assert project.decide("bash 2.sh") is ASK  # a seventh file
    project.script("8.sh", "rm -rf ~\n")
    assert project.decide("bash 3.sh") is DENY


def test_a_script_is_read_again_when_it_changed(project: Project) -> None:
    path = project.script("x.sh", "ls\n")
    old = time.time() - 60
    assert project.decide("bash x.sh") is ALLOW
    path.write_text("rm -rf ~\n")
    os.utime(path, (old, old))
    assert project.decide("bash x.sh") is DENY
    path.unlink()
    assert project.decide("bash x.sh") is ASK


def test_a_file_with_two_names_is_not_fixed_where_the_call_writes(project: Project) -> None:
    os.link(project.script("x.sh", "ls\n"), project.root / "y.txt")
    assert project.decide("bash x.sh") is ALLOW
    assert project.decide("echo frob > y.txt; bash x.sh") is ASK
    assert project.decide("echo frob > z.txt; bash x.sh") is ASK  # which of the files has the other name is not known


def test_a_file_that_is_written_through_a_link_is_not_fixed(project: Project) -> None:
    project.script("x.sh", "ls\n")
    (project.root / "y.txt").symlink_to("x.sh")
    (project.root / "other").symlink_to(".")
    assert project.decide("echo frob > y.txt; bash x.sh") is ASK
    assert project.decide("echo frob > other/x.sh; bash x.sh") is ASK
    assert project.decide("echo frob > z.txt; bash x.sh") is ALLOW


def test_code_that_cannot_be_read_is_a_question_in_every_mode(tmp_path: Path) -> None:
    project = Project(tmp_path.resolve(), "full_auto")
    project.script("long.sh", "ls\n" * LONGEST)
    project.script("odd.sh", "#!/usr/bin/env -S bash -x\nls\n")
    os.mkfifo(project.root / "pipe.sh")
    project.script("program", "\0\1\2")
    project.script("large.bin", "\0\1\2" * LONGEST)
    (project.root / "latin.sh").write_bytes(b"# caf\xe9\nrm -rf ~\n")
    (project.root / "nul.sh").write_bytes(b"ls\n\0rm -rf ~\n")
    project.script("v1.2", "rm -rf ~\n")
    assert [project.decide(f"./{name}") for name in ("long.sh", "odd.sh", "pipe.sh")] == [ASK] * 3
    assert project.decide("./program") is ALLOW  # a compiled program, as before
    assert project.decide("./large.bin") is ALLOW
    assert project.decide("bash latin.sh") is DENY
    assert project.decide("bash nul.sh") is ASK
    assert project.decide("./v1.2") is DENY
    assert project.decide("./absent.sh") is ALLOW


def test_python_and_other_scripts_show_what_they_do(tmp_path: Path) -> None:
    project = Project(tmp_path.resolve(), "full_auto")
    project.script("sum.py", "print(sum(range(10)))\n")
    project.script("wipe.py", "import shutil, os\nshutil.rmtree(os.path.expanduser('~'))\n")
    assert project.decide("python3 sum.py") is ALLOW
    assert project.decide("python3 wipe.py") is DENY


def test_a_proved_python_script_asks_where_a_module_poses_as_another(project: Project) -> None:
    project.script("sum.py", "import json\nprint(json.dumps([1]))\n")
    assert project.decide("python3 sum.py") is ALLOW
    project.script("json.py", "import os\nos.system('frob')\n")
    assert project.decide("python3 sum.py") is ASK


def test_a_link_before_two_dots_leads_to_another_script(project: Project) -> None:
    project.script("x.sh", "ls\n")
    project.script("s/x.sh", "frob\n")
    project.script("s/t/z.sh", 'cd "$(dirname "$0")"; bash ../x.sh\n')
    (project.root / "l").symlink_to("s/t")
    assert project.decide("bash l/../x.sh") is ASK
    assert project.decide("bash l/z.sh") is ASK
    project.script("s/x.sh", "ls\n")
    assert project.decide("bash l/../x.sh") is ALLOW
    assert project.decide("echo ls > x.sh; bash s/../x.sh") is ALLOW
    assert project.decide("echo frob > x.sh; bash s/../x.sh") is ASK
    assert project.decide("echo ls > s/x.sh; bash l/../x.sh") is ASK  # written by another name


def test_a_script_behind_a_link_is_not_proved(project: Project) -> None:
    """Python takes modules from the folder of the real file."""
    project.script("real/sum.py", "import json\nprint(json.dumps([1]))\n")
    project.script("real/json.py", "import os\nos.system('frob')\n")
    (project.root / "sum.py").symlink_to("real/sum.py")
    (project.root / "other").symlink_to("real")
    assert project.decide("python3 sum.py") is ASK
    assert project.decide("python3 other/sum.py") is ASK


def test_every_file_that_a_glob_or_a_search_may_name_is_read(tmp_path: Path) -> None:
    project = Project(tmp_path.resolve(), "full_auto")
    project.script("s/a.sh", "ls\n")
    project.script("s/b.sh", "frob\n")
    commands = [
        'for f in s/*.sh; do bash "$f"; done',
        'cd s; for f in *.sh; do bash "$f"; done',
        "ls s/*.sh | xargs -n1 bash",
        "find . -name '*.sh' -exec bash {} \\;",
        "cat s/*.sh | bash",
        "cd s; bash b.sh",
    ]
    assert [project.decide(command) for command in commands] == [ALLOW] * len(commands)
    project.script("s/b.sh", "rm -rf ~\n")
    assert [project.decide(command) for command in commands] == [DENY] * len(commands)


def test_a_file_whose_name_is_an_option_leaves_a_loop_in_doubt(tmp_path: Path) -> None:
    project = Project(tmp_path.resolve(), "full_auto")
    project.script("a.sh", "ls\n")
    command = 'for f in *.sh; do bash "$f"; done'
    assert project.decide(command) is ALLOW
    project.script("-c.sh", "ls\n")
    assert project.decide(command) is ASK


def test_what_a_glob_matches_is_not_proved(project: Project) -> None:
    """There may be other files when it runs."""
    project.script("a.sh", "ls\n")
    assert project.decide("bash a.sh") is ALLOW
    assert project.decide('for f in ./*.sh; do bash "$f"; done') is ASK
    assert project.decide("for f in ./*.sh; do $f; done") is ASK


def test_too_many_files_are_a_question(tmp_path: Path) -> None:
    project = Project(tmp_path.resolve(), "full_auto")
    for number in range(41):
        project.script(f"{number}.sh", "ls\n")
    assert project.decide("find . -name '*.sh' -exec bash {} \\;") is ASK


def test_a_program_of_a_virtual_environment_is_read_by_its_interpreter(tmp_path: Path) -> None:
    project = Project(tmp_path.resolve(), "full_auto")
    project.script(".venv/bin/python3", "\0\1\2")
    project.script(".venv/bin/tool", f"#!{project.root}/.venv/bin/python3\nimport re\n")
    project.script(".venv/bin/wipe", f"#!{project.root}/.venv/bin/python3\nimport os\nos.system('rm -rf ~')\n")
    assert project.decide(".venv/bin/tool") is ALLOW
    assert project.decide(".venv/bin/wipe") is DENY
    project.script(".venv/bin/python3", "#!/bin/sh\nls\n")  # it may read the file in another way
    assert project.decide(".venv/bin/tool") is ASK


def test_a_file_on_standard_input_is_read(tmp_path: Path) -> None:
    project = Project(tmp_path.resolve(), "full_auto")
    project.script("x.sh", "frob\n")
    project.script("x.sql", "create table a (b int);\n")
    assert project.decide("bash < x.sh") is ALLOW
    assert project.decide("psql < x.sql") is ALLOW
    project.script("x.sh", "rm -rf ~\n")
    project.script("x.sql", "drop table a;\n")
    assert project.decide("bash < x.sh") is DENY
    assert project.decide("psql < x.sql") is ASK
    assert project.decide("cp /etc/hosts x.sh; bash < x.sh") is ASK  # what it holds then is not known


def test_local_modules_of_a_script_are_read(tmp_path: Path) -> None:
    project = Project(tmp_path.resolve(), "full_auto")
    wipe = "import os, shutil\ndef clean():\n    shutil.rmtree(os.path.expanduser('~'))\n"
    project.script("main.py", "from lib.a import go\ngo()\n")
    project.script("lib/__init__.py", "")
    project.script("lib/a.py", "from .b import clean\ndef go():\n    clean()\n")
    project.script("lib/b.py", "def clean():\n    print(1)\n")
    commands = [
        "python3 main.py",
        "python3 -m main",
        "python3 -m lib.a",
        "uv run main.py",
        "cd lib/.. && python3 main.py",
    ]
    assert [project.decide(command) for command in commands] == [ALLOW] * len(commands)
    project.script("lib/b.py", wipe)
    assert [project.decide(command) for command in commands] == [DENY] * len(commands)


def test_modules_that_load_each_other_end(tmp_path: Path) -> None:
    project = Project(tmp_path.resolve(), "full_auto")
    project.script("a.py", "import b\n")
    project.script("b.py", "import a, c\n")
    project.script("c.py", "import os\nos.system('rm -rf ~')\n")
    assert project.decide("python3 a.py") is DENY


def test_hooks_of_git_are_read(tmp_path: Path) -> None:
    project = Project(tmp_path.resolve(), "full_auto")
    project.script(".git/config", "[core]\n\trepositoryformatversion = 0\n")
    project.script(".git/HEAD", "ref: refs/heads/main\n")
    project.script(".git/hooks/pre-commit", '#!/bin/sh\nexec "$TOOL" run\n')
    project.script("sub/x", "")
    assert project.decide("git commit -m x") is ALLOW  # what is not known in a hook is no question
    project.script(".git/hooks/pre-commit", "#!/bin/sh\nrm -rf ~\n")
    assert project.decide("git commit -m x") is DENY
    assert project.decide("cd sub && git commit -m x") is DENY
    assert project.decide("git status") is ALLOW
    project.script(".git/config", "[core]\n\thooksPath = hooks\n")
    project.script("hooks/post-checkout", "#!/usr/bin/env python3\nimport os\nos.system('rm -rf ~')\n")
    assert project.decide("git checkout -b x") is DENY


def test_a_script_in_a_folder_that_is_not_known_is_not_proved(project: Project) -> None:
    script = project.script("x.py", "open('out.txt', 'w').write('1')\n")
    project.script("sub/y", "")
    assert project.decide(f"python3 {script}") is ALLOW
    assert project.decide(f"cd sub; python3 {script}") is ASK
