"""Rows and the engine: how a row's keys turn a command line into a sight."""

from __future__ import annotations

import pytest

from assent.contract import PolicyError
from assent.effects.shell.command import Arg
from assent.effects.shell.commands import Tables, check_row
from assent.effects.shell.commands.interpret import interpret
from tests.unit.effects.shell.commands.commands import does, effects_of


def rows(**keys: dict[str, object]) -> Tables:
    return Tables({name.replace("_", " "): row for name, row in keys.items()})


PROGRAM = rows(
    prog={"globals": "-C=DIR --quiet --key=TEXT", "options": "-V!prints"},
    prog_show={"options": "-n=TEXT --output=WRITE", "operands": "READ*", "repo": True},
    prog_list_all={"operands": "TEXT*", "service": "prog"},
    prog_push={
        "options": "--force!danger:force-push -n,--dry-run!last --list!prints",
        "operands": "TEXT*",
        "runs": True,
    },
)


def test_a_program_without_a_row_is_executed() -> None:
    assert does("frobnicate -x a", PROGRAM) == ["EXECUTE <frobnicate>"]
    assert effects_of("frobnicate -xy --long=1 a", PROGRAM).flags == {"-xy", "-x", "-y", "--long"}


def test_a_subcommand_is_found_behind_global_options() -> None:
    assert does("prog -C sub --quiet show a", PROGRAM) == ["READ sub/a", "EXECUTE <sub>"]
    assert effects_of("prog --key x list all y", PROGRAM).subcommand == ("list", "all")


def test_a_subcommand_without_a_row_is_executed() -> None:
    assert does("prog frob", PROGRAM) == ["EXECUTE <prog>"]
    assert does("prog list some", PROGRAM) == ["EXECUTE <prog>"]


def test_the_program_is_known_by_its_name_only_in_the_usual_folders() -> None:
    assert does("/usr/bin/prog show a", PROGRAM)[0] == "READ a"
    assert does("./prog show a", PROGRAM)[:3] == ["READ prog", "EXECUTE prog", "READ a"]
    assert does("/usr/bin/../x/prog show", PROGRAM)[:2] == ["READ /usr/x/prog", "EXECUTE /usr/x/prog"]


def test_a_danger_goes_to_what_changes_something() -> None:
    assert does("prog push --force x", PROGRAM) == ["EXECUTE <prog> !force-push"]


def test_a_dry_run_only_prints_where_every_word_is_known() -> None:
    assert does("prog push -n --force x", PROGRAM) == []
    assert does("prog push -n --force --frob x", PROGRAM) == ["EXECUTE <prog> !force-push"]


def test_an_option_that_prints_gives_way_to_another_with_an_effect() -> None:
    assert does("prog push --list x", PROGRAM) == []
    assert does("prog push --list --force x", PROGRAM) == ["EXECUTE <prog> !force-push"]


def test_help_only_prints_where_nothing_else_stands_there() -> None:
    assert does("prog push --help", PROGRAM) == []
    assert does("prog list --help", PROGRAM) == []
    assert does("prog push x --help", PROGRAM) == ["EXECUTE <prog>"]
    assert does("prog frob --help", PROGRAM) == ["EXECUTE <prog>"]


def test_a_service_is_read() -> None:
    assert does("prog list all", PROGRAM) == ["READ <prog>"]


def test_an_unknown_program_word_is_a_gap() -> None:
    assert does((Arg("$x"), "a"), PROGRAM) == ["EXECUTE <?>", "GAP dynamic-command"]


def test_relative_paths_are_unknown_where_the_folder_is() -> None:
    found = interpret(("prog", "show", "a", "/b"), cwd="", home="/h", tables=PROGRAM)
    assert [(effect.target.name, effect.target.certain) for effect in found.effects[:2]] == [("", False), ("/b", True)]


COPY = rows(
    copy={"options": "-r!recursive -t=TEXT", "operands": "READ+ INTO"},
    uniq={"operands": "READ? WRITE?"},
    grep={"options": "-e=TEXT!drop -r!recursive", "operands": "TEXT READ*", "pure": True},
    run={"options": "-n=TEXT", "operands": "TEXT RUN"},
    get={"operands": "TEXT*", "secret_operands": ["secret"], "service": "get"},
    date={"operands": "TEXT*", "forms": {"operands": r"\+.*"}},
    mark={"operands": "TEXT*", "marks": {"+*": "!acts!danger:force-push"}},
    drop={"operands": "DELETE+!recursive!danger:discard-work"},
    here={"operands": "LIST*=.", "recursive": True, "prints": "paths"},
)


