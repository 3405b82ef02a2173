"""A small internet in a network namespace: names, public addresses, a server with TLS, and a contained run beside it.

Run as root by test_proxy.py: `unshare --net --mount PYTHON -m tests.contain.internet`. Prints what each request from
inside came to, what reached the server, and the refused hosts, as JSON."""

from __future__ import annotations

import json
import os
import socket
import ssl
import subprocess
import sys
import threading
from pathlib import Path

from assent.policy.contain_settings import ContainSettings
from tests.contain.box import Box

PUBLIC, OTHER = "1.2.3.4", "1.2.3.5"
LISTED = ("good.example", "*.wild.example", "private.example", "loop.example", "mixed.example", "mapped.example")
HOSTS = f"""
127.0.0.1 localhost loop.example
{PUBLIC} good.example wild.example a.wild.example b.a.wild.example evilwild.example other.example mixed.example
10.1.2.3 private.example mixed.example
::ffff:{PUBLIC} mapped.example
"""
CLIENT = """
import json, socket, ssl, sys
def ask(head, name, first):
    line = socket.create_connection(("127.0.0.1", 48443), 20)
    line.sendall(head.encode())
    answer = line.recv(4096).decode()
    if " 200 " not in answer:
        return answer.split("\\r\\n")[0].removeprefix("HTTP/1.1 ")
    try:
        if first:
            line.sendall(first.encode())
            return line.recv(100).decode() or "closed"
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        secure = context.wrap_socket(line, server_hostname=name or None)
        secure.sendall(b"x")
        return secure.recv(100).decode() or "closed"
    except OSError:
        return "closed"
def direct(address):
    try:
        socket.create_connection((address, 443), 5)
        return "connected"
    except OSError as error:
        return type(error).__name__
asked = {id: ask(*words) for id, words in json.loads(sys.argv[1]).items()}
asked["direct"] = direct("1.2.3.4")
print(json.dumps(asked))
"""


def connect(target: str, name: str | None = None, *, after: str = "", first: str = "") -> tuple[str, str, str]:
    """A request for a target; then a TLS greeting for a name, or other bytes."""
    host = target.rpartition(":")[0] if name is None else name
    return f"CONNECT {target} HTTP/1.1\r\nHost: x\r\n\r\n{after}", host, first


REQUESTS = {
    "listed": connect("good.example:443"),
    "upper-case": connect("GOOD.Example:443", "good.example"),
    "below-a-wildcard": connect("a.wild.example:443"),
    "two-below-a-wildcard": connect("b.a.wild.example:443"),
    "wildcard-itself": connect("wild.example:443"),
    "suffix": connect("evilwild.example:443"),
    "not-listed": connect("other.example:443"),
    "final-dot": connect("good.example.:443"),
    "port-80": connect("good.example:80"),
    "port-8443": connect("good.example:8443"),
    "port-odd": connect("good.example:0443"),
    "no-port": connect("good.example"),
    "address": connect(f"{PUBLIC}:443"),
    "address-as-a-number": connect("16909060:443"),
    "address-in-hexadecimal": connect("0x01020304:443"),
    "address-of-ipv6": connect("[::1]:443"),
    "private-address": connect("private.example:443"),
    "loopback-address": connect("loop.example:443"),
    "one-address-of-two-private": connect("mixed.example:443"),
    "mapped-address": connect("mapped.example:443"),
    "user-in-the-target": connect("good.example@other.example:443"),
    "nul-in-the-target": connect("good.example\0.other.example:443"),
    "plain-get": ("GET http://good.example/ HTTP/1.1\r\n\r\n", "", ""),
    "post": ("POST http://other.example/x HTTP/1.1\r\n\r\n", "", ""),
    "bytes-after-the-request": connect("good.example:443", after="x"),
    "another-name-in-the-greeting": connect("good.example:443", "other.example"),
    "no-name-in-the-greeting": connect("good.example:443", ""),
    "no-greeting": connect("good.example:443", first="GET / HTTP/1.1\r\nHost: good.example\r\n\r\n"),
}


class Server:
    """Answers every TLS connection with its name, and counts the others."""

    def __init__(self, folder: Path) -> None:
        words = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=x -keyout key -out cert"
        subprocess.run(words.split(), cwd=folder, check=True, capture_output=True)
        self.names: list[str] = []
        self.bytes = 0
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(folder / "cert", folder / "key")
        context.sni_callback = lambda _, name, __: self.names.append(name)
        self._context = context
        self._socket = socket.create_server(("0.0.0.0", 443))
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            threading.Thread(target=self._answer, args=(self._socket.accept()[0],), daemon=True).start()

    def _answer(self, line: socket.socket) -> None:
        line.settimeout(20)
        try:
            if line.recv(1, socket.MSG_PEEK):
                self.bytes += 1
                with self._context.wrap_socket(line, server_side=True) as secure:
                    secure.recv(4096)
                    secure.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
        except OSError:
            pass


def main() -> None:
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    for each in (PUBLIC, OTHER):
        subprocess.run(["ip", "address", "add", f"{each}/32", "dev", "lo"], check=True)
    box = Box(user=os.geteuid())
    try:
        hosts = box.put("hosts", HOSTS)
        subprocess.run(["mount", "--bind", str(hosts), "/etc/hosts"], check=True)
        server = Server(box.folder)
        box.put("projects/work/client.py", CLIENT)
        box.put("projects/work/requests.json", json.dumps(REQUESTS))
        profile = box.profile(settings=ContainSettings(network=LISTED))
        done = box.inside('/usr/bin/python3 client.py "$(cat requests.json)"', profile)
        curl = box.inside(
            "curl -skS --max-time 20 https://good.example/ && curl -s http://good.example/; echo $?", profile
        )
        closed = box.inside('/usr/bin/python3 client.py "{}"; env | grep -ic proxy')
        assert done.receipt is not None
        found = {
            "answers": json.loads(done.output),
            "names": server.names,
            "bytes": server.bytes,
            "refused": done.receipt.refused,
            "curl": curl.output,
            "closed": closed.output.splitlines()[-1],
        }
        sys.stdout.write(json.dumps(found))
    finally:
        box.close()


if __name__ == "__main__":
    main()
