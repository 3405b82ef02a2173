"""`assent audit` and `assent why` as a person and a program use them: the real command, in a scratch home."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from assent.contract import Record
from assent.trail.append import Trail
from tests.cli.test_check import Machine
from tests.unit.trail.made import record


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def filled(machine: Machine) -> str:
    """A trail with ten decisions, an answer to the first, and hostile text; its folder."""
    folder = str(machine.home / ".assent" / "audit")
    now = time.time()
    with Trail(folder) as trail:
        for number in range(1, 11):
            more = {"input": {"command": "ls \x1b[2J\u202e <b>"}} if number == 10 else {}
            old = record(number, rule="bash(npm run:*)", source="config.toml:3", **more)
            trail.append(Record(old.kind, old.id, now - 3600 * (10 - number) - 60, **_rest(old)))  # type: ignore[arg-type]
        trail.append(
            Record(
                "answer",
                record(1).id,
                now,
                tool="bash",
                outcome="allow",
                code="answer.answered",
                who="me",
                channel="terminal",
                scope="session",
                latency=12.5,
                more={"message": "go on"},
            )
        )
    return folder


def _rest(old: Record) -> dict[str, object]:
    return {name: getattr(old, name) for name in Record.__slots__ if name not in ("kind", "id", "time")}


def test_an_empty_trail_says_what_to_do(machine: Machine) -> None:
    for words in (["tail"], ["query"], ["stats"], ["verify"], ["query", "--since", "1d"]):
        done = machine.run("audit", *words)
        assert (done.returncode, done.stdout) == (0, "")
        assert "records appear when" in done.stderr
    done = machine.run("why", "abc")
    assert done.returncode == 2
    assert "assent audit tail" in done.stderr


def test_tail_prints_the_last_records_newest_last(machine: Machine) -> None:
    filled(machine)
    shown = machine.run("audit", "tail", "-n", "3").stdout.splitlines()
    assert [line.split()[-1] for line in shown] == ["00000009", "0000000a", "00000001"]
    assert "allow by me in terminal for session after 12.5 s" in shown[-1]


def test_text_of_an_agent_never_steers_the_screen(machine: Machine) -> None:
    filled(machine)
    for words in (
        ["audit", "tail"],
        ["audit", "tail", "--json"],
        ["why", "0000000a"],
        ["audit", "query", "--text", "2J"],
    ):
        out = machine.run(*words).stdout
        assert out
        assert [each for each in out if not each.isprintable() and each != "\n"] == []


def test_query_filters_and_prints_json(machine: Machine) -> None:
    filled(machine)
    found = machine.run("audit", "query", "--outcome", "deny", "--since", "6h", "--json").stdout.splitlines()
    assert [json.loads(line)["n"] for line in found] == [8, 5]
    found = machine.run("audit", "query", "--kind", "answer", "--oldest-first", "-n", "1").stdout.splitlines()
    assert len(found) == 1
    done = machine.run("audit", "query", "--session", "nobody")
    assert (done.stdout, "no record matches" in done.stderr) == ("", True)


def test_why_prints_question_and_answer_together(machine: Machine) -> None:
    filled(machine)
    shown = machine.run("why", "00000001").stdout
    for part in ("ASK  bash npm run test", "[mode.execute]", "bash(npm run:*)  from config.toml:3", "does   run npm",
                 "mode   auto, risk medium, layer mode", "ANSWER  allow by me", "message go on"):  # fmt: skip
        assert part in shown, part
    assert len(machine.run("why", "00000001", "--json").stdout.splitlines()) == 2
    several = machine.run("why", "0000000")
    assert several.returncode == 2
    assert "give more of it" in several.stderr


def test_verify_says_whole_or_names_the_line(machine: Machine) -> None:
    path = Path(filled(machine), "permissions.jsonl")
    done = machine.run("audit", "verify")
    assert done.returncode == 0
    assert done.stdout.startswith("whole: 11 lines in 1 files, up to line 11")
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:4], *lines[5:]]))
    done = machine.run("audit", "verify")
    assert done.returncode == 1
    assert done.stdout.startswith(f"{path}:5: dropped: line 5 is missing before this line, number 6")
    said = json.loads(machine.run("audit", "verify", "--json").stdout)
    assert (said["whole"], said["fault"]["what"], said["fault"]["line"]) == (False, "dropped", 5)


def test_a_line_that_cannot_be_read_is_told_and_the_rest_is_shown(machine: Machine) -> None:
    with open(Path(filled(machine), "permissions.jsonl"), "ab") as file:
        file.write(b"garbage\n")
    done = machine.run("audit", "tail")
    assert len(done.stdout.splitlines()) == 11
    assert "permissions.jsonl:12" in done.stderr


def test_stats_are_a_table_with_bars_and_json(machine: Machine) -> None:
    filled(machine)
    shown = machine.run("audit", "stats").stdout
    for part in ("prompts", "approved", "busiest rules", "bash(npm run:*)", "slowest answers", "12.5 s", "█"):
        assert part in shown, part
    said = json.loads(machine.run("audit", "stats", "--json").stdout)
    assert (said["records"], said["prompts"], said["approvals"], said["by_channel"]) == (11, 4, 1, {"terminal": 1})
    assert json.loads(machine.run("audit", "stats", "--since", "2h", "--json").stdout)["records"] == 3


def test_export_writes_a_new_file_only(machine: Machine) -> None:
    filled(machine)
    done = machine.run("audit", "export", "--output", "out.jsonl")
    assert done.returncode == 0
    out = machine.project / "out.jsonl"
    assert [json.loads(line)["n"] for line in out.read_text().splitlines()] == list(range(1, 12))
    assert out.stat().st_mode & 0o777 == 0o600
    done = machine.run("audit", "export", "--output", "out.jsonl")
    assert (done.returncode, "left as it is" in done.stderr) == (2, True)
    rows = list(csv.DictReader(io.StringIO(machine.run("audit", "export", "--format", "csv").stdout)))
    assert [row["n"] for row in rows] == [str(number) for number in range(1, 12)]
    assert json.loads(rows[0]["input"]) == record(1).input


def test_export_in_the_fields_of_openharness_has_one_line_for_each_settled_call(machine: Machine) -> None:
    trail = Trail(str(machine.home / ".assent/audit"))
    trail.append(Record("decision", "d", 1.0, tool="read", outcome="allow", reason="it only reads"))
    trail.append(Record("decision", "q", 2.0, tool="bash", outcome="ask", reason="it asks"))
    trail.append(Record("answer", "q", 3.5, tool="bash", outcome="deny", reason="nobody answered", timed_out=True))
    trail.append(Record("mode", "m", 4.0, mode="plan"))
    trail.close()
    done = machine.run("audit", "export", "--format", "openharness")
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [list(row) for row in rows] == [
        ["request_id", "timestamp", "tool_name", "approved", "reason", "timeout"]
    ] * 2
    assert (rows[0]["request_id"], rows[0]["approved"], rows[0]["timeout"]) == ("d", True, False)
    assert rows[1] == {
        "request_id": "q",
        "timestamp": "1970-01-01T00:00:03.500Z",
        "tool_name": "bash",
        "approved": False,
        "reason": "nobody answered",
        "timeout": True,
    }


def test_a_folder_that_is_gone_is_no_empty_trail(machine: Machine) -> None:
    assert machine.run("audit", "verify").returncode == 0  # there was none yet
    folder = filled(machine)
    whole = json.loads(machine.run("audit", "verify", "--json").stdout)
    assert whole["whole"] is True
    shutil.rmtree(folder)
    done = machine.run("audit", "verify")
    assert (done.returncode, "the trail is gone: it had 11 lines" in done.stdout) == (1, True)
    assert json.loads(machine.run("audit", "verify", "--json").stdout)["fault"]["what"] == "gone"
    for last in (1, 30):  # one that was begun anew, and grew longer
        with Trail(folder) as trail:
            for number in range(last):
                trail.append(record(number + 1))
        done = machine.run("audit", "verify")
        assert (done.returncode, "a trail of 11 lines or more was there before" in done.stdout) == (1, True)
    (machine.home / ".assent/audit.mark.lost").unlink()
    assert machine.run("audit", "verify").returncode == 0


def test_a_trail_that_was_written_anew_is_found_by_its_mark(machine: Machine) -> None:
    folder = filled(machine)
    other = f"{folder}.other"
    with Trail(other) as trail:
        for number in range(12):
            trail.append(record(number + 1))
    shutil.rmtree(folder)
    os.rename(other, folder)
    done = machine.run("audit", "verify")
    assert (done.returncode, "the trail was rewritten" in done.stdout) == (1, True)


def test_a_hash_that_is_expected_must_be_there(machine: Machine) -> None:
    folder = filled(machine)
    known = json.loads(machine.run("audit", "verify", "--json").stdout)["hash"]
    with Trail(folder) as trail:
        trail.append(record(40))
    for given in (known, known[:8], known.upper()):
        done = machine.run("audit", "verify", "--expect", given)
        assert (done.returncode, "line 11 has the expected hash" in done.stdout) == (0, True)
    assert machine.run("audit", "verify", "--expect", "0" * 64).returncode == 1
    assert machine.run("audit", "verify", "--expect", "xyz").returncode == 2
    shutil.rmtree(folder)
    (machine.home / ".assent/audit.mark").unlink()
    assert machine.run("audit", "verify", "--expect", known).returncode == 1


def test_tail_follows(machine: Machine) -> None:
    folder = filled(machine)
    running = subprocess.Popen(
        [sys.executable, "-m", "assent", "audit", "tail", "-n", "1", "-f", "--json"],
        stdout=subprocess.PIPE,
        text=True,
        env={"HOME": str(machine.home), "PATH": "/usr/bin:/bin"},
        cwd=machine.project,
    )
    try:
        assert running.stdout is not None
        assert json.loads(running.stdout.readline())["n"] == 11
        with Trail(folder) as trail:
            trail.append(record(12))
        assert json.loads(running.stdout.readline())["n"] == 12
    finally:
        running.kill()
        running.communicate()
