"""The ordinary days of tests/projects in `auto`, with the packs that `assent install` offers, contained runs and undo:
at most 5 % of the calls are asked about, each for a reason that is listed here. Commands are decided and not run, but
for those that make a branch; what would run contained counts as having gone well."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from assent.contain import ticket
from assent.contract import Call, Outcome
from assent.contract.packs import OFFERED
from assent.engine.engine import Engine, Request
from assent.facts import baseline
from assent.gate import CallGate
from assent.policy.document import document_of
from assent.policy.rules import Origin
from assent.policy.settings import combine
from assent.state import sessions
from tests.projects import project as projects

MOST_ASKED = 0.05
# What is still asked about, with its code and the reason.
JOB = "it is to go on after the call, and a contained run ends with it"
SERVICE = "it works at a service or a daemon, which a contained run does not reach"
NETWORK = "it needs the network, and no host is open in contained runs by default"
SHARED_TMP = "it names a file in /tmp, and a contained run has a /tmp of its own"
ASKED: dict[str, dict[str, tuple[str, str]]] = {
    "node": {
        "time node scripts/report.mjs > /tmp/report.txt": ("mode.execute", SHARED_TMP),
        "diff <(node scripts/report.mjs) /tmp/report.txt": ("mode.execute", SHARED_TMP),
        "pnpm --filter @orders/api dev > /tmp/api.log 2>&1 &": ("mode.execute", JOB),
        "curl -sS -X POST localhost:3000/orders": ("mode.fetch", "it changes something at a server"),
        'pkill -f "tsx watch"': ("mode.execute", "it ends processes that are outside"),
        "pnpm add -D @types/express": ("mode.execute", NETWORK),
        "gh pr create --fill --draft": ("mode.execute", SERVICE),
        "docker compose up -d db": ("mode.execute", SERVICE),
        "env | grep -i node || true": ("ask.rule", "it shows the environment, which may hold secrets"),
        'rg -l "view.js" packages | xargs sed': ("mode.unknown-target", "which files it changes is not written"),
    },
    "python": {
        "python scripts/fetch_rates.py": ("mode.execute", NETWORK),
        "pip install rich": ("mode.execute", NETWORK),
        "find . -name '*.pyc' -delete": ("mode.delete", "which files it deletes is not written"),
        'gh pr create --title "Tax by country"': ("mode.execute", SERVICE),
        "python -m http.server 8000 &": ("mode.execute", JOB),
        "curl -sL https://example.com/rates.json": ("mode.fetch", NETWORK),
    },
    "go": {
        "cd cmd/stockctl && go run . -item bolt": (
            "mode.execute",
            "the shell of Claude Code would stay in that folder",
        ),
        "go run ./cmd/inventory &": ("mode.execute", JOB),
        "./scripts/smoke.sh": ("mode.code", "it reaches a server, of which the address is not known"),
        "kill $(lsof -ti :8080)": ("mode.execute", "it ends processes that are outside"),
        "go get github.com/google/uuid@latest": ("mode.execute", NETWORK),
        "make clean": ("ask.rule", "it deletes by a rule, and what it deletes is not certain"),
        "docker compose up -d": ("mode.execute", SERVICE),
        "gh pr create --draft --fill": ("mode.execute", SERVICE),
        "./scripts/release.sh 1.4.0": ("ask.rule", "it publishes"),
        "env | grep ^GO || true": ("ask.rule", "it shows the environment, which may hold secrets"),
    },
}


class ContainedProject(projects.Project):
    """The same project, decided by the whole gate."""

    def __init__(self, name: str, folder: Path) -> None:
        super().__init__(name, folder, "auto")
        projects.git(self.root, "update-ref", "refs/remotes/origin/main", "HEAD")  # as a clone has it
        projects.git(self.root, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
        rules = {"mode": "auto", "packs": {"on": list(OFFERED)}, "contain": {"on": True}, "undo": {"on": True}}
        settings = combine([document_of(rules, "rules", Origin.USER)])
        self.engine = Engine(settings, own=(self.memory.state,), state=self.memory.state)
        self.gate = CallGate(self.memory)

    def settle(self, call: dict[str, Any]) -> tuple[Outcome, str, bool]:
        """The outcome, its code, and whether it runs contained."""
        session, root = f"session {call.get('session', 0)}", str(self.root)
        if session not in self._began:
            self._began.add(session)
            sessions.began(self.memory.state, session, root, baseline.start_of)
        given = {key: self._at(key, value) for key, value in call["input"].items()}
        made = Call(
            call["tool"],
            given,
            cwd=root,
            roots=(root,),
            home=str(self.home),
            shell="bash",
            session=session,
            runtime="claude",
        )
        environ = {"PATH": "/usr/local/bin:/usr/bin:/bin"}
        settled = self.gate.decide(
            Request(self.engine, made, root, rewrites=call["tool"] == "Bash", keeps="folder", environ=environ)
        )
        if settled.command:
            went_well(self.memory.state, ticket.id_of(self.memory.state, settled.command))
        command = str(given.get("command", ""))
        if command.startswith(("git checkout -b ", "git switch -c ")):
            projects.git(self.root, *command.split()[1:])
        if call["tool"] in ("Edit", "Write"):
            self._edit(given)
        return settled.outcome, settled.judged.decision.code, bool(settled.command)


def went_well(state: str, id: str) -> None:
    """Leave what the runner leaves after a run that went well."""
    fields = {
        "digest": "",
        "started": "1",
        "status": "0",
        "signal": "0",
        "milliseconds": "1",
        "timed_out": "0",
        "why": "",
    }
    os.unlink(f"{state}/contain/tickets/{id}")
    data = "".join(f"{key}\0{value}\0" for key, value in {**fields, "end": ""}.items())
    Path(f"{state}/contain/receipts/{id}").write_text(data)
    assert ticket.receipt(state, id) is not None


@pytest.mark.parametrize("name", projects.NAMES)
def test_an_ordinary_day_with_contained_runs_is_hardly_interrupted(name: str, tmp_path: Path, sandboxed: None) -> None:
    project, last, ran = ContainedProject(name, tmp_path.resolve()), 0, 0
    asked: list[tuple[str, str]] = []
    calls = projects.calls(name)
    for call in calls:
        if call["session"] != last:
            project.clean()
            last = call["session"]
        outcome, code, contained = project.settle(call)
        ran += contained
        assert outcome is not Outcome.DENY, call
        if outcome is Outcome.ASK:
            asked.append((call["input"]["command"], code))
    listed = [(known, code) for known, (code, _) in ASKED[name].items()]
    unlisted = [each for each in asked if not any(each[0].startswith(one) and each[1] == code for one, code in listed)]
    assert unlisted == []
    assert len(asked) <= MOST_ASKED * len(calls)
    assert ran >= 40  # and no question about any of them
