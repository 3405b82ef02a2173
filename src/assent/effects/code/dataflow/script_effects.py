"""Visible effects of code of node, Ruby, Perl, PHP and Lua."""

from __future__ import annotations

from assent.effects.code.dataflow.actions import Actions
from assent.effects.code.dataflow.call_effects import CodeEffects
from assent.effects.code.dataflow.endless_loops import loop_marks, starts_endlessly
from assent.effects.code.dataflow.evaluate import Evaluator, Language
from assent.effects.code.dataflow.nodes import NameScope
from assent.effects.code.dataflow.script_nodes import script_nodes
from assent.effects.shell.commands.command_effects import EffectsBuilder

LONGEST_CODE = 524_288
_DEEPEST = 3


def script_effects(
    builder: EffectsBuilder, text: str, language: str, outer: NameScope | None = None, depth: int = 0
) -> None:
    """Record the effects of the code in a text. `outer`: the names of the code that evaluates it."""
    if len(text) > LONGEST_CODE:
        builder.gap("limit", "the code is too long to be read: split it")
        return
    code = script_nodes(text, language, outer)
    actions, names = _library(builder, language)

    def reads(inner: str) -> None:
        if depth < _DEEPEST:
            script_effects(builder, inner, language, code.top, depth + 1)
        else:
            builder.danger("built-code")

    CodeEffects(builder, Evaluator(code, names), actions, reads).read()
    if starts_endlessly(text):
        builder.danger("fork-bomb")
    builder.danger(*loop_marks(text))


def _library(builder: EffectsBuilder, language: str) -> tuple[Actions, Language]:
    places = builder.home, builder.cwd, builder.script_folder, builder.argv
    if language == "node":
        from assent.effects.code.dataflow import node_library

        return node_library.ACTIONS, node_library.NodeLanguage(*places)
    from assent.effects.code.dataflow import script_libraries

    return script_libraries.ACTIONS[language], script_libraries.OtherLanguage(language, *places)
