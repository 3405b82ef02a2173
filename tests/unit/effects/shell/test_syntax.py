"""The reader's trees, written out. That they are bash's own is held by tests/differential."""

from __future__ import annotations

import time

import pytest

from assent.contract import Value, fields
from assent.effects.shell.syntax import LARGEST, read
from assent.effects.shell.tree import (
    Arithmetic,
    ArithmeticCommand,
    Assignment,
    Brace,
    CaseCommand,
    Command,
    CommandSub,
    Conditional,
    Coproc,
    For,
    ForArithmetic,
    Function,
    GlobPart,
    Group,
    If,
    Literal,
    Loop,
    Parameter,
    Part,
    Pipeline,
    ProcessSub,
    Reading,
    Redirect,
    Script,
    Simple,
    Tilde,
    Word,
)


def bare(node: object) -> object:
    """The tree without positions and source text, so that a test can write it down."""
    if isinstance(node, tuple):
        return tuple(bare(item) for item in node)
    if not isinstance(node, Value):
        return node
    plain = ("start", "end") + (("text",) if isinstance(node, Word | Brace) else ())
    return (type(node).__name__, *(bare(getattr(node, name)) for name in fields(type(node)) if name not in plain))


def parts(*pieces: Part | str) -> tuple[Part, ...]:
    return tuple(Literal(piece) if isinstance(piece, str) else piece for piece in pieces)


def word(*pieces: Part | str) -> Word:
    return Word(parts(*pieces), "")


def quoted(text: str) -> Literal:
    return Literal(text, True)


def simple(*words: Word | str, assign: tuple[Assignment, ...] = (), redirects: tuple[Redirect, ...] = ()) -> Simple:
    return Simple(assign, tuple(word(one) if isinstance(one, str) else one for one in words), redirects)


def script(*commands: Command, joins: tuple[str, ...] | None = None) -> Script:
    return Script(commands, (*(";" for _ in commands[1:]), "") if joins is None else joins)


def line(command: Command) -> Script:
    return Script((command,), (";",))


def assigned(name: str, *pieces: Part | str) -> Assignment:
    return Assignment(name, word(*pieces))


a, b, c, d = simple("a"), simple("b"), simple("c"), simple("d")

