"""The real paths of the places that the floor guards in a home folder: targets of links, or another state folder.

Reads no rules: `PLACES` are those of the floor with a fixed name; tests/unit/facts/test_guarded.py compares both."""

from __future__ import annotations

import os
from time import time_ns

from assent.agents import known
from assent.contract import keep
from assent.facts.links import Links, status

STATE = ".assent"
_CREDENTIALS = known.joined("home", "credentials")  # of agent programs
# Folders that are guarded with all their content, which may be links too.
FOLDERS = (
    *(".ssh", ".gnupg", ".aws", ".azure", ".oci", ".kube", ".password-store", ".mozilla", STATE),
    *(".config/gcloud", ".config/doctl", ".config/heroku", ".config/.wrangler", ".config/op", ".config/chromium"),
    *(".config/BraveSoftware", ".config/microsoft-edge", ".local/share/keyrings"),
    *(".local/share/kwalletd", "Library/Keychains", "Library/Application Support/Google/Chrome"),
    *("Library/Application Support/Firefox", "Library/Application Support/BraveSoftware", "Library/Cookies"),
    *(each.removesuffix("/**") for each in _CREDENTIALS if each.endswith("/**")),
)
FILES = (
    *("id_rsa", "id_ed25519", "id_ecdsa", "id_dsa", ".fly/config.yml", ".config/rclone/rclone.conf", ".s3cfg", ".boto"),
    *(".terraform.d/credentials.tfrc.json", ".terraformrc", ".vault-token", ".config/hcloud/cli.toml"),
    *(".databrickscfg", ".config/configstore/firebase-tools.json", ".pulumi/credentials.json", ".docker/config.json"),
    *(".config/containers/auth.json", "containers/auth.json", ".npmrc", ".pypirc", ".cargo/credentials"),
    *(".cargo/credentials.toml", ".gem/credentials", ".config/composer/auth.json", ".composer/auth.json"),
    *(".nuget/NuGet/NuGet.Config", ".yarnrc.yml/token", ".m2/settings-security.xml", ".m2/settings.xml"),
    *(".config/pypoetry/auth.toml", ".git-credentials", ".config/git/credentials", ".netrc", "_netrc"),
    *(".config/gh/hosts.yml", ".config/glab-cli/config.yml", ".config/hub", ".pgpass", ".my.cnf", ".mylogin.cnf"),
    *(".config/sops/age/keys.txt", *(each for each in _CREDENTIALS if not each.endswith("/**"))),
)
# Folders with further guarded names by prefix, or guarded only against changes.
ABOVE = ("", ".config", *known.joined("home", "folders"))
PLACES = (*ABOVE, *FOLDERS, *FILES)


def _above(places: tuple[str, ...]) -> list[str]:
    """The folders that places are in, those above them included."""
    return [place[:at] for place in places for at, letter in enumerate(place) if letter == "/"]


def _names_in(start: str) -> tuple[str, ...]:
    """The next component of the places below a path."""
    inside = (place[len(start) :] for place in PLACES if place.startswith(start) and place)
    return tuple(dict.fromkeys(each.partition("/")[0] for each in inside))


MOST_LISTED = 256  # names in a guarded folder that are checked for links
MOST_COMPARED = 20_000  # files in guarded folders that a hard link is compared with


def aliases(home: str, state: str, links: Links) -> tuple[tuple[str, str], ...]:
    """Pairs of another name and the guarded path it leads to. None if no link leads to a guarded place."""
    if home[:1] != "/":
        return ()
    found, usual = _in_home(home, links), f"{home}/{STATE}"
    if state and state != usual:
        found |= {state: usual, links.canonical(state) or state: usual}
    return tuple(found.items())


