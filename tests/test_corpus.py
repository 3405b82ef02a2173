"""Every line of the corpus is answered as it says."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from tests.cases import CORPUS, batch, rows

FILES = sorted(path.stem for path in CORPUS.glob("*.jsonl"))


@pytest.mark.parametrize("name", FILES)
def test_every_line_is_answered_as_expected(name: str) -> None:
    ready = batch()
    wrong = []
    for row in rows(name):
        wanted, code = row.pop("expect"), row.pop("code", "")
        row.pop("note", None)
        row.setdefault("cwd", "/workspace/repo")
        row.setdefault("home", "/home/user")
        row.setdefault("facts", {"symlinks": {}})
        answer = ready.answer(json.dumps(row).encode(), 0)
        got = answer["outcome"]
        fine = got in ("ask", "deny") if wanted == "not-allow" else got == wanted
        if not fine or (code and answer["code"] != code):
            wrong.append(
                {**row, "expect": wanted, "code": code, "got": got, "got_code": answer["code"], "why": answer["reason"]}
            )
    assert wrong == []


def test_ids_are_unique_over_all_files() -> None:
    counted = Counter(row["id"] for name in FILES for row in rows(name))
    assert [name for name, count in counted.items() if count > 1] == []


def test_every_file_holds_lines() -> None:
    assert all(rows(name) for name in FILES)
