"""Assignments that change what runs forfeit every allow; those that are data for a program do not."""

from __future__ import annotations

import pytest

from tests.unit.effects.shell.reading import harmless, read

CHANGING = (
    "PATH=x LD_PRELOAD=x LD_LIBRARY_PATH=x DYLD_INSERT_LIBRARIES=x GIT_SSH_COMMAND=x GIT_DIR=x GIT_PAGER=less "
    "PAGER=less EDITOR=vi VISUAL=vi BROWSER=x BASH_ENV=x ENV=x SHELLOPTS=x PYTHONPATH=x PYTHONSTARTUP=x "
    "NODE_OPTIONS=--require=x NODE_PATH=x PERL5LIB=x PERL5OPT=x RUBYOPT=x JAVA_TOOL_OPTIONS=x CLASSPATH=x "
    "LESSOPEN=x MANPAGER=x SSH_ASKPASS=x HOME=x KUBECONFIG=x DOCKER_HOST=x AWS_ENDPOINT_URL=x AWS_CONFIG_FILE=x "
    "https_proxy=x RIPGREP_CONFIG_PATH=x GREP_OPTIONS=x TAR_OPTIONS=x npm_config_registry=x RUSTC_WRAPPER=x "
    "CC=./x GOFLAGS=-toolexec=x AWS_PAGER=x XDG_CONFIG_HOME=x ASSENT_HOME=x BASH_CMDS=x"
).split()
DATA = (
    "FOO=bar CI=true NODE_ENV=test LC_ALL=C TZ=UTC RUST_LOG=debug RUST_BACKTRACE=1 NO_COLOR=1 FORCE_COLOR=0 GOOS=linux "
    "GOARCH=arm64 CGO_ENABLED=0 DEBUG=1 PORT=80 PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 GIT_PAGER=cat GIT_PAGER= "
    "PAGER=cat GIT_TERMINAL_PROMPT=0 GIT_AUTHOR_NAME=x GIT_EDITOR=true NODE_OPTIONS=--max-old-space-size=4096 CC=clang "
    "GOFLAGS=-mod=mod AWS_PAGER= AWS_PROFILE=x LS_COLORS=x CARGO_TERM_COLOR=never TMPDIR=/tmp"
).split()


@pytest.mark.parametrize("given", CHANGING)
@pytest.mark.parametrize("form", ["{} cat f", "export {}; cat f", "{}; cat f", "declare -x {}; cat f"])
def test_a_name_that_changes_what_runs_forfeits_what_follows(given: str, form: str) -> None:
    lowering = read(form.format(given))
    assert lowering.invocations[-1].forfeit == f"`{given.partition('=')[0]}` changes what the command runs"
    assert not harmless(form.format(given))


@pytest.mark.parametrize("given", DATA)
@pytest.mark.parametrize("form", ["{} cat f", "export {}; cat f", "{}; cat f"])
def test_data_for_a_program_forfeits_nothing(given: str, form: str) -> None:
    assert read(form.format(given)).invocations[-1].forfeit == ""
    assert harmless(form.format(given))


def test_an_unknown_value_counts_as_the_worst() -> None:
    assert read('PAGER="$X" cat f').invocations[0].forfeit


def test_separators_for_read_alone_are_harmless() -> None:
    assert harmless("while IFS= read -r x; do echo; done < f")
    assert not harmless("IFS=,; cat f")


def test_a_subshell_keeps_its_assignments() -> None:
    assert harmless("(true; cat f)")
    assert read("(PATH=x); cat f").invocations[0].forfeit == ""


def test_names_that_are_not_known_forfeit() -> None:
    assert read('export "$X"; cat f').invocations[0].forfeit == "the names it sets are not known"
