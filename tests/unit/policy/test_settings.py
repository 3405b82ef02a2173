"""The layers of configuration override each other as the docs say."""

from __future__ import annotations

import pytest

from assent.contract import PolicyError
from assent.policy.document import Document, document_of
from assent.policy.modes import Mode
from assent.policy.rules import Origin
from assent.policy.settings import combine


def managed(**keys: object) -> Document:
    return document_of(keys, "policy.toml", Origin.MANAGED)


def user(**keys: object) -> Document:
    return document_of(keys, "config.toml", Origin.USER)


def project(**keys: object) -> Document:
    return document_of(keys, ".assent.toml", Origin.PROJECT)


def test_nothing_said_is_default_mode() -> None:
    assert combine([]).mode is Mode.DEFAULT


def test_the_later_layer_sets_the_mode() -> None:
    assert combine([managed(mode="plan"), user(mode="auto")]).mode is Mode.AUTO
    assert combine([user(mode="auto")], environment_mode="plan").mode is Mode.PLAN
    assert combine([user(mode="auto")], environment_mode="plan", flag_mode="full_auto").mode is Mode.FULL_AUTO


def test_an_empty_environment_variable_is_absent() -> None:
    assert combine([user(mode="auto")], environment_mode="").mode is Mode.AUTO


def test_in_a_hook_the_environment_only_tightens() -> None:
    assert combine([user(mode="auto")], environment_mode="full_auto", environment_tightens=True).mode is Mode.AUTO
    assert combine([user(mode="auto")], environment_mode="plan", environment_tightens=True).mode is Mode.PLAN


@pytest.mark.parametrize("file", [managed, user, project])
def test_max_mode_of_any_file_holds_the_mode_down(file: object) -> None:
    settings = combine([file(max_mode="default")], flag_mode="full_auto")  # type: ignore[operator]
    assert settings.mode is Mode.DEFAULT
    assert len(settings.clamps) == 1


def test_untrusted_mode_holds_in_folders_not_marked() -> None:
    assert combine([user(mode="auto", untrusted_mode="plan")], trusted=False).mode is Mode.PLAN
    assert combine([user(mode="auto", untrusted_mode="plan")], trusted=True).mode is Mode.AUTO


def test_yolo_comes_from_a_flag_or_the_users_file_only() -> None:
    assert combine([user(mode="yolo")]).mode is Mode.YOLO
    assert combine([], flag_mode="yolo").mode is Mode.YOLO
    for documents, environment in ([[managed(mode="yolo")], ""], [[], "yolo"]):
        with pytest.raises(PolicyError, match="yolo"):
            combine(documents, environment_mode=environment)  # type: ignore[arg-type]


def test_a_locked_default_cannot_be_switched_off() -> None:
    for lock in (True, ["env-files"]):
        with pytest.raises(PolicyError, match=r"locked by policy\.toml"):
            combine([managed(defaults={"lock": lock}), user(defaults={"off": ["env-files"]})])


def test_a_default_switched_off_is_gone() -> None:
    ids = {rule.id for rule in combine([user(defaults={"off": ["env-files"]})]).ask}
    assert "env-files" not in ids
    assert "git-discard" in ids


def test_an_unknown_pack_is_an_error_with_a_suggestion() -> None:
    with pytest.raises(PolicyError, match="did you mean `dev-tasks`"):
        combine([user(packs={"on": ["dev-task"]})])


def test_lists_of_all_layers_append() -> None:
    settings = combine([managed(deny=["bash(a)"]), user(deny=["bash(b)"]), project(deny=["bash(c)"])])
    assert [rule.text for rule in settings.deny[:3]] == ["bash(a)", "bash(b)", "bash(c)"]


@pytest.mark.parametrize(
    ("documents", "starts"),
    [
        ([], False),
        ([user()], False),
        ([user(server={"start": True})], True),
        ([user(server={"start": False})], False),
        ([managed(server={"start": True})], True),
        ([managed(server={"start": False}), user(server={"start": True})], False),
    ],
)
def test_a_hook_starts_the_server_only_where_somebody_agreed_and_nobody_objects(
    documents: list[Document], starts: bool
) -> None:
    assert combine(documents).start is starts


def test_a_project_has_no_say_in_the_server() -> None:
    with pytest.raises(PolicyError, match=r"may not set `server\.start`"):
        project(server={"start": True})
