"""Expansion: what is known of a word is known exactly, and what is not known is never taken for known."""

from __future__ import annotations

import pytest

from tests.unit.effects.shell.reading import done, gaps, ran

KNOWN = {
    "quotes are resolved": ("""cat 'a b' "c"d \\e""", ["cat a b cd e"]),
    "escapes in dollar quotes are resolved": (r"cat $'\x61\142'", ["cat ab"]),
    "a variable set in the text has its value": ("x=rm; $x f", ["rm f"]),
    "an unquoted value is split": ("x='rm f'; $x", ["rm f"]),
    "a quoted value is one word": ("x='a b'; cat \"$x\"", ["cat a b"]),
    "the usual separators are a value too": ("rm${IFS}f", ["rm f"]),
    "an empty value is no word": ("x=; cat $x f", ["cat f"]),
    "a quoted empty value is a word": ('x=; cat "$x" f', ["cat  f"]),
    "home is known": ("cat ~/a $HOME/b", ["cat /home/u/a /home/u/b"]),
    "the folder is known": ('cat "$PWD/a" ~+/b', ["cat /ws/repo/a /ws/repo/b"]),
    "a default counts where the name is known to be empty": ("x=; ${x:-rm} f", ["rm f"]),
    "a default does not count where the name has a value": ("x=cat; ${x:-rm} f", ["cat f"]),
    "a default counts where the name is unset": ("x=cat; unset x; ${x-rm} f", ["unset x", "rm f"]),
    "an alternative counts where the name has a value": ("x=a; cat ${x:+b}", ["cat b"]),
    "a prefix is removed": ("x=./rm; ${x#./} f", ["rm f"]),
    "the longest suffix is removed": ("x=rm.a.b; ${x%%.*} f", ["rm f"]),
    "a text is replaced": ("x=cat/f; rm ${x/cat/dog}", ["rm dog/f"]),
    "case is changed": ("x=RM; ${x,,} f", ["rm f"]),
    "a part is cut out": ("x=xrmx; ${x:1:2} f", ["rm f"]),
    "arguments are known where the text sets them": ('set -- rm f; "$@"', ["set -- rm f", "rm f"]),
    "arguments can be cut": ('set -- a rm f; "${@:2}"', ["set -- a rm f", "rm f"]),
    "array elements are known": ('a=(rm f); "${a[@]}"', ["rm f"]),
    "a name may hold a name": ("x=rm; y=x; ${!y} f", ["rm f"]),
    "braces make words": ("{rm,-r,f}", ["rm -r f"]),
    "braces multiply": ("cat {a,b}{1,2}", ["cat a1 a2 b1 b2"]),
    "output of echo is known": ('cat "$(echo a)"', ["echo a", "cat a"]),
    "output of printf is known": ("cat \"$(printf '%s-%s' a b)\"", ["printf %s-%s a b", "cat a-b"]),
    "output of pwd is known": ('cat "$(pwd)/a"', ["pwd", "cat /ws/repo/a"]),
    "output of cat is what it is given": ('cat "$(cat <<< a)"', ["cat", "cat a"]),
}


@pytest.mark.parametrize(("text", "commands"), KNOWN.values(), ids=KNOWN)
def test_what_is_known_is_known_exactly(text: str, commands: list[str]) -> None:
    assert (ran(text), gaps(text)) == (commands, [])


UNKNOWN_PROGRAMS = {
    "the environment's": "$FOO f",
    "a default beside the environment's": "${FOO:-cat} f",
    "a glob": "/bin/c?t f",
    "output that is not known": '"$(head -1 f)" f',
    "set in one branch only": "if true; then x=cat; fi; $x f",
    "read from input": "x=cat; read x <<< rm; $x f",
    "split at other separators": "IFS=_; x=rm_f; $x",
    "a name that stands for another": "declare -n r=x; x=cat; r=rm; $x f",
    "a name the shell keeps for itself": "_=cat; echo rm; $_ f",
}


@pytest.mark.parametrize("text", UNKNOWN_PROGRAMS.values(), ids=UNKNOWN_PROGRAMS)
def test_a_program_that_is_not_known_is_a_gap_and_execute(text: str) -> None:
    assert "dynamic-command" in gaps(text)
    assert "execute ?" in done(text)


