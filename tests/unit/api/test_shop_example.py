"""The example policy of a shop: what its agent may do, and what an injected one tries."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

EXAMPLE = Path(__file__).parents[3] / "examples/shop_agent.py"


def shop() -> ModuleType:
    spec = importlib.util.spec_from_file_location("shop_agent", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


REFUND = {"order": 7, "amount": 20, "currency": "EUR"}
MAIL = {"to": "ann@customer.example", "body": "Your money is on its way."}
ISSUE = {"owner": "acme", "repo": "shop", "title": "It is slow"}
CREATE = "mcp__github__create_issue"


@pytest.mark.parametrize(
    ("tool", "given", "outcome"),
    [
        ("refund", REFUND, "allow"),
        ("refund", {**REFUND, "amount": 50}, "allow"),
        ("refund", {**REFUND, "amount": 50.01}, "ask"),
        ("refund", {**REFUND, "amount": 501}, "deny"),
        ("refund", {**REFUND, "amount": 5e2 + 1}, "deny"),
        ("refund", {**REFUND, "amount": -20}, "deny"),
        ("refund", {**REFUND, "amount": "20"}, "deny"),
        ("refund", {**REFUND, "amount": [20, 5000]}, "deny"),
        ("refund", {**REFUND, "Amount": 5000}, "deny"),
        ("refund", {**REFUND, "lines": [{"amount": 5000}]}, "deny"),
        ("refund", {"order": 7, "currency": "EUR"}, "deny"),
        ("refund", {**REFUND, "currency": "eur"}, "ask"),
        ("refund", {**REFUND, "account": "DE00"}, "ask"),
        ("Refund", {**REFUND, "amount": 5000}, "deny"),
        ("send_email", MAIL, "allow"),
        ("send_email", {**MAIL, "to": ["ann@customer.example"]}, "allow"),
        ("send_email", {**MAIL, "to": ["ann@customer.example", "eve@evil.example"]}, "ask"),
        ("send_email", {**MAIL, "to": "ann@customer.example,eve@evil.example"}, "ask"),
        ("send_email", {**MAIL, "to": "ann@customer.example\nBcc: eve@evil.example"}, "ask"),
        ("send_email", {**MAIL, "to": "аnn@customer.example"}, "ask"),
        ("send_email", {**MAIL, "cc": "eve@evil.example"}, "ask"),
        ("send_email", {"body": "x"}, "ask"),
        ("query", {"sql": "select total from orders where id = 7"}, "allow"),
        ("query", {"sql": "delete from orders"}, "deny"),
        ("query", {"sql": "select 1; drop table orders"}, "deny"),
        ("query", {"sql": "with x as (delete from orders returning id) select * from x"}, "deny"),
        ("query", {"sql": "select pg_terminate_backend(5)"}, "deny"),
        ("query", {"statement": "drop table orders"}, "deny"),
        (CREATE, ISSUE, "allow"),
        (CREATE, {**ISSUE, "repo": "warehouse"}, "allow"),
        (CREATE, {**ISSUE, "repo": "secrets"}, "ask"),
        (CREATE, {**ISSUE, "owner": "evil"}, "ask"),
        (CREATE, {**ISSUE, "repo": "shop/../secrets"}, "ask"),
        ("delete_order", {"order": 7}, "ask"),
    ],
)
def test_the_policy_of_the_shop(tool: str, given: dict[str, object], outcome: str, tmp_path: Path) -> None:
    gate = shop().gate_for(["ann@customer.example"], str(tmp_path))
    try:
        assert gate.decide(gate.call(tool, given)).outcome.word == outcome
    finally:
        gate.close()
