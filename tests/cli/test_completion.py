"""The completion in real shells, and the manual page as `man` would read it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from assent.cli.commands import COMMANDS, GATHERED
from assent.cli.completion import SHELLS, bash, fish, steps, zsh
from assent.cli.help import manual


def shell(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        assert os.environ.get("CI") != "true", f"CI must have {name}: apt-get install {name}"
        pytest.skip(f"there is no {name} here; apt-get install {name}")
    return found


def run(*command: str, typed: str = "") -> str:
    done = subprocess.run(command, input=typed, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def by_bash(*words: str) -> set[str]:
    script = f'{bash(steps())}\nCOMP_WORDS=(assent "$@"); COMP_CWORD=$#; _assent; printf \'%s\\n\' "${{COMPREPLY[@]}}"'
    return set(run(shell("bash"), "--norc", "-c", script, "bash", *words).split())


def by_fish(*words: str) -> set[str]:
    line = " ".join(("assent", *words))
    listed = run(shell("fish"), "--no-config", "-c", f"{fish(steps())}\ncomplete -C '{line}'")
    return {each.partition("\t")[0] for each in listed.splitlines()}


@pytest.mark.parametrize("complete", [by_bash, by_fish])
def test_commands_verbs_options_and_values_are_completed(complete: object) -> None:
    assert callable(complete)
    assert complete("") >= {*COMMANDS, *GATHERED}
    assert complete("pol") == {"policy"}
    assert complete("policy", "") >= {"show", "lint", "init"}
    assert complete("policy", "show", "--") >= {"--json", "--all", "--mode"}
    assert complete("rules", "gr") == {"grants"}
    assert complete("rules", "grants", "--") >= {"--all", "--json"}
    assert complete("rules", "packs", "") >= {"add", "list", "remove"}
    assert complete("check", "--mode", "full") == {"full_auto"}


def test_zsh_takes_the_script_and_completes_a_command(tmp_path: Path) -> None:
    script = tmp_path / "_assent"
    script.write_text(zsh(steps()))
    run(shell("zsh"), "-f", "-n", str(script))
    typed = f"""
zmodload zsh/zpty
zpty z zsh -f
zpty -w z 'PROMPT=; autoload -Uz compinit; compinit -D -u; source {script}; setopt no_list_ambiguous'
zpty -w z 'print -r -- ready'
zpty -r -m z _ '*ready*'
zpty -w -n z $'assent poli\t'
for i in {{1..200}}; do zpty -r -t z got && told+="$got"; [[ $told = *"assent policy"* ]] && break; sleep 0.05; done
print -r -- "$told"
"""
    assert "assent policy" in run(shell("zsh"), "-f", "-c", typed)


@pytest.mark.parametrize("name", SHELLS)
def test_the_command_prints_the_script_of_a_shell(name: str) -> None:
    printed = run(sys.executable, "-m", "assent", "completion", name)
    assert printed.strip() == {"bash": bash, "zsh": zsh, "fish": fish}[name](steps()).strip()


def test_the_manual_page_has_every_command_and_holds_no_stray_request() -> None:
    page = manual()
    assert [name for name in COMMANDS if f".SS assent {name}".replace("-", "\\-") not in page] == []
    requests = {line.split()[0] for line in page.splitlines() if line.startswith((".", "'"))}
    assert requests <= {".TH", ".SH", ".SS", ".TP", ".B", ".I", ".PP", "..."}
