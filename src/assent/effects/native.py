"""The native tools of the known runtimes → effects, on every argument that the tool may really use.

Shell commands are read in `effects/shell`, patches in `effects/patches`. Judges nothing.

Runtimes name the same argument differently, and a gate that looks at one key while the tool reads another is no gate.
So every string argument that is not known to be plain text counts as a path for the file tools."""

from __future__ import annotations

import re

from assent.contract.effect import Effect, Gap, Invocation, Kind, Lowering, Operation, Target
from assent.contract.errors import PayloadError
from assent.contract.tools import INERT, canonical
from assent.effects import addresses, patches
from assent.effects.paths import joined, normal, path_target

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from assent.contract.call import Call

    Lower = Callable[[Call, str], Lowering]

READ, LIST, SEARCH = Operation.READ, Operation.LIST, Operation.SEARCH
WRITE, DELETE = Operation.WRITE, Operation.DELETE

# Arguments that are text for the file tools: never a path, whatever they look like.
TEXT_KEYS = frozenset(
    "content contents text new_text file_text new_str old_str new_string old_string newstring oldstring new_source "
    "instruction instructions explanation description code_edit diff patch edits replacements edit_mode cell_id "
    "cell_type replace_all replaceall expected_replacements allow_multiple insert_text insert_line view_range offset "
    "limit line_start line_end start_line end_line pages encoding command_description reason thought timeout mode "
    "language output_mode type head_limit multiline case_sensitive context ignore_case max_results query regex".split()
)
PATTERN_KEYS = frozenset({"pattern", "glob", "include", "exclude", "glob_pattern", "file_pattern", "include_pattern"})
FOLDER_KEYS = ("workdir", "working_directory", "dir_path", "directory", "cwd")
COMMAND_KEYS = ("command", "cmd", "script", "commands")
COMMON_KEYS = frozenset({"command", "description", "timeout", "run_in_background"})
PATCH_KEYS = ("patch", "input", "diff", "command", "content")
URL_KEYS = ("url", "urls", "uri", "prompt", "query")
CHANGING = re.compile(r"write|edit|create|delete|remove|move|rename|update|append|save|put|patch|replace|insert|copy")
BRACES = re.compile(r"[{},]")
PATHLIKE = re.compile(r"(?:~?/|\.{1,2}/|file://)")
PLACE_KEYS = frozenset(
    "path paths file files file_path filepath filename file_name source destination src dst from to target directory "
    "dir folder location uri root".split()
)
HOST_KEYS = frozenset({"host", "hostname", "domain", "url", "endpoint", "address"})
MAX_VALUES = 2000


def lower(call: Call, shell: Lower) -> Lowering:
    """What a call does. `shell` reads shell text in the call's folder."""
    tool = canonical(call.tool)
    match tool:
        case "bash":
            return _shell(call, shell)
        case "read":
            return _paths(call, tool, READ)
        case "list":
            return _looking(call, tool, LIST)
        case "search":
            return _looking(call, tool, SEARCH)
        case "write":
            return _write(call, tool)
        case "delete":
            return _paths(call, tool, DELETE)
        case "move":
            return _move(call)
        case "fetch":
            return _fetch(call, tool)
        case "websearch":
            return Lowering(tool, (Effect(SEARCH, Target(Kind.SERVICE, "web", "the web"), "query"),))
        case "agent":
            return _agent(call, tool)
    if tool in INERT:
        return Lowering(tool, inert=True)
    return _foreign(call, tool, shell)


# ---------------------------------------------------------------- shell


