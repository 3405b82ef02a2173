"""Verifying: each way of tampering is named, with the line where it happened; recovering leaves nothing to name."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from assent.contract import StoreError
from assent.trail import line
from assent.trail.append import Trail
from assent.trail.entries import backwards, forwards
from assent.trail.segments import Head, decode
from assent.trail.verify import What, verify
from tests.unit.trail.made import FULL, fields, lines, record, write

COUNT = 20


def change(where: str, edit: Callable[[list[bytes]], list[bytes]], name: str = "permissions.jsonl") -> None:
    Path(where, name).write_bytes(b"".join(edit(lines(where, name))))


def forged(n: int, prev: str) -> bytes:
    """A line that somebody else made, with a hash that fits it."""
    return line.chained(line.body(record(99)), n, prev)[0]


def hash_of(each: bytes) -> str:
    found = line.link(each)
    assert found is not None
    return found.hash


def prev_of(each: bytes) -> str:
    found = line.link(each)
    assert found is not None
    return found.prev


TAMPERING: dict[str, tuple[Callable[[list[bytes]], list[bytes]], What, int, int]] = {
    "changed": (lambda a: [*a[:6], a[6].replace(b'"ask"', b'"allow"'), *a[7:]], What.CHANGED, 7, 7),
    "changed at the end": (lambda a: [*a[:-1], a[-1].replace(b"npm", b"npx")], What.CHANGED, 20, 20),
    "changed, with a new hash": (lambda a: [*a[:6], forged(7, prev_of(a[6])), *a[7:]], What.CHANGED, 7, 7),
    "changed spacing": (lambda a: [*a[:6], a[6].replace(b",", b", ", 1), *a[7:]], What.CHANGED, 7, 7),
    "dropped": (lambda a: [*a[:6], *a[7:]], What.DROPPED, 7, 7),
    "several dropped": (lambda a: [*a[:6], *a[11:]], What.DROPPED, 7, 7),
    "dropped at the start": (lambda a: a[1:], What.DROPPED, 1, 1),
    "inserted": (lambda a: [*a[:6], forged(7, "ab" * 32), *a[6:]], What.INSERTED, 7, 7),
    "inserted in the chain": (lambda a: [*a[:6], forged(7, hash_of(a[5])), *a[6:]], What.INSERTED, 7, 7),
    "inserted twice": (lambda a: [*a[:6], a[2], *a[6:]], What.INSERTED, 7, 3),
    "inserted again": (lambda a: [*a[:6], a[5], *a[6:]], What.INSERTED, 6, 6),
    "reordered": (lambda a: [*a[:6], a[7], a[6], *a[8:]], What.REORDERED, 7, 8),
    "moved": (lambda a: [*a[:6], *a[7:15], a[6], *a[15:]], What.REORDERED, 7, 8),
    "truncated": (lambda a: [*a[:-1], a[-1][:100]], What.TRUNCATED, 20, 20),
    "truncated by its newline": (lambda a: [*a[:-1], a[-1][:-1]], What.TRUNCATED, 20, 20),
    "truncated in the middle": (lambda a: [*a[:6], a[6][:100] + b"\n", *a[7:]], What.TRUNCATED, 7, 7),
    "truncated without newline": (lambda a: [*a[:6], a[6][:100], *a[7:]], What.CHANGED, 7, 7),
    "cut tail": (lambda a: a[:15], What.CUT, 15, 15),
    "cut by one": (lambda a: a[:-1], What.CUT, 19, 19),
    "a blank line": (lambda a: [*a[:6], b"\n", *a[6:]], What.TRUNCATED, 7, 7),
}


@pytest.mark.parametrize("name", TAMPERING)
def test_tampering_is_named_with_the_right_line(tmp_path: Path, name: str) -> None:
    edit, what, number, n = TAMPERING[name]
    where = write(tmp_path, COUNT)
    change(where, edit)
    fault = verify(where).fault
    assert fault is not None
    assert (fault.what, os.path.basename(fault.file), fault.line, fault.n) == (what, "permissions.jsonl", number, n)


def test_an_emptied_trail_is_a_cut_tail(tmp_path: Path) -> None:
    where = write(tmp_path, COUNT)
    change(where, lambda _: [])
    fault = verify(where).fault
    assert fault is not None
    assert (fault.what, fault.n) == (What.CUT, 0)


def test_the_head_is_missed_and_its_changes_are_seen(tmp_path: Path) -> None:
    where = write(tmp_path, COUNT)
    head = Path(where, "head.json")
    kept = head.read_bytes()
    head.unlink()
    fault = verify(where).fault
    assert fault is not None
    assert fault.what is What.HEAD_MISSING
    for place in range(len(kept)):
        head.write_bytes(kept[:place] + bytes([kept[place] ^ 1]) + kept[place + 1 :])
        fault = verify(where).fault
        assert fault is not None, place
        assert fault.what in (What.HEAD_ALTERED, What.CUT)
    head.write_bytes(kept)
    assert verify(where).fault is None


@pytest.mark.slow
def test_each_of_many_random_changes_of_one_byte_is_found(tmp_path: Path) -> None:
    where = write(tmp_path, 12)
    path = Path(where, "permissions.jsonl")
    whole = path.read_bytes()
    starts = [0]
    for each in lines(where):
        starts.append(starts[-1] + len(each))
    chance = random.Random(4)
    for _ in range(1000):
        at = chance.randrange(len(whole))
        byte = chance.choice([value for value in range(256) if value != whole[at]])
        path.write_bytes(whole[:at] + bytes([byte]) + whole[at + 1 :])
        fault = verify(where).fault
        assert fault is not None, (at, byte)
        assert fault.line == next(number for number, start in enumerate(starts) if start > at), (at, byte)


def test_older_segments_are_walked_too(tmp_path: Path) -> None:
    where = write(tmp_path, 40, segment=6000)
    names = sorted(name for name in os.listdir(where) if name.startswith("permissions-"))
    kept = Path(where, names[1]).read_bytes()
    change(where, lambda a: a[:-1], names[1])
    fault = verify(where).fault
    assert fault is not None
    assert (fault.what, os.path.basename(fault.file)) == (What.DROPPED, names[2])
    os.unlink(os.path.join(where, names[1]))
    fault = verify(where).fault
    assert fault is not None
    assert (fault.what, os.path.basename(fault.file)) == (What.DROPPED, names[2])
    Path(where, names[1]).write_bytes(kept)
    assert verify(where).fault is None


def test_archived_segments_can_be_left_out_on_purpose(tmp_path: Path) -> None:
    where = write(tmp_path, 40, segment=6000)
    names = sorted(name for name in os.listdir(where) if name.startswith("permissions-"))
    os.unlink(os.path.join(where, names[0]))
    first = int(names[1][12:-6])
    fault = verify(where).fault
    assert fault is not None
    assert fault.what is What.DROPPED
    verdict = verify(where, start=first)
    assert (verdict.fault, verdict.lines) == (None, 41 - first)


def test_no_trail_is_no_fault(tmp_path: Path) -> None:
    assert (verify(str(tmp_path / "none")).fault, verify(str(tmp_path / "none")).lines) == (None, 0)


# ---------------------------------------------------------------- what a dead writer leaves


def die(where: str, tail: bytes) -> None:
    """As a writer that was killed after these bytes and before it wrote the head."""
    with open(os.path.join(where, "permissions.jsonl"), "ab") as file:
        file.write(tail)


def next_line(where: str) -> bytes:
    head = decode(Path(where, "head.json").read_bytes())
    assert head is not None
    return line.chained(line.body(record(77)), head.count + 1, head.hash)[0]


def test_a_whole_line_that_the_head_does_not_know_is_taken_in(tmp_path: Path) -> None:
    where = write(tmp_path, 3)
    die(where, next_line(where))
    assert verify(where).fault is None
    assert verify(where).notes != ()
    with Trail(where) as trail:
        trail.append(record(5))
    assert [each["n"] for each in fields(where)] == [1, 2, 3, 4, 5]
    assert fields(where)[3]["id"] == record(77).id
    assert (verify(where).fault, verify(where).notes) == (None, ())


@pytest.mark.parametrize("kept", [1, 2, 10, 100, -74, -2, -1])
def test_a_torn_line_is_moved_aside_and_told(tmp_path: Path, kept: int) -> None:
    where = write(tmp_path, 3)
    torn = next_line(where)[:kept]
    die(where, torn)
    assert verify(where).fault is None  # nobody was told that it is written
    with Trail(where) as trail:
        trail.append(record(5))
    assert [each["n"] for each in fields(where)] == [1, 2, 3, 4, 5]
    event = fields(where)[3]
    assert (event["kind"], event["code"], event["bytes"]) == ("event", "trail.torn", len(torn))
    assert Path(where, "torn-4.txt").read_bytes() == torn
    assert (verify(where).fault, verify(where).notes) == (None, ())


def test_lines_of_somebody_else_are_moved_aside_and_told(tmp_path: Path) -> None:
    where = write(tmp_path, 3)
    die(where, b'{"v":1,"n":4,"id":"mine"}\n' + b"x" * 5000 + b"\n")
    with Trail(where) as trail:
        trail.append(record(5))
    assert [each.get("code") for each in fields(where)][3:] == ["trail.foreign", "mode.execute"]
    assert len(Path(where, "torn-4.txt").read_bytes()) == 5027
    assert verify(where).fault is None


def test_a_writer_that_dies_while_it_recovers_loses_nothing(tmp_path: Path) -> None:
    """The event is written over the torn bytes; killed before the rest was cut off, the next one goes on."""
    where = write(tmp_path, 3)
    die(where, next_line(where)[:-1] + b"x" * 3000)
    with Trail(where) as trail:
        trail.append(record(5))
    first = lines(where)
    Path(where, "permissions.jsonl").write_bytes(b"".join(first[:4]) + b"x" * 1000)
    good = first[:3]
    Path(where, "head.json").write_bytes(Head(3, hash_of(good[-1]), sum(map(len, good)), 1).encode())
    with Trail(where) as trail:
        trail.append(record(6))
    assert lines(where)[:4] == first[:4]
    assert [each.get("code") for each in fields(where)][3:] == ["trail.torn", "trail.torn", "mode.execute"]
    assert verify(where).fault is None


def test_a_cut_tail_is_not_healed_by_the_next_writer(tmp_path: Path) -> None:
    where = write(tmp_path, 10)
    change(where, lambda a: [*a[:6], a[6][:50]])
    with Trail(where) as trail:
        trail.append(record(11))
    assert [each["n"] for each in fields(where)] == [1, 2, 3, 4, 5, 6, 11, 12]
    assert fields(where)[6]["code"] == "trail.cut"
    fault = verify(where).fault
    assert fault is not None
    assert (fault.what, fault.line, fault.n) == (What.DROPPED, 7, 7)


@pytest.mark.parametrize("left", [None, b"", b"{}", b"\0" * 256])
def test_a_lost_head_is_made_anew_and_told(tmp_path: Path, left: bytes | None) -> None:
    where = write(tmp_path, 30, segment=6000)
    head = Path(where, "head.json")
    head.unlink()
    if left is not None:
        head.write_bytes(left)
    with Trail(where) as trail:
        trail.append(record(31))
    assert [each.get("code") for each in fields(where)][-2:] == ["trail.head", "mode.execute"]
    assert fields(where)[-1]["n"] == 32
    assert verify(where).fault is None


def test_a_rotation_that_was_interrupted_is_finished(tmp_path: Path) -> None:
    for number, empty in enumerate((False, True)):
        where = write(tmp_path / str(number), 10)
        os.rename(os.path.join(where, "permissions.jsonl"), os.path.join(where, "permissions-000000000001.jsonl"))
        if empty:
            Path(where, "permissions.jsonl").touch()
        assert verify(where).fault is None
        with Trail(where) as trail:
            trail.append(record(11))
        assert [each["n"] for each in fields(where)] == [11]
        assert (verify(where).fault, verify(where).lines) == (None, 11)


# ---------------------------------------------------------------- lines


@pytest.mark.parametrize("block", [1, 2, 3, 7, 64])
@pytest.mark.parametrize("text", [b"", b"a", b"\n", b"a\n", b"\na", b"a\n\nbc\n", b"abc\ndefgh\ni", b"\n\n"])
def test_backwards_is_forwards_turned_round(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: bytes, block: int
) -> None:
    monkeypatch.setattr("assent.trail.entries.BLOCK", block)
    path = tmp_path / "x"
    path.write_bytes(text)
    with open(path, "rb") as file:
        there = list(forwards(file.fileno(), len(text)))
        back = list(backwards(file.fileno(), len(text)))
    assert there == text.splitlines(keepends=True)
    assert back == there[::-1]


def test_a_trail_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    where = write(tmp_path, 1)
    os.unlink(os.path.join(where, "permissions.jsonl"))
    os.mkdir(os.path.join(where, "permissions.jsonl"))
    with pytest.raises(StoreError):
        verify(where)


@pytest.mark.skipif(not FULL, reason="ASSENT_TRAIL_FULL=1 runs it")
def test_a_million_lines_are_walked_in_seconds(tmp_path: Path) -> None:
    import time

    os.mkdir(where := str(tmp_path / "audit"), 0o700)
    body = line.body(record(1))
    hash, size = line.NO_HASH, 0
    with open(os.path.join(where, "permissions.jsonl"), "wb") as file:
        for n in range(1, 1_000_001):
            data, hash = line.chained(body, n, hash)
            size += file.write(data)
    Path(where, "head.json").write_bytes(Head(1_000_000, hash, size, 1).encode())
    start = time.process_time()
    verdict = verify(where)
    assert (verdict.fault, verdict.lines) == (None, 1_000_000)
    assert time.process_time() - start < 20
