"""Whatever goes wrong with a model or its service, a person is asked, in time; a service that keeps failing is left
alone."""

from __future__ import annotations

import gzip
import json
import socket
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from assent.approval.classifier.model import FAILURES, REST, Breaker
from tests.classifier.service import KEY, SAFE, TOKENS, Service
from tests.classifier.world import World

ALLOWED, ASKED = ("allow", "classifier.safe"), ("ask", "mode.execute")


def error_of(world: World, command: str = "npm test", **more: Any) -> str:
    """The error on record after a call that has to ask."""
    assert world.outcome(command, **more) == ASKED
    record = world.records()[-1]
    assert (record["classifier"]["safe"], record["classifier"]["settled"]) == (False, False)
    return str(record["classifier"].get("error", ""))


# ---------------------------------------------------------------- the service


@pytest.mark.parametrize("status", [201, 204, 301, 302, 307, 400, 401, 403, 404, 429, 500, 503, 529])
def test_a_status_that_is_not_200_asks_whatever_stands_in_the_reply(world: World, status: int) -> None:
    world.service.status = status
    world.service.headers = {"location": world.service.url + "/v1/messages"}
    assert error_of(world) == f"status-{status}"
    assert len(world.service.asked) == 1


def test_a_model_that_is_slow_costs_its_time_and_no_more(tmp_path: Path, service: Service) -> None:
    service.delay = 4.0
    world = World(tmp_path, service, timeout=1)
    started = time.monotonic()
    assert error_of(world) == "timeout"
    assert time.monotonic() - started < 2.5
    world.close()


def test_an_answer_that_drips_does_not_stretch_the_time(tmp_path: Path, service: Service) -> None:
    service.drip = 0.05
    world = World(tmp_path, service, timeout=1)
    started = time.monotonic()
    assert error_of(world) == "timeout"
    assert time.monotonic() - started < 2.5
    world.close()


def test_a_connection_that_is_cut_asks(world: World) -> None:
    world.service.cut = True
    assert error_of(world) == "connection"


def test_a_service_that_is_not_there_asks(tmp_path: Path, service: Service) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        world = World(tmp_path, service, url=f"http://127.0.0.1:{unused.getsockname()[1]}")
        assert error_of(world) == "connection"
        world.close()


def test_a_reply_without_an_end_asks(world: World) -> None:
    world.service.raw = b'{"type": "message", "x": "' + b"a" * 400_000 + b'"}'
    assert error_of(world) == "reply"


def test_a_packed_reply_asks(world: World) -> None:
    world.service.raw = gzip.compress(b"{}" * 1000)
    world.service.headers = {"content-encoding": "gzip"}
    assert error_of(world) == "reply"


@pytest.mark.parametrize("raw", [b"", b"null", b"[]", b"safe", b"\xff\xfe", SAFE.encode(), b'{"safe": true}'])
def test_a_reply_that_is_no_message_asks(world: World, raw: bytes) -> None:
    world.service.raw = raw
    assert error_of(world) == "reply"