def _shell(call: Call, shell: Lower) -> Lowering:
    """Every text that the tool might run; with several keys given, each of them."""
    if call.input.keys() <= COMMON_KEYS:  # the way of most calls: one text, and nothing else that counts
        text = call.input.get("command")
        if isinstance(text, str):
            return shell(call, text)
    given = _lowered_keys(call.input)
    texts = [text for key in COMMAND_KEYS if key in given for text in _command_texts(given[key])]
    if not texts or any(text is None for text in texts):
        gap = Gap("gap.call.input", "command", "give the command as text", "the command")
        return Lowering("bash", (_execute("bash"),), gaps=(gap,))
    cwd = _folder(call, given)
    moved = call if cwd == call.cwd else _moved(call, cwd)
    lowered = [shell(moved, text) for text in dict.fromkeys(text for text in texts if text is not None)]
    gaps = [gap for each in lowered for gap in each.gaps]
    if any(_nonempty(given.get(key)) for key in ("args", "arguments", "argv", "stdin")):
        gaps.append(Gap("gap.call.input", "args", "write the whole command as one text", "words beside the command"))
    if _nonempty(given.get("env")) or _nonempty(given.get("environment")):
        gaps.append(
            Gap("gap.call.input", "env", "set variables in the command itself", "an environment beside the command")
        )
    if len(lowered) == 1:
        only = lowered[0]
        return (
            only
            if len(gaps) == len(only.gaps)
            else Lowering("bash", only.effects, only.invocations, tuple(gaps), text=only.text)
        )
    gaps.append(Gap("gap.call.input", "command", "give one command", "several commands in one call"))
    effects: list[Effect] = []
    invocations: list[Invocation] = []
    for each in lowered:
        by = len(invocations)
        effects += [
            effect.but(invocation=effect.invocation + by) if effect.invocation >= 0 else effect
            for effect in each.effects
        ]
        invocations += each.invocations
    return Lowering(
        "bash", tuple(effects), tuple(invocations), tuple(gaps), text="\n".join(each.text for each in lowered)
    )


