"""The native tools of the known runtimes → effects, on every argument that the tool may really use.

Shell commands are read in `effects/shell`, patches in `effects/patches`. Judges nothing.

Runtimes name the same argument differently, and a gate that looks at one key while the tool reads another is no gate.
So every string argument that is not known to be plain text counts as a path for the file tools."""

from __future__ import annotations

from assent.contract.effect import Effect, Gap, Invocation, Kind, Lowering, Operation, Target
from assent.contract.later import Later
from assent.contract.pattern import ASCII, Pattern, re
from assent.contract.tools import INERT, OWN_NAMES, canonical
from assent.effects.arguments import PATTERN_KEYS, lowered_keys, nonempty, path_arguments, strings, values
from assent.effects.paths import joined, normal, path_target

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from assent.contract.call import Call
    from assent.effects import addresses, patches, web

    Lower = Callable[[Call, str], Lowering]
else:
    addresses = Later("assent.effects.addresses")
    patches = Later("assent.effects.patches")
    web = Later("assent.effects.web")

READ, LIST, SEARCH = Operation.READ, Operation.LIST, Operation.SEARCH
WRITE, DELETE = Operation.WRITE, Operation.DELETE

EXCLUDING = frozenset({"exclude", "exclude_pattern"})
LIST_FILE_KEYS = ("path", "file", "file_path", "filepath")  # where a to-do list is a file
FOLDER_KEYS = ("workdir", "working_directory", "dir_path", "directory", "cwd")
COMMAND_KEYS = ("command", "cmd", "script", "commands")
COMMON_KEYS = frozenset({"command", "description", "timeout", "run_in_background"})
PATCH_KEYS = ("patch", "input", "diff", "command", "content")
CHANGING = Pattern(r"write|edit|create|delete|remove|move|rename|update|append|save|put|patch|replace|insert|copy")
BRACES = Pattern(r"[{},]")
CHOICE = Pattern(r"[{,]([^{},]*)")
GLOB = Pattern(r"[*?\[\]{}!()|+@]")
PATHLIKE = Pattern(r"(?:~?/|\.{1,2}/|file://)")
PLACE_KEYS = frozenset(
    "path paths file files file_path filepath filename file_name source destination src dst from to target directory "
    "dir folder location uri root".split()
)


def lower(call: Call, shell: Lower) -> Lowering:
    """What a call does. `shell` reads shell text in the call's folder."""
    if call.runtime in OWN_NAMES:
        return foreign(call, call.tool.lower(), shell)
    tool = canonical(call.tool)
    match tool:
        case "bash":
            return _shell(call, shell)
        case "read":
            return _reading(call, tool)
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
            return web.fetch(call, tool)
        case "websearch":
            return web.search(call, tool)
        case "agent":
            return _agent(call, tool, shell)
        case "todo" if any(nonempty(lowered_keys(call.input).get(key)) for key in LIST_FILE_KEYS):
            return Lowering(tool, _write(call, tool).effects)
    if tool in INERT:
        return Lowering(tool, inert=True)
    return foreign(call, tool, shell)


# ---------------------------------------------------------------- shell


def _shell(call: Call, shell: Lower) -> Lowering:
    """Every text that the tool might run; with several keys given, each of them."""
    if call.input.keys() <= COMMON_KEYS:  # the way of most calls: one text, and nothing else that counts
        text = call.input.get("command")
        if isinstance(text, str):
            return shell(call, text)
    given = lowered_keys(call.input)
    texts = [text for key in COMMAND_KEYS if key in given for text in _command_texts(key, given[key])]
    if not texts or any(text is None for text in texts):
        gap = Gap("gap.call.input", "command", "give the command as text", "the command")
        return Lowering("bash", (_execute("bash"),), gaps=(gap,))
    cwd = _folder(call, given)
    moved = call if cwd == call.cwd else _moved(call, cwd)
    lowered = [shell(moved, text) for text in dict.fromkeys(text for text in texts if text is not None)]
    gaps = [gap for each in lowered for gap in each.gaps]
    if any(nonempty(given.get(key)) for key in ("args", "arguments", "argv", "stdin")):
        gaps.append(Gap("gap.call.input", "args", "write the whole command as one text", "words beside the command"))
    if nonempty(given.get("env")) or nonempty(given.get("environment")):
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