def test_proxies_and_addresses_of_the_environment_do_not_count(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "HTTPS_PROXY", "ANTHROPIC_BASE_URL", "OPENAI_BASE_URL"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    assert world.outcome("npm test") == ALLOWED


def test_a_certificate_that_only_the_environment_vouches_for_is_not_believed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cert, key = str(tmp_path / "cert.pem"), str(tmp_path / "key.pem")
    made = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=localhost"
    names = ["-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost", "-keyout", key, "-out", cert]
    subprocess.run([*made.split(), *names], check=True, capture_output=True)
    monkeypatch.setenv("SSL_CERT_FILE", cert)
    with Service(certificate=(cert, key)) as service:
        world = World(tmp_path, service)
        assert service.url.startswith("https://")
        assert (error_of(world), service.asked) == ("connection", [])
        world.close()


# ---------------------------------------------------------------- the answer

BAD = [
    "",
    "safe",
    "true",
    "[]",
    '"safe"',
    "{}",
    '{"safe": true}',
    '{"reason": "x"}',
    '{"safe": "true", "reason": "x"}',
    '{"safe": 1, "reason": "x"}',
    '{"safe": null, "reason": "x"}',
    '{"safe": true, "reason": 1}',
    '{"safe": true, "reason": "x", "more": 1}',
    '{"safe": false, "safe": true, "reason": "x"}',
    '{"Safe": true, "reason": "x"}',
    f"Here you are: {SAFE}",
    f"```json\n{SAFE}\n```",
    f"{SAFE}\n{SAFE}",
    f"{SAFE} as asked",
    f"[{SAFE}]",
    '{"safe": true, "reason": "x"',
    '{"safe": true, "reason": NaN}',
    "{'safe': True, 'reason': 'x'}",
    '{"safe": true, "reason": "' + "x" * 700 + '"}',
    SAFE + " " * 3000,
]


@pytest.mark.parametrize("api", ["anthropic", "openai"])
@pytest.mark.parametrize("said", BAD)
def test_anything_but_the_one_object_asks(tmp_path: Path, service: Service, api: str, said: str) -> None:
    service.answers = said
    world = World(tmp_path, service, api=api)
    assert error_of(world) == "answer"
    world.close()


@pytest.mark.parametrize("said", [SAFE, f"\n {SAFE} \n", '{"reason":"x","safe":true}'])
def test_the_one_object_is_a_yes_whatever_blanks_stand_around_it(world: World, said: str) -> None:
    world.service.answers = said
    assert world.outcome("npm test") == ALLOWED


def altered(reply: dict[str, Any], path: tuple[str | int, ...], value: object) -> dict[str, Any]:
    inner: Any = reply
    for each in path[:-1]:
        inner = inner[each]
    inner[path[-1]] = value
    return reply


TEXT = {"type": "text", "text": SAFE}
CHOICE = {"index": 0, "message": {"role": "assistant", "content": SAFE}, "finish_reason": "stop"}
REPLIES: list[tuple[str, tuple[str | int, ...], object, str]] = [
    ("anthropic", ("stop_reason",), "max_tokens", "cut"),
    ("anthropic", ("stop_reason",), "refusal", "refusal"),
    ("anthropic", ("stop_reason",), "tool_use", "cut"),
    ("anthropic", ("stop_reason",), None, "cut"),
    ("anthropic", ("type",), "error", "reply"),
    ("anthropic", ("role",), "user", "reply"),
    ("anthropic", ("content",), [], "reply"),
    ("anthropic", ("content",), [TEXT, TEXT], "reply"),
    ("anthropic", ("content",), [{"type": "tool_use", "text": SAFE}], "reply"),
    ("anthropic", ("content",), SAFE, "reply"),
    ("openai", ("choices", 0, "finish_reason"), "length", "cut"),
    ("openai", ("choices", 0, "finish_reason"), "content_filter", "refusal"),
    ("openai", ("choices", 0, "finish_reason"), None, "cut"),
    ("openai", ("choices", 0, "message", "refusal"), "no", "refusal"),
    ("openai", ("choices", 0, "message", "tool_calls"), [{"id": "1"}], "refusal"),
    ("openai", ("choices", 0, "message", "content"), None, "answer"),
    ("openai", ("choices", 0, "message", "content"), [TEXT], "answer"),
    ("openai", ("choices", 0, "message", "role"), "user", "reply"),
    ("openai", ("choices",), [], "reply"),
    ("openai", ("choices",), [CHOICE, CHOICE], "reply"),
]


@pytest.mark.parametrize(("api", "path", "value", "error"), REPLIES)
def test_a_refusal_a_cut_answer_and_a_choice_of_answers_ask(
    tmp_path: Path, service: Service, api: str, path: tuple[str | int, ...], value: object, error: str
) -> None:
    service.reply = lambda reply: altered(reply, path, value)
    world = World(tmp_path, service, api=api)
    assert error_of(world) == error
    world.close()


def test_a_key_that_stands_twice_in_the_reply_asks(world: World) -> None:
    text = json.dumps({"type": "message", "role": "assistant", "content": [TEXT], "stop_reason": "max_tokens"})
    world.service.raw = (text[:-1] + ', "stop_reason": "end_turn"}').encode()
    assert error_of(world) == "reply"


@pytest.mark.parametrize("usage", [None, [], {"input_tokens": "9"}, {"input_tokens": -5, "output_tokens": True}])
def test_odd_counts_of_tokens_count_as_none(world: World, usage: object) -> None:
    world.service.reply = lambda reply: altered(reply, ("usage",), usage)
    assert world.outcome("npm test") == ALLOWED
    assert world.records()[-1]["classifier"]["tokens"] == 0


@pytest.mark.parametrize("api", ["anthropic", "openai"])
@pytest.mark.parametrize("said", ["Sure! It is safe.", '{"safe": "true", "reason": ""}'])
def test_an_answer_that_is_none_costs_all_the_same(tmp_path: Path, service: Service, api: str, said: str) -> None:
    service.answers = said
    world = World(tmp_path, service, api=api, input_price=2.0, output_price=10.0)
    assert error_of(world) == "answer"
    told = world.records()[-1]["classifier"]
    world.close()
    cost = (TOKENS[0] * 2.0 + TOKENS[1] * 10.0) / 1e6
    assert (told["tokens"], told["cost"], told["latency_ms"] > 0) == (sum(TOKENS), cost, True)


# ---------------------------------------------------------------- keys


def test_without_a_key_nobody_is_asked(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CLASSIFIER_KEY")
    assert (error_of(world), world.service.asked) == ("key", [])


@pytest.mark.parametrize("key", ["a b", "a\nx-evil: 1", "ключ", " "])
def test_what_cannot_be_a_key_is_not_sent(world: World, monkeypatch: pytest.MonkeyPatch, key: str) -> None:
    monkeypatch.setenv("CLASSIFIER_KEY", key)
    assert (error_of(world), world.service.asked) == ("key", [])


def test_a_service_without_a_key_is_sent_none(tmp_path: Path, service: Service) -> None:
    world = World(tmp_path, service, key="none")
    assert world.outcome("npm test") == ALLOWED
    assert [name for name in service.asked[0].headers if name in ("x-api-key", "authorization")] == []
    world.close()


def test_a_key_comes_from_the_keyring_that_the_person_chose(
    tmp_path: Path, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    import keyring
    from keyring.backend import KeyringBackend

    class InMemory(KeyringBackend):
        priority = 1

        def get_password(self, service: str, username: str) -> str | None:
            import os

            steering = ("PYTHON_KEYRING_", "XDG_CONFIG_HOME", "XDG_DATA_HOME")
            steered = [name for name in os.environ if name.startswith(steering)]
            return f"key-of-{service}-{username}" if not steered else "stolen"

        def set_password(self, service: str, username: str, password: str) -> None:
            raise NotImplementedError

        def delete_password(self, service: str, username: str) -> None:
            raise NotImplementedError

    before = keyring.get_keyring()
    keyring.set_keyring(InMemory())  # type: ignore[no-untyped-call]  # theirs
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "evil.Backend")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    try:
        world = World(tmp_path, service, key="keyring:assent/anthropic")
        assert world.outcome("npm test") == ALLOWED
        assert service.asked[0].headers["x-api-key"] == "key-of-assent-anthropic"
        world.close()
    finally:
        keyring.set_keyring(before)


def test_a_keyring_without_the_key_asks(tmp_path: Path, service: Service) -> None:
    import keyring
    from keyring.backends.null import Keyring as Empty

    before = keyring.get_keyring()
    keyring.set_keyring(Empty())  # type: ignore[no-untyped-call]  # as above
    try:
        world = World(tmp_path, service, key="keyring:assent/anthropic")
        assert (error_of(world), service.asked) == ("key", [])
        world.close()
    finally:
        keyring.set_keyring(before)


def test_a_keyring_that_waits_to_be_opened_costs_the_models_time(
    tmp_path: Path, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    import keyring
    from keyring.backends.null import Keyring as Empty

    class Shut(Empty):
        def get_password(self, *_: object) -> str | None:
            time.sleep(3)
            return "late"

    before = keyring.get_keyring()
    keyring.set_keyring(Shut())  # type: ignore[no-untyped-call]  # as above
    try:
        world = World(tmp_path, service, key="keyring:assent/anthropic", timeout=1)
        started = time.monotonic()
        assert (error_of(world), service.asked) == ("timeout", [])
        assert time.monotonic() - started < 2.5
        world.close()
    finally:
        keyring.set_keyring(before)


def test_no_key_stands_in_the_trail_or_in_any_file_of_ours(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLASSIFIER_KEY", "very-secret-key-000111")
    world.settle("npm test")
    world.service.status = 401
    world.settle("make")
    world.close()
    texts = [path.read_bytes() for path in world.state.rglob("*") if path.is_file()]
    assert len(texts) > 3
    assert not any(b"very-secret-key-000111" in text for text in texts)


# ---------------------------------------------------------------- the breaker


def test_a_model_that_keeps_failing_is_left_alone_for_a_while(world: World) -> None:
    world.service.status = 500
    errors = [error_of(world, f"make {n}") for n in range(FAILURES + 2)]
    assert errors == ["status-500"] * FAILURES + ["rests", "rests"]
    assert len(world.service.asked) == FAILURES


def test_a_process_without_the_key_does_not_keep_others_from_asking(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CLASSIFIER_KEY")
    assert [error_of(world, f"make {n}") for n in range(FAILURES + 1)] == ["key"] * (FAILURES + 1)
    world.memory.classifiers.close()
    monkeypatch.setenv("CLASSIFIER_KEY", KEY)
    assert world.outcome("npm test") == ALLOWED


def test_other_processes_leave_it_alone_too(tmp_path: Path, service: Service) -> None:
    service.status = 500
    for n in range(FAILURES + 1):
        world = World(tmp_path, service)  # each with a memory of its own, as hooks have
        world.settle(f"make {n}")
        world.close()
    assert len(service.asked) == FAILURES


def test_an_answer_in_between_begins_the_count_anew(world: World) -> None:
    for n in range(FAILURES - 1):
        world.service.status = 500
        world.settle(f"make {n}")
    world.service.status = 200
    world.settle("make ok")
    world.service.status = 500
    world.settle("make again")
    world.service.status = 200
    assert world.outcome("make finally") == ALLOWED


def test_a_nonsense_answer_is_no_failure_of_the_service(world: World) -> None:
    world.service.answers = "nonsense"
    assert {error_of(world, f"make {n}") for n in range(FAILURES + 2)} == {"answer"}


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_it_is_tried_again_after_its_rest_and_one_more_failure_begins_another(tmp_path: Path) -> None:
    clock = Clock()
    breaker = Breaker(str(tmp_path), "model", clock=clock)
    for _ in range(FAILURES):
        assert breaker.rests() == 0
        breaker.failed()
    assert breaker.rests() == REST
    clock.now += REST
    assert breaker.rests() == 0
    breaker.failed()
    assert breaker.rests() == REST
    clock.now += REST
    breaker.worked()
    breaker.failed()
    assert breaker.rests() == 0


def test_another_model_is_not_judged_by_the_failures_of_the_last(tmp_path: Path) -> None:
    one, other = Breaker(str(tmp_path), "one", clock=Clock()), Breaker(str(tmp_path), "other", clock=Clock())
    for _ in range(FAILURES):
        one.failed()
    assert (one.rests(), other.rests()) == (REST, 0)


def test_a_clock_that_is_set_back_does_not_keep_it_shut(tmp_path: Path) -> None:
    clock = Clock()
    breaker = Breaker(str(tmp_path), "model", clock=clock)
    for _ in range(FAILURES):
        breaker.failed()
    clock.now -= 500
    assert breaker.rests() == 0


@pytest.mark.parametrize("text", ["", "[]", "null", '{"of": "model"}', '{"of":"model","failures":1e400,"until":1e400}'])
def test_a_damaged_count_is_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "breaker.json").write_text(text)
    breaker = Breaker(str(tmp_path), "model", clock=Clock())
    assert breaker.rests() == 0
    breaker.failed()
    assert breaker.rests() == 0
