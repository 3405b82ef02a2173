"""Which tools each runtime has, and which of their arguments these tools read. Not what the tools do with them.

A name means something only in the runtime that owns it. A call without a runtime may be of any of them, so all readings
of its name count together. The tables of agent programs are in `[tools]` of their agent.toml, written down from the
programs themselves, in the versions that `[capabilities]` has there.

A line is a tool, the word for it, and the arguments that matter, by role: `path` is what the tool acts on, `folder`
where it looks, `glob` picks files by name, `pattern` is what is looked for, `patch` names its own files, `command`
runs, `workdir` is where that runs. All others are text, or ignored. Marks after the word: `+parent` looks in the folder
above if the path is no folder, `+options` hands a pattern to a program that may read it as an option, `+viewer` only
reads if its `command` is `view`, `+ending` takes a missing relative path for the ending of another, `+many` prints
whatever its patterns match, `+argv` takes a command as a list of words too."""

from __future__ import annotations

from collections.abc import Mapping

from assent.agents import known
from assent.contract import Value, keep
from assent.contract.tools import ALIASES, OURS

REMEMBERED = 256  # tools
ROLES = ("path", "folder", "glob", "pattern", "patch", "command", "workdir")

# Tools of runtimes without an agent.toml.
OTHERS: dict[str, str] = {
    "pi": """
    bash bash command=command
    read read path=path,file_path
    write write path=path,file_path
    edit write path=path,file_path
    ls list folder=path
    find list+options folder=path glob=pattern
    grep search+options folder=path pattern=pattern glob=glob
""",
    "mcp-resource": "read read path=file_path",  # a file that a client of an MCP server reads as a resource
    "anthropic": """
    str_replace_based_edit_tool write+viewer path=path
    bash bash command=command
""",
    # `assent run`, and the question that the page and the inbox show as an example
    "assent": "bash bash command=command",
    "example": "bash bash command=command",
    OURS: """
    bash bash command=command
    read read path=file_path
    write write path=file_path
    edit write path=file_path
    glob list folder=path glob=pattern
    grep search folder=path pattern=pattern glob=glob
    fetch
""",
}
# Arguments of a tool with a familiar name that belongs to no runtime in the tables.
ANY_PATH = (
    "path file_path filePath file files paths file_paths filename notebook_path absolute_path absolutePath "
    "target_file target_path source destination src dst from to old_path new_path target uri"
)
ANY_FOLDER = "path paths folder dir_path directory dir root target_directory target_directories cwd"
ANY = {
    "bash": "command=command,cmd,script,commands workdir=workdir,working_directory,dir_path,directory,cwd",
    "read": f"path={','.join(ANY_PATH.split())} glob=pattern,glob,include",
    "write": f"path={','.join(ANY_PATH.split())} patch=patch,diff,patchText",
    "patch": f"path={','.join(ANY_PATH.split())} patch=patch,diff,patchText,input,command,content",
    "delete": f"path={','.join(ANY_PATH.split())}",
    "move": f"path={','.join(ANY_PATH.split())}",
    "list": f"folder={','.join(ANY_FOLDER.split())} glob=pattern,glob,include,glob_pattern,file_pattern",
    "search": f"folder={','.join(ANY_FOLDER.split())} pattern=pattern,query,queries,regex "
    "glob=glob,include,include_pattern,file_pattern,file_glob,glob_pattern",
}


class ToolShape(Value):
    """How one tool of a runtime reads its arguments: role → the keys that have it, in lower case."""

    __slots__ = ("word", "marks", "keys")

    def __init__(self, word: str, marks: frozenset[str], keys: Mapping[str, tuple[str, ...]]) -> None:
        self.word = word
        self.marks = marks
        self.keys = keys

    def role(self, name: str) -> tuple[str, ...]:
        return self.keys.get(name, ())

    def __hash__(self) -> int:
        return hash(self.word)


_read: dict[str, dict[str, ToolShape]] = {}
_shapes: dict[tuple[str, str], tuple[ToolShape, ...]] = {}


def shapes(runtime: str, tool: str) -> tuple[ToolShape, ...]:
    """How a tool may read its arguments: as its runtime does or, if none is named, as any of its owners.

    None if the runtime does not have such a tool."""
    low = tool.lower()
    found = _shapes.get((runtime, low))
    if found is None:
        tables = map(_table, (runtime,) if runtime else (*known.section("tools"), *OTHERS))
        found = tuple(dict.fromkeys(table[low] for table in tables if low in table))
        found = found or (() if runtime else any_of(low))
        keep(_shapes, (runtime, low), found, REMEMBERED)
    return found


def any_of(tool: str) -> tuple[ToolShape, ...]:
    """A tool by a familiar name, with all the arguments that such tools have anywhere."""
    low = tool.lower()
    word = ALIASES.get(low, "")
    patches = word == "write" and ("patch" in low or "diff" in low)
    marks = "argv" if word == "bash" else ""
    return (_shape(word, marks, ANY.get("patch" if patches else word, "").split()),) if word else ()


def is_known(runtime: str) -> bool:
    return runtime in OTHERS or runtime in known.section("tools")


def _table(runtime: str) -> dict[str, ToolShape]:
    found = _read.get(runtime)
    if found is None:
        found = _read[runtime] = {}
        for line in _text(runtime).splitlines():
            words = line.split()
            if any("=" in word for word in words):
                word, _, marks = words[1].partition("+")
                found[words[0].lower()] = _shape(word, marks, words[2:])
            else:
                found.update({each.lower(): _shape(ALIASES.get(each.lower(), ""), "", []) for each in words})
    return found


def _text(runtime: str) -> str:
    """The table of a runtime; that of another if its `agent.toml` says that both have the same tools."""
    row = known.section("tools").get(runtime)
    if row is None:
        return OTHERS.get(runtime, "")
    return _text(str(row["like"])) if "like" in row else str(row["table"])


def _shape(word: str, marks: str, roles: list[str]) -> ToolShape:
    keys = {name: tuple(given.lower().split(",")) for name, _, given in (role.partition("=") for role in roles)}
    return ToolShape(word, frozenset(marks.split("+")) if marks else frozenset(), keys)
