"""Reads task manifests: JSON, TOML, and lists in simple YAML. Knows no program."""

from __future__ import annotations

from assent.contract import Pattern, loads

_ENTRY = Pattern(r"""\s*-\s+(?:'([^'\\]*)'|"([^"\\]*)"|([\w@./*!-]+))\s*(?:\s#.*)?""")


def json_object(text: str) -> dict[str, object] | None:
    """A JSON object; None if the text is not one."""
    try:
        value = loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def toml(text: str) -> dict[str, object] | None:
    import tomllib

    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError):
        return None


def table(value: object, *keys: str) -> dict[str, object]:
    """The table below some keys; empty if there is none."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return {str(key): each for key, each in value.items()} if isinstance(value, dict) else {}


def strings(value: object) -> list[str] | None:
    """A list of texts; one text is a list of one. None if it holds anything else."""
    found = [value] if isinstance(value, str) else value
    if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
        return None
    return list(found)


def yaml_list(text: str, key: str) -> list[str] | None:
    """The entries of a list below a key of the top level; None if they are not plain."""
    found: list[str] = []
    inside = False
    for line in text.replace("\r\n", "\n").split("\n"):
        if not line.strip() or line.lstrip()[0] == "#":
            continue
        if line[0] not in " -":
            inside = line.partition("#")[0].rstrip() == f"{key}:"
            if not inside and line.startswith(f"{key}:"):
                return None
        elif inside:
            entry = _ENTRY.fullmatch(line)
            if entry is None:
                return None
            found.append(next((each for each in entry.groups() if each is not None), ""))
    return found


def python_runs(text: str, names: list[str]) -> tuple[list[list[str]], str] | None:
    """The commands that functions of a noxfile or of tasks.py run by their first parameter (`session.run("a", "b")`,
    `c.run("a b")`), and the file without the functions that are not among `names`. Unknown words are
    `${value}`. None: it is not Python."""
    import ast

    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    bare = [name.partition("-")[0].partition("(")[0].replace("-", "_") for name in names]
    wanted = {*names, *bare, *(name.replace("-", "_") for name in names)}
    other = {name for name in functions if name not in wanted} if wanted & functions.keys() else set()
    kept = [node for node in tree.body if not (isinstance(node, ast.FunctionDef) and node.name in other)]
    called = {each.id for node in kept for each in ast.walk(node) if isinstance(each, ast.Name)}
    kept += [functions[name] for name in other if name in called]
    found = []
    for node in kept:
        for each in ast.walk(node):
            if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute) and each.func.attr in _RUNS:
                words = [_literal(argument) for argument in each.args]
                if words:
                    found.append(words)
    tree.body = kept
    return found, ast.unparse(tree)


_RUNS = frozenset("run run_always run_install sudo local".split())


def _literal(node: object) -> str:
    import ast

    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(str(each.value) if isinstance(each, ast.Constant) else "${value}" for each in node.values)
    return "${value}"
