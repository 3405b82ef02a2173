"""Places that a command tells: what is known of a path below one, and for whom."""

from __future__ import annotations

import pytest

from tests.unit.effects.shell.reading import Operation, done, harmless, read

LOOKING = (Operation.READ, Operation.LIST, Operation.SEARCH)


def looked_at(text: str) -> list[str]:
    """The paths that are looked at, `?` for those not known."""
    return [
        effect.target.name or "?" for effect in read(text).effects if effect.operation in LOOKING and effect.target.text
    ]


def test_a_path_below_a_place_is_each_one_that_is_likely_and_what_it_is_without_the_place() -> None:
    found = read('cat "$(go env GOMODCACHE)/acme/x.go"').effects
    assert [(effect.target.name, effect.target.certain) for effect in found] == [
        ("/acme/x.go", False),
        ("/home/u/go/pkg/mod/acme/x.go", False),
    ]


def test_a_program_that_is_told_lies_where_programs_do() -> None:
    assert done("cat $(which tool)") == [
        "read tool",
        "read /usr/bin/tool",
        "read /usr/local/bin/tool",
        "read /opt/homebrew/bin/tool",
        "read /home/u/.local/bin/tool",
        "read /home/u/bin/tool",
    ]


@pytest.mark.parametrize(
    "text",
    [
        'cat "$(go env GOPATH)/../x"',
        'cat "$(go env GOPATH)/."./x',
        'cat "$(go env GOPATH)"/.?/x',
        'cat "$(go env GOPATH)x"',
        "cat $(go env GOPATH)$y",
        "cat $(go env GOPATH)/$y",
        "cat $(go env GOPATH GOROOT)",
        "cat $(which a b)",
        "cat $(which ./a)",
        "GOMODCACHE=x; cat $(go env GOMODCACHE)/y",
        "GIT_DIR=x; cat $(git rev-parse --git-dir)/y",
        "eval $z; cat $(which a)",
        "read $n; cat $(which a)",
        "for f in $(which a); do cat $f/x; done",
    ],
)
def test_a_place_that_may_be_another_is_not_known(text: str) -> None:
    assert "?" in looked_at(text)


@pytest.mark.parametrize(
    "text", ["cat < $(which a)", ". $(which a)", "rm $(go env GOPATH)/x", "tee $(go env GOPATH)/x"]
)
def test_a_place_is_no_folder_that_an_unknown_path_lies_in(text: str) -> None:
    assert all(effect.target.under == () for effect in read(text).effects)


@pytest.mark.parametrize("text", ["rm $(which a)", "touch $(go env GOPATH)/x", "echo > $(which a)"])
def test_only_what_looks_may_take_a_place_for_what_is_likely(text: str) -> None:
    changed = [effect.target.name for effect in read(text).effects if effect.operation not in LOOKING]
    assert set(changed) == {""}


def test_a_name_may_be_given_what_the_program_it_steers_told() -> None:
    assert harmless('GOPATH=$(go env GOPATH) && ls "$GOPATH/pkg"')
    assert not harmless("GOPATH=$(which go) && ls")
