"""Asks bash and shfmt how they read a text. Bash is only ever asked to parse and print: nothing runs."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

_LOOP = """
cd "$1" || exit 1
for f in *.sh; do
    bash --pretty-print "$f" > "$f.out" 2> "$f.err"; echo $? > "$f.rc"
done
"""
_ENVIRONMENT = {"PATH": os.defpath + ":/usr/local/bin", "LC_ALL": "C.UTF-8"}


class Verdict(NamedTuple):
    """What bash makes of a text: whether it takes it, what it complains of, and the text as it prints it."""

    accepted: bool
    complaint: str
    printed: str


def bash_is_new_enough() -> bool:
    if shutil.which("bash") is None:
        return False
    found = subprocess.run(
        ["bash", "-c", "echo $((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1]))"],
        capture_output=True,
        text=True,
        check=False,
    )
    return found.stdout.strip().isdigit() and int(found.stdout) >= 502


def shfmt_path() -> str | None:
    beside = Path(sys.executable).with_name("shfmt")
    return str(beside) if beside.exists() else shutil.which("shfmt")


def ask_bash(texts: Sequence[str]) -> list[Verdict]:
    """Bash's verdict on each text; nothing is run."""
    halves = [texts[0::2], texts[1::2]]
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(_ask_bash, halves)
    out = [*first, *second]
    out[0::2], out[1::2] = first, second
    return out


def _ask_bash(texts: Sequence[str]) -> list[Verdict]:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for index, text in enumerate(texts):
            (root / f"{index:06}.sh").write_bytes(_bytes(text))
        if texts:
            subprocess.run(["bash", "-c", _LOOP, "loop", folder], check=True, env=_ENVIRONMENT)
        return [_verdict(root / f"{index:06}.sh") for index in range(len(texts))]


def _verdict(path: Path) -> Verdict:
    complaint = Path(f"{path}.err").read_bytes().decode("utf-8", "replace")
    errors = [
        line for line in complaint.split("\n") if re.match(r"\d+\.sh: line \d+: ", line) and "warning:" not in line
    ]
    accepted = Path(f"{path}.rc").read_text().strip() == "0" and not errors
    return Verdict(accepted, complaint, Path(f"{path}.out").read_bytes().decode("utf-8", "surrogateescape"))


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def ask_shfmt(texts: Sequence[str]) -> list[dict[str, Any] | None]:
    """Shfmt's tree of each text, or None if it refuses it."""
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(_ask_shfmt, texts))


def _ask_shfmt(text: str) -> dict[str, Any] | None:
    program = shfmt_path()
    assert program is not None
    found = subprocess.run([program, "-ln=bash", "-tojson"], input=_bytes(text), capture_output=True, check=False)
    if found.returncode != 0:
        return None
    tree: dict[str, Any] = json.loads(found.stdout)
    return tree
