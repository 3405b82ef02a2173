"""The native tools of the known runtimes → effects, on every argument that the tool may really use.

`runtimes` lists these arguments; `files` reads the file tools, `effects/shell` shell commands. Judges nothing. A gate
that checks one key while the tool reads another can be bypassed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from assent.contract import (
    ASCII,
    READ_ONLY,
    Call,
    Effect,
    Gap,
    Invocation,
    Kind,
    Lowering,
    Operation,
    Pattern,
    Target,
)
from assent.contract.tools import INERT
from assent.effects import files, runtimes
from assent.effects.arguments import (
    BESIDE_COMMAND,
    COMMAND_KEYS,
    FOLDER_KEYS,
    PATH_KEYS,
    enclosed,
    lowered_keys,
    nonempty,
    values,
)
from assent.effects.paths import is_path, joined, may_be_path, normal
from assent.effects.runtimes import ToolShape

LIKE = "declared"  # the runtime of a call whose declaration says `like` a known tool
COMMON_KEYS = frozenset({"command", "description", "timeout", "run_in_background"})
AGENT_KEYS = ("subagent_type", "agent_type", "agent", "agent_name", "name")
LIST_FILE_KEYS = ("path", "file", "file_path", "filepath")  # of tools that keep the to-do list in a file
CHANGING = Pattern(r"write|edit|create|delete|remove|move|rename|update|append|save|put|patch|replace|insert|copy")
INTO_KEYS = frozenset("destination dest dst target to new_path newpath new_name".split())
CODE_KEYS = frozenset(
    "code script source snippet cell python python_code javascript cli_command cmdline shell_command".split()
)
PIECES = Pattern(r"[^a-z0-9]+")
PYTHONS = frozenset("python python3 repl jupyter notebook ipython interpreter pyodide kernel".split())
SCRIPTS = frozenset("node nodejs javascript js deno bun typescript".split())
SHELL_WORDS = frozenset("shell bash sh terminal exec command zsh".split())
MAGIC = Pattern(r"^\s*!(.*)$")
PLAIN_WORD = Pattern(r"[\w@%+=:,./-]+", ASCII)
PATHLIKE = Pattern(r"(?:~?/|\.{1,2}/|file://)")
NO_TEXT = Gap("gap.call.input", "command", "give the command as text", "the command")
SHELLS = ("bash", "sh", "zsh", "/bin/bash", "/bin/sh", "/bin/zsh")
FILE_WORDS = frozenset({"read", "list", "search", "write", "delete", "move"})


def lower(call: Call, shell: Callable[[Call, str], Lowering]) -> Lowering:
    """What a call does. `shell` reads shell text in the call's folder."""
    found = runtimes.shapes("" if call.runtime == LIKE else call.runtime, call.tool)
    if not found:
        return _unowned(call, shell)
    tool = found[0].word
    if tool == "bash":
        return _shell(call, found, shell)
    if tool in FILE_WORDS:
        return _joined([files.lower(call, shape) for shape in found])
    from assent.effects import addresses

    match tool:
        case "fetch":
            return addresses.fetch(call, tool)
        case "websearch":
            return addresses.search(call, tool)
        case "agent":
            return _agent(call, tool, shell)
        case "todo" if any(nonempty(lowered_keys(call.input).get(key)) for key in LIST_FILE_KEYS):
            return Lowering(tool, files.lower(call, runtimes.any_of("write")[0]).effects)
    if tool in INERT and not any(nonempty(lowered_keys(call.input).get(key)) for key in COMMAND_KEYS):
        return Lowering(tool, inert=True)
    return foreign(call, tool, shell)


def _unowned(call: Call, shell: Callable[[Call, str], Lowering]) -> Lowering:
    """A tool that its runtime is not known to have. One with the name of a shell is also read as a shell."""
    if call.tool[:5].lower() == "mcp__":
        return foreign(call, call.tool, shell)
    tool = foreign(call, call.tool.lower(), shell)
    generic = runtimes.any_of(call.tool)
    given = lowered_keys(call.input)
    if not generic or generic[0].word != "bash" or not any(nonempty(given.get(key)) for key in COMMAND_KEYS):
        return tool
    run = _shell(call, generic, shell)
    return Lowering(
        "bash",
        (*run.effects, *tool.effects),
        run.invocations,
        (*run.gaps, *tool.gaps),
        text=run.text,
        possible=run.possible,
    )


def _joined(readings: list[Lowering]) -> Lowering:
    """The effects and gaps of all readings of one call."""
    if len(readings) == 1:
        return readings[0]
    effects = dict.fromkeys(effect for each in readings for effect in each.effects)
    gaps = dict.fromkeys(gap for each in readings for gap in each.gaps)
    return Lowering(readings[0].tool, tuple(effects), gaps=tuple(gaps))


# ---------------------------------------------------------------- shell


