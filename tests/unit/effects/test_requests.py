"""Requests: what they do to others, by their method and their address."""

from __future__ import annotations

import pytest

from assent.effects.requests import is_own, marks


@pytest.mark.parametrize(
    ("method", "address", "found"),
    [
        ("GET", "https://api.stripe.com/v1/charges", ()),
        ("POST", "https://api.stripe.com/v1/refunds", ("deploy",)),
        ("POST", "https://hooks.slack.com/services/T/B/x", ("publish",)),
        ("POST", "https://slack.com/api/conversations.list", ()),
        ("DELETE", "https://example.com/users/1", ("destroy",)),
        ("DELETE", "http://localhost:3000/users/1", ()),
        ("DELETE", "http://localhost:9200/orders", ("destroy",)),
        ("DELETE", "http://localhost:9200/test-orders", ()),
        ("POST", "https://api.github.com/graphql", ()),
        ("POST", "https://example.com/jobs/purge", ("destroy",)),
        ("POST", "https://example.com/search", ()),
    ],
)
def test_a_request_is_marked_by_its_method_and_its_address(method: str, address: str, found: tuple[str, ...]) -> None:
    assert marks(method, address) == found


def test_an_address_that_is_not_certain_is_none_of_this_machine() -> None:
    assert marks("DELETE", "http://localhost:3000/users/1", certain=False) == ("destroy",)


def test_all_that_a_service_keeps_is_nobodys_own() -> None:
    assert is_own("http://localhost:3000/users/1")
    assert not is_own("http://localhost:3000/_all")
    assert not is_own("http://localhost:3000")