TREES: dict[str, Script] = {
    # lists and pipelines
    "": script(joins=()),
    "  \n # only a comment": script(joins=()),
    "a": script(a),
    "a b": script(simple("a", "b")),
    "a;b": script(a, b),
    "a && b || c & d": script(a, b, c, d, joins=("&&", "||", "&", "")),
    "a\nb\n": script(a, b, joins=("\n", "\n")),
    "a |\nb |& c": script(Pipeline((a, b, c), merges=(False, True))),
    "! a": script(Pipeline((a,), negated=True)),
    "time -p a | b": script(Pipeline((a, b), timed=True, merges=(False,))),
    "a | time b": script(Pipeline((a, simple("time", "b")), merges=(False,))),
    "a#b #c": script(simple("a#b")),
    "a # b \\\nc": script(a, c, joins=("\n", "")),
    # words
    "a 'b c'\"d\"e\\ f": script(simple("a", word(quoted("b cd"), "e", quoted(" "), "f"))),
    "a '' \"\"": script(simple("a", word(quoted("")), word(quoted("")))),
    'a "x\\"\\$\\n"': script(simple("a", word(quoted('x"$\\n')))),
    "a $'\\x41\\n'": script(simple("a", word(quoted("A\n")))),
    "a\\\nb c\\\n d": script(simple("ab", "c", "d")),
    "a\r": script(simple("a\r")),
    "a *.c ?[!x]y [b": script(
        simple("a", word(GlobPart("*"), ".c"), word(GlobPart("?"), GlobPart("[!x]"), "y"), "[b"),
    ),
    "a ~ ~b/c x=~/d:~ --e=~ '~'": script(
        simple(
            "a",
            word(Tilde("")),
            word(Tilde("b"), "/c"),
            word("x=", Tilde(""), "/d:", Tilde("")),
            word("--e=~"),
            word(quoted("~")),
        )
    ),
    'a $b "$c" ${d} $1 $@': script(
        simple(
            "a",
            word(Parameter("b")),
            word(Parameter("c", quoted=True)),
            word(Parameter("d")),
            word(Parameter("1")),
            word(Parameter("@")),
        )
    ),
    "a $": script(simple("a", "$")),
    # parameters
    "a ${x:-b $(c)}": script(simple("a", word(Parameter("x", op=":-", operand=word("b ", CommandSub(script(c))))))),
    "a \"${x:-'$(c)'}\"": script(
        simple(
            "a",
            word(
                Parameter(
                    "x", op=":-", operand=word(quoted("'"), CommandSub(script(c), True), quoted("'")), quoted=True
                )
            ),
        )
    ),
    "a ${x:-'$(c)'}": script(simple("a", word(Parameter("x", op=":-", operand=word(quoted("$(c)")))))),
    "a ${#x} ${!x} ${x@P} ${x^^}": script(
        simple(
            "a",
            word(Parameter("x", op="#")),
            word(Parameter("x", indirect=True)),
            word(Parameter("x", op="@P")),
            word(Parameter("x", op="^^", operand=word())),
        )
    ),
    "a ${x//b/c} ${x:1:2} ${x[$i]}": script(
        simple(
            "a",
            word(Parameter("x", op="//", operand=word("b"), operand2=word("c"))),
            word(Parameter("x", op=":", operand=word(quoted("1")), operand2=word(quoted("2")))),
            word(Parameter("x", subscript=word(Parameter("i", quoted=True)))),
        )
    ),
    # substitutions
    "a $(b; c) `d`": script(simple("a", word(CommandSub(script(b, c))), word(CommandSub(script(d))))),
    'a "x$(b "c")y"': script(
        simple("a", word(quoted("x"), CommandSub(script(simple("b", word(quoted("c")))), True), quoted("y")))
    ),
    "a `b \\`c\\``": script(simple("a", word(CommandSub(script(simple("b", word(CommandSub(script(c))))))))),
    "a <(b) x>(c)": script(simple("a", word(ProcessSub(script(b), "<")), word("x", ProcessSub(script(c), ">")))),
    "a $((1 + $(b))) $[x]": script(
        simple(
            "a",
            word(Arithmetic("1 + $(b)", (CommandSub(script(b), True),))),
            word(Arithmetic("x")),
        )
    ),
    "a $((b); c)": script(simple("a", word(CommandSub(script(Group(script(b), True), c))))),
    "a $(<b)": script(simple("a", word(CommandSub(script(simple(redirects=(Redirect("<", "", word("b")),))))))),
    "a $(case x in y) b;; esac)": script(
        simple("a", word(CommandSub(script(CaseCommand(word("x"), (((word("y"),), script(b)),))))))
    ),
    # braces
    "a {b,c}d": script(simple("a", word(Brace((parts("bd"), parts("cd")), "")))),
    "{rm,-rf,/}": script(simple(word(Brace((parts("rm"), parts("-rf"), parts("/")), "")))),
    "a {1..3} {c..a} {01..02}": script(
        simple(
            "a",
            word(Brace((parts("1"), parts("2"), parts("3")), "")),
            word(Brace((parts("c"), parts("b"), parts("a")), "")),
            word(Brace((parts("01"), parts("02")), "")),
        )
    ),
    "a {b,{c,d}} {x} {} {y,": script(
        simple("a", word(Brace((parts("b"), parts("c"), parts("d")), "")), "{x}", "{}", "{y,")
    ),
    "a {'b,c',$(d)}": script(simple("a", word(Brace((parts(quoted("b,c")), parts(CommandSub(script(d)))), "")))),
    "a {1..100000}": script(simple("a", word(Brace(None, "")))),
    "x={b,c}": script(simple(assign=(assigned("x", "{b,c}"),))),
    # assignments
    "x=1 y= a z=2": script(simple("a", "z=2", assign=(assigned("x", "1"), assigned("y")))),
    "x+=b": script(simple(assign=(Assignment("x", word("b"), append=True),))),
    "x[$(b)]=c": script(
        simple(assign=(Assignment("x", word("c"), subscript=word(CommandSub(script(b), True))),)),
    ),
    "x=(b 'c d') a": script(simple("a", assign=(Assignment("x", None, items=(word("b"), word(quoted("c d")))),))),
    "x=(\n[i j]=b # c\n)": script(
        simple(assign=(Assignment("x", None, items=(word("[", quoted("i j"), "]=", "b"),)),)),
    ),
    "declare -a x=(b) y": script(simple("declare", "-a", "y", assign=(Assignment("x", None, items=(word("b"),)),))),
    # redirects
    "a >f b 2>&1 c": script(
        simple("a", "b", "c", redirects=(Redirect(">", "", word("f")), Redirect(">&", "2", word("1"))))
    ),
    "<i a 3<>o {v}>p &>>q >|r": script(
        simple(
            "a",
            redirects=(
                Redirect("<", "", word("i")),
                Redirect("<>", "3", word("o")),
                Redirect(">", "{v}", word("p")),
                Redirect("&>>", "", word("q")),
                Redirect(">|", "", word("r")),
            ),
        )
    ),
    "a 2&>f": script(simple("a", "2", redirects=(Redirect("&>", "", word("f")),))),
    "a >&-b": script(simple("a", "b", redirects=(Redirect(">&", "", word("-")),))),
    "a < <(b) <<<$c": script(
        simple(
            "a",
            redirects=(
                Redirect("<", "", word(ProcessSub(script(b), "<"))),
                Redirect("<<<", "", word(Parameter("c"))),
            ),
        )
    ),
    # here-documents
    "a <<E b\n$(c) \\$x\nE\nd": script(
        simple(
            "a",
            "b",
            redirects=(Redirect("<<", "", word("E"), word(CommandSub(script(c), True), quoted(" $x\n"))),),
        ),
        d,
        joins=("\n", ""),
    ),
    "a <<'E'F <<-G\n$(b)\nEF\n\t\tc\n\tG\nd": script(
        simple(
            "a",
            redirects=(
                Redirect("<<", "", word(quoted("EF")), word(quoted("$(b)\n")), True),
                Redirect("<<-", "", word("G"), word(quoted("c\n"))),
            ),
        ),
        d,
        joins=("\n", ""),
    ),
    "a <<E\nb": script(simple("a", redirects=(Redirect("<<", "", word("E"), word(quoted("b\n"))),)), joins=("\n",)),
    "a <<E\nx\\\nE\nE\nb": script(
        simple("a", redirects=(Redirect("<<", "", word("E"), word(quoted("xE\n"))),)), b, joins=("\n", "")
    ),
    # compound commands
    "{ a; }": script(Group(Script((a,), (";",)), False)),
    "(a) >f": script(Group(script(a), True, (Redirect(">", "", word("f")),))),
    "((x)); ( (a) )": script(ArithmeticCommand(Arithmetic("x")), Group(script(Group(script(a), True)), True)),
    "((a) )": script(Group(script(Group(script(a), True)), True)),
    "if a; then b; elif c; then d; else a; fi": script(
        If(((line(a), line(b)), (line(c), line(d))), line(a)),
    ),
    "while a; do b; done": script(Loop(line(a), line(b))),
    "for x in b {c,d}; do a; done": script(
        For("x", (word("b"), word(Brace((parts("c"), parts("d")), ""))), line(a)),
    ),
    "for x do a; done": script(For("x", None, line(a))),
    "select x in b; do a; done": script(For("x", (word("b"),), line(a), True)),
    "for ((i=0; i<3; i++)); do a; done": script(ForArithmetic(Arithmetic("i=0; i<3; i++"), line(a))),
    "case $x in b|'c') a;; (*) d; esac": script(
        CaseCommand(
            word(Parameter("x")),
            (((word("b"), word(quoted("c"))), script(a)), ((word(GlobPart("*")),), line(d))),
        )
    ),
    "[[ -f $x && y =~ (b c)|d ]]": script(
        Conditional((word("-f"), word(Parameter("x")), word("&&"), word("y"), word("=~"), word("(b c)|d")))
    ),
    "f() { a; } >g": script(Function("f", Group(line(a), False, (Redirect(">", "", word("g")),)))),
    "function f { a; }": script(Function("f", Group(line(a), False))),
    "coproc a b": script(Coproc("COPROC", simple("a", "b"))),
    "coproc x { a; }": script(Coproc("x", Group(line(a), False))),
    "echo if then fi": script(simple("echo", "if", "then", "fi")),
}


