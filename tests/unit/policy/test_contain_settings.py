"""The settings of contained runs, and which files may set them."""

from __future__ import annotations

import pytest

from assent.contract import PolicyError
from assent.policy.contain_settings import DEFAULT_LIMITS, ContainSettings
from assent.policy.document import Document, document_of
from assent.policy.rules import Origin
from assent.policy.settings import combine


def written(origin: Origin, **keys: object) -> Document:
    return document_of({"contain": keys}, f"{origin.word}.toml", origin)


def managed(**keys: object) -> Document:
    return written(Origin.MANAGED, **keys)


def user(**keys: object) -> Document:
    return written(Origin.USER, **keys)


def project(**keys: object) -> Document:
    return written(Origin.PROJECT, **keys)


def found(*documents: Document) -> ContainSettings | None:
    return combine(documents).contain


def test_containment_is_off_until_a_file_switches_it_on() -> None:
    assert found() is None
    assert found(user(network=["registry.npmjs.org"])) is None
    assert found(user(on=True)) == ContainSettings()


def test_the_last_file_decides_but_none_switches_off_what_is_managed() -> None:
    assert found(managed(on=False), user(on=True)) is not None
    assert found(managed(on=True), user(on=False)) is not None


def test_every_setting_is_read() -> None:
    settings = found(
        user(
            on=True,
            network=["registry.npmjs.org", "*.example.com"],
            writable=["~/.cache/tool", "/srv/build/out"],
            hidden=["~/notes", "private/keys", "/srv/data"],
            limits={"memory": "2 GB", "processes": 64, "seconds": 30},
            full_auto=True,
        )
    )
    assert settings == ContainSettings(
        network=("registry.npmjs.org", "*.example.com"),
        writable=("~/.cache/tool", "/srv/build/out"),
        hidden=("~/notes", "private/keys", "/srv/data"),
        memory=2 * 10**9,
        processes=64,
        seconds=30,
        full_auto=True,
    )


def test_lists_append_and_later_limits_replace_earlier_ones() -> None:
    settings = found(
        managed(network=["a.example.com"], limits={"seconds": 10, "processes": 8}),
        user(on=True, network=["a.example.com", "b.example.com"], limits={"seconds": 20}),
    )
    assert settings is not None
    assert settings.network == ("a.example.com", "b.example.com")
    assert (settings.seconds, settings.processes, settings.memory) == (20, 8, DEFAULT_LIMITS["memory"])


def test_a_project_file_hides_more_and_lowers_limits() -> None:
    settings = found(user(on=True), project(hidden=["private"], limits={"seconds": 10**4, "processes": 8}))
    assert settings is not None
    assert settings.hidden == ("private",)
    assert (settings.seconds, settings.processes) == (DEFAULT_LIMITS["seconds"], 8)
    contained = found(user(on=True), project(full_auto=True))
    assert contained is not None
    assert contained.full_auto


@pytest.mark.parametrize(
    "keys",
    [{"on": True}, {"on": False}, {"network": ["a.example.com"]}, {"writable": ["/srv/x"]}, {"full_auto": False}],
    ids=str,
)
def test_a_project_file_loosens_nothing(keys: dict[str, object]) -> None:
    with pytest.raises(PolicyError, match="project file"):
        project(**keys)


@pytest.mark.parametrize(
    "host",
    [
        "",
        "*",
        "*.com",
        "localhost",
        "10.0.0.1",
        "[::1]",
        "https://a.example.com",
        "a.example.com:443",
        "a.example.com/x",
        "A.example.com",
        "a..example.com",
        "a.*.com",
        "*a.example.com",
        "a.example.com\n",
        "-a.example.com",
        "user@a.example.com",
    ],
)
def test_only_names_of_hosts_are_opened(host: str) -> None:
    with pytest.raises(PolicyError, match=r"contain\.network"):
        user(network=[host])


@pytest.mark.parametrize(
    "folder",
    [
        *("", "/", "~", "~/", "~other/x", "build", "../x", "/home", "/home/ann", "/root", "/etc/x", "/usr/local"),
        *("/srv", "/proc/self", "/srv/../etc", "~/../x", "/srv/*", "/srv//x", "/srv/a\nb"),
    ],
)
def test_no_folder_of_the_system_or_home_is_made_writable(folder: str) -> None:
    with pytest.raises(PolicyError, match=r"contain\.writable"):
        user(writable=[folder])


@pytest.mark.parametrize("path", ["", "..", "a/../b", "~ann/x", "a\0b", "*.key"])
def test_what_is_hidden_is_a_plain_path(path: str) -> None:
    with pytest.raises(PolicyError, match=r"contain\.hidden"):
        user(hidden=[path])


@pytest.mark.parametrize(
    "limits",
    [
        {"memory": 8},
        {"memory": "8"},
        {"memory": "1 MB"},
        {"processes": 0},
        {"processes": True},
        {"seconds": 10**6},
        {"seconds": "5"},
        {"files": 5},
        [],
    ],
    ids=str,
)
def test_a_limit_has_a_unit_and_a_range(limits: object) -> None:
    with pytest.raises(PolicyError, match=r"contain\.limits"):
        user(limits=limits)


@pytest.mark.parametrize("keys", [{"on": "yes"}, {"network": "a.example.com"}, {"hidden": [1]}, {"off": True}], ids=str)
def test_a_mistake_is_an_error(keys: dict[str, object]) -> None:
    with pytest.raises(PolicyError):
        user(**keys)
