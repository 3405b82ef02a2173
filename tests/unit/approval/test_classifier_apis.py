"""What is sent to each kind of service, and where."""

from __future__ import annotations

import pytest

from assent.approval.classifier.apis import TOKENS, request
from assent.contract.classifier import Backend

ANTHROPIC, OPENAI = "https://api.anthropic.com", "https://api.openai.com/v1"


@pytest.mark.parametrize(
    ("api", "url", "target", "limit"),
    [
        ("anthropic", ANTHROPIC, f"{ANTHROPIC}/v1/messages", "max_tokens"),
        ("anthropic", "https://gw.example/claude", "https://gw.example/claude/v1/messages", "max_tokens"),
        ("openai", OPENAI, f"{OPENAI}/chat/completions", "max_completion_tokens"),
        ("openai", "http://127.0.0.1:11434/v1", "http://127.0.0.1:11434/v1/chat/completions", "max_tokens"),
        ("openai", f"{OPENAI}.evil.example", f"{OPENAI}.evil.example/chat/completions", "max_completion_tokens"),
    ],
)
def test_each_api_has_its_address_and_its_word_for_the_limit(api: str, url: str, target: str, limit: str) -> None:
    found = request(Backend(api, "small-1", url, "none"), "", "rules", "call")
    assert (found.url, found.body[limit], found.body["model"]) == (target, TOKENS, "small-1")


def test_rules_and_call_stand_apart() -> None:
    one = request(Backend("anthropic", "m", ANTHROPIC, "none"), "k", "rules", "call")
    other = request(Backend("openai", "m", OPENAI, "none"), "k", "rules", "call")
    assert (one.body["system"], one.body["messages"]) == ("rules", [{"role": "user", "content": "call"}])
    assert other.body["messages"] == [{"role": "system", "content": "rules"}, {"role": "user", "content": "call"}]
    assert (one.headers["x-api-key"], other.headers) == ("k", {"authorization": "Bearer k"})


@pytest.mark.parametrize("api", ["anthropic", "openai"])
def test_nothing_is_sent_that_steers_a_model_by_tools_or_streams(api: str) -> None:
    found = request(Backend(api, "m", OPENAI, "none"), "", "rules", "call")
    assert set(found.body) <= {"model", "system", "messages", "max_tokens", "max_completion_tokens"}
