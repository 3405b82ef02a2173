"""Visible effects of Python code that is not proved harmless."""

from __future__ import annotations

from typing import Any

from assent.effects.code.dataflow.call_effects import CodeEffects
from assent.effects.code.dataflow.endless_loops import python_marks, python_starts_endlessly
from assent.effects.code.dataflow.evaluate import Evaluator
from assent.effects.code.dataflow.nodes import NameScope
from assent.effects.code.dataflow.python_library import ACTIONS, PythonLanguage
from assent.effects.code.dataflow.python_nodes import python_nodes
from assent.effects.code.python_parse import parsed
from assent.effects.shell.commands.command_effects import EffectsBuilder

_DEEPEST = 3
_TIES = frozenset({"os.dup2", "pty.spawn"})
_STARTS = _TIES | {"subprocess.call", "subprocess.Popen", "subprocess.run", "os.execl"}


def python_effects(builder: EffectsBuilder, tree: Any, outer: NameScope | None = None, depth: int = 0) -> None:
    """Record the effects of the code in a syntax tree. `outer`: the names of the code that evaluates it."""
    code = python_nodes(tree, outer)
    language = PythonLanguage(builder.home, builder.cwd, builder.script_folder, builder.argv)
    inline = not builder.script_folder

    def reads(text: str) -> None:
        inner = parsed(text) if depth < _DEEPEST else False
        if not inner:
            builder.danger("built-code")
        else:
            python_effects(builder, inner, code.top, depth + 1)

    found = CodeEffects(builder, Evaluator(code, language), ACTIONS, reads, unnamed=inline)
    found.read()
    if python_starts_endlessly(tree):
        builder.danger("fork-bomb")
    builder.danger(*python_marks(tree))
    starts = _STARTS if inline else _TIES
    if any(ref.startswith("socket.") for ref in found.called) and not found.called.isdisjoint(starts):
        builder.danger("reverse-shell")
