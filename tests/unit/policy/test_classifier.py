"""The classifier's settings: off until a person's own file names a model, and read strictly."""

from __future__ import annotations

import pytest

from assent.contract import PolicyError
from assent.contract.classifier import Backend
from assent.policy.document import read_document
from assent.policy.rules import Origin
from assent.policy.settings import combine

ON = '[classifier]\non = true\napi = "anthropic"\nmodel = "small-1"\n'


def backend(*texts: tuple[str, Origin]) -> Backend | None:
    return combine([read_document(text, f"/{origin.word}.toml", origin) for text, origin in texts]).classifier


def test_without_a_word_of_it_there_is_none() -> None:
    assert backend(("", Origin.USER)) is None


def test_a_model_needs_to_be_switched_on() -> None:
    assert backend((ON.replace("on = true\n", ""), Origin.USER)) is None


def test_what_is_not_said_is_the_providers_own() -> None:
    url, key = "https://api.anthropic.com", "env:ANTHROPIC_API_KEY"
    assert backend((ON, Origin.USER)) == Backend("anthropic", "small-1", url, key, source="/user.toml:2")


def test_everything_can_be_said() -> None:
    text = (
        '[classifier]\non = true\napi = "openai"\nmodel = "org/m:7b"\nurl = "http://127.0.0.1:11434/v1/"\n'
        'key = "keyring:assent/local"\ntimeout = 2.5\ninput_price = 0.1\noutput_price = 1\n'
    )
    assert backend((text, Origin.USER)) == Backend(
        "openai",
        "org/m:7b",
        "http://127.0.0.1:11434/v1",
        "keyring:assent/local",
        timeout=2.5,
        input_price=0.1,
        output_price=1.0,
        source="/user.toml:2",
    )


@pytest.mark.parametrize("line", ["on = true", "on = false", 'url = "https://x.example"', 'key = "env:A"'])
def test_a_project_has_no_say_in_it(line: str) -> None:
    with pytest.raises(PolicyError, match=r"a project file may not set `classifier\.\w+`"):
        read_document(f"[classifier]\n{line}\n", ".assent.toml", Origin.PROJECT)


@pytest.mark.parametrize(
    "line",
    [
        'on = "true"',
        'api = "gemini"',
        'model = ""',
        'model = "a b"',
        'model = "a\\nb"',
        'url = "http://models.example"',
        'url = "http://127.0.0.1.example"',
        'url = "http://localhost@evil.example"',
        'url = "https://user:secret@models.example"',
        'url = "https://models.example/?x=1"',
        'url = "https://models.example/#x"',
        'url = "https://"',
        'url = "ftp://models.example"',
        'url = "models.example"',
        'url = "https://a\\\\b"',
        'url = "https://models.example:99999"',
        'key = "sk-live-1234567890"',
        'key = "file:/home/me/key"',
        'key = "env:"',
        'key = "keyring:assent"',
        "timeout = 0",
        "timeout = 16",
        "timeout = true",
        "input_price = -1",
        'output_price = "1"',
        'colour = "blue"',
    ],
)
def test_a_mistake_is_an_error_with_a_line_and_advice(line: str) -> None:
    with pytest.raises(PolicyError) as raised:
        read_document(f"{ON.rsplit('on', 1)[0]}\n{line}\n", "/user.toml", Origin.USER)
    assert (raised.value.file, raised.value.line > 1, bool(raised.value.suggestion)) == ("/user.toml", True, True)


def test_a_key_in_the_file_is_not_repeated_in_the_error() -> None:
    with pytest.raises(PolicyError) as raised:
        read_document('[classifier]\nkey = "sk-live-1234567890"\n', "/user.toml", Origin.USER)
    assert "sk-live" not in str(raised.value)


@pytest.mark.parametrize("missing", ["api", "model"])
def test_a_model_that_is_on_is_named_whole(missing: str) -> None:
    text = "".join(line for line in ON.splitlines(keepends=True) if not line.startswith(missing))
    with pytest.raises(PolicyError, match=f"has no `{missing}`"):
        backend((text, Origin.USER))


def test_any_file_switches_it_off() -> None:
    off = "[classifier]\non = false\n"
    assert backend((off, Origin.MANAGED), (ON, Origin.USER)) is None
    assert backend((ON, Origin.MANAGED), (off, Origin.USER)) is None


def test_the_managed_section_holds_alone() -> None:
    users = ON.replace("small-1", "mine") + 'url = "https://elsewhere.example"\n'
    found = backend((ON, Origin.MANAGED), (users, Origin.USER))
    assert found is not None
    assert (found.model, found.url, found.source) == ("small-1", "https://api.anthropic.com", "/managed.toml:2")


def test_a_managed_section_that_does_not_switch_it_on_leaves_it_off() -> None:
    assert backend((ON.replace("on = true\n", ""), Origin.MANAGED), (ON, Origin.USER)) is None
