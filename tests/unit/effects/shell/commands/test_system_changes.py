"""What changes the machine: accounts, services, guards, packages, and what programs check."""

from __future__ import annotations

import pytest

from tests.unit.effects.shell.commands.commands import does


def marks(line: str) -> set[str]:
    return {mark for each in does(line) for mark in each.split(" !")[1:]} & {
        "system-change",
        "security-off",
        "checks-off",
    }


@pytest.mark.parametrize(
    "line",
    [
        "systemctl stop nginx",
        "service postgresql stop",
        "passwd -d x",
        "chage -M 9 x",
        "sysctl -w a.b=1",
        "ufw allow 22",
        "apt-get remove 'python*'",
        "apt-get purge libc6",
        "dpkg --purge --force-all x",
    ],
)
def test_changes_of_the_machine_are_marked(line: str) -> None:
    assert marks(line) == {"system-change"}


@pytest.mark.parametrize(
    "line", ["systemctl disable --now ufw", "service auditd stop", "pkill -9 clamd", "killall falcond"]
)
def test_a_guard_that_is_stopped_is_switched_off(line: str) -> None:
    assert "security-off" in marks(line)


@pytest.mark.parametrize(
    "line",
    [
        "git config --global http.sslVerify false",
        "git config core.hooksPath /dev/null",
        "npm config set strict-ssl false",
        "git config --global url.https://a.example/.insteadOf https://b.example/",
        "go env -w GOSUMDB=off",
        "pip config set global.index-url http://a.example/",
        "composer config -g disable-tls true",
    ],
)
def test_checks_that_are_switched_off_are_marked(line: str) -> None:
    assert marks(line) == {"checks-off"}


@pytest.mark.parametrize(
    "line",
    [
        "systemctl restart nginx",
        "systemctl --user stop x",
        "service x start",
        "apt-get remove jq",
        "pkill -f server.js",
        "git config --global user.name me",
        "git config --global pull.rebase true",
        "npm config set fund false",
        "npm config set registry https://registry.npmjs.org/",
        "npm config set strict-ssl true",
        "go env -w GOFLAGS=-mod=mod",
    ],
)
def test_ordinary_changes_are_not(line: str) -> None:
    assert marks(line) == set()