@pytest.mark.parametrize("text", TREES)
def test_a_text_reads_as_the_tree_written_beside_it(text: str) -> None:
    reading = read(text)
    assert (bare(reading.script), reading.gaps) == (bare(TREES[text]), ())


def test_positions_are_those_of_the_text() -> None:
    text = "a=1 cat 'b c' >f $(d)"
    inner = Simple((), (Word((Literal("d"),), "d", 19, 20),), (), 19, 20)
    assert read(text).script == Script(
        (
            Simple(
                (Assignment("a", Word((Literal("1"),), "1", 2, 3), start=0, end=3),),
                (
                    Word((Literal("cat"),), "cat", 4, 7),
                    Word((Literal("b c", True),), "'b c'", 8, 13),
                    Word((CommandSub(Script((inner,), ("",)), False, 17, 21),), "$(d)", 17, 21),
                ),
                (Redirect(">", "", Word((Literal("f"),), "f", 15, 16), start=14, end=16),),
                0,
                21,
            ),
        ),
        ("",),
    )


def test_continued_lines_leave_positions_behind_them_as_they_were() -> None:
    reading = read("a\\\nb c")
    assert [(one.text, one.start, one.end) for one in words(reading)] == [("ab", 2, 4), ("c", 5, 6)]


def words(reading: Reading) -> tuple[Word, ...]:
    command = reading.script.commands[0]
    assert isinstance(command, Simple)
    return command.words


