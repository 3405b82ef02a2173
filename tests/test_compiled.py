"""What scripts/compiled.py hands to mypyc: the same module, line by line, and nothing that it cannot hold to."""

from __future__ import annotations

import ast

import pytest

from scripts import compiled

SOURCES = compiled.ROOT / "src"
MODULES = compiled.modules(SOURCES / compiled.PACKAGE)


@pytest.mark.parametrize("path", MODULES)
def test_a_module_keeps_its_lines(path: str) -> None:
    text = (SOURCES / path).read_text()
    made = compiled.ready(text)
    assert len(made.split("\n")) == len(text.split("\n"))
    assert _places(ast.parse(made)) == _places(ast.parse(text))


@pytest.mark.parametrize("path", MODULES)
def test_a_module_counts_how_deep_it_goes_by_itself(path: str) -> None:
    caught = [
        ast.unparse(node.type)
        for node in ast.walk(ast.parse((SOURCES / path).read_text()))
        if isinstance(node, ast.ExceptHandler) and node.type is not None
    ]
    assert [each for each in caught if "RecursionError" in each] == []


@pytest.mark.parametrize("path", MODULES)
def test_fields_are_set_in_the_order_of_the_slots(path: str) -> None:
    """The compiler orders the fields of a value by the first, the interpreter by the second."""
    for kind in ast.walk(ast.parse((SOURCES / path).read_text())):
        if isinstance(kind, ast.ClassDef) and any(ast.unparse(base) == "Value" for base in kind.bases):
            assert _set(kind) == _slots(kind), kind.name


def _set(kind: ast.ClassDef) -> list[str]:
    """What `__init__` sets, in its order."""
    found = [each for each in kind.body if isinstance(each, ast.FunctionDef) and each.name == "__init__"]
    stores = (node for each in found for node in ast.walk(each) if isinstance(node, ast.Attribute))
    own = (node for node in stores if isinstance(node.ctx, ast.Store) and ast.unparse(node.value) == "self")
    return list(dict.fromkeys(node.attr for node in sorted(own, key=lambda node: (node.lineno, node.col_offset))))


def _slots(kind: ast.ClassDef) -> list[str]:
    for each in kind.body:
        if isinstance(each, ast.Assign) and ast.unparse(each.targets[0]) == "__slots__":
            return list(ast.literal_eval(each.value))
    return []


def test_what_only_runs_is_made_for_the_checker_too() -> None:
    text = """
TYPE_CHECKING = False
if TYPE_CHECKING:
    from a import other
    from c import late

    Name = str
else:
    from b import late


class Value:
    pass
"""
    assert (
        compiled.ready(text)
        == """
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any; from a import other; Name = str
from b import late




if MYPY: from mypy_extensions import mypyc_attr
@mypyc_attr(allow_interpreted_subclasses=True)
class Value:
    pass
"""
    )


def test_constants_and_members_of_enumerations_are_looked_up_once() -> None:
    text = """
from __future__ import annotations
from a import Kind
MOST, _kept = 4, Kind.PATH
ONE = Kind.PATH
Word = str | Kind
_known: dict[str, Kind] = {}

def f(x: Kind = Kind.HOST) -> Kind:
    y: Kind = Kind.PATH; "…", Kind.PATH
    match x:
        case Kind.TOOL if y is Kind.HOST:
            return y.PATH
"""
    assert (
        compiled.ready(text)
        == """
from __future__ import annotations; from typing import Final; MYPY = False
from a import Kind; Kind_HOST: Final = Kind.HOST; Kind_PATH: Final = Kind.PATH
MOST: Final = 4; _kept: Final = Kind.PATH
ONE: Final = Kind.PATH
Word = str | Kind
_known: Final[dict[str, Kind]] = {}

def f(x: Kind = Kind.HOST) -> Kind:
    y: Kind = Kind_PATH; "…", Kind_PATH
    match x:
        case Kind.TOOL if y is Kind_HOST:
            return y.PATH
"""
    )


def test_constants_that_tests_set_stay_names_of_their_modules() -> None:
    for name in compiled.SET_BY_TESTS:
        assert compiled.constant(f"from a import b\n{name} = 1\n") == f"from a import b\n{name} = 1\n"


def test_what_the_other_half_makes_in_another_way_is_refused() -> None:
    with pytest.raises(compiled.NotCompiled, match="is not known in the other half"):
        compiled.ready("if TYPE_CHECKING:\n    import a\nelse:\n    for a in b: pass\n")


def test_a_module_that_is_not_there_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "MODULES", ["engine/engine", "nowhere/*"])
    with pytest.raises(compiled.NotCompiled, match="no module is named nowhere"):
        compiled.modules(SOURCES / compiled.PACKAGE)


def _places(tree: ast.Module) -> dict[str, int]:
    kinds = (ast.FunctionDef, ast.ClassDef)
    return {f"{node.name} {node.lineno}": node.lineno for node in ast.walk(tree) if isinstance(node, kinds)}
