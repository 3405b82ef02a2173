"""Commands in the files of process managers, hook managers and `docker compose`: they are read, nothing is proved. A
file that is not plain YAML is not read."""

from __future__ import annotations

from assent.contract import Pattern
from assent.contract.plain_yaml import NotPlainYaml, YamlNode, read
from assent.effects.shell.command import CommandEffects, Run
from assent.effects.shell.record import ShellJob, Walk
from assent.effects.shell.tasks import recipes
from assent.effects.shell.tasks.recipes import Recipe

_PROCESS = Pattern(r"(?m)^([A-Za-z0-9_-]+):[ \t]*(\S.*)$")
_COMPOSE = ("compose.yaml", "compose.yml", "docker-compose.yml", "docker-compose.yaml")
_MOST_COMMANDS = 60
# The files of each runner, and the keys of commands in them.
_FILES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    **dict.fromkeys(("foreman", "honcho", "overmind", "hivemind", "goreman"), (("Procfile", "Procfile.dev"), ())),
    "lefthook": (("lefthook.yml", ".lefthook.yml", "lefthook.yaml", "lefthook-local.yml"), ("run",)),
    "pre-commit": ((".pre-commit-config.yaml",), ("entry",)),
    "prek": ((".pre-commit-config.yaml",), ("entry",)),
}
_STARTS = frozenset("run up start exec create".split())


def find(walk: Walk, job: ShellJob, base: str, summary: CommandEffects) -> list[Recipe]:
    words = [word if isinstance(word, str) else recipes.shown(word) for word in job.argv[1:]]
    folder = job.state.cwds[0]
    if base in ("docker", "podman", "docker-compose", "podman-compose"):
        return _composed(walk, job, folder, words if "-" in base else words[words.index("compose") + 1 :] if
                         "compose" in words[:3] else [])  # fmt: skip
    if base == "concurrently":
        return _concurrently(folder, words)
    names, keys = _FILES[base]
    out = []
    for name in names:
        path = f"{folder}/{name}"
        for text in recipes.texts(walk, job, path):
            steps = [match[2] for match in _PROCESS.finditer(text)] if not keys else _commands(text, keys)
            out += _recipe(path, name, folder, steps)
    return out


def _recipe(path: str, name: str, folder: str, steps: list[str]) -> list[Recipe]:
    steps = steps[:_MOST_COMMANDS]
    if not steps:
        return []
    recipe = Recipe(path, name, folder, [Run(script=step, cwd=folder, shell="sh") for step in steps], steps)
    recipe.exact = False
    return [recipe]


def _plain(text: str) -> YamlNode:
    try:
        return read(text)
    except NotPlainYaml:
        return None


def _commands(text: str, keys: tuple[str, ...]) -> list[str]:
    """The texts below these keys, at any depth."""
    out: list[str] = []
    waiting: list[YamlNode] = [_plain(text)]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            out += [value for key, value in node.items() if key in keys and isinstance(value, str)]
            waiting += [value for value in node.values() if not isinstance(value, str)]
        elif isinstance(node, list):
            waiting += node
    return out


def _concurrently(folder: str, words: list[str]) -> list[Recipe]:
    """`concurrently "npm:lint" "node server.js"`: each word is a command."""
    commands = [word for word in words if " " in word or word.startswith(("npm:", "pnpm:", "yarn:", "bun:"))]
    managed = [word.partition(":") for word in commands]
    steps = [
        f"{manager} run {rest}" if sign and manager in ("npm", "pnpm", "yarn", "bun") and "*" not in rest else word
        for word, (manager, sign, rest) in zip(commands, managed, strict=True)
    ]
    return _recipe("", "concurrently", folder, steps)


def _composed(walk: Walk, job: ShellJob, folder: str, words: list[str]) -> list[Recipe]:
    """The commands of the services that `docker compose run` or `up` starts."""
    named = [words[at + 1] for at, word in enumerate(words[:-1]) if word in ("-f", "--file")]
    rest = [word for word in words if word[:1] != "-" and word not in named]
    if not rest or rest[0] not in _STARTS:
        return []
    services = rest[1:2] if rest[0] in ("run", "exec") else rest[1:]
    if rest[0] == "exec" or (len(rest) > 2 and rest[0] == "run"):
        return []  # its own words are the command
    paths = [recipes.folder_in(walk, folder, name) for name in named] or [f"{folder}/{name}" for name in _COMPOSE]
    out = []
    for path in paths:
        for text in recipes.texts(walk, job, path):
            found = _plain(text)
            table = found.get("services") if isinstance(found, dict) else None
            for name, service in table.items() if isinstance(table, dict) else ():
                if isinstance(service, dict) and (not services or name in services):
                    out += _recipe(path, name, folder, _service(service))
    for recipe in out:
        recipe.runs = [Run(script=run.script, shell="sh", place="elsewhere") for run in recipe.runs]
    return out


def _service(service: dict[str, YamlNode]) -> list[str]:
    found = []
    for key in ("entrypoint", "command"):
        value = service.get(key)
        if isinstance(value, list):
            value = " ".join(recipes.quoted(word) for word in value if isinstance(word, str))
        if isinstance(value, str) and value:
            found.append(value)
    return found
