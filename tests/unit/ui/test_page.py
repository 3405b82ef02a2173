"""The page as it is served: no markup from text, nothing inline, nothing from elsewhere, every file there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from assent.ui.api import pages

FOLDER = Path(pages.FOLDER)
SCRIPTS = sorted(FOLDER.glob("*.js"))
INDEX = (FOLDER / "index.html").read_text(encoding="utf-8")
# Each makes markup or code out of text, or leads out of the page.
FORBIDDEN = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|createContextualFragment|DOMParser|\beval\b|new Function"
    r"|setAttribute\(\"(on|style|srcdoc)|javascript:|\bimport\("
)


def test_every_file_is_served_and_nothing_else() -> None:
    served = pages.load()
    there = {path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*") if path.suffix in pages.KINDS}
    assert set(served) == {"/"} | {f"/page/{name}" for name in there if name != "index.html"}


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
    served = pages.load()
    loaded = re.findall(r"(?:href|src)=\"(/[^\"]+)\"", INDEX)
    assert len(loaded) > 5
    assert [each for each in loaded if each not in served] == []
