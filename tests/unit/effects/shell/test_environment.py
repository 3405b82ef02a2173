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
    "PAGER=cat GIT_TERMINAL_PROMPT=0 GIT_AUTHOR_NAME=x GIT_EDITOR=true "
    "AWS_PAGER= AWS_PROFILE=x LS_COLORS=x CARGO_TERM_COLOR=never"
).split()
# An allow rule holds under these, and no proof does, even of a program that obeys no variable of its own.
UNPROVED = "GOFLAGS=-mod=mod NODE_OPTIONS=--max-old-space-size=4096 CC=clang TMPDIR=/tmp TZDIR=x RES_OPTIONS=x".split()


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


@pytest.mark.parametrize("given", UNPROVED)
@pytest.mark.parametrize("form", ["{} cat f", "export {}; cat f", "env {} cat f", "set -a; {}; cat f"])
def test_a_name_that_is_not_known_harmless_leaves_no_proof(given: str, form: str) -> None:
    assert all(invocation.forfeit == "" for invocation in read(form.format(given)).invocations)
    assert not harmless(form.format(given))


@pytest.mark.parametrize("form", ["{} less f", "export {}; less f", "env {} less f", "f() { less f; }; {} f"])
@pytest.mark.parametrize("given", ["FOO=bar", "BAT_OPTS=x", "Npm_Config_logs_dir=x", "LESS=-kevil", "TERM=../x"])
def test_a_program_that_lists_no_variable_is_proved_under_none_but_the_common(given: str, form: str) -> None:
    assert not harmless(form.replace("{}", given, 1))
    assert harmless(form.replace("{}", "LC_ALL=C.UTF-8", 1))


def test_a_variable_of_the_shell_alone_reaches_no_program() -> None:
    assert harmless("FOO=bar; less f")
    assert not harmless("FOO=bar; export FOO; less f")
    assert not harmless("if true; then export FOO=bar; fi; less f")


def test_a_locale_is_no_path() -> None:
    assert harmless("LC_ALL=C cat f")
    assert not harmless("LC_ALL=/w/evil cat f")
    assert not harmless("TZ=../../w/evil cat f")


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