def _in_home(home: str, links: Links) -> dict[str, str]:
    plain = links.given() is None and links.canonical(home) == home
    if plain and home in _ordinary and _stamps(tuple(_ordinary[home]), links) == _ordinary[home]:
        return {}
    for folder, names in _LISTED.items() if plain else ():
        here = f"{home}/{folder}".rstrip("/")
        if links.canonical(here) == here and not links.is_gone(here):
            links.note_absent(here, names)
    before = _stamps(tuple(f"{home}/{place}".rstrip("/") for place in HOLDING), links) if plain else {}
    found = _found(home, links)
    if plain and not found:
        keep(_ordinary, home, before if all(time_ns() - time > FRESH for time in before.values()) else {}, REMEMBERED)
    return found


# Homes in which no link leads to a guarded place, with the folders that contain places and their change times: a new
# link changes one of them. Few homes have any.
_ordinary: dict[str, dict[str, int]] = {}
REMEMBERED = 16
FRESH = 2_000_000_000  # nanoseconds in which a second change may not alter the time
HOLDING = tuple(dict.fromkeys(("", *FOLDERS, *_above(PLACES))))
# Folders with many places, and the names there. In most homes most are absent.
_LISTED = {folder: _names_in(f"{folder}/".lstrip("/")) for folder in ("", ".config")}


def _stamps(folders: tuple[str, ...], links: Links) -> dict[str, int]:
    """The change times of the existing folders. None for no folders, which equals no cached value."""
    return {folder: found.st_mtime_ns for folder in folders if (found := links.status(folder))} or {"": 0}


def _found(home: str, links: Links) -> dict[str, str]:
    found: dict[str, str] = {}
    for place in PLACES:
        _note(found, f"{home}/{place}" if place else home, links)
    for folder in FOLDERS:
        for name in _links_in(links.canonical(f"{home}/{folder}"), links):
            _note(found, f"{home}/{folder}/{name}", links)
    return found


def _note(found: dict[str, str], usual: str, links: Links) -> None:
    real = links.canonical(usual)
    if real and real != usual and real != "/" and not _follows(found, real, usual):
        found[real] = usual


def _follows(found: dict[str, str], real: str, usual: str) -> bool:
    """Whether a parent folder already leads there."""
    at = real.rfind("/")
    while at > 0:
        above = found.get(real[:at])
        if above is not None and above + real[at:] == usual:
            return True
        at = real.rfind("/", 0, at)
    return False


def _links_in(folder: str, links: Links) -> list[str]:
    """The links directly in a guarded folder; there are few."""
    if not folder or links.is_gone(folder):
        return []
    given = links.given_in(folder)
    if given is not None:
        return given
    try:
        with os.scandir(folder) as entries:
            return [entry.name for entry, _ in zip(entries, range(MOST_LISTED), strict=False) if entry.is_symlink()]
    except OSError:
        return []


# ---------------------------------------------------------------- hard links

_TYPE, _REGULAR = 0o170000, 0o100000  # S_IFMT and S_IFREG


def hard_link(path: str, home: str, links: Links) -> str:
    """The guarded file that a path is a hard link to; `""` if there is none.

    If guarded folders hold too many files to compare, it may be any of them: the home's `.ssh`."""
    file = links.status(path)
    if file is None or file.st_nlink < 2 or file.st_mode & _TYPE != _REGULAR or home[:1] != "/":
        return ""
    table: dict[tuple[int, int], str] = links.once(("guarded files", home), _numbers, home)
    found = table.get((file.st_dev, file.st_ino), "")
    if found == path or (not found and (0, 0) not in table):
        return ""
    return found or f"{home}/.ssh"


def _numbers(home: str) -> dict[tuple[int, int], str]:
    """Guarded files by device and number. Contains (0, 0) if there were too many."""
    table: dict[tuple[int, int], str] = {}
    waiting = [f"{home}/{folder}" for folder in reversed(FOLDERS)]
    for path in (f"{home}/{name}" for name in FILES):
        if file := status(path):
            table[file.st_dev, file.st_ino] = path
    while waiting:
        folder = waiting.pop()
        try:
            device = os.stat(folder).st_dev
            with os.scandir(folder) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    elif not entry.is_symlink():
                        table[device, entry.inode()] = entry.path
                    if len(table) + len(waiting) > MOST_COMPARED:
                        table[0, 0] = ""
                        return table
        except OSError:
            continue
    return table