EITHER = {
    "a loop's name is any of its words": ("for x in cat rm; do $x f; done", ["read f", "delete f"]),
    "a name after a branch has either value": ("x=cat; if a; then x=rm; fi; $x f", ["execute a", "read f", "delete f"]),
    "a name after && has either value": ("x=cat; [ -f g ] && x=rm; $x f", ["read f", "delete f"]),
    "a later round has what an earlier one set": ("x=cat; for i in 1 2; do $x f; x=rm; done", ["read f", "delete f"]),
    "a read-only name keeps its value": ("readonly x=rm; declare x=cat; $x f", ["delete f", "read f"]),
}


@pytest.mark.parametrize(("text", "effects"), EITHER.values(), ids=EITHER)
def test_every_value_that_a_name_may_have_is_followed(text: str, effects: list[str]) -> None:
    assert (sorted(done(text)), gaps(text)) == (sorted(effects), [])


def test_a_default_program_is_followed_besides_the_gap() -> None:
    assert "delete f" in done("${FOO:-rm} f")


def test_words_behind_an_unknown_program_that_may_be_nothing_are_followed() -> None:
    assert "delete f" in done("$SUDO rm f")


def test_computed_program_and_subcommand_are_followed_but_never_proved() -> None:
    assert gaps("$(echo ls)") == ["dynamic-command"]
    assert "list /ws/repo" in done("$(echo ls)")


def test_a_loop_over_a_glob_keeps_the_glob_relative_to_where_it_is_used() -> None:
    assert done('for f in a/*.py; do cat "$f"; (cd b && cat "$f"); done') == ["read a/*.py", "read b/a/*.py"]


def test_a_name_made_of_a_glob_is_a_glob() -> None:
    assert done('for d in a/*/; do p="$d/x"; cat "$p.md"; done') == ["read a/*/x.md"]


def test_a_pattern_in_quotes_is_no_pattern() -> None:
    assert done("rm '*'") == ["delete *"]
    assert done('rm "a*"*')[0] == "delete a[*]*"


def test_removal_by_a_quoted_star_is_not_guessed() -> None:
    assert "dynamic-command" in gaps("x='*rm'; ${x#'*'} f")


ARITHMETIC = {
    "a value with a subscript": "x='a[$(rm f)]'; echo $((x))",
    "a value spliced in": "x='a[$(rm f)]'; echo $(( $x + 1 ))",
    "a value by way of another": "x='a[$(rm f)]'; y=x; echo $((y))",
    "a comparison": "x='a[$(rm f)]'; [[ $x -eq 0 ]]",
    "quoted text in a comparison": "[[ 'a[$(rm f)]' -eq 0 ]]",
    "quotes inside an expression": "echo $[ x='a[$(rm f)]', x ]",
    "let": "let 'a[$(rm f)]=1'",
    "an offset": "x=abc; echo ${x:a[$(rm f)0]}",
    "test -v": "test -v 'a[$(rm f)]'",
    "printf -v": "printf -v 'a[$(rm f)]' x",
    "read": "read 'a[$(rm f)]' <<< x",
    "unset": "unset 'a[$(rm f)]'",
    "declare": "declare 'a[$(rm f)]=1'",
    "wait -p": "wait -n -p 'a[$(rm f)]'",
    "an indirect name": "x='a[$(rm f)]'; echo ${!x}",
}


@pytest.mark.parametrize("text", ARITHMETIC.values(), ids=ARITHMETIC)
def test_a_subscript_that_is_evaluated_is_a_gap_and_its_command_is_seen(text: str) -> None:
    assert gaps(text)
    assert "delete f" in done(text)


@pytest.mark.parametrize(
    "text",
    [
        "echo $((1 + 2))",
        "i=0; ((i++)); echo $((i * 2))",
        "echo $((COUNT + 1))",
        "n=$(wc -l < f); echo $((n + 1))",
        "[[ $? -eq 0 ]]",
        "for ((i = 0; i < 3; i++)); do echo $i; done",
        "declare -A m; m[a b]=1; echo ${m[$k]}",
    ],
)
def test_plain_arithmetic_is_no_gap(text: str) -> None:
    assert gaps(text) == []


def test_arithmetic_on_text_from_a_file_is_a_gap() -> None:
    assert gaps("x=$(cat f); echo $((x))") == ["arithmetic"]


def test_a_prompt_expansion_of_a_live_value_is_a_gap() -> None:
    assert gaps("x='$(rm f)'; echo ${x@P}") == ["prompt"]


def test_zsh_reads_some_words_otherwise() -> None:
    assert gaps("=rm f", "") == ["dynamic-command"]
    assert gaps("=rm f", "bash") == []
    assert "delete f" in done("a=(rm cat); ${a[1]} f", "")
    assert done("a=(rm cat); ${a[1]} f", "bash") == ["read f"]
