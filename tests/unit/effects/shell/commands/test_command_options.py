"""Words of a command line sorted by a row's options."""

from __future__ import annotations

from assent.effects.shell.command import Arg
from assent.effects.shell.commands.options import Parsed, parse
from assent.programs.option import options_of

OPTIONS = options_of(
    "-r,-R,--recursive -f,--force -o,--output=WRITE -n,--lines=TEXT --color[=TEXT] -NUM --outer --pair=TEXT=READ"
)


def given(
    *words: str | Arg, style: str = "gnu", pure: bool = False
) -> tuple[list[tuple[str, object]], list[object], bool]:
    parsed = parsed_as(*words, style=style, pure=pure)
    options: list[tuple[str, object]] = [(g.option.names[0], g.value) for g in parsed.given]
    return options, list(parsed.operands), not parsed.doubts


def parsed_as(*words: str | Arg, style: str = "gnu", pure: bool = False) -> Parsed:
    return parse(list(words), OPTIONS, style=style, pure=pure)


def test_clusters_come_apart_and_every_spelling_is_a_flag() -> None:
    assert given("-rf", "a") == ([("-r", None), ("-f", None)], ["a"], True)
    assert parsed_as("-R").flags == {"-r", "-R", "--recursive"}


def test_a_value_is_glued_or_behind_a_sign_or_the_next_word() -> None:
    for words in (("-ox",), ("-o", "x"), ("--output=x",), ("--output", "x"), ("-rox",)):
        options, operands, sure = given(*words)
        assert ("-o", "x") in options
        assert (operands, sure) == ([], True)


def test_an_optional_value_is_never_the_next_word() -> None:
    assert given("--color", "always") == ([("--color", None)], ["always"], True)
    assert given("--color=always") == ([("--color", "always")], [], True)


def test_numbers_are_options_where_the_row_says_so() -> None:
    assert given("-20", "a") == ([("-NUM", "20")], ["a"], True)


def test_two_dashes_end_the_options() -> None:
    assert given("-r", "--", "-f") == ([("-r", None)], ["-f"], True)


def test_a_dash_alone_is_an_operand() -> None:
    assert given("-") == ([], ["-"], True)


def test_an_unknown_option_is_a_doubt() -> None:
    assert given("--frob")[2] is False
    assert given("-rx")[2] is False
    assert given("--force=x")[2] is False
    assert given("-o")[2] is False


def test_an_abbreviation_counts_and_is_a_doubt_unless_all_options_are_known_to_be_harmless() -> None:
    assert given("--outp=x") == ([("-o", "x")], [], False)
    assert given("--rec", pure=True) == ([("-r", None)], [], True)
    assert "--output" in parsed_as("--out=x").flags


def test_posix_options_end_at_the_first_operand() -> None:
    assert given("-r", "a", "-f", style="posix") == ([("-r", None)], ["a", "-f"], True)


def test_options_of_one_dash_may_end_at_the_first_operand_too() -> None:
    assert given("-outer", "a", "-outer", style="go") == ([("--outer", None)], ["a", "-outer"], True)
    assert given("-outer", "a", "-outer", style="single") == ([("--outer", None), ("--outer", None)], ["a"], True)


def test_an_option_may_take_two_values() -> None:
    parsed = parsed_as("--pair", "x", "y", "z")
    assert (parsed.given[0].values, parsed.operands) == (("x", "y"), ["z"])


def test_a_bare_cluster_is_one_only_where_every_letter_is_an_option() -> None:
    assert given("rf", "a", style="bsd") == ([("-r", None), ("-f", None)], ["a"], True)
    assert given("rq", "a", style="bsd") == ([], ["rq", "a"], True)


def test_an_unknown_word_is_a_doubt_where_it_could_be_an_option() -> None:
    assert given(Arg("$x"))[2] is False
    assert given(Arg('"$x"'))[2] is False
    assert given(Arg("$x", kind="names"))[2] is False
    assert given(Arg("*", ("*",), pattern=True))[2] is False
    assert given(Arg("a$x", splits=True, prefix="a"))[2] is False
    assert given(Arg("-{r,f}", ("-r", "-f")))[2] is False


def test_an_unknown_word_is_no_doubt_where_it_cannot_be_an_option() -> None:
    assert given(Arg("$x", kind="number"))[2]
    assert given(Arg("$x", kind="paths"))[2]
    assert given(Arg("src/$x", prefix="src/"))[2]
    assert given(Arg("src/*", ("src/*",), pattern=True))[2]
    assert given("--", Arg("$x"))[2]
    assert given(Arg("$x"), pure=True)[2]


def test_an_option_is_known_by_its_name_though_its_value_is_not() -> None:
    assert given(Arg("--lines=$x", prefix="--lines=")) == ([("-n", Arg("$x"))], [], True)
    assert given(Arg("--lines=$x", prefix="--lines=", splits=True))[2] is False
    assert given(Arg("--frob=$x", prefix="--frob="))[2] is False
    assert given(Arg("--$x", prefix="--"))[2] is False


def test_an_unknown_value_that_splits_may_be_more_than_the_value() -> None:
    parsed = parsed_as("-n", Arg("$x", splits=True), "a")
    assert parsed.spills == [Arg("$x", splits=True)]
    assert parsed.doubts == ["$x"]


OTHERS = options_of("--*=TEXT --save-as=WRITE --with-secret!acts --size=TEXT")


def others(*words: str) -> tuple[list[tuple[str, object]], list[object], bool]:
    parsed = parse(list(words), OTHERS)
    return [(g.option.names[0], g.value) for g in parsed.given], list(parsed.operands), not parsed.doubts


def test_any_other_long_option_is_covered_with_a_plain_value() -> None:
    assert others("--frob=x", "--bar", "y") == ([("--*", "x"), ("--*", None)], ["y"], True)
    assert others("--siz", "5") == ([("--*", None)], ["5"], True)


def test_no_value_with_a_dash_no_short_option_and_no_abbreviation_of_a_harmful_one_is_covered() -> None:
    assert others("--frob=-x")[2] is False
    assert others("-x")[2] is False
    assert others("--save=x")[2] is False
    assert others("--with")[2] is False
    assert others("--*", "--save-as", "x")[0] == [("--save-as", "x")]


def test_another_long_option_stays_uncovered_by_rules() -> None:
    assert parse(["--frob", "--size=1"], OTHERS).odd == [0]
