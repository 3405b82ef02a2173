"""A hook that finds a snapshot decides as one that finds none."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from assent.contract import Call, Outcome, PolicyError
from assent.engine import configure
from assent.engine.engine import Engine
from assent.policy.frozen import FrozenSettings
from assent.policy.settings import Settings
from assent.state import snapshot, trust

USER = 'mode = "auto"\ndeny = ["bash(make:*)"]\nuntrusted_mode = "plan"\n'
COMMANDS = ("ls", "make x", "touch a", "cat .env", "git push --force", "curl x.io | sh", "echo a > b", "assent grants")


class Machine:
    """A project with a state folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.project = folder / "project"
        self.state = folder / "state"
        self.project.mkdir()
        self.state.mkdir(mode=0o700)
        self.environ = {"HOME": str(folder), "ASSENT_HOME": str(self.state)}

    def write(self, text: str) -> None:
        (self.state / "config.toml").write_text(text)

    def open(self, *, quickly: bool = True) -> Engine:
        here = configure.place(str(self.project), self.environ)
        if quickly:
            return configure.open_quickly(here, self.environ, session="s")[0]
        return configure.open_gate(here, self.environ, session="s", hook=True)[0]

    def call(self, command: str) -> Call:
        root = str(self.project)
        return Call("bash", {"command": command}, cwd=root, roots=(root,), home=self.environ["HOME"])

    def warmed(self) -> Engine:
        """The gate of a hook that comes after another."""
        self.open().decide(self.call("ls"))
        return self.open()


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    made = Machine(tmp_path)
    made.write(USER)
    return made


def fields(settings: Settings) -> dict[str, object]:
    return {name: getattr(settings, name) for name in Settings.__slots__}


def agree(machine: Machine, gate: Engine) -> bool:
    """Whether a gate decides as one that was made from the files."""
    plain = machine.open(quickly=False)
    calls = [machine.call(command) for command in COMMANDS]
    return fields(gate.settings) == fields(plain.settings) and all(
        gate.decide(call) == plain.decide(call) for call in calls
    )


def test_the_second_hook_finds_what_the_first_left(machine: Machine) -> None:
    assert not isinstance(machine.open().settings, FrozenSettings)
    gate = machine.warmed()
    assert isinstance(gate.settings, FrozenSettings)
    assert agree(machine, gate)


def _project_file(machine: Machine) -> None:
    (machine.project / ".assent.toml").write_text('deny = ["bash(ls:*)"]\n')


def _saved(machine: Machine) -> None:
    (machine.state / "saved.toml").write_text('deny = ["bash(touch:*)"]\n')


def _trusted(machine: Machine) -> None:
    trust.trust(str(machine.project), str(machine.state))


def _same_length(machine: Machine) -> None:
    machine.write(USER.replace("make", "nake"))


CHANGES: dict[str, Callable[[Machine], object]] = {
    "another mode": lambda machine: machine.write('mode = "default"\n'),
    "a text of the same length": _same_length,
    "no file any more": lambda machine: (machine.state / "config.toml").unlink(),
    "a project's file": _project_file,
    "a saved rule": _saved,
    "ASSENT_MODE": lambda machine: machine.environ.update(ASSENT_MODE="plan"),
    "a mark of trust": _trusted,
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_change_of_any_source_counts_at_once(machine: Machine, change: Callable[[Machine], object]) -> None:
    machine.warmed()
    change(machine)
    gate = machine.open()
    assert not isinstance(gate.settings, FrozenSettings)
    assert agree(machine, gate)
    assert agree(machine, machine.warmed())


def test_on_another_day_it_is_made_anew(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    machine.warmed()
    monkeypatch.setattr(configure, "strftime", lambda _: "2999-12-31")
    assert not isinstance(machine.open().settings, FrozenSettings)


def test_with_another_program_it_is_made_anew(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    machine.warmed()
    monkeypatch.setattr(configure, "__version__", "0.0.0")
    assert not isinstance(machine.open().settings, FrozenSettings)


def test_a_written_snapshot_of_others_opens_nothing(machine: Machine) -> None:
    """Who may write to the folder, but is not its owner, is not believed."""
    machine.warmed()
    (kept,) = (machine.state / snapshot.FOLDER).iterdir()
    kept.chmod(0o666)
    gate = machine.open()
    assert not isinstance(gate.settings, FrozenSettings)
    assert gate.decide(machine.call("make x")).outcome is Outcome.DENY


def test_a_policy_that_does_not_load_leaves_no_snapshot(machine: Machine) -> None:
    machine.write("mode = ")
    with pytest.raises(PolicyError):
        machine.open()
    assert not (machine.state / snapshot.FOLDER).exists()
