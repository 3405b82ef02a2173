"""The walk: every command that can run is seen, in the folder it runs in, with what can reach it."""

from __future__ import annotations

import pytest

from assent.effects.shell import builtins, lower, walk
from tests.unit.effects.shell.reading import (
    Effect,
    Invocation,
    Kind,
    Lowering,
    Operation,
    Target,
    Via,
    dangers,
    done,
    gaps,
    harmless,
    path,
    ran,
    read,
)


def test_a_command_lowers_to_its_invocation_and_effects_with_their_places() -> None:
    text = "cd a && touch b >log"
    assert read(text) == Lowering(
        "bash",
        (
            Effect(Operation.WRITE, path("/ws/repo/a/b", "b"), "command[8:20]", invocation=1),
            Effect(Operation.WRITE, path("/ws/repo/a/log", "log"), "command[16:20]", invocation=1, via=Via.REDIRECT),
        ),
        (
            Invocation("cd", ("cd", "a"), operands=("a",), source="cd a", cwds=("/ws/repo",)),
            Invocation("touch", ("touch", "b"), operands=("b",), source="touch b >log", start=8, cwds=("/ws/repo/a",)),
        ),
        text=text,
        ends_in=("/ws/repo/a", "/ws/repo"),
    )


AFTERWARDS = {
    "ls a": ((), False),
    "cd a && ls": (("/ws/repo/a", "/ws/repo"), False),
    "cd /ws/repo && ls": ((), False),
    "(cd a && ls)": ((), False),
    "cd a || exit 1; ls": (("/ws/repo/a",), False),
    "cd $X": (("",), False),
    "ls; exit 1": (("",), True),
    "X=1 ls": ((), False),
    "X=1; ls": ((), True),
    "export X=1": ((), True),
    "f() { ls; }; f": ((), True),
    "alias a=ls": ((), True),
    "source ./unread.sh": (("",), True),
}


@pytest.mark.parametrize("text", AFTERWARDS)
def test_what_a_shell_that_goes_on_would_keep_is_known(text: str) -> None:
    lowering = read(text)
    assert (lowering.ends_in, lowering.sets) == AFTERWARDS[text]


def test_a_nested_command_is_placed_at_the_outermost() -> None:
    lowering = read("true; sh -c 'cat f'")
    assert [(i.program, i.start, i.source) for i in lowering.invocations] == [
        ("true", 0, "true"),
        ("sh", 6, "sh -c 'cat f'"),
        ("cat", 6, "cat f"),
    ]
    assert [effect.where for effect in lowering.effects] == ["command[6:19]"]


def test_what_does_nothing_is_inert_and_what_is_empty_is_not() -> None:
    assert read("x=1; echo hi; true").inert
    assert not read("   ").inert
    assert not read("cat f").inert


PLACES = {
    "after && only the new folder": ("cd a && cat f", ["read a/f"]),
    "after ; either folder": ("cd a; cat f", ["read a/f", "read f"]),
    "where failing exits only the new folder": ("cd a || exit 1; cat f", ["read a/f"]),
    "where failing exits in a group": ("cd a || { echo no; exit 1; }; cat f", ["read a/f"]),
    "where failing exits in an if": ("if ! cd a; then exit; fi; cat f", ["read a/f"]),
    "exit with a redirection may fail": ("cd a || exit 1 >/x/y; cat f", ["write /x/y", "read a/f", "read f"]),
    "a subshell keeps its own": ("(cd a && cat f); cat f", ["read a/f", "read f"]),
    "a pipe's member keeps its own": ("cd a | true; cat f", ["read f"]),
    "a job keeps its own": ("cd a & cat f", ["read f"]),
    "a substitution keeps its own": ("x=$(cd a && cat f); cat f", ["read a/f", "read f"]),
    "a group is this shell": ("{ cd a; } && cat f", ["read a/f"]),
    "cd alone goes home": ("cd && cat f", ["read /home/u/f"]),
    "cd to home": ("cd ~/x && cat f", ["read /home/u/x/f"]),
    "cd to an absolute folder": ("cd /x && cat f", ["read /x/f"]),
    "cd back": ("cd a && cd - && cat f", ["read f"]),
    "pushd and popd": ("pushd a && cat f && popd && cat f", ["read a/f", "read f"]),
    "cd to an unknown folder": ("cd $X && cat f", ["read ?"]),
    "cd by a search path": ("CDPATH=/x; cd a && cat /f", ["execute cd", "read /f", "execute cat"]),
    "cd with a home of its own": ("HOME=/x cd && cat f", ["execute cd", "read ?"]),
    "cd in a function": ("f() { cd a; }; f && cat f", ["read a/f", "read f"]),
    "cd behind command": ("command cd a && cat f", ["read a/f"]),
    "each of a loop": ("for d in a b; do (cd $d && cat f); done", ["read a/f", "read b/f"]),
    "a loop that moves on": ("while true; do cd a; cat f; done", ["read ?"]),
}


