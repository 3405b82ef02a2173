"""The page as it is served: no markup from text, nothing inline, nothing from elsewhere, every file there."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from assent.contract import words
from assent.contract.approval import Ending, Scope
from assent.policy.modes import Mode
from assent.server import app

VOCABULARY = "/page/vocabulary.js"  # made when the server starts
FOLDER = Path(app.FOLDER)
SCRIPTS = sorted(FOLDER.glob("*.js"))
INDEX = (FOLDER / "index.html").read_text(encoding="utf-8")
# Each makes markup or code out of text, or leads out of the page.
FORBIDDEN = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|createContextualFragment|DOMParser|\beval\b|new Function"
    r"|setAttribute\(\"(on|style|srcdoc)|javascript:|\bimport\("
)


def test_every_file_is_served_and_nothing_else() -> None:
    served = app.load()
    there = {path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*") if path.suffix in app.KINDS}
    assert set(served) == {"/", VOCABULARY} | {f"/page/{name}" for name in there if name != "index.html"}


def test_the_words_of_the_page_are_those_of_the_other_surfaces() -> None:
    body = app.load()[VOCABULARY].body
    assert isinstance(body, bytes)
    table = json.loads(body.decode("ascii").removeprefix("export default ").removesuffix(";\n"))
    assert {name: each["offer"] for name, each in table["scopes"].items()} == {
        scope.value: words.of_scope(scope).offer for scope in Scope
    }
    assert table["endings"] == {ending.value: words.ENDINGS[ending] for ending in Ending}
    assert table["runtimes"]["claude"] == "Claude Code"
    assert table["modes"] == [mode.word for mode in Mode]


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_no_script_makes_markup_or_code_out_of_text(path: Path) -> None:
    assert FORBIDDEN.findall(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_every_script_imports_what_is_there(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for names, file in re.findall(r"^import \{([^}]*)\} from \"\./([\w.]+)\";", text, re.MULTILINE):
        other = (FOLDER / file).read_text(encoding="utf-8")
        exported = set(re.findall(r"^export (?:async )?(?:function|class|const|let) ([$\w]+)", other, re.MULTILINE))
        wanted = {name.strip() for name in names.split(",") if name.strip()}
        assert wanted <= exported, f"{path.name} imports {wanted - exported} from {file}"
        assert all(
            re.search(rf"(?<![\w$]){re.escape(name)}(?![\w$])", text.split(f'"./{file}";')[1]) for name in wanted
        )


def test_the_page_has_nothing_inline_and_nothing_from_elsewhere() -> None:
    assert re.findall(r"<script(?![^>]*\bsrc=)[^>]*>|<style|\son\w+=|\sstyle=", INDEX) == []
    files = [*SCRIPTS, *FOLDER.rglob("*.css"), FOLDER / "index.html"]
    for path in files:
        found = re.findall(r"(?:https?:)?//[\w.-]+\.\w+", path.read_text(encoding="utf-8"))
        assert [each for each in found if "www.w3.org" not in each] == [], path.name


def test_everything_that_the_page_loads_is_there() -> None:
    served = app.load()
    loaded = re.findall(r"(?:href|src)=\"(/[^\"]+)\"", INDEX)
    assert len(loaded) > 5
    assert [each for each in loaded if each not in served] == []


READ = [  # what is written on what
    *(("ink", on) for on in ("bg", "panel", "sunk")),
    *(("soft", on) for on in ("bg", "panel", "sunk")),
    *(("faint", on) for on in ("bg", "panel", "sunk")),
    *((kind, on) for kind in ("accent", "allow", "ask", "deny") for on in ("bg", "panel")),
    ("panel", "ask"),
]


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (each / 12.92 if each <= 0.03928 else ((each + 0.055) / 1.055) ** 2.4 for each in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_can_be_read_on_what_it_is_written_on(scheme: str) -> None:
    light, dark = (FOLDER / "css/base.css").read_text(encoding="utf-8").split("@media (prefers-color-scheme: dark)")
    colours = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})\b", light if scheme == "light" else dark))
    for text, on in READ:
        brighter, darker = sorted((luminance(colours[text]), luminance(colours[on])), reverse=True)
        assert (brighter + 0.05) / (darker + 0.05) >= 4.5, (text, on)
