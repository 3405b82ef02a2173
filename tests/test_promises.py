"""What docs/embedding.md and docs/threat-model.md promise, each with the tests that check it. A promise without one
does not belong there; a sentence that goes, or a test that is renamed, shows here."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
EMBEDDING = {
    "Run the call only if `verdict.allowed`": "nothing_but_a_yes_lets_a_call_run",
    "it has a copy of the judged arguments": "a_verdict_carries_the_call_that_was_judged",
    "raises nothing but `CancelledError`, which withdraws the question": "a_cancelled_call_leaves_no_question",
    "An internal fault or a missed deadline is a verdict that denies": "a_channel_that_breaks_denies",
    "Verdicts, decisions, outcomes and answers have no truth value": "an_answer_is_neither_true_nor_false",
    "so does a `guard` that was not awaited": "what_was_not_awaited_is_no_yes",
    "would be a rule for each letter": "rules_that_are_no_list_of_texts_are_refused",
    "questions queue, and each call gets its own answer": "parallel_calls_each_get_their_own_answer",
    "itself has no dependencies": "deciding_needs_no_package",
    "Rules in code are added to these": "rules_from_code",
    "policy that does not load raises `PolicyError` here": "a_policy_that_does_not_load_is_told_at_once",
    "is not declared asks, every time": "a_tool_that_is_not_declared_asks_whatever_its_name",
    "in a declared path is judged as an address too": "a_place_that_is_no_text_of_the_project_is_not_read_as_one",
    "An argument that is not plain data": "a_tuple_or_a_path_hides_nothing",
    "your declarations do not change what its": "a_function_with_the_name_of_a_tool_opens_nothing_to_other_agents",
    "from any event loop: `await question.answer": "a_channel_answers_on_the_loop_of_the_program",
    "`question.answer_threadsafe": "a_thread_without_a_loop_answers",
    "If no channel can show it, the call is denied at once": (
        "a_channel_that_cannot_show_ends_the_question_and_says_why"
    ),
    "the verdict, the trail and the log say what it raised": "a_function_that_raises_says_why",
    "`channel` of an `Answer` is the channel's name in the trail": "an_answer_names_the_place_where_it_was_given",
    "raises `Denied`. The function gets copies": "a_guarded_function_runs_with_what_was_shown",
    "an object of another": "an_object_that_changes_while_a_person_is_asked_does_not_run",
    "A generator is judged when it starts to run": "a_generator_is_judged_when_it_begins_to_run",
    "`save.tool` is its schema": "the_signature_is_the_schema",
    "Sessions belong to their gate": "gates_that_share_a_state_folder_do_not_share_sessions",
    "all gates share one thread, and one trail and one store": "the_gates_of_a_process_share_what_they_hold_open",
    "is removed 30 days after its": "what_sessions_left_goes_after_a_month_without_use",
    "is judged in both, and the stricter result counts": "relative_paths_are_judged_wherever_they_may_lead",
    "An approval counts once, for exactly the call that was shown": "an_approval_counts_once_in_whichever_process",
    "Setting the clock back gains no time": "a_clock_that_is_set_back_brings_no_approval_back",
    "The call is judged again": "rules_that_deny_by_now_win_over_an_approval",
    "Without a name nothing is allowed": "an_approval_without_a_name_does_not_run",
    "The framework's own approval": "the_framework_s_own_yes_is_none",
    "so nothing is saved by them": "an_approval_is_for_one_run_whatever_its_call_ids",
    "blocks it if the hook fails or the process hangs": "a_hook_that_fails_or_hangs_blocks",
    "In Claude's plan mode, changes are denied": "what_only_plans_changes_nothing",
    "those of agents that it uses as tools": "an_agent_that_is_handed_over_to_is_gated",
    "A handoff that runs a function": "a_function_of_a_handoff_is_gated",
    "`guard` refuses them unless you name": "a_tool_that_cannot_be_seen_is_refused_unless_it_is_left_out_by_name",
    "It also refuses `include_server_in_tool_names`": "names_by_which_rules_would_miss_mcp_tools_are_refused",
    "The answers apply to runs started within `answered`": "answers_are_seen_by_no_other_run",
    "If your own `needs_approval` pauses a run": "the_author_s_own_approval_holds_beside_the_gate",
    "with only one of the two, both": "a_node_with_half_of_the_middleware_is_gated_both_ways",
    "Cancelling `ainvoke` withdraws its question": "a_cancelled_run_leaves_nothing_pending",
    "after every hook that changes arguments": "whatever_changes_the_arguments_stands_outside",
    "after it does not start: list ours last": ("a_run_with_something_between_the_gate_and_the_tools_does_not_start"),
    "wrap it: `AssentToolset(toolset,": "one_toolset_alone_can_be_gated",
    "are judged field by field": "paths_within_a_model_are_looked_at",
    "A tool that an app's page calls by a hash asks": "a_name_by_a_hash_is_no_way_around_a_rule",
    "an `AgentTool` with `include_plugins=False`": "an_agent_that_would_run_without_plugins_does_not_run",
    "an agent with a code executor that runs here": (
        "code_that_a_model_writes_runs_in_no_executor_that_the_gate_cannot_see"
    ),
    "an agent with a `before_tool_callback`": "a_callback_of_an_agent_changes_no_call_that_was_judged",
    "runs after the hooks that you pass in": "hooks_of_the_program_itself_still_run",
    "Allowing a tool by name does not override a denial": "a_denial_is_not_opened_by_an_allowed_tool",
    "A deny rule on a path without a pattern is an error": "a_path_rule_that_denies_nothing_is_an_error",
    "`denied_commands` hold inside of `env`": "a_denied_command_is_denied_behind_a_wrapper_too",
    "The floor protects more": "places_of_secrets_are_closed_in_every_mode",
    "Links are followed: a path is judged": "a_path_rule_speaks_of_the_project_and_of_what_links_lead_to",
    "whatever kind the agent claims": "a_command_is_read_as_one_whatever_kind_it_is_said_to_be",
    "session ids refer only to its own sessions": "an_agent_cannot_name_the_session_of_another",
}
THREATS = {
    "plays this session against an installed hook": "every_attempt_is_listed_in_the_threat_model",
    "In `full_auto` two things differ": "the_loosest_mode_short_of_yolo_stops_it_as_well",
    "An incomplete answer counts as none": "an_answer_counts_once_it_is_whole",
    "each side asks the kernel who": "the_kernel_says_who_connected",
    "The compiled client loads no": "a_library_that_a_project_preloads_does_not_answer_for_the_compiled_client",
    "it inherits no environment, file handles, folder or session": "nothing_of_the_agents_process_reaches_the_server",
    "by a one-time code": "a_code_works_once",
    "to a process whose ancestors include no agent program": "the_mark_of_an_agent_counts_in_every_ancestor",
    "a caller's token can ask but not answer": "the_token_of_callers_signs_nobody_in",
    "A change in the middle of a session": "settings_that_change_in_a_session_do_not_take_claude_codes_hook_away",
    "Answers over Slack and the webhook are signed": "a_forged_an_old_and_an_unsigned_interaction_decide_nothing",
    "from a listed member of the workspace": "who_is_not_listed_or_of_another_workspace_is_refused_and_recorded",
    "Outages and rate limits of these services deny": (
        "with_slack_alone_and_down_a_question_is_denied_and_never_approved"
    ),
    "A fooled [classifier](classifier.md) can only allow": "the_floor_stays_closed",
}


@pytest.fixture(scope="module")
def names() -> frozenset[str]:
    found = (path.read_text() for path in (ROOT / "tests").rglob("test_*.py"))
    return frozenset(name for text in found for name in re.findall(r"^(?:async )?def test_(\w+)", text, re.M))


@pytest.mark.parametrize(("file", "promises"), [("embedding.md", EMBEDDING), ("threat-model.md", THREATS)])
def test_every_promise_stands_there_and_has_its_test(
    file: str, promises: dict[str, str], names: frozenset[str]
) -> None:
    text = " ".join((ROOT / "docs" / file).read_text().split())
    assert [each for each in promises if " ".join(each.split()) not in text] == []
    assert [each for each in promises.values() if each not in names] == []
