"""Whatever is tried from inside fails there, and would have succeeded bare."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator

import pytest

from assent.policy.contain_settings import ContainSettings
from tests.contain import escapes, escapes_kernel
from tests.contain.box import Box, needed
from tests.contain.escapes import Escape

EVERY = [
    *(*escapes.PROTECTED, *escapes.ABSENT, *escapes.WRITES, *escapes.READS, *escapes_kernel.PROCESSES),
    *(*escapes_kernel.NAMESPACES, *escapes_kernel.KERNEL, *escapes_kernel.SOCKETS),
]
LEAST = 120


class Attempt:
    """One escape in folders of its own."""

    def __init__(self, escape: Escape) -> None:
        self.escape = escape
        self.box = Box(user=0 if escape.root else None)

    def filled(self, command: str) -> str:
        return command.replace("$BOX_NAME", str(self.box.folder))

    def prepare(self) -> None:
        if self.escape.prepare == "SETUID":
            program = shutil.copy("/usr/bin/id", self.box.work / "who")
            os.chown(program, 0, 0)
            os.chmod(program, 0o4755)
        elif self.escape.prepare:
            done = self.box.outside(self.filled(self.escape.prepare))
            assert done.status == 0, done

    def succeeded(self, output: str) -> bool:
        if not self.escape.proof:
            return "ESCAPED" in output
        return self.box.outside(self.filled(self.escape.proof)).status == 0

    def close(self) -> None:
        pid = self.box.folder / "projects/pid"
        if pid.exists() and pid.read_text().strip():
            self.box.outside(f"kill -9 {pid.read_text().strip()}")
        self.box.close()


@pytest.fixture
def attempts(escape: Escape) -> Iterator[tuple[Attempt, Attempt]]:
    needed(root=escape.root or escape.prepare == "SETUID")
    made = Attempt(escape), Attempt(escape)
    try:
        if escape.needs and made[0].box.outside(made[0].filled(escape.needs)).status != 0:
            pytest.skip("this machine cannot do it bare")
        yield made
    finally:
        for each in made:
            each.close()


@pytest.mark.parametrize("escape", EVERY, ids=[each.id for each in EVERY])
def test_it_succeeds_bare_and_fails_contained(escape: Escape, attempts: tuple[Attempt, Attempt]) -> None:
    bare, contained = attempts
    bare.prepare()
    done = bare.box.outside(bare.filled(escape.attempt))
    assert bare.succeeded(done.output), f"it does not even succeed bare: {done}"
    contained.prepare()
    settings = ContainSettings(memory=escape.memory, processes=escape.processes, hidden=escape.hidden)
    done = contained.box.inside(contained.filled(escape.attempt), contained.box.profile(settings=settings))
    assert done.receipt is not None, done
    assert done.receipt.started, done
    assert not contained.succeeded(done.output), f"it got out: {done}"


def test_there_are_many_of_them() -> None:
    assert len({each.id for each in EVERY}) == len(EVERY) >= LEAST