@pytest.mark.parametrize(("text", "effects"), PLACES.values(), ids=PLACES)
def test_folders_are_followed(text: str, effects: list[str]) -> None:
    assert done(text) == effects


def test_parents_are_kept_for_the_facts_to_resolve() -> None:
    (effect,) = read("cd a && cd .. && cat f").effects
    assert effect.target == Target(Kind.PATH, "/ws/repo/f", "f", raw="/ws/repo/a/../f")


RUNS = {
    "list": "true; rm f",
    "and": "true && rm f",
    "or": "false || rm f",
    "job": "true & rm f",
    "newline": "true\nrm f",
    "pipe": "true | rm f",
    "negation": "! rm f",
    "group": "{ rm f; }",
    "subshell": "(rm f)",
    "if": "if true; then rm f; fi",
    "condition": "if rm f; then true; fi",
    "elif": "if true; then true; elif rm f; then true; fi",
    "else": "if true; then true; else rm f; fi",
    "while": "while rm f; do true; done",
    "until": "until true; do rm f; done",
    "for": "for i in 1; do rm f; done",
    "for words": "for i in $(rm f); do true; done",
    "arithmetic for": "for ((;;)); do rm f; done",
    "case": "case x in y) true;; x) rm f;; esac",
    "case word": "case $(rm f) in x) true;; esac",
    "case pattern": "case x in $(rm f)) true;; esac",
    "select": "select i in a; do rm f; done",
    "function": "f() { rm f; }; f",
    "function that hides a program": "ls() { rm f; }; ls",
    "function by a value": "f() { rm f; }; x=f; $x",
    "function in another shell": "f() { rm f; }; export -f f; bash -c f",
    "arguments of a function": 'f() { rm "$1"; }; f f',
    "what a function sets": "f() { x=rm; }; f; $x f",
    "coproc": "coproc N { rm f; }",
    "substitution": "echo $(rm f)",
    "back-quotes": "echo `rm f`",
    "quoted substitution": 'echo "a $(rm f)"',
    "substitution in a default": "echo ${x:-$(rm f)}",
    "substitution in a pattern": "echo ${x%$(rm f)}",
    "substitution in a subscript": "echo ${a[$(rm f)]}",
    "substitution in an assignment": "x=$(rm f)",
    "substitution in an array": "a=($(rm f))",
    "substitution in a map": "declare -A m=([$(rm f)k]=1)",
    "substitution in an export": "export x=$(rm f)",
    "substitution in a redirection": "cat < $(rm f)",
    "substitution in a here-document": "cat <<E\n$(rm f)\nE",
    "substitution in a here-string": "cat <<< $(rm f)",
    "substitution in a condition": "[[ -n $(rm f) ]]",
    "substitution in a regular expression": "[[ x =~ $(rm f) ]]",
    "substitution in arithmetic": "((1 + $(rm f)))",
    "process substitution": "cat <(rm f)",
    "process substitution as output": "echo > >(rm f)",
    "eval": "eval 'rm f'",
    "eval of words": "eval rm f",
    "eval of a value": "x='rm f'; eval \"$x\"",
    "eval under an assignment": "x=rm eval '$x f'",
    "trap": "trap 'rm f' EXIT",
    "trap in a trap": "trap \"trap 'rm f' EXIT\" INT",
    "exec": "exec rm f",
    "command": "command rm f",
    "builtin": "builtin eval 'rm f'",
    "alias": "alias ls='rm f'; ls",
    "shell": "bash -c 'rm f'",
    "shell with arguments": "bash -c '$0 $1' rm f",
    "shell with an exported name": "export x=rm; bash -c '$x f'",
    "shell with a name before it": "x=rm bash -c '$x f'",
    "nested shells": "sh -c \"bash -c 'rm f'\"",
    "input of a shell": "echo 'rm f' | sh",
    "formatted input of a shell": "printf '%s %s\\n' rm f | sh",
    "here-document of a shell": "bash <<E\nrm f\nE",
    "here-string of a shell": "bash <<< 'rm f'",
    "here-document through cat": "cat <<E | sh\nrm f\nE",
    "source of input": "source /dev/stdin <<< 'rm f'",
    "decoded input": "echo cm0gZgo= | base64 -d | sh",
    "words by xargs": "echo f | xargs rm",
    "wrapper": "env nice timeout 5 rm f",
    "completion": "compgen -C 'rm f' x",
    "callback": "mapfile -C 'rm f' a < /dev/null",
}


