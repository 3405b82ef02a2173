"""Which files a script loads, and that an approval is bound to them."""

from __future__ import annotations

from pathlib import Path

import pytest

from assent import Call, Gate, Held
from assent.facts.imports import MOST, loaded

FILES = {
    "app.py": "import helper, os\nfrom pkg import (\n  inner,  # why\n  other,\n)\nfrom pkg.deep import thing\n",
    "helper.py": "from . import beside\n",
    "beside.py": "",
    "os.py": "",
    "pkg/__init__.py": "",
    "pkg/inner.py": "from .. import far\nfrom .sibling import x\n",
    "pkg/sibling.py": "",
    "pkg/deep/__init__.py": "",
    "far.py": "",
    "unused.py": "",
    "run.sh": '#!/bin/sh\n. "$(dirname "$0")/lib/common.sh"\npython3 tools/make.py --all\n',
    "lib/common.sh": "source ./lib/more.sh\n",
    "lib/more.sh": "",
    "tools/make.py": "import local\n",
    "tools/local.py": "",
    "web.mjs": "import a from './src/a.js'\nconst b = require('./src/b')\nimport('fs')\n",
    "src/a.js": "export * from '../src/c.ts'\n",
    "src/b/index.js": "",
    "src/c.ts": "",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.parametrize(
    ("script", "wanted"),
    [
        (
            "app.py",
            "beside.py far.py helper.py os.py pkg/__init__.py pkg/deep/__init__.py pkg/inner.py pkg/sibling.py".split(),
        ),
        ("run.sh", "lib/common.sh lib/more.sh tools/local.py tools/make.py".split()),
        ("web.mjs", "src/a.js src/b/index.js src/c.ts".split()),
        ("unused.py", []),
        ("missing.py", []),
    ],
)
def test_what_a_script_loads_is_found(folder: Path, script: str, wanted: list[str]) -> None:
    found = loaded([str(folder / script)], (str(folder),))
    assert sorted(str(Path(each).relative_to(folder)) for each in found) == wanted


def test_it_ends(folder: Path) -> None:
    for number in range(MOST * 2):
        (folder / f"m{number}.py").write_text(f"import m{number + 1}, m{number}, app\n")
    assert len(loaded([str(folder / "m0.py")], (str(folder),))) == MOST


@pytest.mark.parametrize(
    ("command", "swapped"),
    [
        ("python3 app.py", "helper.py"),
        ("python3 app.py", "pkg/sibling.py"),
        ("python3 app.py", "json.py"),
        ("bash run.sh", "lib/more.sh"),
        ("./run.sh", "tools/local.py"),
        ("node web.mjs", "src/c.ts"),
    ],
)
def test_a_module_that_is_swapped_while_a_person_is_asked_does_not_run(
    folder: Path, command: str, swapped: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    (folder / "app.py").write_text(FILES["app.py"] + "import json\n")
    (folder / "run.sh").chmod(0o755)
    state = str(tmp_path_factory.mktemp("state"))
    for swaps in (False, True):

        def ask(held: Held, swaps: bool = swaps) -> bool:
            if swaps:
                (folder / swapped).write_text("import evil  # . evil.sh\n")
            return True

        with Gate(str(folder), files=False, state=state, channels=[ask], tools={"bash": "bash"}) as gate:
            verdict = gate.guard_sync(Call("bash", {"command": command}))
        assert verdict.allowed is not swaps, verdict.message
