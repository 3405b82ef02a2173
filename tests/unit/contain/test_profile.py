"""What is open inside: the profile of a call, from the folders on disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from assent.contain import words
from assent.contain.profile import CACHES, TOOLCHAINS, NotContained, Profile, profile_for
from assent.contract import Call
from assent.policy.contain_settings import ContainSettings


class Home:
    """A home folder with a project and Assent's folder."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.work = self.home / "work"
        self.state = self.home / ".assent"
        for each in (self.work / "src", self.state, self.home / ".cargo/bin", self.home / ".ssh", self.home / "bin"):
            each.mkdir(parents=True)

    def profile(self, settings: ContainSettings | None = None, **more: object) -> Profile:
        given: dict[str, object] = {
            "roots": [str(self.work)],
            "home": str(self.home),
            "state": str(self.state),
            "environ": {"PATH": f"/usr/bin:{self.home}/bin:{self.home}", "AWS_SECRET": "x", "LANG": "C"},
            "protects": lambda _: False,
            "guards": lambda path: "/.ssh" in path,
        }
        cwd = str(more.pop("cwd", self.work))
        return profile_for(settings or ContainSettings(), Call("bash", {}, cwd=cwd), **{**given, **more})  # type: ignore[arg-type]  # given by name


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path.resolve())


def test_toolchains_and_folders_of_programs_are_readable_and_nothing_else_of_the_home_folder(home: Home) -> None:
    found = home.profile()
    own = [each for each in found.readable if each.startswith(str(home.home))]
    assert own == [f"{home.home}/.cargo/bin", f"{home.home}/bin"]
    assert "/" not in found.readable


CREDENTIALS = (
    ".local/share/uv/credentials/credentials.toml",
    ".stack/upload/credentials.json",
    ".opam/plugins/opam-publish/user.token",
    ".pub-cache/credentials.json",
    ".dotnet/corefx/cryptography/x509stores/my/key.pfx",
    ".cargo/credentials.toml",
    ".gem/credentials",
    ".m2/settings.xml",
    ".gradle/gradle.properties",
    ".composer/auth.json",
    ".hex/hex.config",
    ".nuget/NuGet/NuGet.Config",
    ".cache/huggingface/token",
    ".bundle/config",
)


@pytest.mark.parametrize("path", CREDENTIALS)
def test_credentials_beside_a_toolchain_are_in_no_readable_folder(home: Home, path: str) -> None:
    for name in (*TOOLCHAINS, *(f".cache/{each}" for each in CACHES)):
        (home.home / name).mkdir(parents=True, exist_ok=True)
    (home.home / path).parent.mkdir(parents=True, exist_ok=True)
    (home.home / path).write_text("secret")
    assert [each for each in home.profile().readable if f"{home.home}/{path}".startswith(f"{each}/")] == []


def test_only_named_variables_are_passed_on(home: Home) -> None:
    path = f"/usr/bin:{home.home}/bin:{home.home}"
    expected = {"PATH": path, "LANG": "C", "HOME": str(home.home), "TMPDIR": "/tmp", "ASSENT_CONTAINED": "1"}
    assert home.profile().environment == expected


@pytest.mark.parametrize("entry", ["", ".", "bin", "WORK"])
def test_a_call_whose_commands_may_be_files_of_the_workspace_is_not_contained(home: Home, entry: str) -> None:
    with pytest.raises(NotContained):
        home.profile(environ={"PATH": f"/usr/bin:{entry.replace('WORK', str(home.work))}"})


def test_a_proxy_is_named_only_where_hosts_are_open(home: Home) -> None:
    found = home.profile(ContainSettings(network=("a.example",)))
    assert found.environment["HTTPS_PROXY"] == "http://127.0.0.1:48443"
    assert found.word == "network only to a.example, writes only in the workspace, installed code read-only"


def test_the_profile_in_words(home: Home) -> None:
    (home.home / ".tool").mkdir()
    found = home.profile(ContainSettings(writable=("~/.tool",)), installs=True)
    assert found.word == f"no network, writes only in the workspace and {home.home}/.tool"


@pytest.mark.parametrize(
    "root", ["/", "/usr/share", "/tmp", "HOME", "HOME/..", "HOME/.assent", "HOME/.ssh", "/nowhere"]
)
def test_such_a_folder_is_no_workspace_of_a_contained_run(home: Home, root: str) -> None:
    path = root.replace("HOME", str(home.home))
    with pytest.raises(NotContained):
        home.profile(roots=[path], cwd=path)


def test_a_call_elsewhere_is_not_contained(home: Home) -> None:
    for cwd in (home.home, "/", "", "work"):
        with pytest.raises(NotContained, match="does not run in the workspace"):
            home.profile(cwd=cwd)


def test_a_rule_on_the_whole_workspace_leaves_nothing_to_contain(home: Home) -> None:
    with pytest.raises(NotContained, match="protects the whole workspace"):
        home.profile(protected=["**"])
    with pytest.raises(NotContained, match="it is protected"):
        home.profile(protects=lambda path: path.startswith(str(home.work)))


@pytest.mark.parametrize("path", ["~/.ssh", "~/.assent/x", "/etc/x", "~/missing", "/tmp"])
def test_such_a_folder_is_not_made_writable(home: Home, path: str) -> None:
    (home.state / "x").mkdir()
    with pytest.raises(NotContained, match="`writable` in"):
        home.profile(ContainSettings(writable=(path,)))


def test_hidden_paths_of_the_workspace_are_globs_and_others_are_covered(home: Home) -> None:
    found = home.profile(ContainSettings(hidden=("private", f"{home.work}/x", "~/.cargo/bin")))
    assert (found.concealed, found.hidden) == (("private", "x"), (f"{home.home}/.cargo/bin",))
    given = words.words(found)
    assert given[given.index(f"{home.home}/.cargo/bin", given.index("--remount-ro")) - 1] == "--tmpfs"


def test_installed_code_of_rules_is_writable_where_the_call_installs(home: Home) -> None:
    globs = ["**/node_modules/.bin/**", "**/.husky/**", "**/site-packages/**", ".git/**"]
    assert home.profile(protected=globs).protected[-3:] == ("**/node_modules/.bin", "**/.husky", "**/site-packages")
    assert home.profile(protected=globs, installs=True).protected[-1:] == ("**/.husky",)


def test_a_folder_is_mounted_before_what_is_in_it(home: Home) -> None:
    given = words.words(home.profile())
    places = [given.index(each) for each in (str(home.home), f"{home.home}/.cargo/bin", str(home.work))]
    assert sorted(places) == places


def test_a_link_to_a_toolchain_is_there_inside(home: Home, tmp_path: Path) -> None:
    (tmp_path / "rust").mkdir()
    (home.home / ".rustup").symlink_to(tmp_path / "rust")
    found = home.profile()
    assert (f"{home.home}/.rustup", f"{tmp_path.resolve()}/rust") in found.links
    assert f"{tmp_path.resolve()}/rust" in found.readable
