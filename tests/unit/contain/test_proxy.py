"""What the proxy lets through, by its words alone. tests/contain/test_proxy.py runs it."""

from __future__ import annotations

import pytest

from assent.contain.proxy import RefusedRequest, is_listed, is_name, is_public, requested

HOSTS = ("a.example", "*.b.example")


@pytest.mark.parametrize("name", ["a.example", "x.b.example", "y.x.b.example"])
def test_a_listed_name_is_listed(name: str) -> None:
    assert is_listed(name, HOSTS)


@pytest.mark.parametrize(
    "name", ["b.example", "xb.example", "x.a.example", "a.example.evil", "aXexample", "", ".b.exampl"]
)
def test_no_other_name_is(name: str) -> None:
    assert not is_listed(name, HOSTS)


@pytest.mark.parametrize("text", ["a.example", "x-1.b.xn--p1ai", "a"])
def test_names(text: str) -> None:
    assert is_name(text)


@pytest.mark.parametrize(
    "text",
    ["", "1.2.3.4", "[::1]", "::1", "2130706433", "0x7f000001", "0x7f.1", "a..b", ".a", "a.", "a b", "a/b", "é.com"],
)
def test_what_is_no_name(text: str) -> None:
    assert not is_name(text)


@pytest.mark.parametrize("address", ["1.1.1.1", "93.184.216.34", "2606:4700:4700::1111"])
def test_public_addresses(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "address",
    [
        *(
            "0.0.0.0",
            "10.0.0.1",
            "100.64.0.1",
            "127.0.0.1",
            "127.9.9.9",
            "169.254.169.254",
            "172.16.0.1",
            "192.168.1.1",
        ),
        *("192.0.2.1", "198.18.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255", "::", "::1", "::ffff:1.1.1.1"),
        *(
            "::1.1.1.1",
            "64:ff9b::101:101",
            "2002:101:101::",
            "2001:0:1::",
            "fc00::1",
            "fd00::1",
            "fe80::1%eth0",
            "ff02::1",
        ),
        "fec0::1",
    ],
)
def test_addresses_that_are_not_public(address: str) -> None:
    assert not is_public(address)


def test_a_request_is_for_its_name() -> None:
    assert requested(b"CONNECT A.example:443 HTTP/1.1\r\nHost: other\r\n\r\n", HOSTS) == "a.example"


@pytest.mark.parametrize(
    ("head", "status", "name"),
    [
        (b"CONNECT a.example:80 HTTP/1.1\r\n\r\n", "403 only port 443 is passed on", "a.example:80"),
        (b"CONNECT c.example:443 HTTP/1.1\r\n\r\n", "403 this host is not on the list", "c.example"),
        (b"GET http://u@c.example:1/x HTTP/1.1\r\n\r\n", "405 only CONNECT is passed on", "c.example:1"),
        (b"CONNECT a.example:443\r\n\r\n", "405 only CONNECT is passed on", ""),
        (b"CONNECT \x1b[1m:443 HTTP/1.1\r\n\r\n", "403 only names of hosts are passed on, not addresses", "[1m"),
    ],
)
def test_other_requests_are_refused_with_what_they_are_for(head: bytes, status: str, name: str) -> None:
    with pytest.raises(RefusedRequest) as refused:
        requested(head, HOSTS)
    assert (refused.value.status, refused.value.name) == (status, name)