@pytest.mark.parametrize("text", RUNS.values(), ids=RUNS)
def test_everything_that_can_run_is_seen(text: str) -> None:
    assert "delete f" in done(text)


def test_a_function_that_ends_gives_back_its_locals() -> None:
    assert done("x=cat; f() { local x=rm; }; f; $x f") == ["read f"]


def test_local_outside_of_a_function_may_fail() -> None:
    assert done("x=rm; local x=cat; $x f") == ["delete f", "read f"]


def test_a_function_that_may_not_be_defined_leaves_the_program_of_its_name() -> None:
    assert done("if a; then cat() { rm f; }; fi; cat g") == ["execute a", "delete f", "read g"]


def test_an_early_return_is_one_of_the_ends() -> None:
    assert done("f() { x=rm; return; x=cat; }; f; $x f") == ["read f", "delete f"]


def test_recursion_ends_in_a_gap() -> None:
    assert gaps('f() { f "$1" x; }; f') == ["recursion"]


@pytest.mark.parametrize(
    "text", [":(){ :|:& };:", "b() { b | b & }; b", "f() { f & f & }; f", "a() { b | b; }; b() { a & }; a"]
)
def test_a_function_that_multiplies_itself_is_a_fork_bomb(text: str) -> None:
    assert dangers(text) == {"fork-bomb"}


def test_code_that_is_not_seen_makes_all_unknown_after_it() -> None:
    assert done("x=cat; source ./s; cat f") == ["read s", "execute s", "read ?"]
    assert gaps("x=cat; source ./s; $x f") == ["dynamic-command"]


def test_activating_an_environment_stays_in_its_folder() -> None:
    assert done(". v/bin/activate && cat f")[-1] == "read f"


STATELESS = """true; :; echo x; printf %s x; test -f x; [ -f x ]; pwd; type ls; hash; umask 022; ulimit -n; jobs; wait;
times; shift; dirs; command -v ls; let x=1; unset x; set -e; shopt -s nullglob; read x; getopts ab x; trap; alias"""


@pytest.mark.parametrize("text", STATELESS.replace("\n", " ").split("; "))
def test_harmless_builtins_have_no_effect(text: str) -> None:
    assert (done(text), gaps(text), read(text).inert) == ([], [], True)


@pytest.mark.parametrize(
    "text", ["hash -p /x ls", "enable -f ./x.so x", "history -c", "fc -s", "bind -x '\"a\":rm f'", "enable -n echo"]
)
def test_builtins_that_change_what_runs_are_execute(text: str) -> None:
    assert any(effect.startswith("execute") for effect in done(text))


@pytest.mark.parametrize("text", ["set", "declare -p", "export -p", "export"])
def test_printing_every_variable_prints_secrets(text: str) -> None:
    assert dangers(text) == {"prints-secret"}


def test_paths_that_an_earlier_part_put_there_are_only_guesses() -> None:
    certain = [
        effect.target.certain for effect in read("ln -s /x a && cat a/f b").effects if effect.target.text[-1] in "fb"
    ]
    assert certain == [False, True]


def test_paths_elsewhere_are_not_ours_but_dangers_are() -> None:
    assert "write f" not in done("ssh h 'echo x > f; cat g'")
    assert "delete /" in done("ssh h rm -rf /")


