"""Library functions whose arguments need a reader of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from assent.contract import Pattern
from assent.effects.code.dataflow.actions import script_of
from assent.effects.code.dataflow.evaluate import CallArguments
from assent.effects.code.dataflow.nodes import HOLE
from assent.effects.code.dataflow.value import NOTHING, OPEN, CodeValue, text_value
from assent.effects.shell.commands.command_effects import DELETE, LIST, READ, WRITE

if TYPE_CHECKING:
    from assent.effects.code.dataflow.call_effects import CodeEffects

_CLIENTS = frozenset("psql mysql mariadb mongosh mongo sqlcmd clickhouse-client cqlsh".split())
_SHELLS = frozenset("sh bash zsh dash ssh".split())
_COMMAND_NAME = Pattern(r"[a-z]+:[a-z:-]+")


def _remove(effects: CodeEffects, argument: str, ref: str, given: CallArguments) -> None:
    """`fs.rm(name, {recursive: true})`."""
    options = given.items[1] if len(given.items) > 1 else NOTHING
    recursive = "recursive" in (options.fields or {}) or not (options.fields is not None or options is NOTHING)
    found = effects.argument(argument, given) or OPEN
    effects.path(DELETE, found, recursive=recursive, dangers=("recursive-delete",) if recursive else ())


def _tagged(effects: CodeEffects, argument: str, ref: str, given: CallArguments) -> None:
    """`$`…``: a shell script. `$(…)` is something else."""
    if given.call.text == "tag" and given.items:
        effects.command(given.items[0], given)


def _deno_command(effects: CodeEffects, argument: str, ref: str, given: CallArguments) -> None:
    """`new Deno.Command("rm", {args: […]})`, `Deno.run({cmd: […]})`."""
    fields = next((item.fields for item in given.items if item.fields), {})
    items = list(given.items[:1]) if given.items and given.items[0].texts else []
    for name in ("cmd", "args"):
        if name in fields:
            items += fields[name].items or (NOTHING,)
    effects.run(items, given)


def _net_connect(effects: CodeEffects, argument: str, ref: str, given: CallArguments) -> None:
    """`net.connect(port, host)`, or an object that has both."""
    fields = given.items[0].fields if given.items else None
    host = (fields or {}).get("host") if fields else given.items[1] if len(given.items) > 1 else text_value("localhost")
    effects.fetch("0", ref, CallArguments([host or OPEN], {}, NOTHING, given.call))


def _peer(effects: CodeEffects, argument: str, ref: str, given: CallArguments) -> None:
    """`IO::Socket::INET->new(PeerAddr => host)`."""
    fields: dict[str, CodeValue] = {}
    for item in given.items:
        fields.update(item.fields or {})
    host = fields.get("PeerAddr") or fields.get("PeerHost") or (given.items[0] if given.items else OPEN)
    effects.fetch("0", ref, CallArguments([host], {}, NOTHING, given.call))


def _forced(effects: CodeEffects, argument: str, ref: str, given: CallArguments) -> None:
    """`sync({force: true})`, `destroy({truncate: true})`."""
    for item in given.items:
        fields = item.fields or {}
        if any("true" in fields[name].refs for name in ("force", "truncate", "dropTables") if name in fields):
            effects.destroy("database")


def _remote(effects: CodeEffects, argument: str, ref: str, given: CallArguments) -> None:
    """A command for the shell of another machine."""
    found = effects.argument(argument, given) or OPEN
    for text in found.texts:
        script = script_of(text)
        if script:
            effects.builder.shell(script, place="remote")


def _packed(effects: CodeEffects, argument: str, ref: str, given: CallArguments) -> None:
    """A file is put into an archive."""
    effects.packed = True
    effects.path(READ, effects.argument(argument, given) or OPEN, recursive=True)


def _sql_local(effects: CodeEffects, argument: str, ref: str, given: CallArguments) -> None:
    effects.sql(argument, "sqlite " + ref, given)


def _dispatch(effects: CodeEffects, argument: str, ref: str, given: CallArguments) -> None:
    """`send(:system, …)`, `array_map("unlink", …)`: a function by its name."""
    for text in given.items[0].texts if given.items else ():
        if HOLE in text:
            continue
        owner = [f"{name}.{text}" for name in given.owner.refs if name not in ("Kernel", "Object")]
        rest = [part for item in given.items[1:] for part in (item.items if item.items is not None else (item,))]
        for name in (*owner, text):
            for verb, selector in effects.actions.of(name):
                effects.act(verb, selector, name, CallArguments(rest, {}, OPEN, given.call))


def _load_any(effects: CodeEffects, argument: str, ref: str, given: CallArguments) -> None:
    """A file or an address."""
    found = effects.argument(argument, given) or OPEN
    if any("://" in text.partition(HOLE)[0] for text in found.texts):
        effects.send("0 1", ref, given)
    else:
        effects.path(READ, found)


def _perl_open(effects: CodeEffects, argument: str, ref: str, given: CallArguments) -> None:
    """`open(F, ">", name)`, `open(F, ">name")`, `open(F, "-|", command)`."""
    if len(given.items) < 2:
        return
    mode, rest = given.items[1], given.items[2:]
    for text in mode.texts:
        sign = text.lstrip()
        bare = sign.lstrip("+<>").partition(":")[0].strip()
        name = rest[0] if rest else text_value(bare)
        if sign.startswith("|") or sign.rstrip().endswith("|") or "|" in sign[:3]:
            effects.words("2", ref, given) if rest else effects.command(text_value(sign.strip("|- ")), given)
        elif ">" in sign[:3]:
            effects.path(WRITE, name)
        else:
            effects.path(READ, name if rest or sign.startswith("<") or HOLE not in text else OPEN)


def _curl(effects: CodeEffects, argument: str, ref: str, given: CallArguments) -> None:
    """`curl_setopt($handle, CURLOPT_…, value)`."""
    option = given.items[1].refs[0] if len(given.items) > 2 and given.items[1].refs else ""
    if option == "CURLOPT_URL":
        effects.fetch("2", ref, given)
    elif option in ("CURLOPT_POSTFIELDS", "CURLOPT_INFILE", "CURLOPT_READDATA"):
        effects.leaves("body", given.items[2])
    elif option == "CURLOPT_CUSTOMREQUEST" and "DELETE" in given.items[2].texts:
        effects.destroy()


def _assert(effects: CodeEffects, argument: str, ref: str, given: CallArguments) -> None:
    """PHP's `assert($text)`; not `assert` of a condition."""
    if len(given.call.parts) > 1 and given.call.parts[1].kind in ("text", "name", "join", "index"):
        effects.evaluated(argument, ref, given)


