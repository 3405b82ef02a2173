"""The tools of the known runtimes, by all their names. Says nothing about their effects."""

from __future__ import annotations

# Name in lower case → the word that rules, receipts and lowering use.
ALIASES: dict[str, str] = {
    name: word
    for word, names in {
        "bash": "bash shell run_shell_command run_terminal_cmd run_in_terminal execute_command exec_command exec "
        "local_shell local_shell_call container.exec unified_exec terminal monitor run_command run_bash "
        "bash_command shell_command execute_bash run_commands",
        "read": "read read_file readfile view view_file view_image open_file cat_file read_many_files notebookread "
        "notebook_read read_notebook read_files",
        "write": "write edit multiedit multi_edit write_file writefile create_file create write_to_file replace "
        "replace_in_file str_replace str_replace_editor str_replace_based_edit_tool apply_patch applypatch apply_diff "
        "patch notebookedit notebook_edit edit_notebook edit_file editfile search_replace insert_content "
        "insert_edit_into_file multi_replace edit_files create_directory editor",
        "delete": "delete delete_file deletefile remove_file remove",
        "move": "move_file rename_file move rename",
        "list": "list ls glob list_directory list_dir listdir list_files listfiles find_files file_search globfiles "
        "glob_files directory_tree",
        "search": "search grep search_file_content grep_search search_files codebase_search rg ripgrep semantic_search "
        "search_code search_codebase grep_files",
        "fetch": "fetch webfetch web_fetch fetch_url url_fetch read_url fetch_webpage fetch_web_content",
        "websearch": "websearch web_search google_web_search internet_search",
        "agent": "agent task subagent invoke_agent spawn_agent collaborationspawn_agent dispatch_agent new_task "
        "delegate delegate_task run_agent multi_agent_v1spawn_agent multi_agent_v1send_input "
        "multi_agent_v1resume_agent collaborationsend_message collaborationfollowup_task",
        "todo": "todo todowrite todoread todo_write todo_read write_todos update_todo_list manage_todo_list todolist "
        "taskcreate taskupdate update_topic report_intent tracker_create_task tracker_update_task tracker_get_task "
        "tracker_list_tasks tracker_add_dependency tracker_visualize",
        "plan": "plan update_plan exitplanmode enterplanmode exit_plan_mode enter_plan_mode plan_exit plan_enter",
        "think": "think sequentialthinking invalid",
        "question": "question askuserquestion ask_user ask_user_question ask_followup_question attempt_completion "
        "ask_question request_user_input submit_and_exit complete_task structuredoutput structured_output",
        "task_output": "bashoutput bash_output taskoutput task_output killshell kill_shell killbash taskstop task_stop "
        "taskget task_get tasklist task_list cron_list cron_get get_terminal_output tool_search toolsearch "
        "read_bash stop_bash list_bash wait_agent read_agent list_agents close_agent "
        "collaborationwait_agent collaborationlist_agents collaborationclose_agent collaborationinterrupt_agent "
        "multi_agent_v1wait_agent multi_agent_v1close_agent",
    }.items()
    for name in names.split()
}

# Tools without effects to judge: they keep lists, plan, ask the person, or read the output of earlier runs.
INERT = frozenset({"todo", "plan", "think", "question", "task_output"})

# The runtime of the tools that come with Assent: their names keep their meaning, whatever else is declared.
OURS = "assent-tools"


def canonical(tool: str) -> str:
    """The word for a tool. MCP names keep their case; unknown tools keep their name, in lower case."""
    if tool[:5].lower() == "mcp__":
        return tool
    low = tool.lower()
    return ALIASES.get(low, low)