def test_files_go_into_a_path_or_below_it() -> None:
    assert does("copy a b/c", COPY) == ["READ a", "WRITE b/c", "WRITE b/c/a"]
    assert does("copy x/a y/b dir", COPY) == ["READ x/a", "READ y/b", "WRITE dir", "WRITE dir/a", "WRITE dir/b"]


def test_the_last_roles_take_the_last_words() -> None:
    assert does("uniq a", COPY) == ["READ a"]
    assert does("uniq a b", COPY) == ["READ a", "WRITE b"]
    assert does("uniq a b c", COPY) == ["READ a", "WRITE b", "EXECUTE <uniq>"]


def test_an_option_can_take_the_place_of_the_first_text() -> None:
    assert does("grep x a", COPY) == ["READ a"]
    assert does("grep -e x a", COPY) == ["READ a"]


def test_too_few_words_are_not_a_form_that_is_known() -> None:
    assert does("grep", COPY) == ["EXECUTE <grep>"]


def test_a_word_that_may_be_several_is_each_role_that_is_open() -> None:
    loose = Arg("$x", splits=True)
    assert does(("grep", loose, "a"), COPY) == ["READ a", "READ ?"]
    assert "EXECUTE <uniq>" in does(("uniq", loose), COPY)
    assert does(("run", loose, "ls"), COPY)[0] == "EXECUTE <run>"


def test_a_command_behind_options_is_run_with_all_its_words() -> None:
    assert does("run -n 1 x ls -l -n", COPY) == ["RUN ls -l -n"]
    assert does("run --frob x ls", COPY) == ["EXECUTE <run>", "RUN ls", "GAP wrapper-option"]


def test_standard_streams_are_no_files() -> None:
    assert does("uniq - /dev/null", COPY) == []


def test_every_value_of_a_word_counts() -> None:
    assert does(("uniq", Arg("{a,b}", ("a", "b"))), COPY) == ["READ a", "READ b"]
    assert does(("grep", "x", Arg("$f", kind="paths", under=("/w/src",))), COPY) == ["READ ?/w/src,/w"]


def test_a_secret_resource_or_an_unknown_one_is_asked_for() -> None:
    secret = ["READ <get>", "EXECUTE <get> !prints-secret"]
    assert does("get pods", COPY) == ["READ <get>"]
    assert does("get secret/x", COPY) == secret
    assert does("get pods,secret", COPY) == secret
    assert does(("get", Arg("x$x", prefix="x")), COPY) == secret


def test_words_must_have_the_form_that_the_row_asks_for() -> None:
    assert does("date +%s", COPY) == []
    assert does("date 010100002030", COPY) == ["EXECUTE <date> !system-change"]


def test_a_marked_word_carries_its_tags() -> None:
    assert does("mark main", COPY) == []
    assert does("mark +main", COPY) == ["EXECUTE <mark> !force-push"]


def test_roles_of_operands_may_have_tags() -> None:
    assert does("drop a", COPY) == ["DELETE+ a !discard-work"]


def test_printed_paths_lie_below_what_was_listed() -> None:
    assert (effects_of("here", COPY).prints, effects_of("here", COPY).under) == ("paths", ("/w",))
    assert effects_of(("here", Arg("$x", kind="word")), COPY).prints == ""


def test_names_that_were_told_elsewhere_may_lie_here_too() -> None:
    def under(cwd: str, *folders: str) -> tuple[str, ...]:
        found = interpret(("uniq", Arg("$f", kind="paths", under=folders)), cwd=cwd, home="/h", tables=COPY)
        return found.effects[0].target.under

    assert under("/w", "/w/src") == ("/w/src", "/w")
    assert under("/etc", "/w/src") == ("/w/src", "/etc")
    assert under("/w/src", "/w") == ()  # names that climb out of this folder may lie anywhere
    assert under("", "/w") == ()
    assert under("/etc", "/w/src/") == ("/w/src",)  # exact: told for this very command


