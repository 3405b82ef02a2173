"""What the names and the arguments of tools say that they do to others."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from assent.effects.tool_names import marks


@pytest.mark.parametrize(
    "tool",
    [
        "send_email",
        "sendEmail",
        "mcp__mail__send",
        "email.send",
        "slack_post_message",
        "chat_postMessage",
        "pay_invoice",
        "create_refund",
        "transfer_funds",
        "place_order",
        "delete_user",
        "users.delete",
        "mcp__github__merge_pull_request",
        "mcp__github__push_files",
        "publish-package",
        "deployToProduction",
        "create_deployment",
        "grant_role",
        "add_collaborator",
        "execute_workflow",
        "run_sql",
        "runCommand",
    ],
)
def test_a_name_that_acts_on_others_is_irreversible(tool: str) -> None:
    assert marks(tool, {}) == ("irreversible",)


@pytest.mark.parametrize(
    "tool",
    [
        "get_deleted_items",
        "list_merge_requests",
        "gitlab_get_merge_request",
        "create_pull_request",
        "update_issue",
        "add_comment",
        "draft_email",
        "calculate_refund",
        "check_payment",
        "search_posts",
        "run_tests",
        "browser_click",
        "mcp__merge__get_status",
        "sequentialthinking",
        "read_file",
    ],
)
def test_a_name_that_looks_or_changes_what_is_ones_own_is_not(tool: str) -> None:
    assert marks(tool, {}) == ()


@pytest.mark.parametrize(
    ("tool", "given", "found"),
    [
        ("execute_sql", {"sql": "SELECT 1"}, ()),
        ("query", {"sql": "select * from t"}, ()),
        ("execute_sql", {"sql": "INSERT INTO t VALUES (1)"}, ("irreversible",)),
        ("query", {"sql": "DELETE FROM t"}, ("destroy",)),
        ("query", {"SQL": "drop table t"}, ("destroy",)),
        ("query", {"queries": ["select 1", "truncate t"]}, ("destroy",)),
        ("execute_sql", {"query": "DROP DATABASE prod"}, ("destroy", "destroy-remote")),
        ("search_code", {"query": "delete from users"}, ()),
        ("ask", {"query": "delete old posts"}, ()),
    ],
)
def test_a_statement_among_the_arguments_counts(tool: str, given: Mapping[str, object], found: tuple[str, ...]) -> None:
    assert marks(tool, given) == found


def test_an_action_among_the_arguments_counts() -> None:
    assert marks("manage_repo", {"action": "delete"}) == ("irreversible",)
    assert marks("manage_repo", {"action": "list"}) == ()
    assert marks("request", {"method": "DELETE", "url": "https://api.example.com/1"}) == ("irreversible",)
    assert marks("request", {"method": "DELETE", "url": "http://localhost:3000/1"}) == ()
