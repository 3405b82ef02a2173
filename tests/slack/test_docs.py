"""What the docs show of Slack and the webhook is real: manifest, settings, secrets, and a receiver that runs."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from assent.approval.channels.webhook import events
from assent.approval.channels.webhook.channel import FINAL
from assent.approval.secrets import variable
from assent.policy.document import read_document
from assent.policy.remote_channels import places, secret_names
from assent.policy.rules import Origin
from assent.server.api.questions import STATUS
from tests.broker.stage import held
from tests.slack.conftest import Gate
from tests.slack.receiver import SECRET
from tests.test_docs import text


def blocks(name: str, language: str) -> list[str]:
    found = re.findall(rf"^ *```{language}\n(.*?)^ *```", text(name), re.DOTALL | re.MULTILINE)
    return [re.sub(r"^   ", "", each, flags=re.MULTILINE) if each.startswith("   ") else each for each in found]


def test_the_manifest_asks_for_what_is_used_and_no_more() -> None:
    manifest = json.loads(blocks("docs/slack.md", "json")[0])
    assert manifest["oauth_config"]["scopes"]["bot"] == ["chat:write", "files:write"]
    assert manifest["settings"]["socket_mode_enabled"] is True
    assert manifest["settings"]["interactivity"]["is_enabled"] is True


def test_every_section_that_is_shown_loads() -> None:
    first, second = (places([read_document(each, "x", Origin.USER)]) for each in blocks("docs/slack.md", "toml"))
    assert first["slack"].values["transport"] == "socket"
    assert second["slack"].values["transport"] == "http"
    hook = places([read_document(blocks("docs/webhook.md", "toml")[0], "x", Origin.USER)])
    assert hook["webhook"].values["users"] == ("ann", "bob")


def test_every_secret_is_named_as_it_is_read() -> None:
    pages = text("docs/slack.md") + text("docs/webhook.md")
    shown = [
        name
        for page in ("docs/slack.md", "docs/webhook.md")
        for each in blocks(page, "ini")
        for name in tomllib.loads(each)
    ]
    assert set(shown) <= set(secret_names())
    assert [name for name in secret_names() if name not in pages or variable(name) not in pages] == []


def test_every_field_and_code_of_the_webhook_is_listed() -> None:
    page = text("docs/webhook.md")
    told = json.loads(events.question(held(), "n", deadline=1.0, behind=0, back="/"))
    assert [name for name in (*told, *told["preview"]) if f"`{name}`" not in page] == []
    assert [name for name in events.FIELDS if f"`{name}`" not in page] == []
    assert [code for code in STATUS if f"`{code}`" not in page] == []
    assert {400, 401, 404} <= FINAL


@pytest.mark.parametrize(("typed", "allowed"), [("y", True), ("n", False)])
def test_the_receiver_of_the_docs_runs(tmp_path: Path, typed: str, allowed: bool) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    config = f'[webhook]\nurl = "http://127.0.0.1:{port}/"\n'
    program = Gate(tmp_path, config, secrets=f'webhook-secret = "{SECRET}"')
    environ = {"RECEIVER_SECRET": SECRET, "RECEIVER_GATE": program.address, "RECEIVER_PORT": str(port)}
    script = blocks("docs/webhook.md", "python")[0]
    receiver = subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environ
    )
    try:
        assert receiver.stdin is not None
        receiver.stdin.write(f"{typed}\n")
        receiver.stdin.flush()
        assert program.call("make docs", session="s1").json["allowed"] is allowed
        assert program.records(kind="answer")[0]["who"] == "ann"
    finally:
        receiver.kill()
        receiver.communicate()
        program.stop()
