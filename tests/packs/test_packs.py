"""Every line of `tests/packs/*.jsonl` is decided as it says, in the project of its pack.

A line has the `command`, what is `expect`ed with the pack on, what is done before (`setup`) and after the session began
(`then`, which is no call), the calls of the session before (`after`, which are run)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assent.contract.packs import PROVED
from tests.packs import project_code
from tests.packs.session import PackSession

HERE = Path(__file__).parent
PROJECTS: dict[str, dict[str, str]] = {
    "project-code": project_code.FILES,
    "branches": {"README.md": "x\n"},
    **{pack: json.loads((HERE / f"{pack}.files.json").read_text()) for pack in ("containers", "installs", "plans")},
    "rebuild": {
        ".gitignore": "\n".join(
            "node_modules/ dist build/ __pycache__/ *.pyc /coverage target secret-notes/ tmp/ .env *.db".split()
        ),
        "src/main.ts": "export {}\n",
        "src/build/keep.ts": "export {}\n",
        "package.json": '{"scripts": {"clean": "rm -rf dist coverage", "wipe": "rm -rf src"}}\n',
        "scripts/clean.sh": "#!/bin/bash\nrm -rf dist build\n",
        "packages/a/x.ts": "x\n",
        "packages/b/x.ts": "x\n",
    },
}
SETUPS = {
    "project-code": project_code.SETUP,
    "branches": "git init -q --bare ../far.git; git remote add origin ../far.git; git push -q origin main; "
    "git remote set-head origin main; git tag v1; git branch topic; git branch release/2",
    "rebuild": "mkdir -p dist/js build node_modules/x coverage packages/a/dist packages/b/dist secret-notes tmp/cache; "
    "touch dist/js/a.js build/b.o node_modules/x/i.js packages/a/dist/a.js packages/b/dist/b.js tmp/a.log a.pyc .env",
}


def lines(pack: str) -> list[dict[str, object]]:
    found = (HERE / f"{pack}.jsonl").read_text().splitlines()
    return [json.loads(line) for line in found if line.strip()]


CASES = [(pack, line) for pack in PROJECTS for line in lines(pack)]


@pytest.mark.parametrize(("pack", "line"), CASES, ids=[f"{pack}-{line['id']}" for pack, line in CASES])
def test_a_call_is_decided_as_expected(pack: str, line: dict[str, object], tmp_path: Path) -> None:
    more = str(line.get("setup", ""))
    files = PROJECTS[pack] | dict(line.get("files", {}))  # type: ignore[call-overload]  # texts by path
    session = PackSession(
        tmp_path,
        [pack],
        files,
        setup=f"{SETUPS.get(pack, '')}\n{more}",
        mode=str(line.get("mode", "auto")),
        rules=line.get("rules"),  # type: ignore[arg-type]  # checked when they are parsed
    )
    for before in line.get("after", ()):  # type: ignore[attr-defined]  # a list of texts
        session.decide(before)
        session.do(before)
    for path, text in dict(line.get("writes", {})).items():  # type: ignore[call-overload]  # as above
        session.write(path, text)
    session.do(str(line.get("then", "")))
    decision = session.decide(str(line["command"]))
    assert decision.outcome.word == line["expect"], decision.reason
    if line["expect"] == "allow":
        assert any(part.code == "allow.pack" for part in decision.parts)
        assert session.decide(str(line["command"]), session="").outcome.word != "allow"


def test_every_pack_that_is_proved_has_lines_both_ways() -> None:
    for pack in PROVED:
        assert {"allow", "ask"} <= {str(line["expect"]) for line in lines(pack)}, pack
