"""Which sed scripts only print, against sed's own sandbox."""

from __future__ import annotations

import shutil
import subprocess

import pytest

READS = [
    "1,5p",
    "$p",
    "/a/,/b/p",
    "s/a/b/g",
    "s|a|b|;s#c#d#2p",
    r"s/\/x/\//",
    "s/[/]/x/",
    "s/[^]/]*//",
    ":a;N;$!ba;s/\\n/ /g",
    "1!G;h;$!d",
    "y/abc/xyz/",
    "/x/{s/a/b/;p;}",
    "1i\\\n1e touch x",
    "a w out",
    "5q",
    "1~2d;0,/x/d;2,+3!p",
    r"\,a/b,d",
    "p # w out",
    "",
]


@pytest.mark.skipif(not shutil.which("sed"), reason="needs sed")
@pytest.mark.parametrize("script", READS)
def test_seds_own_sandbox_agrees_that_it_only_prints(script: str) -> None:
    done = subprocess.run(["sed", "--sandbox", "-e", script], input="a\n", capture_output=True, text=True, check=False)
    assert "sandbox" not in done.stderr
