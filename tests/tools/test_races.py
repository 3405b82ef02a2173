"""Files and folders that are swapped for links while the tools work, as fast as a program can."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from tests.tools.world import World

SECONDS = 1.5


def swapping(swap: Callable[[], None], work: Callable[[], None]) -> None:
    """Do both at once, again and again."""
    over = threading.Event()

    def go() -> None:
        while not over.is_set():
            swap()

    thread = threading.Thread(target=go)
    thread.start()
    end = time.monotonic() + SECONDS
    try:
        while time.monotonic() < end:
            work()
    finally:
        over.set()
        thread.join()


def closed(tmp_path: Path) -> World:
    """What is outside may be neither read nor written."""
    world = World(tmp_path, deny=[f"path(/{tmp_path / 'outside'}/**)".replace("//", "/")])
    (world.outside / "a").write_text("s3cret\n")
    return world


def test_a_swapped_folder_gives_nothing_away_and_takes_nothing(tmp_path: Path) -> None:
    world = closed(tmp_path)
    world.file("real/a", "plain\n")
    docs = world.project / "docs"
    seen: set[bool] = set()

    def swap() -> None:
        beside = world.project / "next"
        beside.symlink_to(world.outside)
        with suppress(OSError):  # the tool may have made the folder, for a moment without one
            os.replace(beside, docs)
            docs.unlink()
            os.rename(world.project / "real", docs)
            time.sleep(0.0005)
            os.rename(docs, world.project / "real")
        beside.unlink(missing_ok=True)
        if docs.is_dir() and not docs.is_symlink():
            os.rename(docs, docs.with_name(f"made-{os.urandom(6).hex()}"))

    def work() -> None:
        done = world.call("read", file_path="docs/a")
        seen.add(done.error)
        assert "s3cret" not in done.text
        assert "s3cret" not in world.call("grep", pattern="s3cret", path="docs").text.replace("no line", "")
        world.call("write", file_path="docs/b", content="x")

    swapping(swap, work)
    assert sorted(each.name for each in world.outside.iterdir()) == ["a"]
    assert (world.outside / "a").read_text() == "s3cret\n"
    assert seen == {True, False}
    world.close()


def test_a_swapped_file_gives_nothing_away_and_takes_nothing(tmp_path: Path) -> None:
    world = closed(tmp_path)
    path = world.project / "a"

    def swap() -> None:
        beside = world.project / "next"
        beside.symlink_to(world.outside / "a")
        os.replace(beside, path)
        beside.write_text("plain\n")
        os.replace(beside, path)

    def work() -> None:
        assert "s3cret" not in world.call("read", file_path="a").text
        world.call("edit", file_path="a", old_string="plain", new_string="other")

    swapping(swap, work)
    assert (world.outside / "a").read_text() == "s3cret\n"
    world.close()