def _replaced(effects: CodeEffects, argument: str, ref: str, given: CallArguments) -> None:
    """`path.replace(target)`; with two arguments it is `str.replace`."""
    if len(given.items) + len(given.named) == 1:
        for verb, selector in (("read", "self"), ("take", "self"), ("write", argument)):
            effects.act(verb, selector, ref, given)


def _danger(effects: CodeEffects, argument: str, ref: str, given: CallArguments) -> None:
    """A function that is a danger with any arguments."""
    effects.builder.danger(argument)


def _killed(effects: CodeEffects, argument: str, ref: str, given: CallArguments) -> None:
    """A signal to a process. -1 means all processes, 1 is init; numbers from `/proc` are any process."""
    found = effects.argument(argument, given) or OPEN
    if "-1" in found.texts:
        effects.builder.danger("kill-all")
    everybody = any(effect.operation is LIST and effect.target.name == "/proc" for effect in effects.builder.effects)
    if "1" in found.texts or (everybody and not found.known):
        effects.builder.danger("ends-others")


def _program(effects: CodeEffects, argument: str, ref: str, given: CallArguments) -> None:
    """`sh.rm("-rf", x)`, `local["rm"](…)`, `repo.git.push(…)`: a program, or its subcommand, by a method. More than one
    word in the table: the program and its script, which only get the arguments."""
    name = ref.rpartition(".")[2].replace("_", "-")
    rest = [part for item in given.items for part in (item.items if item.items is not None else (item,))]
    if " " in argument:
        effects.run([*map(text_value, argument.split()), *(item for item in rest if item.fields is None)], given)
    elif name and not name.endswith(")"):
        name = {"raw": "", "deleteLocalBranch": "branch"}.get(name, name)
        first = [text_value(word) for word in (argument, name) if word]
        effects.run([*first, *rest], given)