def _command_texts(key: str, value: object) -> Iterator[str | None]:
    """A command as text, or as the words of an exec call; under `commands`, each of several."""
    if isinstance(value, str):
        yield value
    elif key == "commands" and isinstance(value, list) and value:
        yield from (each if isinstance(each, str) else None for each in value)
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
    if re.fullmatch(r"[\w@%+=:,./-]+", word, ASCII):
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
    return but(call, cwd=cwd)


def but(
    call: Call, *, tool: str = "", cwd: str | None = None, input: Mapping[str, object] | None = None, runtime: str = ""
) -> Call:
    """The same call with another tool, folder, input or runtime."""
    return type(call)(
        tool or call.tool,
        call.input if input is None else input,
        cwd=call.cwd if cwd is None else cwd,
        roots=call.roots,
        home=call.home,
        session=call.session,
        runtime=runtime or call.runtime,
        description=call.description,
        shell=call.shell,
    )


def _execute(program: str) -> Effect:
    return Effect(Operation.EXECUTE, Target(Kind.PROGRAM, program), "command")


# ---------------------------------------------------------------- files


def _paths(call: Call, tool: str, operation: Operation) -> Lowering:
    """READ or DELETE on every path argument."""
    effects = [
        Effect(operation, place(call, text), where, recursive=operation is DELETE)
        for where, text in path_arguments(call.input)
    ]
    return Lowering(tool, tuple(effects) or (_unnamed(operation),))


def _reading(call: Call, tool: str) -> Lowering:
    """READ on every path argument. A pattern reads whatever lies below the folder that it begins with."""
    given = lowered_keys(call.input)
    several = call.tool.lower() == "read_many_files"
    found = list(path_arguments(call.input))
    patterns = [(where, text) for where, text in found if several and GLOB.search(text)]
    patterns += [(key, text) for key in sorted(PATTERN_KEYS - EXCLUDING) for text in strings(given.get(key))]
    plain = [each for each in found if each not in patterns]
    effects = [Effect(READ, place(call, text), where) for where, text in plain]
    effects += [each for where, text in patterns for each in _below(call, where, text)]
    return Lowering(tool, tuple(effects) or (_unnamed(READ),))


def _below(call: Call, where: str, text: str) -> Iterator[Effect]:
    """A recursive READ of the folders that a pattern may begin with."""
    for piece in (text, *CHOICE.findall(text)):
        if piece is not text and not piece.startswith(("/", "~")):
            continue
        first = GLOB.search(piece)
        if first is None:
            yield Effect(READ, place(call, piece), where, recursive=True)
        elif ".." in piece[first.start() :]:
            yield Effect(READ, Target(Kind.PATH, "", piece, certain=False), where)
        else:
            folder = piece[: first.start()].rpartition("/")
            yield Effect(READ, place(call, folder[0] + folder[1] or "."), where, recursive=True)


def _looking(call: Call, tool: str, operation: Operation) -> Lowering:
    """Listing and searching: a folder (the cwd where none is given), and patterns that may lead out of it."""
    given = lowered_keys(call.input)
    found = [(where, text) for where, text in path_arguments(call.input) if where not in PATTERN_KEYS]
    effects = [Effect(operation, place(call, text), where, recursive=True) for where, text in found]
    if not found:
        effects.append(Effect(operation, path_target(call.cwd or ".", call.cwd, call.home), "cwd", recursive=True))
    folder = found[0][1] if found else "."
    for key in PATTERN_KEYS if operation is LIST else PATTERN_KEYS - {"pattern"}:
        for text in strings(given.get(key)):
            for piece in BRACES.split(text) if "{" in text else ():
                if piece.startswith(("/", "~")):
                    effects.append(Effect(operation, path_target(piece, call.cwd, call.home, pattern=True), key))
            if text.startswith(("/", "~")) or ".." in text:
                whole = text if text.startswith(("/", "~")) else f"{folder}/{text}"
                effects.append(Effect(operation, path_target(whole, call.cwd, call.home, pattern=True), key))
    return Lowering(tool, tuple(effects))


