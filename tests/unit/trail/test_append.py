"""Appending: what a line says, how lines are chained, and that no way of failing leaves half of one."""

from __future__ import annotations

import hashlib
import json
import os
import resource
import stat
import threading
from pathlib import Path

import pytest

from assent.contract import Record, StoreError
from assent.trail.append import Trail, TrailBusy
from assent.trail.line import iso
from assent.trail.segments import old_segments, segments
from assent.trail.verify import verify
from tests.unit.trail.made import fields, folder, lines, record, write


def test_a_line_says_everything_in_a_fixed_order_and_leaves_out_what_is_empty(tmp_path: Path) -> None:
    with Trail(folder(tmp_path)) as trail:
        first = trail.append(record(1, rule="bash(npm run:*)", source="config.toml:3", more={"grant": "g1"}))
        second = trail.append(
            Record("answer", "x", 0.0015, outcome="deny", who="me", channel="terminal", scope="once", timed_out=True)
        )
    one, two = fields(folder(tmp_path))
    assert list(one.items()) == [
        ("v", 1),
        ("n", 1),
        ("id", "00000001-id"),
        ("time", "2025-11-01T12:26:41.000Z"),
        ("kind", "decision"),
        ("runtime", "claude-code"),
        ("session", "session-1"),
        ("project", "/home/me/shop"),
        ("cwd", "/home/me/shop/api"),
        ("tool", "bash"),
        ("input", {"command": "npm run test -- cart/1.test.ts | tail -40", "description": "Run the tests"}),
        ("effects", ["run npm"]),
        ("outcome", "ask"),
        ("layer", "mode"),
        ("code", "mode.execute"),
        ("reason", "running a program needs assent"),
        ("rule", "bash(npm run:*)"),
        ("source", "config.toml:3"),
        ("mode", "auto"),
        ("risk", "medium"),
        ("latency_ms", 2.1),
        ("grant", "g1"),
        ("prev", "0" * 64),
        ("hash", first),
    ]
    assert two == {
        "v": 1,
        "n": 2,
        "id": "x",
        "time": "1970-01-01T00:00:00.002Z",
        "kind": "answer",
        "outcome": "deny",
        "who": "me",
        "channel": "terminal",
        "scope": "once",
        "timed_out": True,
        "prev": first,
        "hash": second,
    }


def test_the_hash_can_be_made_with_any_tool(tmp_path: Path) -> None:
    """As docs/trail.md says: SHA-256 over the previous hash and the line without its own."""
    for line in lines(write(tmp_path, 3)):
        said = json.loads(line)
        without = line.decode().rstrip("\n").replace(f',"hash":"{said["hash"]}"', "")
        assert hashlib.sha256((said["prev"] + without).encode()).hexdigest() == said["hash"]


@pytest.mark.parametrize(
    ("time", "text"),
    [
        (0.0, "1970-01-01T00:00:00.000Z"),
        (1_762_000_000.9996, "2025-11-01T12:26:41.000Z"),
        (951_782_400.5, "2000-02-29T00:00:00.500Z"),
        (4_102_444_799.999, "2099-12-31T23:59:59.999Z"),
    ],
)
def test_times_are_iso_8601_in_utc(time: float, text: str) -> None:
    assert iso(time) == text


def test_more_never_overrides_a_field(tmp_path: Path) -> None:
    with Trail(folder(tmp_path)) as trail:
        trail.append(Record("event", "a", 0, more={"hash": "mine", "n": 7, "tool": "x"}))
    (line,) = fields(folder(tmp_path))
    assert (line["n"], line["n_"], line["hash_"], line["tool_"]) == (1, 7, "mine", "x")
    assert verify(folder(tmp_path)).fault is None