def _command_texts(value: object) -> Iterator[str | None]:
    """A command as text, or as the words of an exec call."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list) and value and all(isinstance(word, str) for word in value):
        words = [str(word) for word in value]
        shells = ("bash", "sh", "zsh", "/bin/bash", "/bin/sh", "/bin/zsh")
        if len(words) == 3 and words[0] in shells and words[1] in ("-c", "-lc"):
            yield words[2]
        else:
            yield " ".join(quoted(word) for word in words)
    else:
        yield None


def quoted(word: str) -> str:
    """A word as a shell would read it back."""
    if re.fullmatch(r"[\w@%+=:,./-]+", word, re.ASCII):
        return word
    return "'" + word.replace("'", "'\"'\"'") + "'"


def _folder(call: Call, given: Mapping[str, object]) -> str:
    found: set[str] = set()
    for key in FOLDER_KEYS:
        value = given.get(key)
        if isinstance(value, str) and value:
            raw, sure = joined(value, call.cwd, call.home)
            found.add(normal(raw) if sure else "")
    return found.pop() if len(found) == 1 else "" if found else call.cwd


def _moved(call: Call, cwd: str) -> Call:
    return type(call)(
        call.tool,
        call.input,
        cwd=cwd,
        roots=call.roots,
        home=call.home,
        session=call.session,
        runtime=call.runtime,
        description=call.description,
        shell=call.shell,
    )


def _nonempty(value: object) -> bool:
    return value not in (None, {}, [], "")


def _execute(program: str) -> Effect:
    return Effect(Operation.EXECUTE, Target(Kind.PROGRAM, program), "command")


# ---------------------------------------------------------------- files


def _enclosed(text: str) -> list[object]:
    """Arguments that are written as JSON inside of one."""
    if text[:1] not in "{[" or not 1 < len(text) < 65536:
        return []
    import json  # such arguments are rare

    try:
        return [json.loads(text)]
    except (ValueError, RecursionError):
        return []


def _paths(call: Call, tool: str, operation: Operation) -> Lowering:
    """READ or DELETE on every path argument."""
    effects = [
        Effect(operation, _target(call, text), where, recursive=operation is DELETE)
        for where, text in _path_arguments(call.input)
    ]
    return Lowering(tool, tuple(effects) or (_unnamed(operation),))


def _looking(call: Call, tool: str, operation: Operation) -> Lowering:
    """Listing and searching: a folder (the cwd where none is given), and patterns that may lead out of it."""
    given = _lowered_keys(call.input)
    found = [(where, text) for where, text in _path_arguments(call.input) if where not in PATTERN_KEYS]
    effects = [Effect(operation, _target(call, text), where, recursive=True) for where, text in found]
    if not found:
        effects.append(Effect(operation, path_target(call.cwd or ".", call.cwd, call.home), "cwd", recursive=True))
    folder = found[0][1] if found else "."
    for key in PATTERN_KEYS if operation is LIST else PATTERN_KEYS - {"pattern"}:
        for text in _strings(given.get(key)):
            for piece in BRACES.split(text) if "{" in text else ():
                if piece.startswith(("/", "~")):
                    effects.append(Effect(operation, path_target(piece, call.cwd, call.home, pattern=True), key))
            if text.startswith(("/", "~")) or ".." in text:
                whole = text if text.startswith(("/", "~")) else f"{folder}/{text}"
                effects.append(Effect(operation, path_target(whole, call.cwd, call.home, pattern=True), key))
    return Lowering(tool, tuple(effects))


def _write(call: Call, tool: str) -> Lowering:
    """Writing and editing: path arguments, and every file of a patch."""
    given = _lowered_keys(call.input)
    name = call.tool.lower()
    if "patch" in name or "diff" in name:
        return _patch(call, tool, given)
    operation = READ if given.get("command") == "view" else WRITE
    found = list(_path_arguments(call.input, skip=("command",)))
    effects = [Effect(operation, _target(call, text), where) for where, text in found]
    gaps: tuple[Gap, ...] = ()
    for key in ("patch", "diff"):
        text = given.get(key)
        if isinstance(text, str):
            touched, sure = _touched(call, text, key)
            effects += touched
            gaps = gaps if sure or found else (_patch_gap(key),)
    return Lowering(tool, tuple(effects) or (_unnamed(WRITE),), gaps=gaps)


def _patch(call: Call, tool: str, given: Mapping[str, object]) -> Lowering:
    effects = [
        Effect(WRITE, _target(call, text), where) for where, text in _path_arguments(call.input, skip=PATCH_KEYS)
    ]
    gaps: list[Gap] = []
    texts = [(key, text) for key in PATCH_KEYS for text in _strings(given.get(key))]
    for key, text in texts:
        touched, sure = _touched(call, text, key)
        effects += touched
        if not sure:
            gaps.append(_patch_gap(key))
    if not texts and not effects:
        gaps.append(_patch_gap("patch"))
    return Lowering(tool, tuple(effects) or (_unnamed(WRITE),), gaps=tuple(gaps))


def _touched(call: Call, text: str, where: str) -> tuple[list[Effect], bool]:
    touched, sure = patches.read_patch(text)
    return [Effect(each.operation, _target(call, each.path), where) for each in touched], sure


def _patch_gap(where: str) -> Gap:
    return Gap("gap.call.patch", where, "send a patch that names its files", "the patch")


def _move(call: Call) -> Lowering:
    found = list(_path_arguments(call.input))
    effects = [Effect(operation, _target(call, text), where) for where, text in found for operation in (WRITE, DELETE)]
    return Lowering("move", tuple(effects) or (_unnamed(WRITE), _unnamed(DELETE)))


def _unnamed(operation: Operation) -> Effect:
    return Effect(operation, Target(Kind.PATH, "", "a path that the call does not name", certain=False), "input")


def _target(call: Call, text: str) -> Target:
    local = addresses.local_file(text) if "file:" in text[:24].lower() else None
    return path_target(text if local is None else local, call.cwd, call.home)


def _path_arguments(given: Mapping[str, object], skip: tuple[str, ...] = ()) -> Iterator[tuple[str, str]]:
    """Every argument that may be a path, with its key. Lists and nested edits are looked into."""
    for key, value in given.items():
        low = key.lower()
        if low in skip:
            continue
        if low in ("edits", "files", "replacements", "operations", "changes") and isinstance(value, list):
            for item in value:
                if isinstance(item, dict):
                    yield from _path_arguments(item)
                elif isinstance(item, str):
                    yield low, item
        elif low not in TEXT_KEYS and (low not in PATTERN_KEYS):
            if isinstance(value, dict):
                yield from _path_arguments(value)
            yield from ((low, text) for text in _strings(value))


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        if value:
            yield value
    elif isinstance(value, list):
        yield from (item for item in value if isinstance(item, str) and item)


def _lowered_keys(given: Mapping[str, object]) -> dict[str, object]:
    """Arguments by lower-case key, so that no spelling hides one."""
    out: dict[str, object] = {}
    for key, value in given.items():
        low = key.lower()
        if low in out and out[low] != value:
            raise PayloadError(f"argument `{key}` is given twice with different values")
        out[low] = value
    return out


# ---------------------------------------------------------------- network, agents, others


def _fetch(call: Call, tool: str) -> Lowering:
    given = _lowered_keys(call.input)
    effects: list[Effect] = []
    for key in URL_KEYS:
        for text in _strings(given.get(key)):
            urls = [text] if key in ("url", "urls", "uri") else addresses.urls_in(text)
            effects += [effect for url in urls for effect in _address(call, url, key)]
    return Lowering(
        tool, tuple(effects) or (Effect(Operation.FETCH, Target(Kind.HOST, "", "an unnamed address"), "url"),)
    )


def _address(call: Call, url: str, where: str) -> list[Effect]:
    local = addresses.local_file(url)
    if local is not None:
        return [Effect(READ, path_target(local or "/", call.cwd, call.home), where)]
    return [Effect(Operation.FETCH, Target(Kind.HOST, host, url), where) for host in addresses.hosts_of(url)]


def _agent(call: Call, tool: str) -> Lowering:
    given = _lowered_keys(call.input)
    name = next(
        (str(given[key]) for key in ("subagent_type", "agent_type", "agent", "agent_name", "name") if given.get(key)),
        "",
    )
    return Lowering(
        tool, (Effect(Operation.DELEGATE, Target(Kind.AGENT, name, name or "a sub-agent"), "subagent_type"),)
    )


def _foreign(call: Call, tool: str, shell: Lower) -> Lowering:
    """An MCP tool or an unknown one: itself, and every path and address among its arguments, so that floor and deny
    rules hold for them too. What a server says of its tools (read-only and the like) is not looked at."""
    effects = [Effect(Operation.EXECUTE, Target(Kind.TOOL, tool, call.tool), "tool")]
    changing = CHANGING.search(tool.lower()) is not None
    values, whole = _values(call.input)
    for where, text in values:
        text = text.strip()
        named = where.lower() in PLACE_KEYS and not addresses.scheme_of(text)
        if (PATHLIKE.match(text) or named) and "\n" not in text and len(text) < 4096:
            for piece in dict.fromkeys((text, *text.split(","))) if named else (text,):
                target = _target(call, piece.strip())
                effects.append(Effect(READ, target, where))
                if changing:
                    effects.append(Effect(WRITE, target, where))
        elif (addresses.scheme_of(text) or where.lower() in HOST_KEYS) and len(text) < 8192:
            effects += _address(call, text, where)
        elif where.lower() in COMMAND_KEYS:
            effects += [
                Effect(each.operation, each.target, where, recursive=each.recursive, dangers=each.dangers)
                for each in shell(call, text).effects
                if each.target.kind is not Kind.PROGRAM
            ]
    gaps = () if whole else (Gap("gap.call.input", "input", "send fewer arguments", "a very long list of arguments"),)
    return Lowering(tool, tuple(effects), gaps=gaps)


def _values(given: Mapping[str, object]) -> tuple[list[tuple[str, str]], bool]:
    """Every string in the arguments, at any depth, with its nearest key; and whether that is all of them."""
    todo: list[tuple[str, object]] = [(str(key), value) for key, value in given.items()]
    found: list[tuple[str, str]] = []
    for _ in range(MAX_VALUES):
        if not todo:
            return found, True
        where, value = todo.pop()
        if isinstance(value, str):
            found.append((where, value))
            todo += [(where, inner) for inner in _enclosed(value)]
        elif isinstance(value, dict):
            todo += [(str(key), inner) for key, inner in value.items()]
        elif isinstance(value, list):
            todo += [(where, inner) for inner in value]
    return found, not todo
