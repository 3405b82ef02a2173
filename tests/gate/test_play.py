"""The same play through every entry to the gate leaves the same records, except those that `differs` lists."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.classifier.service import KEY, Service
from tests.gate.differs import DIFFERS
from tests.gate.entry import PATIENCE, Entry, Scratch
from tests.gate.expected import EXPECTED, Played
from tests.gate.local import Embedded, Framework, HookAlone, Mcp, Paused, Run
from tests.gate.records import normal
from tests.gate.scenes import SCENES, Scene
from tests.gate.served import Calls, Dialog, Hook, HttpHook, McpServed

ENTRIES: tuple[type[Entry], ...] = (
    *(Run, Embedded, Framework, Paused, Mcp, HookAlone),
    *(Calls, Hook, HttpHook, Dialog, McpServed),
)


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Scratch]:
    with Service() as service:
        found = Scratch(tmp_path, service)
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.setenv("CLASSIFIER_KEY", KEY)
        monkeypatch.chdir(found.project)
        yield found


async def played(scene: Scene, entry: Entry) -> Played:
    async with entry:
        ran = await asyncio.wait_for(scene.play(entry), 2 * PATIENCE)
    return Played(ran, normal(entry), len(entry.scratch.service.asked))


@pytest.mark.parametrize("kind", ENTRIES, ids=lambda kind: kind.name)
@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
def test_every_entry_leaves_the_records_of_the_play(scene: Scene, kind: type[Entry], scratch: Scratch) -> None:
    scratch.configure(timeout=scene.timeout, unseen=scene.unseen, classifier=scene.classifier)
    found = asyncio.run(played(scene, kind(scratch, person=scene.person)))
    known = DIFFERS.get((scene.name, kind.name))
    expected = EXPECTED[scene.name] if known is None else known.played
    assert found.records == expected.records
    assert found == expected


def test_every_row_of_the_table_is_a_difference_of_a_known_scene_and_entry() -> None:
    entries = {kind.name for kind in ENTRIES}
    assert {entry for _, entry in DIFFERS} <= entries
    assert {scene.name for scene in SCENES} == set(EXPECTED)
    assert [key for key, each in DIFFERS.items() if each.played == EXPECTED[key[0]]] == []
