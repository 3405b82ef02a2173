"""Git's configuration is read as git reads it."""

from __future__ import annotations

import subprocess
from pathlib import Path

from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from assent.facts.gitconfig import GitConfigError, GitSetting, entries, shown
from tests.examples import examples

PIECES = st.sampled_from(
    [
        "[core]",
        '[a "b c"]',
        "[x.Y]",
        "\n",
        "k",
        "Key-1",
        " = ",
        "=",
        "v",
        '"',
        "\\\n",
        "\\n",
        '\\"',
        "#c",
        ";d",
        " ",
        "\t",
        "!",
        "\r\n",
        "[",
        "]",
    ]
)


@examples(150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(PIECES, max_size=14).map("".join))
def test_what_git_reads_we_read_alike_or_not_at_all(tmp_path: Path, text: str) -> None:
    path = tmp_path / "config"
    path.write_bytes(text.encode())
    answer = subprocess.run(["git", "config", "-f", str(path), "-z", "--list"], capture_output=True, check=False)
    try:
        ours = [_as_git_lists(entry) for entry in entries(text)]
    except GitConfigError:
        return
    assert answer.returncode == 0
    theirs = answer.stdout.decode().replace("\t", " ").replace("\r", " ")  # as git did before it kept white space
    assert ours == theirs.split("\0")[:-1]


def _as_git_lists(entry: GitSetting) -> str:
    return shown(entry) if entry.value is None else f"{shown(entry)}\n{entry.value}"