def _artisan(effects: CodeEffects, argument: str, ref: str, given: CallArguments) -> None:
    """`$kernel->call("migrate:fresh")`: a Laravel command, with a colon in its name."""
    if given.items and any(_COMMAND_NAME.fullmatch(text) for text in given.items[0].texts):
        _program(effects, "php artisan", ref, given)


def _typed(effects: CodeEffects, argument: str, ref: str, given: CallArguments) -> None:
    """A text for the standard input of a program that the code starts: SQL statements or a script."""
    if not effects.started_programs.isdisjoint(_CLIENTS):
        effects.sql(argument, ref, given)
    if not effects.started_programs.isdisjoint(_SHELLS):
        effects.command(effects.argument(argument, given) or OPEN, given)


def _piped(effects: CodeEffects, argument: str, ref: str, given: CallArguments) -> None:
    """A process is tied to a connection."""
    refs = [ref for value in (given.owner, *given.items) for ref in value.refs]
    starts = any(ref.startswith(("child_process.", "subprocess.")) for ref in refs)
    if starts and any(ref.startswith(("net.", "tls.", "socket.", "ws")) for ref in refs):
        effects.builder.danger("reverse-shell")


def _route(effects: CodeEffects, argument: str, ref: str, given: CallArguments) -> None:
    """`octokit.request("DELETE /repos/{owner}/{repo}")`."""
    found = effects.argument(argument, given) or OPEN
    if any(text.lstrip().upper().startswith("DELETE ") for text in found.texts):
        effects.destroy()


def _sent_body(effects: CodeEffects, argument: str, ref: str, given: CallArguments) -> None:
    """`http.request(message)`, with the body set on the message before."""
    effects.sent(argument, ref, given)
    for node in effects.values.code.fields.get("body", []):
        effects.leaves("body", effects.values.value(node))


def _worker(effects: CodeEffects, argument: str, ref: str, given: CallArguments) -> None:
    """`new Worker(text, {eval: true})`; without the option it is the name of a file."""
    if any("eval" in (item.fields or {}) for item in given.items[1:]):
        effects.evaluated(argument, ref, given)


def _imports_download(effects: CodeEffects, argument: str, ref: str, given: CallArguments) -> None:
    """A module from a file that came from the network."""
    names = effects.argument(argument, given) or OPEN
    files = {name.rpartition("/")[2].removesuffix(".py") for name in effects.downloads}
    if any(text.rpartition(".")[2] in files for text in names.texts):
        effects.builder.danger("remote-code")


def _root(effects: CodeEffects, argument: str, ref: str, given: CallArguments) -> None:
    """`os.setuid(0)`."""
    if any("0" in item.texts for item in given.items):
        effects.builder.danger("privilege")


def _in_place(effects: CodeEffects, argument: str, ref: str, given: CallArguments) -> None:
    """`fileinput.input(files, inplace=True)`."""
    found = effects.argument(argument, given) or OPEN
    effects.path(READ, found)
    if "inplace" in given.named:
        effects.path(WRITE, found)


SPECIAL: dict[str, Callable[[CodeEffects, str, str, CallArguments], None]] = {
    "remove": _remove,
    "tagged": _tagged,
    "deno_command": _deno_command,
    "net_connect": _net_connect,
    "peer": _peer,
    "forced": _forced,
    "sql_local": _sql_local,
    "remote": _remote,
    "packed": _packed,
    "dispatch": _dispatch,
    "load_any": _load_any,
    "perl_open": _perl_open,
    "curl": _curl,
    "assert": _assert,
    "replaced": _replaced,
    "danger": _danger,
    "kill": _killed,
    "program": _program,
    "artisan": _artisan,
    "worker": _worker,
    "typed": _typed,
    "pipe": _piped,
    "route": _route,
    "sent_body": _sent_body,
    "downloaded": _imports_download,
    "root": _root,
    "in_place": _in_place,
}
