"""A remote channel is its folder and one row of CHANNELS: nothing else has to know its settings, secrets and words."""

from __future__ import annotations

import asyncio
import os
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import keyring
import pytest
from keyring.backends.null import Keyring

from assent.approval.channels.remote import RemoteChannel, RemoteHost
from assent.approval.secrets import taken
from assent.cli.main import main
from assent.contract import PolicyError
from assent.policy import remote_channels as settings
from assent.policy.document import Document, keys, read_document
from assent.policy.rules import Origin
from assent.programs.catalog import Catalog
from assent.server import remote_channels
from assent.server.state import ServerState

SHIPPED = Path(settings.__file__).parents[1] / "approval/channels"
TABLES = sorted(SHIPPED.glob("*/channel.toml"))
GUIDE = (Path(__file__).parents[3] / "CONTRIBUTING.md").read_text()
PAGER = """
[channel]
words = "pages {person} at {gateway}; {safe} excepted"
address = "gateway"
secrets = ["pager-key"]
secrets_by = { sound = { siren = "pager-siren-key" } }
module = "no_such_pager_sdk"
install = "it needs the pager's SDK; install it"

[settings.person]
meaning = "who is paged"
form = '[a-z]+'
is = "a name"
suggestion = "write for example `ann`"

[settings.gateway]
meaning = "where pages are sent to"
kind = "address"
default = "https://pager.example/v2/"
is = "an https address"
suggestion = "write one"

[settings.sound]
meaning = "what is heard"
form = 'beep|siren'
default = "beep"
is = "beep or siren"
suggestion = "write `beep`"

[settings.safe]
meaning = "numbers that are never called"
list = true
form = '[0-9]+'
default = []
is = "a list of numbers"
suggestion = "write for example `112`"
shown = "the numbers {}"
unset = "nobody"
"""
CONFIG = '[pager]\nperson = "ann"\n'


class Pager:
    """The channel in the folder: it takes its settings by name."""

    def __init__(
        self, host: RemoteHost, *secrets: str, person: str, gateway: str, sound: str, safe: tuple[str, ...]
    ) -> None:
        self.host, self.state = host, "up"
        self.given = (*secrets, person, gateway, sound, *safe)

    def leave(self) -> None: ...

    async def close(self) -> None: ...


class PagerWithoutItsModule(Pager):
    def __init__(self, host: RemoteHost, *secrets: str, **given: object) -> None:
        import no_such_pager_sdk  # type: ignore[import-not-found]  # noqa: F401


