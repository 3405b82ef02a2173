"""Redirections: files they open are effects of their own, descriptors and null devices are none."""

from __future__ import annotations

import pytest

from tests.unit.effects.shell.reading import Effect, Kind, Operation, Target, Via, dangers, done, gaps, read

OPENED = {
    "> f": ["write f"],
    "echo x >f": ["write f"],
    "echo x >> f": ["write f"],
    "echo x >| f": ["write f"],
    "echo x &> f": ["write f"],
    "echo x &>> f": ["write f"],
    "echo x >& f": ["write f"],
    "echo x 2>f": ["write f"],
    "echo x {d}>f": ["write f"],
    "cat < f": ["read f"],
    "cat <> f": ["read f", "write f"],
    "{ echo x; } > f": ["write f"],
    "(echo x) > f": ["write f"],
    "if true; then true; fi > f": ["write f"],
    "for i in a; do true; done > f": ["write f"],
    "while true; do true; done < f": ["read f"],
    "[[ -n x ]] > f": ["write f"],
    "((1)) > f": ["write f"],
    "f() { echo x; } > f; f": ["write f"],
    "exec 3> f": ["write f"],
    "x=f; echo x > $x": ["write f"],
    'echo x > "$X"': ["write ?"],
    "echo x > $(echo f)": ["write f"],
    "cd a; echo x > f": ["write a/f", "write f"],
    "echo x > ~/f": ["write /home/u/f"],
    "cat < /dev/tcp/h.example/80": ["fetch h.example"],
    "echo x > /dev/udp/h.example/53": ["fetch h.example"],
}
NOT_OPENED = [
    "echo x 2>&1",
    "echo x >&2",
    "echo x 2>&-",
    "echo x > /dev/null 2>&1",
    "echo x &> /dev/null",
    "echo x > /dev/stderr",
    "echo x > /dev/tty",
    "cat < /dev/stdin",
    "cat < /dev/null",
    "cat 0<&3",
    "cat <<< x",
    "cat <<E\nx\nE",
    "read x < <(true)",
    "echo x > >(cat)",
]


@pytest.mark.parametrize(("text", "effects"), OPENED.items(), ids=OPENED)
def test_what_a_redirection_opens_is_an_effect(text: str, effects: list[str]) -> None:
    assert done(text) == effects


@pytest.mark.parametrize("text", NOT_OPENED)
def test_descriptors_and_devices_are_none(text: str) -> None:
    assert (done(text), gaps(text)) == ([], [])


def test_the_effect_says_that_it_is_a_redirection_and_of_which_command() -> None:
    assert read("true; echo x > f").effects == (
        Effect(
            Operation.WRITE,
            Target(Kind.PATH, "/ws/repo/f", "f"),
            "command[13:16]",
            invocation=1,
            via=Via.REDIRECT,
        ),
    )


def test_a_known_beginning_of_an_unknown_path_is_a_guess() -> None:
    (effect,) = read("echo x > /etc/$X").effects
    assert effect.target == Target(Kind.PATH, "/etc/*", "/etc/$X", pattern=True, certain=False)


def test_a_disk_is_a_raw_device() -> None:
    assert dangers("echo x > /dev/sda") == {"raw-device"}


def test_zsh_forces_with_a_mark() -> None:
    assert gaps("echo x >! f", "") == ["zsh"]
    assert gaps("echo x >! f", "bash") == []