def test_a_line_is_safe_to_look_at_in_a_terminal(tmp_path: Path) -> None:
    hostile = "ls \x1b[2J \x9b31m \u202e \u200b \x7f \ud800 \U000e0041 é ✓ \n x"
    with Trail(folder(tmp_path)) as trail:
        trail.append(record(1, input={"command": hostile}))
    (raw,) = lines(folder(tmp_path))
    text = raw.decode()
    assert [each for each in text[:-1] if not each.isprintable()] == []
    assert "é ✓" in text
    assert json.loads(text)["input"]["command"] == hostile.replace("\ud800", "\\ud800")


@pytest.mark.slow
def test_any_input_can_be_written_and_its_size_is_bounded(tmp_path: Path) -> None:
    deep: object = "x"
    for _ in range(5000):
        deep = [deep]
    odd = {
        "nan": float("nan"),
        "inf": float("inf"),
        "bytes": b"x",
        "set": {1},
        "none": None,
        "big": 10**400,
        "deep": deep,
    }
    with Trail(folder(tmp_path)) as trail:
        trail.append(record(1, input=odd))
        trail.append(record(2, input={"content": "many words " * 1_000_000}))
        trail.append(record(3, input={f"key {number}": number for number in range(100_000)}))
    assert max(map(len, lines(folder(tmp_path)))) < 250_000
    assert verify(folder(tmp_path)).lines == 3


# ---------------------------------------------------------------- files


def test_files_are_the_owners_alone(tmp_path: Path) -> None:
    where = folder(tmp_path)
    os.umask(old := os.umask(0))
    os.umask(0)
    try:
        os.mkdir(where, 0o755)
        Path(where, "permissions.jsonl").touch(0o644)
        write(tmp_path, 1)
    finally:
        os.umask(old)
    assert stat.S_IMODE(os.stat(where).st_mode) == 0o700
    assert {name: stat.S_IMODE(os.stat(os.path.join(where, name)).st_mode) for name in os.listdir(where)} == {
        "permissions.jsonl": 0o600,
        "head.json": 0o600,
        "lock": 0o600,
    }


@pytest.mark.parametrize("name", ["permissions.jsonl", "head.json", "lock"])
def test_no_link_is_followed(tmp_path: Path, name: str) -> None:
    write(tmp_path, 1)
    target = tmp_path / "elsewhere"
    target.write_bytes(b"")
    os.unlink(os.path.join(folder(tmp_path), name))
    os.symlink(target, os.path.join(folder(tmp_path), name))
    with pytest.raises(StoreError):
        Trail(folder(tmp_path)).append(record())
    assert target.read_bytes() == b""


def test_a_folder_that_is_a_link_or_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    os.symlink(tmp_path / "real", tmp_path / "audit")
    with pytest.raises(StoreError, match="not a folder"):
        Trail(folder(tmp_path)).append(record())
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="not a folder"):
        Trail(str(tmp_path / "file")).append(record())
    assert list((tmp_path / "real").iterdir()) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
@pytest.mark.parametrize("name", ["", "permissions.jsonl", "head.json", "lock"])
def test_what_belongs_to_another_user_is_refused(tmp_path: Path, name: str) -> None:
    write(tmp_path, 1)
    os.chown(os.path.join(folder(tmp_path), name), 12345, -1)
    with pytest.raises(StoreError, match="another user"):
        Trail(folder(tmp_path)).append(record())


def test_a_pipe_in_place_of_the_trail_does_not_hang(tmp_path: Path) -> None:
    os.mkdir(folder(tmp_path), 0o700)
    os.mkfifo(os.path.join(folder(tmp_path), "permissions.jsonl"))
    with pytest.raises(StoreError):
        Trail(folder(tmp_path)).append(record())


def test_a_full_disk_is_an_error_and_leaves_no_half_line(tmp_path: Path) -> None:
    """A limit on file sizes does what a full disk does: the write is short, and then fails."""
    where = write(tmp_path, 20)
    before = lines(where)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    trail = Trail(where)
    resource.setrlimit(resource.RLIMIT_FSIZE, (sum(map(len, before)) + 100, hard))
    try:
        for _ in range(2):
            with pytest.raises(StoreError):
                trail.append(record(21))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert lines(where) == before
    trail.append(record(21))
    assert [line["n"] for line in fields(where)] == list(range(1, 22))
    assert verify(where).fault is None


