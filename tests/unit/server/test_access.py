"""Codes, sessions and tokens, with a clock that the test moves."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from assent.contract import AccessError, StoreError
from assent.server.access import (
    ABSOLUTE,
    ALPHABET,
    CODE_LIFE,
    IDLE,
    MOST_SESSIONS,
    TRIES,
    TRY_EVERY,
    Access,
    Codes,
    Person,
    Sessions,
    load_token,
)


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def works(codes: Codes, typed: str) -> bool:
    try:
        codes.redeem(typed)
    except AccessError:
        return False
    return True


def test_a_code_is_readable_and_random(clock: Clock) -> None:
    codes = Codes(clock)
    found = {codes.fresh() for _ in range(200)}
    assert len(found) == 200
    assert all(set(code.replace("-", "")) <= set(ALPHABET) and len(code) == 9 for code in found)


def test_a_code_works_once(clock: Clock) -> None:
    codes = Codes(clock)
    code = codes.fresh()
    assert works(codes, code)
    assert not works(codes, code)
    assert not codes.live


def test_a_code_may_be_typed_as_people_type(clock: Clock) -> None:
    for change in (str.lower, lambda code: code.replace("-", ""), lambda code: f"  {code.replace('-', ' ')}\n"):
        codes = Codes(clock)
        assert works(codes, change(codes.fresh()))


def test_a_code_ends_after_ten_minutes(clock: Clock) -> None:
    codes = Codes(clock)
    code = codes.fresh()
    clock.now += CODE_LIFE
    assert not codes.live
    assert not works(codes, code)


def test_a_new_code_voids_the_one_before(clock: Clock) -> None:
    codes = Codes(clock)
    first = codes.fresh()
    codes.fresh()
    assert not works(codes, first)


def test_without_a_code_nothing_works(clock: Clock) -> None:
    codes = Codes(clock)
    assert not works(codes, "")
    code = codes.fresh()
    codes.redeem(code)
    assert not works(codes, "")


def test_the_tries_of_one_keep_no_other_from_signing_in(clock: Clock) -> None:
    codes = Codes(clock)
    code = codes.fresh()
    for _ in range(TRIES * 3):
        with pytest.raises(AccessError):
            codes.redeem("BBBB-BBBB", "user 1001")
    for number in range(1000):
        with pytest.raises(AccessError):
            codes.redeem("BBBB-BBBB", f"user {number + 2000}")
    codes.redeem(code, "user 1000")


def test_after_some_tries_even_the_right_code_has_to_wait(clock: Clock) -> None:
    codes = Codes(clock)
    code = codes.fresh()
    assert not any(works(codes, "BBBB-BBBB") for _ in range(TRIES))
    with pytest.raises(AccessError, match="too many tries") as caught:
        codes.redeem(code)
    assert caught.value.code == "slow-down"
    clock.now += TRY_EVERY
    assert works(codes, code)


def test_a_session_needs_cookie_and_key(clock: Clock) -> None:
    sessions = Sessions(clock)
    cookie, key, person = sessions.open("ann")
    assert person == Person("ann", person.session, clock.now + ABSOLUTE)
    assert sessions.find(cookie, key) == person
    assert sessions.find(cookie, "") is None
    assert sessions.find(key, cookie) is None
    assert sessions.find("", key) is None
    other_cookie, other_key, _ = sessions.open("ann")
    assert sessions.find(cookie, other_key) is None
    assert sessions.find(other_cookie, key) is None


def test_a_session_that_is_not_used_ends(clock: Clock) -> None:
    sessions = Sessions(clock)
    cookie, key, _ = sessions.open("ann")
    clock.now += IDLE - 1
    assert sessions.find(cookie, key) is not None
    clock.now += IDLE - 1
    assert sessions.awake(cookie)
    clock.now += IDLE
    assert sessions.find(cookie, key) is None


def test_a_session_ends_however_much_it_is_used(clock: Clock) -> None:
    sessions = Sessions(clock)
    cookie, key, _ = sessions.open("ann")
    for _ in range(int(ABSOLUTE / 3600) - 1):
        clock.now += 3600
        assert sessions.find(cookie, key) is not None
    clock.now += 3600
    assert sessions.find(cookie, key) is None
    assert not sessions.awake(cookie)


def test_signing_out_ends_one_session(clock: Clock) -> None:
    sessions = Sessions(clock)
    first, second = sessions.open("ann"), sessions.open("ann")
    sessions.close(first[0])
    assert sessions.find(first[0], first[1]) is None
    assert sessions.find(second[0], second[1]) is not None


def test_everybody_can_be_signed_out(clock: Clock) -> None:
    sessions = Sessions(clock)
    opened = [sessions.open("ann") for _ in range(3)]
    sessions.close_all()
    assert [sessions.find(cookie, key) for cookie, key, _ in opened] == [None, None, None]


def test_there_are_only_so_many_sessions(clock: Clock) -> None:
    sessions = Sessions(clock)
    opened = [sessions.open("ann") for _ in range(MOST_SESSIONS + 1)]
    assert len(sessions) == MOST_SESSIONS
    assert sessions.find(opened[0][0], opened[0][1]) is None
    assert sessions.find(opened[-1][0], opened[-1][1]) is not None


def test_the_token_of_callers_signs_nobody_in(clock: Clock) -> None:
    access = Access(clock, who="ann", token="t" * 43)
    assert access.is_caller("t" * 43)
    assert not access.is_caller("")
    assert not access.is_caller("t" * 42)
    with pytest.raises(AccessError):
        access.sign_in("t" * 43)
    cookie, key, person = access.sign_in(access.codes.fresh())
    assert access.sessions.find(cookie, key) == person
    assert not access.is_caller(cookie)


def test_the_token_is_made_once_and_closed_to_others(tmp_path: Path) -> None:
    first = load_token(str(tmp_path))
    assert load_token(str(tmp_path)) == first
    path = tmp_path / "caller.token"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.chmod(0o644)
    with pytest.raises(StoreError, match="open to others"):
        load_token(str(tmp_path))


def test_a_token_that_was_cut_short_or_is_a_link_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "caller.token"
    path.touch(0o600)
    with pytest.raises(StoreError):
        load_token(str(tmp_path))
    path.unlink()
    (tmp_path / "other").write_text("x" * 43)
    path.symlink_to(tmp_path / "other")
    with pytest.raises(StoreError):
        load_token(str(tmp_path))