WORTH = rows(
    say={"options": "-n!gives:number -l!gives:names -x=TEXT!gives:nothing", "operands": "TEXT*", "prints": "word"},
    count={"operands": "READ*!gives:nothing", "prints": "number"},
    time={"operands": "TEXT*", "marks": {"+%s": "!gives:number", "* *": "!gives:nothing"}},
)


def test_options_and_operands_say_what_the_output_is_worth() -> None:
    def worth(command: str | tuple[str | Arg, ...]) -> str:
        return effects_of(command, WORTH).prints

    assert [worth(f"say {options}") for options in ("", "-n", "-n -l", "-n -x y", "-x y -n")] == [
        "word",
        "number",
        "names",
        "",
        "",
    ]
    assert [worth("count"), worth("count a")] == ["number", ""]
    assert [worth("time +%s"), worth("time +x"), worth("time +%s 'a b'")] == ["number", "", ""]
    assert worth(("time", Arg("$x", kind="word"))) == ""


GROUPS = rows(
    cloud={"groups": "compute instances", "file_prefixes": ["file://"], "globals": "--json"},
    cloud_list={"service": "cloud"},
)


def test_groups_stand_for_any_path_of_known_words() -> None:
    tables = Tables(
        {
            "cloud": {"groups": "compute instances"},
            "cloud ** list": {"service": "cloud"},
            "cloud * get-*|ls": {"operands": "TEXT*"},
        }
    )
    assert does("cloud compute instances list", tables) == ["READ <cloud>"]
    assert does("cloud compute delete list", tables) == ["EXECUTE <cloud>"]
    assert does("cloud any get-this x", tables) == []
    assert does("cloud any ls", tables) == []


def test_files_named_by_a_prefix_are_read() -> None:
    assert does("cloud list --json file://a", GROUPS)[0] == "READ a"


def test_a_row_may_be_like_another_and_take_sets_of_options() -> None:
    tables = Tables(
        {
            "_set": {"options": "-a -o=WRITE"},
            "one": {"with": ["_set"], "options": "-o=READ", "operands": "TEXT*"},
            "two": {"like": "one", "operands": "DELETE*"},
        }
    )
    assert does("one -a -o x y", tables) == ["READ x"]
    assert does("two -o x y", tables) == ["READ x", "DELETE y"]
    assert does("_set -a", tables) == ["EXECUTE <_set>"]


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"optoins": "-a"}, 'commands."x".optoins: not a key of a row; did you mean `options`?'),
        ({"options": "-o=WRIET"}, 'commands."x".options: `WRIET` in `-o=WRIET` is not a role; did you mean `WRITE`?'),
        ({"options": "-o!act"}, 'commands."x".options: `!act` is not a tag; did you mean `acts`?'),
        ({"options": "-a -a"}, 'commands."x".options: `-a` is listed twice'),
        ({"options": "a"}, 'commands."x".options: `a` is not an option; write it as `-n,--name=ROLE!tag`'),
        ({"options": "--*"}, 'commands."x".options: `--*` says nothing of the values; write it as `--*=TEXT`'),
        (
            {"options": "--*=TEXT", "operands": "WRITE"},
            'commands."x".options: `--*=TEXT` is only for rows whose operands are `TEXT*`',
        ),
        ({"operands": "READ* WRITE*"}, 'commands."x".operands: only one role can take any number of words'),
        ({"operands": "RUN READ"}, 'commands."x".operands: RUN takes all words, so it must be last'),
        ({"runs": "yes"}, 'commands."x".runs: must be true or false'),
        ({"safe": "x"}, 'commands."x".safe: must be a list of strings'),
        ({"style": "dos"}, 'commands."x".style: must be one of bsd, gnu, go, posix, single, words'),
        ({"reader": "nobody"}, 'commands."x".reader: no reader is called `nobody`'),
    ],
)
def test_a_malformed_row_is_an_error_that_names_row_and_key(keys: dict[str, object], message: str) -> None:
    with pytest.raises(PolicyError) as caught:
        check_row("x", keys, readers=frozenset({"find"}))
    assert str(caught.value) == message


def test_a_users_row_replaces_a_shipped_one_and_is_checked() -> None:
    assert does("wc a", Tables({"wc": {"operands": "DELETE*"}})) == ["DELETE a"]
    with pytest.raises(PolicyError):
        Tables({"wc": {"operand": "READ*"}})
    with pytest.raises(PolicyError):
        Tables({"wc": {"like": "no such row"}})