def test_an_unknown_shell_may_keep_what_the_last_of_a_pipe_sets() -> None:
    text = "x=cat; echo rm | read x; $x f"
    assert gaps(text, "") == ["dynamic-command"]
    assert done(text, "bash") == ["read f"]


def test_limits_are_gaps_and_what_was_seen_stands() -> None:
    many = read("; ".join(["rm f", *["true"] * 3000]))
    assert [gap.code for gap in many.gaps] == ["gap.shell.limit"]
    assert many.effects[0].operation is Operation.DELETE
    assert gaps("sudo " * 60 + "ls") == ["limit"]


def test_a_fault_of_ours_is_a_gap_and_execute() -> None:
    lowering = lower("cat f", cwd=None, home="")  # type: ignore[arg-type]  # a caller's mistake stands for ours
    assert [gap.code for gap in lowering.gaps] == ["gap.shell.internal"]
    assert [effect.operation for effect in lowering.effects] == [Operation.EXECUTE]


@pytest.mark.parametrize("text", ["cat *.py | head -5", "cd src && git log --oneline | cat", "ls $(pwd) 2>/dev/null"])
def test_everyday_reading_is_harmless(text: str) -> None:
    assert harmless(text) or read(text).effects[0].target.kind is Kind.REPOSITORY


@pytest.mark.parametrize(
    "text",
    [
        'cat "$(find . -type f | grep -v y | head -1)"',
        'find . -type f | sort | while read -r f; do cat "$f"; done',
        "find . -type f | head -3 | xargs cat",
    ],
)
def test_names_stay_below_their_folder_through_filters(text: str) -> None:
    assert [e.target.under for e in read(text).effects if not e.target.name] == [("/ws/repo",)]


@pytest.mark.parametrize("text", ['cat "$(find . | sed s/x/y/)"', 'cat "$(find . | cut -c2-)"', 'cat "$(grep -o x f)"'])
def test_names_that_a_filter_changes_may_lie_anywhere(text: str) -> None:
    assert [e.target.under for e in read(text).effects if not e.target.name] == [()]


def test_known_code_on_input_is_looked_into() -> None:
    assert "write g" in done("python3 - <<'E'\nopen('g', 'w').write('x')\nE")


def test_input_that_several_commands_share_is_not_taken_for_a_script() -> None:
    assert gaps("{ read x; bash; } <<< $'echo \\'\\nrm f\\n\\''") == ["stdin-script"]
    assert gaps("echo 'rm f' | { cat; sh; }") == ["stdin-script"]


def test_of_several_process_substitutions_the_first_is_the_script() -> None:
    assert "delete f" in done("bash <(echo rm f) <(echo ls)")
    assert "delete f" in done("source <(echo rm f) <(echo ls)")


@pytest.mark.parametrize("name", ["command_not_found_handle", "chpwd", "TRAPEXIT"])
def test_a_function_that_the_shell_calls_by_itself_is_seen_where_it_is_defined(name: str) -> None:
    assert "delete f" in done(f"{name}() {{ rm f; }}; rg x")


@pytest.mark.parametrize("text", ['rm -rf "$X"/', "rm -rf ${X}/*", "sudo rm -r $X/"])
def test_deleting_below_a_name_that_may_be_empty_may_delete_the_root(text: str) -> None:
    assert "delete /" in done(text)


@pytest.mark.parametrize(
    "text", ['rm -rf "$X"', 'rm -rf "$X/a"', 'X=$(mktemp -d); rm -rf "$X"/', 'rm "$X"/', "rm -r $TMPDIR/*"]
)
def test_deleting_below_a_name_that_is_set_or_goes_on_does_not(text: str) -> None:
    assert "delete /" not in done(text)


def test_commands_are_shown_with_their_values() -> None:
    assert ran("x=f; cat $x $Y") == ["cat f $Y"]
    assert [i.literal for i in read("cat f; cat $Y").invocations] == [True, False]


def test_the_names_that_are_known_before_their_modules_are_loaded_are_those_of_the_modules() -> None:
    assert frozenset(builtins.BUILTINS) == walk.NAMES
    assert frozenset(builtins.HARMLESS) <= walk.NAMES
