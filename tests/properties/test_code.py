"""Laws of the readers of code that hold for any text, and for any nesting of shapes that code has."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.effects.code import python
from assent.effects.code.inline import script
from assent.effects.shell.commands.command_effects import EffectsBuilder
from tests.examples import examples

LANGUAGES = ("python3", "node", "ruby", "perl", "php", "lua")
PIECES = (
    "a b x os fs shutil rmtree rmSync unlink open eval exec system require import from as def class function sub end "
    "do if else for in of while try except catch return yield await async lambda => -> :: . ?. ... ( ) [ ] { } , ; : = "
    "+= == + - * / % ** | || && ?? ? ! @ # $ & < > << >>> ' \" ` \\ // /* */ # -- #{ ${ }} %w[ %x( qx{ q( s/ <<~E E '''"
    ' """ f" r\' $_ $x @x %h $ENV{HOME} process.env os.environ ENV __file__ __dirname 0 1 1e9 /x/ None null'
).split()
TEXTS = st.lists(st.sampled_from([*PIECES, " ", " ", "\n", "\n    ", "\t", "\r", "\0", "é", "\ue000", "\udcff"])).map(
    "".join
)
ANY = st.text(st.characters(exclude_categories=())) | TEXTS

# Shapes with places for other code: %s an expression, %% itself.
PYTHON = (
    "f(%s, *%s, k=%s)|%s.a|%s[%s]|%s + %s|(lambda x, y=%s: %s)|[%s for x in %s if %s]|{%s: %s, **%s}|f'{%s}x'"
    "|%s if %s else %s|getattr(os, %s)|os.path.join(%s, %s)|open(%s, %s)|subprocess.run(%s, cwd=%s)|eval(%s)"
    "|os.environ[%s]|(x := %s)|Path(%s) / %s|requests.post(%s, data=%s)|'x'|x|os|1|None|shutil.rmtree"
    "|'/a' '%%s' %% %s|'{}'.format(%s)|not %s|await_(%s)|__import__(%s)"
).split("|")
NODE = (
    "f(%s, ...%s)|%s.a|%s[%s]|%s + %s|(x, y = %s) => %s|function (a) { return %s; }|{a: %s, [%s]: %s, ...%s}"
    "|`x${%s}y`|%s ? %s : %s|require(%s)|fs.rmSync(%s, {recursive: %s})|exec(%s, {cwd: %s})|eval(%s)|process.env[%s]"
    "|new A(%s)|[%s, %s]|fetch(%s, {body: %s})|'x'|x|fs|1|/a'/|await %s|%s as any|%s!|class { a() { %s } }"
    "|$`a ${%s}`|x = %s|x.forEach(y => %s)"
).split("|")
SHAPES = {"python3": PYTHON, "node": NODE}


@st.composite
def nested(draw: st.DrawFn, shapes: tuple[str, ...]) -> str:
    """Shapes in each other."""
    text = "%s"
    for _ in range(draw(st.integers(0, 40))):
        if "%s" not in text or len(text) > 4000:
            break
        text = text.replace("%s", draw(st.sampled_from(shapes)), 1)
    return text.replace("%s", "x").replace("%%", "%")


def read(language: str, text: str, folder: str = "") -> EffectsBuilder:
    builder = EffectsBuilder(language, "/w", "/home/u")
    builder.script_folder = folder
    if language == "python3":
        python.judge(builder, text)
    else:
        script(builder, text, language)
    return builder


@pytest.mark.parametrize("language", LANGUAGES)
@examples(150)
@given(text=ANY)
def test_reading_code_never_raises_and_is_the_same_each_time(language: str, text: str) -> None:
    for folder in ("", "/w/tools"):
        assert read(language, text, folder).build() == read(language, text, folder).build()


@pytest.mark.parametrize("language", tuple(SHAPES))
@examples(150)
@given(data=st.data())
def test_any_nesting_of_shapes_is_read(language: str, data: st.DataObject) -> None:
    shapes = tuple(SHAPES[language])
    parts = data.draw(st.lists(nested(shapes), max_size=6))
    read(language, "\n".join(parts), "/w/tools")


@pytest.mark.parametrize("language", LANGUAGES)
@examples(60)
@given(text=ANY)
def test_a_command_behind_any_code_is_seen_or_doubted(language: str, text: str) -> None:
    """What comes before a call does not hide it, unless it ends the code or opens a text or comment."""
    call = {"python3": "\nimport os\nos.system('rm -rf /x')\n", "perl": ";\nsystem('rm -rf /x');\n"}
    call |= {
        "php": ";\nsystem('rm -rf /x');\n",
        "ruby": "\nsystem('rm -rf /x')\n",
        "lua": "\nos.execute('rm -rf /x')\n",
    }
    quotes = ("'", '"', "`", "/", "#", "-", "<", "\\", "=", "q", "m", "s", "t", "y", "%", "[", "?", "\0", "__")
    if language == "node" or any(mark in text for mark in quotes):
        return
    if language == "lua" and text.rstrip().endswith((".", ":")):
        return  # `os` is then a field of what comes before
    found = read(language, text + call[language], "/w/tools").build()
    shown = [run.script for run in found.runs]
    assert "rm -rf /x" in shown or found.gaps or any("built-code" in effect.dangers for effect in found.effects)
