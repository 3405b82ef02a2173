"""Tasks of a project (`npm run lint`, `make test`): resolves a command that runs one to its recipe.

A recipe that is read exactly replaces the EXECUTE of its runner: its commands are judged as if the call named them. Any
other keeps the EXECUTE, and its visible effects are judged as well. The modules in `_FINDERS` find the recipes of each
runner."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from assent.contract import Effect, Kind, Operation, Target
from assent.effects.shell.code_files import scripts
from assent.effects.shell.command import CommandEffects
from assent.effects.shell.commands.command_effects import EffectsBuilder
from assent.effects.shell.record import ShellJob, Walk
from assent.effects.shell.tasks.recipes import Recipe, none_made

EXECUTE = Operation.EXECUTE


class TaskRecipes:
    """The recipes of a command, in their order, and its own effects."""

    __slots__ = ("effects", "recipes")

    def __init__(self, effects: tuple[Effect, ...], recipes: list[Recipe]) -> None:
        self.effects = effects
        self.recipes = recipes


Finder = Callable[[Walk, ShellJob, str, CommandEffects], list[Recipe]]


def _packages(walk: Walk, job: ShellJob, base: str, summary: CommandEffects) -> list[Recipe]:
    from assent.effects.shell.tasks import package_tasks

    return package_tasks.find(walk, job, base, summary)


def _everywhere(walk: Walk, job: ShellJob, base: str, summary: CommandEffects) -> list[Recipe]:
    from assent.effects.shell.tasks import package_tasks

    return package_tasks.find_everywhere(walk, job, base, summary)


def _targets(walk: Walk, job: ShellJob, base: str, summary: CommandEffects) -> list[Recipe]:
    from assent.effects.shell.tasks import make_tasks

    return make_tasks.find(walk, job, base, summary)


def _of_files(walk: Walk, job: ShellJob, base: str, summary: CommandEffects) -> list[Recipe]:
    from assent.effects.shell.tasks import file_tasks

    return file_tasks.find(walk, job, base, summary)


def _of_toml(walk: Walk, job: ShellJob, base: str, summary: CommandEffects) -> list[Recipe]:
    from assent.effects.shell.tasks import toml_tasks

    return toml_tasks.find(walk, job, base, summary)


def _listed(walk: Walk, job: ShellJob, base: str, summary: CommandEffects) -> list[Recipe]:
    from assent.effects.shell.tasks import listed_tasks

    return listed_tasks.find(walk, job, base, summary)


_LISTED = "foreman honcho overmind hivemind goreman lefthook pre-commit prek concurrently docker podman".split()
_PACKAGES = ("npm", "pnpm", "yarn", "bun")
_FINDERS: dict[str, Finder] = {
    **dict.fromkeys(_PACKAGES, _packages),
    **dict.fromkeys(("turbo", "lerna", "npm-run-all", "run-s", "run-p"), _everywhere),
    **dict.fromkeys(("make", "gmake"), _targets),
    **dict.fromkeys(("just", "task", "go-task", "deno", "composer", "nox", "invoke", "inv", "fab", "rake"), _of_files),
    **dict.fromkeys((*_LISTED, "docker-compose", "podman-compose"), _listed),
    **dict.fromkeys(("poe", "mise", "rtx", "hatch", "pdm", "pixi", "tox", "cargo"), _of_toml),
}


def read(
    walk: Walk, job: ShellJob, base: str, summary: CommandEffects, effects: tuple[Effect, ...]
) -> TaskRecipes | None:
    """The tasks that a command runs; None if it runs none that can be read."""
    finder = _FINDERS.get(base)
    name = " ".join((base, *summary.subcommand))
    runs = [each for each in effects if each.operation is EXECUTE and each.target.kind is Kind.PROGRAM]
    own = [each for each in runs if each.target == Target(Kind.PROGRAM, base, name)]
    own = own or [each for each in runs if base not in _PACKAGES and each.target.name == base]
    if finder is None or not own:
        return None
    recipes = finder(walk, job, base, summary)
    if not recipes:
        return None
    if len(walk.files) >= scripts.DEEPEST:
        scripts.note(walk, job, recipes[0].file)
        return None
    again = [each for each in recipes if f"{each.file}\n{each.name}" in walk.tasks]
    recipes = [each for each in recipes if each not in again]
    proved = not any(each.dangers for each in own) and all(_is_proved(walk, each) for each in recipes)
    if not proved or again:  # a task that runs itself is not proved
        return TaskRecipes(effects, recipes)
    return TaskRecipes((*(each for each in effects if each not in own), *_settings(walk, base, recipes)), recipes)


def _is_proved(walk: Walk, recipe: Recipe) -> bool:
    return recipe.exact and recipe.file not in walk.written and not scripts.may_have_changed(walk, recipe.file)


def _settings(walk: Walk, base: str, recipes: list[Recipe]) -> Iterator[Effect]:
    """The runner does no more than its recipes, if these are unchanged and none of the files that it obeys exists."""
    for path in dict.fromkeys(each.file for each in recipes):
        yield scripts.same_code(walk, Target(Kind.PATH, path, path))
    for recipe in recipes:
        builder = EffectsBuilder(base, recipe.folder, walk.home)
        builder.settings(recipe.obeys)
        yield from builder.effects if recipe.obeys else ()
        yield from none_made(walk, base, recipe.bins, ("sh", "node")) if recipe.bins else ()


def enter(walk: Walk, index: int, recipe: Recipe) -> tuple[int, tuple[str, ...]]:
    """Begin to walk a recipe of the command recorded at `index`; `leave` takes what this returns."""
    outer = walk.within, walk.bins
    if recipe.file:
        walk.recipes.append((index, recipe.file, recipe.digest(walk), recipe.resolved))
    walk.files.append(recipe.file)
    walk.tasks.append(f"{recipe.file}\n{recipe.name}")
    walk.within, walk.bins = index, (*recipe.bins, *walk.bins)
    return outer


def leave(walk: Walk, outer: tuple[int, tuple[str, ...]]) -> None:
    walk.tasks.pop()
    walk.files.pop()
    walk.within, walk.bins = outer
