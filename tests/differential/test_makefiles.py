"""The gate sees every command that a real make runs. `MARK` is a command: for make it creates a file, for the gate it
deletes the home folder."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from assent.contract import Outcome
from tests.unit.engine.test_tasks import Project

MAKE = shutil.which("make")
X = "make x"
# (Makefile, other files, command)
CASES: list[tuple[str, dict[str, str], str]] = [
    ("x:\n\t@MARK\n", {}, X),
    ("x:\nifdef NO\n\techo\nelse\n\tMARK\nendif\n", {}, X),
    ("x: ; # c\n\tMARK\n", {}, X),
    ("x:\n# c\n\n\tMARK\n", {}, X),
    ("x:\n\t# c\n\tMARK\n", {}, X),
    ("x:\n\t\tMARK\n", {}, X),
    ("x:\n\techo a\\\n\tb; MARK\n", {}, X),
    ("x:\n\techo 'a \\\n\tb'; MARK\n", {}, X),
    ("define r =\nMARK\nendef\nx: ; $(r)\n", {}, X),
    ("define r\necho a\n@MARK\nendef\nx:\n\t$(r)\n", {}, X),
    ("define r :=\nMARK\nendef\nx:\n\t$r\n", {}, X),
    ("r := MARK\nx:\n\t$r\n", {}, X),
    ("${eval r=MARK}\nx:\n\t$(r)\n", {}, X),
    ("$(eval x:;MARK)\n", {}, X),
    ("$(foreach i,1 2,$(if $(filter 2,$i),$(eval x:;MARK)))\n", {}, X),
    ("a = $(eval r=MARK)\nx:\n\t$(a)$(r)\n", {}, X),
    ("x: $(shell echo y)\ny:\n\tMARK\n", {}, X),
    ("t := $(shell echo y)\nx: $(t)\n$(t):\n\tMARK\n", {}, X),
    ("include y.mk\n", {"y.mk": "x:\n\tMARK\n"}, X),
    ("-include y.mk z.mk\n", {"z.mk": "x:\n\tMARK\n"}, X),
    ("sinclude $(wildcard *.inc)\n", {"a.inc": "x:\n\tMARK\n"}, X),
    ("d = sub\ninclude $(d)/y.mk\n", {"sub/y.mk": "x:\n\tMARK\n"}, X),
    ("include $(dir $(lastword $(MAKEFILE_LIST)))y.mk\n", {"y.mk": "x:\n\tMARK\n"}, X),
    ("include $(addsuffix .mk,y)\n", {"y.mk": "x:\n\tMARK\n"}, X),
    ("x: a.b\n%.b: %.c\n\tMARK\n", {"a.c": ""}, X),
    ("x: d/a.b\n%.b: %.c\n\tMARK\n", {"d/a.c": ""}, X),
    ("x: a.b\n.SUFFIXES: .c .b\n.c.b:\n\tMARK\n", {"a.c": ""}, X),
    ("x: y\n%:\n\tMARK\n", {}, X),
    ("all: x\nx: y\n.PHONY: y\ny: export A = 1\ny:\n\tMARK\n", {}, X),
    ("x: A := MARK\nx:\n\t$(A)\n", {}, X),
    ("%: A = MARK\nx:\n\t$(A)\n", {}, X),
    ("x y z: %: p-%\n\t@true\np-%:\n\tMARK\n", {}, X),
    ("x: y ;\ny: ; MARK\n", {}, X),
    ("x: private A = MARK\nx:\n\t$(A)\n", {}, X),
    ("A=$(B)\nB=$(C)\nC=MARK\nx:\n\t$(A)\n", {}, X),
    ("comma := ,\nr = $(subst $(comma), ,MARK)\nx:\n\t$(r)\n", {}, X),
    ("empty :=\nr = $(strip $(empty) MARK)\nx:\n\t$(r)\n", {}, X),
    ("r = $(patsubst %,MARK,a)\nx:\n\t$(r)\n", {}, X),
    ("l = a:MARK\nx:\n\t$(l:a:%=%)\n", {}, X),
    ("x:\n\t$(shell echo MARK)\n", {}, X),
    ("x: Makefile.stamp\nMakefile.stamp: Makefile\n\tMARK\n", {}, X),
    ("Makefile: FORCE\n\t@MARK\nFORCE:\nx: ; @true\n", {}, X),
    ("x:\n\t@true\n", {"GNUmakefile": "x:\n\tMARK\n"}, X),
    ("x:\n\t@true\n", {"makefile": "x:\n\tMARK\n"}, X),
    (".DEFAULT_GOAL := y\nx:\n\t@true\ny:\n\tMARK\n", {}, "make"),
    (".x:\n\ttrue\ny:\n\tMARK\n", {}, "make"),
    ("x:\n\t+@MARK\n", {}, "make -n x"),
    ("x:\n\t$(MAKE) y\ny:\n\t+MARK\n", {}, "make -n x"),
    ("x:\n\t: $(MAKE); MARK\n", {}, "make -n x"),
    ("x:\n\t@true\n", {"o.mk": "x:\n\tMARK\n"}, "make -fo.mk x"),
    ("x:\n\t@true\n", {"o.mk": "y:\n\tMARK\n"}, "make -f Makefile -f o.mk y"),
    ("x:\n\t@true\n", {"s/Makefile": "x:\n\tMARK\n"}, "make -Cs x"),
    ("x:\n\t@true\n", {"s/t/Makefile": "x:\n\tMARK\n"}, "make -C s -C t x"),
    ("x:\n\t@true\n", {"s/Makefile": "x:\n\tMARK\n"}, "make --directory=s x"),
    ("include o.mk\n", {"i/o.mk": "x:\n\tMARK\n"}, "make -I i x"),
    ("include o.mk\n", {"i/o.mk": "x:\n\tMARK\n"}, "make -Ii x"),
    ("x:\n\t$(A)\n", {}, "make x A='MARK'"),
    ("x:\n\t$(A)\n", {}, "make A:='MARK' x"),
    ("x:\n\t$(A)\n", {}, "A='MARK' make x"),
    ("x:\n\t$(A)\n", {}, "export A='MARK'; make x"),
    ("A = true\nx:\n\t$(A)\n", {}, "A='MARK' make -e x"),
    ("x: y\n", {}, "make x --eval='y:;MARK'"),
    ("x:\n\t$$A\n", {}, "A='MARK' make x"),
    ('export A\nA = MARK\nx:\n\tsh -c "$$A"\n', {}, X),
    ('.EXPORT_ALL_VARIABLES:\nA = MARK\nx:\n\tsh -c "$$A"\n', {}, X),
    ("x: $(subst $(x),,y)\ny:\n\tMARK\n", {}, X),
    ("ifeq (a,a)\nx:\n\tMARK\nendif\n", {}, X),
    ("ifeq 'a' \"a\"\nx:\n\tMARK\nendif\n", {}, X),
    ("ifneq ($(strip ),)\nx:\n\ttrue\nelse ifeq (1,1)\nx:\n\tMARK\nendif\n", {}, X),
    ("x:\n\tif [ -z '$(V)' ]; then MARK; fi\n", {}, X),
    ("SHELL := /bin/bash -c\nx:\n\tMARK\n", {}, X),
    ("SHELL := /usr/bin/env bash\nx:\n\tMARK\n", {}, X),
    ("SHELL := $(shell which bash)\nx:\n\tMARK\n", {}, X),
    (".SHELLFLAGS := -eu -c\nx:\n\tMARK\n", {}, X),
    (".SHELLFLAGS := -c 'MARK' --\nx:\n\ttrue\n", {}, X),
    (".SHELLFLAGS := -c\nSHELL := ./s.sh\nx:\n\ttrue\n", {"s.sh": "#!/bin/sh\nMARK\n"}, X),
    ("x:\n\t@$(if a,MARK)\n", {}, X),
    ("x:\n\t@$(and a,MARK)\n", {}, X),
    ("f = $(if $1,$(call f)MARK)\nx:\n\t@$(call f,a)\n", {}, X),
    ('x:\n\t@echo "$$(MARK)"\n', {}, X),
    ("x: a\\\nb\n\ntrue:\nb a:\n\tMARK\n", {}, X),
    ("x: a#b\na:\n\tMARK\n", {}, X),
    ("override define r\nMARK\nendef\nx:\n\t$(r)\n", {}, X),
    ("x:\n\t@MARK #$(shell true)\n", {}, X),
    ("-include .env\nexport\nx:\n\t$(CMD)\n", {".env": "CMD=MARK\n"}, X),
    ("include .env\nx:\n\t$$CMD\nexport\n", {".env": "CMD=MARK\n"}, X),
    ("x:\n\t$(if $(FOO),echo,MARK)\n", {}, X),
    ("ifdef NO\nelse ifndef NO2\nx: ; MARK\nendif\n", {}, X),
    ("ifneq (,$(wildcard foo))\nx:\n\techo\nelse\nx:\n\tMARK\nendif\n", {}, X),
    ("x:\n\tfor d in a b; do $(MAKE) -C $$d; done\n", {"a/Makefile": "q:\n\techo\n", "b/Makefile": "q:\n\tMARK\n"}, X),
    (".SECONDEXPANSION:\nT = y\nx: $$(T)\ny:\n\tMARK\n", {}, X),
    ("x: nothere\n.DEFAULT:\n\tMARK\n", {}, X),
    ("$(file >y.sh,MARK)\nx:\n\tsh y.sh\n", {}, X),
    ("x:: ; echo\nx:: ; MARK\n", {}, X),
]


@pytest.mark.skipif(MAKE is None, reason="no make here")
@pytest.mark.parametrize(("text", "files", "command"), CASES)
def test_what_make_runs_is_seen(tmp_path: Path, text: str, files: dict[str, str], command: str) -> None:
    folder = tmp_path / "real"
    mark = f"touch {tmp_path}/ran"
    for name, content in {"Makefile": text, **files}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content.replace("MARK", mark))
        (folder / name).chmod(0o755)
    subprocess.run(
        ["bash", "-c", command.replace("MARK", mark)], cwd=folder, capture_output=True, timeout=20, check=False
    )
    assert (tmp_path / "ran").exists()
    project = Project(tmp_path, "full_auto")
    for name, content in {"Makefile": text, **files}.items():
        project.write(name, content.replace("MARK", "rm -rf ~"))
    assert project.judge(command.replace("MARK", "rm -rf ~")) is not Outcome.ALLOW


def test_a_target_that_does_not_run_it_is_allowed(tmp_path: Path) -> None:
    project = Project(tmp_path, "full_auto")
    project.write("Makefile", "x:\n\techo\ny:\n\trm -rf ~\n")
    assert project.judge("make x") is Outcome.ALLOW
