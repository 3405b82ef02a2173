"""The network access of a contained run: a proxy that reaches only the listed hosts by name, over TLS.

It runs outside, in a process of its own, and gets the socket that listens inside as handle 3. It accepts CONNECT to
port 443 of a listed name, resolves the name once, connects only if all of its addresses are public, and relays bytes
after a TLS greeting for that name. It writes refused names to handle 4, one per line."""

from __future__ import annotations

import os
import select
import socket
import sys
import threading
from collections.abc import Callable, Sequence

from assent.contain.greeting import IncompleteGreeting, server_name

LISTENING, REPORT = 3, 4
PORT = 443
HEAD = 8192  # bytes of a request
GREETING = 32_768  # bytes of a TLS greeting
PATIENCE = 15.0  # seconds for a request, a greeting or a connection
IDLE = 300.0  # seconds without a byte
MOST_REFUSED = 100
TRANSLATED = ("64:ff9b::/96", "64:ff9b:1::/48", "::/96", "fec0::/10")  # IPv6 addresses that lead to IPv4, or to a site
MOST_CONNECTIONS = 256
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-.")

Resolve = Callable[[str], list[str]]


class RefusedRequest(Exception):
    """A refused request. `status` is the line that answers it."""

    def __init__(self, status: str, name: str = "") -> None:
        self.status = status
        self.name = name
        super().__init__(status)


# ---------------------------------------------------------------- allowed hosts


def is_listed(name: str, hosts: Sequence[str]) -> bool:
    """Whether a name is on the list; `*.x` matches all names below `x`, not `x` itself."""
    return any(name == host or (host.startswith("*.") and name.endswith(host[1:])) for host in hosts)


def is_name(text: str) -> bool:
    """Whether it is the name of a host, not an address in any notation."""
    last = text.rpartition(".")[2]
    return (
        0 < len(text) <= 253
        and _LETTERS.issuperset(text)
        and last[:1].isalpha()
        and ".." not in text
        and text[0] != "."
    )


def is_public(address: str) -> bool:
    """Whether an address is on the internet, not on this machine or its networks, in any notation."""
    import ipaddress

    found = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(found, ipaddress.IPv6Address):
        if found.ipv4_mapped or found.sixtofour or found.teredo:
            return False
        if any(found in ipaddress.ip_network(each) for each in TRANSLATED):
            return False
    return found.is_global and not (found.is_multicast or found.is_reserved or found.is_unspecified)


def requested(head: bytes, hosts: Sequence[str]) -> str:
    """The name that a request is for. Raises RefusedRequest."""
    line = head.split(b"\r\n", 1)[0].decode("ascii", "replace")
    method, _, rest = line.partition(" ")
    target, _, version = rest.rpartition(" ")
    if method != "CONNECT" or version not in ("HTTP/1.1", "HTTP/1.0"):
        host = target.partition("://")[2].partition("/")[0].rpartition("@")[2]
        raise RefusedRequest("405 only CONNECT is passed on", _shown(host))
    name, _, port = target.rpartition(":")
    name = name.lower()
    if not is_name(name):
        raise RefusedRequest("403 only names of hosts are passed on, not addresses", _shown(name))
    if port != str(PORT):
        raise RefusedRequest("403 only port 443 is passed on", f"{_shown(name)}:{_shown(port)}")
    if not is_listed(name, hosts):
        raise RefusedRequest("403 this host is not on the list", name)
    return name


def _shown(text: str) -> str:
    return "".join(each for each in text if "!" <= each <= "~")[:253]


def resolved(name: str) -> list[str]:
    return [str(each[4][0]) for each in socket.getaddrinfo(name, PORT, type=socket.SOCK_STREAM)]


def connected(name: str, resolve: Resolve) -> socket.socket:
    """A connection to a name, resolved once. Raises RefusedRequest if one of its addresses is not public."""
    try:
        addresses = list(dict.fromkeys(resolve(name)))
    except OSError:
        raise RefusedRequest("502 the name cannot be resolved", name) from None
    if not addresses or not all(map(is_public, addresses)):
        raise RefusedRequest("403 the name leads to an address that is not public", name)
    for each in addresses[:4]:
        try:
            return socket.create_connection((each, PORT), timeout=PATIENCE)
        except OSError:
            continue
    raise RefusedRequest("502 the host does not answer", name)


# ---------------------------------------------------------------- connections


class HostProxy:
    """Serves one run."""

    def __init__(self, hosts: Sequence[str], report: Callable[[str], object], resolve: Resolve = resolved) -> None:
        self._hosts = tuple(hosts)
        self._report = report
        self._resolve = resolve
        self._refused: set[str] = set()
        self._lock = threading.Lock()
        self._free = threading.BoundedSemaphore(MOST_CONNECTIONS)

    def serve(self, listening: socket.socket) -> None:
        while True:
            client, _ = listening.accept()
            if not self._free.acquire(blocking=False):
                client.close()
                continue
            threading.Thread(target=self._connection, args=(client,), daemon=True).start()

    def _connection(self, client: socket.socket) -> None:
        try:
            with client:
                self.answer(client)
        except OSError:
            pass  # either side went away
        finally:
            self._free.release()

    def answer(self, client: socket.socket) -> None:
        """One connection, from its request to its end."""
        client.settimeout(PATIENCE)
        try:
            name = requested(_head(client), self._hosts)
            host = connected(name, self._resolve)
        except RefusedRequest as refused:
            self._note(refused.name)
            client.sendall(f"HTTP/1.1 {refused.status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n".encode())
            return
        with host:
            client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
            greeting = _greeting(client)
            if greeting is None or server_name(greeting) != name:
                self._note(name)
                return
            host.sendall(greeting)
            _pass_on(client, host)

    def _note(self, name: str) -> None:
        with self._lock:
            if name and name not in self._refused and len(self._refused) < MOST_REFUSED:
                self._refused.add(name)
                self._report(name)


def _head(client: socket.socket) -> bytes:
    head = b""
    while b"\r\n\r\n" not in head:
        more = client.recv(HEAD)
        head += more
        if not more or len(head) > HEAD:
            raise RefusedRequest("400 this is no request")
    if not head.endswith(b"\r\n\r\n"):
        raise RefusedRequest("400 something follows the request")
    return head


def _greeting(client: socket.socket) -> bytes | None:
    """The first bytes, up to a whole greeting; None if they are no greeting."""
    data = b""
    while len(data) <= GREETING:
        more = client.recv(GREETING)
        data += more
        if not more:
            return None
        try:
            server_name(data)
            return data
        except IncompleteGreeting:
            continue
    return None


def _pass_on(one: socket.socket, other: socket.socket) -> None:
    """Relay bytes in both directions until one side ends."""
    for each in (one, other):
        each.settimeout(IDLE)
    pairs = {one: other, other: one}
    while pairs:
        ready, _, _ = select.select(list(pairs), [], [], IDLE)
        if not ready:
            return
        for each in ready:
            data = each.recv(65_536)
            if data:
                pairs[each].sendall(data)
            else:
                pairs.pop(each).shutdown(socket.SHUT_WR)


def main(hosts: Sequence[str]) -> None:
    listening = socket.socket(fileno=LISTENING)
    HostProxy(hosts, lambda name: os.write(REPORT, f"{name}\n".encode())).serve(listening)


if __name__ == "__main__":
    main(sys.argv[1:])