def _shell(call: Call, found: tuple[ToolShape, ...], shell: Callable[[Call, str], Lowering]) -> Lowering:
    """Every text that the tool might run, in every folder that it may run in."""
    text = call.input.get("command")
    if isinstance(text, str) and (len(call.input) == 1 or call.input.keys() <= COMMON_KEYS):
        return shell(call, text)  # most calls: one text and no other argument that counts
    given = lowered_keys(call.input)
    runs: dict[tuple[str, str], None] = {}
    gaps: dict[Gap, None] = {}
    for shape in found:
        keys = [key for key in dict.fromkeys((*shape.role("command"), *COMMAND_KEYS)) if nonempty(given.get(key))]
        texts = [text for key in keys for text in _command_texts(key, given[key])]
        listed = "argv" not in shape.marks and any(isinstance(given[key], list) for key in keys if key != "commands")
        if not texts or listed or None in texts:  # what could be read of it still counts
            gaps[NO_TEXT] = None
        if len(keys) > 1:
            gaps[Gap("gap.call.input", "command", "give one command", "several commands in one call")] = None
        cwd = _folder(call, shape, given)
        runs.update(((cwd, text), None) for text in texts if text is not None)
        for gap in _beside(shape, given):
            gaps[gap] = None
    lowered = [shell(call if cwd == call.cwd else call.but(cwd=cwd), text) for cwd, text in runs]
    if NO_TEXT in gaps:
        lowered.append(Lowering("bash", (_execute("bash"),)))
    whole = "\n".join(dict.fromkeys(each.text for each in lowered))
    if len(lowered) > 1 and not all(map(_only_reads, lowered)):
        # Commands of one call may run at the same time: each may see the files of any other.
        for cwd in dict.fromkeys(cwd for cwd, _ in runs):
            here = [text for folder, text in runs if folder == cwd]
            moved = call if cwd == call.cwd else call.but(cwd=cwd)
            lowered += [shell(moved, "\n".join(order)) for order in (here, here[::-1]) if len(here) > 1]
    return _together(lowered, tuple(gaps), whole)


def _only_reads(lowering: Lowering) -> bool:
    return not lowering.gaps and all(effect.operation in READ_ONLY for effect in lowering.effects)


def _together(lowered: list[Lowering], gaps: tuple[Gap, ...], text: str) -> Lowering:
    if len(lowered) == 1:
        only, every = lowered[0], (*lowered[0].gaps, *gaps)
        joined = Lowering(
            "bash",
            only.effects,
            only.invocations,
            every,
            text=only.text,
            possible=only.possible,
            wants=only.wants,
            read=only.read,
            changing=only.changing,
            job=only.job,
            recipes=only.recipes,
            manifests=only.manifests,
        )
        return joined if gaps else only
    effects: list[Effect] = []
    invocations: list[Invocation] = []
    doubts = dict.fromkeys((*(gap for each in lowered for gap in each.gaps), *gaps))
    for each in lowered:
        by = len(invocations)
        effects += [
            effect.but(invocation=effect.invocation + by) if effect.invocation >= 0 else effect
            for effect in each.effects
        ]
        invocations += each.invocations
    inert = all(each.inert for each in lowered)
    maybe = [each.possible for each in lowered if each.possible is not None]
    possible = _together(maybe, (), "") if maybe else None
    return Lowering(
        "bash",
        tuple(effects),
        tuple(invocations),
        tuple(doubts),
        inert=inert,
        text=text,
        possible=possible,
        job=any(each.job for each in lowered),
    )


def _beside(shape: ToolShape, given: Mapping[str, object]) -> Iterator[Gap]:
    """Arguments other than the command that may change what runs."""
    used = {key for keys in shape.keys.values() for key in keys}
    for key, value in given.items():
        if key in used or key in BESIDE_COMMAND or key in COMMAND_KEYS or key in FOLDER_KEYS or not nonempty(value):
            continue
        what = {"env": "an environment", "environment": "an environment"}.get(key, f"the argument {key}")
        yield Gap("gap.call.input", key, "write it in the command itself", f"{what} beside the command")


def _command_texts(key: str, value: object) -> Iterator[str | None]:
    """A command as text, or as the words of an exec call; under `commands`, each of several."""
    if isinstance(value, str):
        yield value
        for inner in enclosed(value):
            if isinstance(inner, list | dict):
                yield from _command_texts(key, inner)
    elif key == "commands" and isinstance(value, list) and value:
        for each in value:
            yield from _command_texts("command", each) if isinstance(each, str | dict) else (None,)
    elif isinstance(value, dict) and value.keys() <= {"command", "args"}:
        args = value.get("args")
        words = [value.get("command"), *args] if isinstance(args, list) else value.get("command")
        yield from _command_texts("command", words)
    elif isinstance(value, list) and value and all(isinstance(word, str) for word in value):
        is_script = len(value) == 3 and value[0] in SHELLS and value[1] in ("-c", "-lc")
        yield value[2] if is_script else " ".join(map(quoted, value))
    else:
        yield None