def codes(text: str) -> list[str]:
    return [code.removeprefix("gap.shell.") for code, _, _ in read(text).gaps]


@pytest.mark.parametrize(
    "text",
    ["a 'b", 'a "b', "a `b", "a $(b", "a ${b", "(a", "a)", "{ a", "a &&", "| a", "a;;", "if a; fi", "for x; a", "a >"],
)
def test_what_bash_refuses_is_a_syntax_gap_and_no_command(text: str) -> None:
    assert (codes(text), read(text).script) == (["syntax"], Script((), ()))


def test_lines_before_a_refused_line_have_run() -> None:
    reading = read("a\nb; c\nd 'x\na")
    assert bare(reading.script) == bare(script(a, b, c, joins=("\n", ";", "\n")))
    assert [code for code, _, _ in reading.gaps] == ["gap.shell.syntax"]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("a !(b)", "extglob"),
        ("!(a)", "extglob"),
        ("a \x07", "control-character"),
        ("a\0b", "control-character"),
        ("a ${x.y}", "substitution"),
        ("a ${ b; }", "unmodelled"),
        ("a \\", "unmodelled"),
        ("a $(( \\$(b) ))", "unmodelled"),
        ("a {A..z}", "unmodelled"),
        ("echo $(cat <<E; a; b\nE\n)", "here-document"),
        ("echo $(cat <<E)\nE", "here-document"),
        ("cat <<$(a)\n", "here-document"),
        ("a " + "$(" * 60 + ")" * 60, "limit"),
        ("{ " * 60 + "a" + "; }" * 60, "limit"),
        ("a {x,y}{x,y}{x,y}{x,y}{x,y}{x,y}{x,y}{x,y}{x,y}$b", "limit"),
        ("a;" * 20_000, "limit"),
    ],
)
def test_what_is_not_modelled_is_a_gap(text: str, code: str) -> None:
    assert codes(text) == [code]


def test_a_gap_that_is_not_bashs_own_refusal_keeps_the_commands_before_it() -> None:
    reading = read("a; { b; c " + "$(" * 60 + ")" * 60 + "; }")
    assert bare(reading.script) == bare(script(a, b, joins=(";", ";")))


def test_a_nul_is_read_as_if_it_were_not_there() -> None:
    assert bare(read("a\0b c").script) == bare(script(simple("ab", "c")))


def test_a_text_that_is_too_long_is_read_as_far_as_it_goes() -> None:
    reading = read("a; b '" + "x" * LARGEST)
    assert (codes("a; b '" + "x" * LARGEST)[0], bare(reading.script)) == ("limit", bare(script(a, joins=(";",))))


@pytest.mark.parametrize(
    "piece",
    [
        "(",
        "{ ",
        "$(",
        "${x:-",
        "((",
        "$((",
        "$[",
        "<(",
        "if a; then ",
        "case a in b) ",
        "[[ ( ",
        "a[",
        "f() { ",
    ],
)
def test_deep_nesting_is_answered_quickly_and_without_a_crash(piece: str) -> None:
    began = time.process_time()
    assert read(piece * 500).gaps != ()
    assert time.process_time() - began < 2


@pytest.mark.parametrize(
    "text", ["a ", "'a'", "$x", '"$x"', "a\\\n", "{a,b}", "`a`", "<<E\n", "a;", "a\n", "\\a", "~:", "[", "é"]
)
@pytest.mark.slow
def test_a_megabyte_is_answered_within_seconds(text: str) -> None:
    began = time.process_time()
    read(text * (1_000_000 // len(text)))
    assert time.process_time() - began < 5


def test_a_text_that_is_translated_is_not_known() -> None:
    assert codes('a $"b"') == ["unmodelled"]
    assert codes('a "b$"') == []
