"""The proxy of a contained run, in a network of its own: it reaches the listed hosts, over TLS, and nothing else."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.contain.box import needed
from tests.contain.internet import REQUESTS

ROOT = Path(__file__).parents[2]
HELLO = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
NAMES_ONLY = "403 only names of hosts are passed on, not addresses"
NOT_LISTED = "403 this host is not on the list"
PORT_ONLY = "403 only port 443 is passed on"
NOT_PUBLIC = "403 the name leads to an address that is not public"
ANSWERS = {
    "listed": HELLO,
    "upper-case": HELLO,
    "below-a-wildcard": HELLO,
    "two-below-a-wildcard": HELLO,
    "wildcard-itself": NOT_LISTED,
    "suffix": NOT_LISTED,
    "not-listed": NOT_LISTED,
    "final-dot": NAMES_ONLY,
    "port-80": PORT_ONLY,
    "port-8443": PORT_ONLY,
    "port-odd": PORT_ONLY,
    "no-port": NAMES_ONLY,
    "address": NAMES_ONLY,
    "address-as-a-number": NAMES_ONLY,
    "address-in-hexadecimal": NAMES_ONLY,
    "address-of-ipv6": NAMES_ONLY,
    "private-address": NOT_PUBLIC,
    "loopback-address": NOT_PUBLIC,
    "one-address-of-two-private": NOT_PUBLIC,
    "mapped-address": NOT_PUBLIC,
    "user-in-the-target": NAMES_ONLY,
    "nul-in-the-target": NAMES_ONLY,
    "plain-get": "405 only CONNECT is passed on",
    "post": "405 only CONNECT is passed on",
    "bytes-after-the-request": "400 something follows the request",
    "another-name-in-the-greeting": "closed",
    "no-name-in-the-greeting": "closed",
    "no-greeting": "closed",
    "direct": "OSError",
}


@pytest.fixture(scope="module")
def found() -> Any:
    needed(root=True)
    for program in ("ip", "unshare", "openssl", "curl"):
        if shutil.which(program) is None:
            assert os.environ.get("CI") != "true", f"`{program}` is missing, and CI must have it"
            pytest.skip(f"`{program}` is not installed")
    words = ["unshare", "--net", "--mount", sys.executable, "-m", "tests.contain.internet"]
    path = os.pathsep.join((str(ROOT / "src"), str(ROOT)))
    done = subprocess.run(words, cwd=ROOT, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("id", ANSWERS)
def test_each_request_gets_its_answer(found: Any, id: str) -> None:
    assert found["answers"][id] == ANSWERS[id]


def test_every_request_is_tried(found: Any) -> None:
    assert found["answers"].keys() == ANSWERS.keys() == {*REQUESTS, "direct"}


def test_only_greetings_for_the_right_name_reach_a_server(found: Any) -> None:
    names = ["good.example", "good.example", "a.wild.example", "b.a.wild.example", "good.example"]
    assert (found["names"], found["bytes"]) == (names, len(names))


def test_an_ordinary_program_finds_the_proxy_by_its_variables(found: Any) -> None:
    assert found["curl"] == "hello0\n"


def test_refused_hosts_are_in_the_receipt(found: Any) -> None:
    assert {"evilwild.example", "wild.example", "private.example", "1.2.3.4", "good.example:80"} <= set(
        found["refused"]
    )


def test_without_hosts_there_is_no_proxy(found: Any) -> None:
    assert found["closed"] == "0"