@pytest.fixture(autouse=True)
def an_empty_keyring() -> Iterator[None]:
    before = keyring.get_keyring()
    keyring.set_keyring(Keyring())  # type: ignore[no-untyped-call]  # of the package
    yield
    keyring.set_keyring(before)


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A state folder, beside a folder of channels with a third one, which is registered."""
    channels, found = tmp_path / "channels", tmp_path / "state"
    for name, table in {**{each.parent.name: each.read_text() for each in TABLES}, "pager": PAGER}.items():
        (channels / name).mkdir(parents=True)
        (channels / name / "channel.toml").write_text(table)
    monkeypatch.setattr(settings, "catalog", Catalog(str(channels), inside="channel.toml"))
    monkeypatch.setitem(remote_channels.CHANNELS, "pager", Pager)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("ASSENT_HOME", str(found))
    found.mkdir(mode=0o700)
    return found


def read(text: str, origin: Origin = Origin.USER) -> Document:
    return read_document(text, "user.toml", origin)


@pytest.mark.usefixtures("state")
def test_its_settings_are_read_and_listed() -> None:
    (found,) = settings.places([read(CONFIG + 'safe = ["112"]\n')]).values()
    gateway = "https://pager.example/v2/"
    assert (found.name, found.file) == ("pager", "user.toml")
    assert found.values == {"person": "ann", "gateway": gateway, "sound": "beep", "safe": ("112",)}
    assert list(keys())[-11:] == [
        *("pager.person", "pager.gateway", "pager.sound", "pager.safe"),
        *("slack.channel", "slack.users", "slack.team", "slack.transport", "slack.api"),
        *("webhook.url", "webhook.users"),
    ]


@pytest.mark.usefixtures("state")
@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ('[pager]\nsound = "beep"\n', 2, "`[pager]` has no `person`"),
        ("pager = 1\n", 1, "`pager` must be a table"),
        ('[pager]\nperson = "Ann"\n', 2, "`pager.person` must be a name; write for example `ann`"),
        (CONFIG + 'sound = "gong"\n', 3, "`pager.sound` must be beep or siren"),
        (CONFIG + 'gateway = "http://pager.example/"\n', 3, "`pager.gateway` must be an https address"),
        (CONFIG + 'safe = "112"\n', 3, "`pager.safe` must be a list of numbers"),
        (CONFIG + 'sund = "beep"\n', 3, "unknown setting `pager.sund`"),
        (CONFIG + 'sund = "beep"\n', 3, "`pager.sound`?"),
        ('[pagr]\nperson = "ann"\n', 1, "`pager`?"),
    ],
)
def test_a_mistake_in_them_is_an_error_with_a_line(text: str, line: int, words: str) -> None:
    with pytest.raises(PolicyError) as caught:
        read(text)
    assert words in str(caught.value)
    assert caught.value.line == line


@pytest.mark.usefixtures("state")
def test_a_project_may_not_set_them() -> None:
    with pytest.raises(PolicyError, match=r"a project file may not set `pager.person`"):
        read(CONFIG, Origin.PROJECT)


def test_its_secrets_are_named_and_taken_and_what_is_missing_is_told(state: Path) -> None:
    environ = {"ASSENT_PAGER_SIREN_KEY": "s", "PATH": "/bin"}
    assert settings.secret_names()[:2] == ("pager-key", "pager-siren-key")
    (state / "config.toml").write_text(CONFIG)
    module = "pager: it needs the pager's SDK; install it"
    found = [text for text, _ in remote_channels.findings(str(state), {})]
    assert found == ["`pager-key` is missing", module]
    (state / "config.toml").write_text(CONFIG + 'sound = "siren"\n')
    found = [text for text, _ in remote_channels.findings(str(state), {"ASSENT_PAGER_KEY": "k"})]
    assert found[:2] == ["`pager-siren-key` is missing", module]
    assert found[2].startswith("ASSENT_PAGER_KEY is in this environment")
    assert taken(environ, settings.secret_names()) == {"pager-siren-key": "s"}
    assert environ == {"PATH": "/bin"}


def test_it_is_shown_with_the_policy(state: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (state / "config.toml").write_text(CONFIG)
    assert main(["policy", "show"]) == 0
    shown = capsys.readouterr().out
    where = f"pages ann at https://pager.example/v2/; nobody excepted  (set by {state}/config.toml)"
    assert f"\npager      {where}\nslack      off\nwebhook    off\n" in shown
    named = settings.places([read(CONFIG + 'safe = ["112", "110"]\n')])["pager"]
    assert named.words == "pages ann at https://pager.example/v2/; the numbers 112, 110 excepted  (set by user.toml)"


def test_a_server_opens_it_with_its_secrets_and_settings(state: Path) -> None:
    (state / "config.toml").write_text(CONFIG + 'sound = "siren"\n')
    opened, states, lines = serve({"pager-key": "k", "pager-siren-key": "s"})
    assert [each.given for each in opened if isinstance(each, Pager)] == [
        ("k", "s", "ann", "https://pager.example/v2/", "siren")
    ]
    assert states == [("pager", "up", "")]
    assert lines == [f"pager: questions go to pager.example too, as {state}/config.toml says"]


def test_a_server_says_what_is_missing(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (state / "config.toml").write_text(CONFIG)
    assert serve({})[1][0][:2] == ("pager", "off")
    assert "`pager-key` is missing; put it into" in serve({})[1][0][2]
    monkeypatch.setitem(remote_channels.CHANNELS, "pager", PagerWithoutItsModule)
    assert serve({"pager-key": "k"})[1] == [("pager", "off", "it needs the pager's SDK; install it")]


def serve(secrets: dict[str, str]) -> tuple[list[RemoteChannel], list[tuple[str, str, str]], list[str]]:
    """The channels of a server that has these secrets, their states, and the lines of its greeting."""

    async def play() -> tuple[list[RemoteChannel], list[tuple[str, str, str]], list[str]]:
        server = ServerState(os.environ, port=1, socket="none", secrets=secrets)
        await server.open()
        found: list[tuple[str, str, str]] = []
        while not found or found[0][1] == "connecting":
            await asyncio.sleep(0.01)
            found = remote_channels.channel_states({"elsewhere": server.remote.states()})
        opened, lines = list(server.remote.opened.values()), server.remote.lines()
        await server.close()
        return opened, found, lines

    return asyncio.run(asyncio.wait_for(play(), 20))


# ------------------------------------------------------------ the shipped ones


def test_every_folder_with_a_table_is_registered() -> None:
    assert [each.parent.name for each in TABLES] == list(settings.settings()) == sorted(remote_channels.CHANNELS)


@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.parent.name)
def test_a_table_has_documented_keys_and_values_that_fit(path: Path) -> None:
    table = tomllib.loads(path.read_text())
    name, rows = path.parent.name, table["settings"]
    guide = GUIDE.partition("## Add a channel")[2].partition("\n## ")[0]
    assert set(table) == {"channel", "settings"}
    assert [
        key for key in {*table["channel"], *(key for row in rows.values() for key in row)} if f"`{key}`" not in guide
    ] == []
    assert table["channel"]["address"] in rows
    assert set(re.findall(r"\{(\w*)\}", table["channel"]["words"])) <= set(rows)
    for key, row in rows.items():
        assert key.isidentifier()
        assert ("form" in row) != (row.get("kind") == "address")
        assert {"meaning", "is", "suggestion"} <= set(row)
        assert not row.get("default") or settings.objection(f"{name}.{key}", row["default"]) == ("", "")
    for key, choices in table["channel"].get("secrets_by", {}).items():
        assert [each for each in choices if settings.objection(f"{name}.{key}", each) != ("", "")] == []
