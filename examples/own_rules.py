"""A gate from code: a mode, rules, what the agent's own tools do, a session for each run. Run it, it needs no package.

pip install assent
"""

from __future__ import annotations

import tempfile

from assent import Gate, Outcome, Tool


def main(folder: str) -> None:
    gate = Gate(
        folder,
        mode="auto",  # what a person is asked about; see docs/modes.md
        allow=["bash(make test)"],
        deny=["write(infra/**)"],
        files=False,  # without the user's and the project's file; the floor always holds
        tools={
            "run": "bash",  # has the arguments of a tool that Assent knows
            "save": Tool("write", paths=["target"]),  # writes the file that `target` names
            "look_up": Tool("fetch", addresses=["url"]),
            "think": Tool("nothing"),
        },
        channels=["nobody"],  # nobody can be asked: what asks is denied
        state=f"{folder}/.state",
    )
    session = gate.session(runtime="python")  # what a person allows for the session is allowed for this run

    for tool, arguments in (
        ("run", {"command": "make test"}),
        ("save", {"target": "notes.md", "text": "hello"}),
        ("save", {"target": "infra/main.tf", "text": "hello"}),
        ("look_up", {"url": "https://example.com"}),
        ("think", {"about": "it"}),
        ("unheard_of", {}),
    ):
        decision = session.decide(session.call(tool, arguments))
        assert isinstance(decision.outcome, Outcome)
        print(f"{tool} {arguments}: {decision.outcome.name.lower()}, {decision.reason}")
    gate.close()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as found:
        main(found)
