"""Which tools each runtime has, and which of their arguments these tools read. Says nothing of what is done to them.

A name means something only in the runtime that owns it. A call without a runtime may be of any of them, so all readings
of its name count together. Written down from the programs themselves, in the versions in `agents/capabilities.py`.

A line is a tool, the word for it, and the arguments that matter, by role: `path` is what the tool acts on, `folder`
where it looks, `glob` picks files by name, `pattern` is what is looked for, `patch` names its own files, `command`
runs, `workdir` is where that runs. All others are text, or ignored. Marks after the word: `+parent` looks in the folder
above where the path is no folder, `+options` hands a pattern to a program that may read it as an option, `+viewer` only
reads where its `command` is `view`, `+ending` takes a missing relative path for the ending of another, `+many` prints
whatever its patterns match, `+argv` takes a command as a list of words too."""

from __future__ import annotations

from assent.contract.tools import ALIASES, OURS
from assent.contract.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

ROLES = ("path", "folder", "glob", "pattern", "patch", "command", "workdir")

_CLAUDE = """
    Bash bash command=command
    Monitor bash command=command
    Read read path=file_path
    NotebookRead read path=notebook_path
    Write write path=file_path
    Edit write path=file_path
    MultiEdit write path=file_path
    NotebookEdit write path=notebook_path
    LS list folder=path
    Glob list folder=path glob=pattern
    Grep search folder=path pattern=pattern glob=glob
    WebFetch WebSearch Agent Task TodoWrite TodoRead TaskCreate TaskUpdate ExitPlanMode EnterPlanMode AskUserQuestion
    StructuredOutput BashOutput KillShell KillBash TaskOutput TaskStop TaskGet TaskList ToolSearch
"""
TABLES: dict[str, str] = {
    "claude": _CLAUDE,
    "claude-prompt": _CLAUDE,
    "codex": """
    Bash bash command=command workdir=workdir
    shell bash+argv command=command workdir=workdir
    exec_command bash+argv command=cmd,command workdir=workdir
    local_shell bash+argv command=command workdir=working_directory
    shell_command bash+argv command=command workdir=workdir
    unified_exec bash+argv command=cmd,command,input workdir=workdir
    apply_patch write patch=command,input,patch
    view_image read path=path
    web_search update_plan request_user_input spawn_agent wait_agent close_agent collaborationspawn_agent
    collaborationsend_message collaborationfollowup_task collaborationwait_agent collaborationlist_agents
    collaborationclose_agent collaborationinterrupt_agent multi_agent_v1spawn_agent multi_agent_v1send_input
    multi_agent_v1resume_agent multi_agent_v1wait_agent multi_agent_v1close_agent
""",
    "gemini": """
    run_shell_command bash command=command workdir=dir_path,directory
    read_file read path=file_path,absolute_path
    read_many_files read+many glob=include,paths
    write_file write path=file_path
    replace write+ending path=file_path
    list_directory list folder=dir_path,path
    glob list folder=dir_path,path glob=pattern
    grep_search search+options folder=dir_path,path pattern=pattern glob=include_pattern,include
    search_file_content search+options folder=dir_path,path pattern=pattern glob=include_pattern,include
    web_fetch google_web_search invoke_agent write_todos update_topic tracker_create_task tracker_update_task
    tracker_get_task tracker_list_tasks tracker_add_dependency tracker_visualize enter_plan_mode exit_plan_mode ask_user
    complete_task
""",
    "opencode": """
    bash bash command=command workdir=workdir
    read read path=filePath
    write write path=filePath
    edit write path=filePath
    multiedit write path=filePath
    patch write patch=patchText
    apply_patch write patch=patchText
    list list+parent folder=path
    glob list+parent folder=path glob=pattern
    grep search+parent folder=path pattern=pattern glob=include
    webfetch websearch task todowrite todoread question plan_enter plan_exit invalid
""",
    "qwen": """
    run_shell_command bash command=command workdir=directory,dir_path
    monitor bash command=command workdir=directory
    read_file read path=file_path,absolute_path
    read_many_files read+many glob=include,paths
    write_file write path=file_path
    edit write path=file_path
    replace write path=file_path
    notebook_edit write path=notebook_path
    list_directory list folder=path,dir_path
    glob list folder=path,dir_path glob=pattern
    grep_search search+options folder=path,dir_path pattern=pattern glob=glob,include
    search_file_content search+options folder=path pattern=pattern glob=include,glob
    web_fetch web_search agent task todo_write enter_plan_mode exit_plan_mode ask_user_question structured_output
    task_output task_stop task_get task_list cron_list tool_search
""",
    "copilot": """
    bash bash command=command
    view read path=path
    create write path=path
    edit write path=path
    str_replace_editor write+viewer path=path
    apply_patch write patch=input,patch
    grep search+options folder=path,paths pattern=pattern glob=glob
    rg search+options folder=path,paths pattern=pattern glob=glob
    glob list folder=path,paths glob=pattern
    Write write path=path,file_path
    Read read path=path,file_path
    Edit write path=path,file_path
    web_fetch web_search report_intent read_bash stop_bash list_bash read_agent list_agents task ask_user update_todo
    exit_plan_mode
""",
    "cursor": """
    Shell bash command=command workdir=cwd,working_directory
    run_terminal_cmd bash command=command workdir=cwd,working_directory
    Read read path=file_path,path,target_file
    read_file read path=target_file,path,file_path
    Write write path=file_path,path,target_file
    edit_file write path=target_file,path,file_path
    search_replace write path=file_path,path,target_file
    Edit write path=file_path,path,target_file
    edit_notebook write path=target_notebook,path,file_path
    Delete delete path=path,file_path,target_file
    delete_file delete path=target_file,path,file_path
    list_dir list folder=relative_workspace_path,target_directory,path
    LS list folder=path,target_directory
    Glob list folder=path,target_directory glob=pattern,glob_pattern
    file_search list folder=path
    Grep search+options folder=path,target_directory pattern=pattern,query glob=glob,include_pattern
    grep_search search+options folder=path pattern=query,pattern glob=include_pattern,glob
    codebase_search search folder=target_directories,path
    WebFetch WebSearch web_search Task TodoWrite todo_write
""",
    "cline": """
    run_commands bash command=commands,command,cmd
    execute_command bash command=command,commands
    read_files read path=files,file_paths,paths,path,file_path
    editor write path=path
    apply_patch write patch=input
    write_to_file write path=path,absolutePath
    replace_in_file write path=path,absolutePath
    search_codebase search+options pattern=queries,query
    fetch_web_content ask_question submit_and_exit spawn_agent
""",
    "openharness": """
    bash bash command=command workdir=cwd
    read_file read path=path,file_path
    write_file write path=path,file_path
    edit_file write path=path,file_path
    notebook_edit write path=path,notebook_path
    glob list folder=root,path glob=pattern
    grep search+options folder=root,path pattern=pattern glob=file_glob,glob
    web_fetch web_search agent todo_write enter_plan_mode exit_plan_mode ask_user_question tool_search task_get
    task_list task_output task_stop cron_list
""",
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
# What a tool reads that is known by its word alone: a familiar name of no runtime in the tables.
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


class Shape(Value):
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


_read: dict[str, dict[str, Shape]] = {}


def shapes(runtime: str, tool: str) -> tuple[Shape, ...]:
    """How a tool may read its arguments: as its runtime does, or, where none is named, as any of its owners.

    None where the runtime does not have such a tool."""
    low = tool.lower()
    if runtime:
        found = _table(runtime).get(low)
        return () if found is None else (found,)
    owned = [table[low] for table in map(_table, TABLES) if low in table]
    return tuple(dict.fromkeys(owned)) or any_of(low)


def any_of(tool: str) -> tuple[Shape, ...]:
    """A tool by a familiar name, with all the arguments that such tools have anywhere."""
    low = tool.lower()
    word = ALIASES.get(low, "")
    patches = word == "write" and ("patch" in low or "diff" in low)
    marks = "argv" if word == "bash" else ""
    return (_shape(word, marks, ANY.get("patch" if patches else word, "").split()),) if word else ()


def is_known(runtime: str) -> bool:
    return runtime in TABLES


def _table(runtime: str) -> dict[str, Shape]:
    found = _read.get(runtime)
    if found is None:
        found = _read[runtime] = {}
        for line in TABLES.get(runtime, "").splitlines():
            words = line.split()
            if any("=" in word for word in words):
                word, _, marks = words[1].partition("+")
                found[words[0].lower()] = _shape(word, marks, words[2:])
            else:
                found.update({each.lower(): _shape(ALIASES.get(each.lower(), ""), "", []) for each in words})
    return found


def _shape(word: str, marks: str, roles: list[str]) -> Shape:
    keys: dict[str, tuple[str, ...]] = {}
    for role in roles:
        name, _, given = role.partition("=")
        keys[name] = tuple(each.lower() for each in given.split(","))
    return Shape(word, frozenset(marks.split("+")) if marks else frozenset(), keys)