def quoted(word: str) -> str:
    return word if PLAIN_WORD.fullmatch(word) else "'" + word.replace("'", "'\"'\"'") + "'"


def _folder(call: Call, shape: ToolShape, given: Mapping[str, object]) -> str:
    """The folder that a command runs in; `""` if the call names several, or one that is not certain."""
    found: set[str] = set()
    for key in shape.role("workdir"):
        value = given.get(key)
        if isinstance(value, str) and value:
            raw, sure = joined(value, call.cwd, call.home)
            found.add(normal(raw) if sure else "")
        elif nonempty(value):
            found.add("")
    return found.pop() if len(found) == 1 else "" if found else call.cwd


def _execute(program: str) -> Effect:
    return Effect(Operation.EXECUTE, Target(Kind.PROGRAM, program), "command")


# ---------------------------------------------------------------- agents, others


def _agent(call: Call, tool: str, shell: Callable[[Call, str], Lowering]) -> Lowering:
    """Launching a sub-agent, and the command that starts it if the call names one."""
    given = lowered_keys(call.input)
    name = next((str(given[key]) for key in AGENT_KEYS if given.get(key)), "")
    launch = Effect(Operation.DELEGATE, Target(Kind.AGENT, name, name or "a sub-agent"), "subagent_type")
    if not any(nonempty(given.get(key)) for key in COMMAND_KEYS):
        return Lowering(tool, (launch,))
    run = foreign(call, tool, shell)
    return Lowering(tool, (launch, *run.effects), gaps=run.gaps)


def _told_line(tool: str, key: str, text: str) -> str:
    """The command line in an argument of a tool: its text, code for the interpreter that the tool's name says, or words
    for the program of that name. `""`: none is known."""
    from shlex import join

    from assent.programs.traits import has

    pieces = PIECES.split(tool.lower())
    if key in CODE_KEYS and "command" not in key and key != "cmdline":
        if not PYTHONS.isdisjoint(pieces) or key.startswith("python"):
            return join(
                [
                    "python3",
                    "-c",
                    "\n".join(MAGIC.sub(r"import os; os.system(r'''\1''')", each) for each in text.split("\n")),
                ]
            )
        if not SCRIPTS.isdisjoint(pieces) or key == "javascript":
            return join(["node", "-e", text])
        return text if not SHELL_WORDS.isdisjoint(pieces) else ""
    program = next((piece for piece in reversed(pieces) if has(piece, "suite") or has(piece, "service-client")), "")
    if program and len(pieces) < 7 and text.partition(" ")[0] != program and key in COMMAND_KEYS:
        return f"{program} {text}"
    return text


def foreign(call: Call, tool: str, shell: Callable[[Call, str], Lowering]) -> Lowering:
    """An MCP tool or an unknown one: itself, and every path and address among its arguments, so that floor and deny
    rules hold for them too. A server's description of its tools never loosens a decision."""
    from assent.effects import addresses, tool_names

    dangers = tool_names.marks(call.tool, call.input)
    if call.destructive and not dangers:
        dangers = ("irreversible",)
    operation = Operation.DESTROY if "destroy" in dangers else Operation.EXECUTE
    effects = [Effect(operation, Target(Kind.TOOL, tool, call.tool), "tool", dangers=dangers)]
    changing = CHANGING.search(tool.lower()) is not None
    taking = tool_names.takes(call.tool)
    texts, whole = values(call.input)
    for where, text in texts:
        text = text.strip()
        key = where.lower()
        named = key in PATH_KEYS and not addresses.scheme_of(text)
        if (PATHLIKE.match(text) or named) and text and is_path(text):
            for piece in dict.fromkeys((text, *map(str.strip, text.split(",")))) if named else (text,):
                effects += files.at(call, Operation.READ, piece, where)
                effects += files.at(call, Operation.WRITE, piece, where) if changing else ()
                if taking and key not in INTO_KEYS:
                    effects += files.at(call, Operation.DELETE, piece, where, recursive=True)
                effects += files.perhaps(call, [(where, piece)]) if not changing else ()
        elif (addresses.scheme_of(text) or key in addresses.HOST_KEYS) and len(text) < 8192:
            effects += addresses.address(call, text, where)
        elif key in COMMAND_KEYS or key in CODE_KEYS:
            line = _told_line(tool, key, text)
            effects += [
                Effect(
                    each.operation,
                    each.target,
                    where,
                    recursive=each.recursive,
                    dangers=each.dangers,
                    stays=each.stays,
                    visible=each.visible,
                )
                for each in (shell(call, line).effects if line else ())
                if each.target.kind is not Kind.PROGRAM or each.dangers
            ]
        elif may_be_path(text):
            effects += files.perhaps(call, [(where, text)])
    gaps = () if whole else (Gap("gap.call.input", "input", "send fewer arguments", "a very long list of arguments"),)
    return Lowering(tool, tuple(effects), gaps=gaps)