def _write(call: Call, tool: str) -> Lowering:
    """Writing and editing: path arguments, and every file of a patch."""
    given = lowered_keys(call.input)
    name = call.tool.lower()
    if "patch" in name or "diff" in name:
        return _patch(call, tool, given)
    operation = READ if given.get("command") == "view" else WRITE
    found = list(path_arguments(call.input, skip=("command",)))
    effects = [Effect(operation, place(call, text), where) for where, text in found]
    gaps: tuple[Gap, ...] = ()
    for key in ("patch", "diff"):
        text = given.get(key)
        if isinstance(text, str):
            touched, sure = _touched(call, text, key)
            effects += touched
            gaps = gaps if sure or found else (_patch_gap(key),)
    return Lowering(tool, tuple(effects) or (_unnamed(WRITE),), gaps=gaps)


def _patch(call: Call, tool: str, given: Mapping[str, object]) -> Lowering:
    effects = [Effect(WRITE, place(call, text), where) for where, text in path_arguments(call.input, skip=PATCH_KEYS)]
    gaps: list[Gap] = []
    texts = [(key, text) for key in PATCH_KEYS for text in strings(given.get(key))]
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
    return [Effect(each.operation, place(call, each.path), where) for each in touched], sure


def _patch_gap(where: str) -> Gap:
    return Gap("gap.call.patch", where, "send a patch that names its files", "the patch")


def _move(call: Call) -> Lowering:
    found = list(path_arguments(call.input))
    effects = [Effect(operation, place(call, text), where) for where, text in found for operation in (WRITE, DELETE)]
    return Lowering("move", tuple(effects) or (_unnamed(WRITE), _unnamed(DELETE)))


def _unnamed(operation: Operation) -> Effect:
    return Effect(operation, Target(Kind.PATH, "", "a path that the call does not name", certain=False), "input")


def place(call: Call, text: str) -> Target:
    local = addresses.local_file(text) if "file:" in text[:24].lower() else None
    return path_target(text if local is None else local, call.cwd, call.home)


# ---------------------------------------------------------------- agents, others


def _agent(call: Call, tool: str, shell: Lower) -> Lowering:
    """Launching a sub-agent. Where the call says by which command, that command too."""
    given = lowered_keys(call.input)
    name = next(
        (str(given[key]) for key in ("subagent_type", "agent_type", "agent", "agent_name", "name") if given.get(key)),
        "",
    )
    launch = Effect(Operation.DELEGATE, Target(Kind.AGENT, name, name or "a sub-agent"), "subagent_type")
    if not any(nonempty(given.get(key)) for key in COMMAND_KEYS):
        return Lowering(tool, (launch,))
    run = foreign(call, tool, shell)
    return Lowering(tool, (launch, *run.effects), gaps=run.gaps)


def foreign(call: Call, tool: str, shell: Lower) -> Lowering:
    """An MCP tool or an unknown one: itself, and every path and address among its arguments, so that floor and deny
    rules hold for them too. What a server says of its tools (read-only and the like) is not looked at."""
    effects = [Effect(Operation.EXECUTE, Target(Kind.TOOL, tool, call.tool), "tool")]
    changing = CHANGING.search(tool.lower()) is not None
    texts, whole = values(call.input)
    for where, text in texts:
        text = text.strip()
        named = where.lower() in PLACE_KEYS and not addresses.scheme_of(text)
        if (PATHLIKE.match(text) or named) and "\n" not in text and len(text) < 4096:
            for piece in dict.fromkeys((text, *text.split(","))) if named else (text,):
                target = place(call, piece.strip())
                effects.append(Effect(READ, target, where))
                if changing:
                    effects.append(Effect(WRITE, target, where))
        elif (addresses.scheme_of(text) or where.lower() in web.HOST_KEYS) and len(text) < 8192:
            effects += web.address(call, text, where)
        elif where.lower() in COMMAND_KEYS:
            effects += [
                Effect(each.operation, each.target, where, recursive=each.recursive, dangers=each.dangers)
                for each in shell(call, text).effects
                if each.target.kind is not Kind.PROGRAM
            ]
    gaps = () if whole else (Gap("gap.call.input", "input", "send fewer arguments", "a very long list of arguments"),)
    return Lowering(tool, tuple(effects), gaps=gaps)
