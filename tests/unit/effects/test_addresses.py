"""The host of an address is known only where every client reads the same one."""

from __future__ import annotations

import pytest

from assent.effects.addresses import UNKNOWN, hosts_of


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://example.com/a?b=c#d", "example.com"),
        ("https://user:pw@example.com:8443/", "example.com"),
        ("example.com:443", "example.com"),
        ("git@example.com", "example.com"),
        ("http://[::1]:80/", "::1"),
        ("https://EXAMPLE.com./", "example.com"),
    ],
)
def test_a_plain_address_has_one_host(url: str, host: str) -> None:
    assert hosts_of(url) == [host]


@pytest.mark.parametrize(
    "url",
    [
        "https://example.com%2f.evil.com/",
        "https://example.com\\@evil.com",
        "https://example.com#@evil.com",
        "https://example.com\n.evil.com/",
        "https://example.com /",
        "https://a@b@example.com",
        "https:example.com",
        "https:///example.com",
        "https://example.com;.evil.com/",
        "https://example.com\u3002evil.com",
    ],
)
def test_an_address_that_clients_read_differently_has_no_known_host(url: str) -> None:
    assert UNKNOWN in hosts_of(url)


@pytest.mark.parametrize(
    "url", ["http://2130706433/", "http://0x7f.1/", "http://0177.0.0.1/", "http://[::ffff:7f00:1]/", "http://127.1"]
)
def test_a_number_counts_as_the_address_it_stands_for(url: str) -> None:
    assert "127.0.0.1" in hosts_of(url)


def test_a_name_in_another_alphabet_counts_in_both_forms() -> None:
    assert "xn--bcher-kva.example" in hosts_of("https://bücher.example/")
    assert "bücher.example" in hosts_of("https://xn--bcher-kva.example/")