def test_files_that_vanish_under_a_writer_are_noticed(tmp_path: Path) -> None:
    where = folder(tmp_path)
    trail = Trail(where)
    trail.append(record(1))
    for name in ("lock", "head.json", "permissions.jsonl"):
        os.unlink(os.path.join(where, name))
        trail.append(record(2))
        assert os.path.exists(os.path.join(where, name))
    trail.close()
    assert [line.get("code") for line in fields(where)] == ["trail.cut", "mode.execute"]


# ---------------------------------------------------------------- rotation


def test_full_segments_are_put_aside_and_the_chain_goes_on(tmp_path: Path) -> None:
    where = write(tmp_path, 50, segment=6000)
    firsts = [first for first, _ in old_segments(where)]
    assert firsts[0] == 1
    assert len(firsts) > 3
    names = [os.path.basename(path) for path in segments(where)]
    assert names[:1] + names[-1:] == ["permissions-000000000001.jsonl", "permissions.jsonl"]
    for first, path in old_segments(where):
        assert json.loads(lines(where, os.path.basename(path))[0])["n"] == first
    verdict = verify(where)
    assert (verdict.fault, verdict.lines, verdict.segments) == (None, 50, len(names))


def test_a_writer_follows_when_another_begins_a_new_segment(tmp_path: Path) -> None:
    one, two = Trail(folder(tmp_path), segment=3000), Trail(folder(tmp_path), segment=3000)
    for number in range(1, 41):
        (one if number % 3 else two).append(record(number))
    verdict = verify(folder(tmp_path))
    assert (verdict.fault, verdict.lines) == (None, 40)


def test_a_file_in_the_way_of_a_rotation_is_not_overwritten(tmp_path: Path) -> None:
    where = write(tmp_path, 10)
    Path(where, "permissions-000000000001.jsonl").write_text("precious")
    with pytest.raises(StoreError, match="in the way"):
        Trail(where, segment=10).append(record(11))
    assert Path(where, "permissions-000000000001.jsonl").read_text() == "precious"


# ---------------------------------------------------------------- many at once


def test_a_writer_that_hangs_does_not_hang_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import fcntl

    from assent.trail import append

    where = write(tmp_path, 1)
    monkeypatch.setattr(append, "PATIENCE", 0.2)
    with open(os.path.join(where, "lock")) as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(StoreError, match="held by another process"):
            Trail(where).append(record())


def test_who_does_not_wait_writes_nothing_while_another_writes(tmp_path: Path) -> None:
    import fcntl

    where = write(tmp_path, 1)
    trail = Trail(where)
    with open(os.path.join(where, "lock")) as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(TrailBusy):
            trail.append(record(2), patient=False)
        waiting = threading.Thread(target=trail.append, args=(record(3),))
        waiting.start()
        with pytest.raises(TrailBusy):  # a thread of this process waits, or another process writes: it is the same
            trail.append(record(4), patient=False)
        fcntl.flock(held, fcntl.LOCK_UN)
        waiting.join()
    trail.append(record(5), patient=False)
    assert [said["id"] for said in fields(where)] == [record(number).id for number in (1, 3, 5)]
    assert verify(where).fault is None


def test_a_new_segment_is_begun_by_who_waits_for_the_disk(tmp_path: Path) -> None:
    with Trail(folder(tmp_path), segment=100) as trail:
        trail.append(record(1), patient=False)
        with pytest.raises(TrailBusy):
            trail.append(record(2), patient=False)
        assert len(segments(folder(tmp_path))) == 1
        trail.append(record(3))
    assert len(segments(folder(tmp_path))) == 2
    assert verify(folder(tmp_path)).fault is None


# ---------------------------------------------------------------- speed
