"""A reply from a remote channel counts only if it is signed, fresh and unused."""

from __future__ import annotations

import asyncio
import hashlib
import hmac

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.approval.channels import remote
from assent.approval.channels.remote import SLOWEST, Outbox, RateLimited, Refused
from assent.contract.approval import Scope
from tests.broker.stage import play


@given(st.binary(max_size=40), st.text(min_size=1, max_size=20), st.binary(max_size=40), st.text(max_size=20))
def test_a_signature_is_good_for_its_own_secret_and_body_alone(
    body: bytes, secret: str, other: bytes, guess: str
) -> None:
    secret, guess = (each.encode("utf-8", "replace").decode() for each in (secret, guess))
    made = remote.signature(secret, "v1:answer:1:", body)
    assert made == hmac.new(secret.encode(), b"v1:answer:1:" + body, hashlib.sha256).hexdigest()
    assert remote.signed(secret, "v1:answer:1:", body, made)
    assert remote.signed(secret, "v1:answer:1:", other, made) is (other == body)
    assert remote.signed(secret, "v1:answer:2:", body, made) is False
    assert remote.signed(guess, "v1:answer:1:", body, made) is (guess == secret)
    assert remote.signed(secret, "v1:answer:1:", body, guess) is (guess == made)


def test_without_a_secret_nothing_is_signed() -> None:
    assert remote.signed("", "h", b"x", remote.signature("", "h", b"x")) is False


def test_a_time_counts_within_five_minutes_and_as_plain_digits() -> None:
    assert [remote.timely(str(at), 1000.0) for at in (699, 700, 1000, 1300, 1301)] == [False, True, True, True, False]
    assert [remote.timely(text, 1000.0) for text in ("", "-1000", "1e3", " 1000", "1000.0", "١٠٠٠", "9" * 400)] == [
        False
    ] * 7


def test_what_was_used_is_not_used_again_as_long_as_it_could_be_believed() -> None:
    now = [0.0]
    once = remote.Once(lambda: now[0])
    assert [once.use("a"), once.use("a"), once.use("b"), once.use("")] == [True, False, True, False]
    now[0] = 2 * remote.WINDOW
    assert once.use("a") is False
    now[0] += 1
    once.use("c")
    assert once.use("a") is True  # its signature is too old by far


def test_a_memory_that_is_full_refuses_and_forgets_nothing() -> None:
    now = [0.0]
    once = remote.Once(lambda: now[0])
    assert all(once.use(str(number)) for number in range(remote.MOST))
    assert once.use("one more") is False
    assert once.use("0") is False
    now[0] = 3 * remote.WINDOW
    assert once.use("one more") is True


def test_answers_from_elsewhere_save_no_rule_that_stays() -> None:
    assert {Scope.ONCE, Scope.QUARTER, Scope.SESSION} <= set(remote.SCOPES)
    assert [scope for scope in remote.SCOPES if scope.bounds.lasting] == []
    assert [scope.bounds.lasting for scope in (Scope.PROJECT, Scope.EVERYWHERE)] == [True, True]


class Place:
    """Takes what is sent, or fails as it is told: an exception for each try."""

    def __init__(self, *faults: Exception) -> None:
        self.faults = list(faults)
        self.seen: list[tuple[str, float]] = []
        self.tried: list[float] = []
        self.told: list[str] = []

    async def take(self, name: str) -> bool:
        now = asyncio.get_running_loop().time()
        self.tried.append(now)
        if self.faults:
            raise self.faults.pop(0)
        self.seen.append((name, now))
        return True


def test_what_fails_is_tried_again_slower_and_slower_and_told_of_once() -> None:
    async def scene() -> None:
        place = Place(*[ConnectionError("down")] * 7)
        box = Outbox(place.told.append)
        await box.put("a", lambda: place.take("a"))
        assert [round(each) for each in place.tried] == [0, 1, 3, 7, 15, 31, 61, 91]
        assert place.tried[-1] - place.tried[-2] == pytest.approx(SLOWEST)
        assert place.told == ["down", ""]
        assert len(box) == 0

    play(scene())


def test_only_the_latest_of_a_key_is_brought_and_all_who_wait_hear_of_it() -> None:
    async def scene() -> None:
        place = Place(ConnectionError("down"))
        box = Outbox(place.told.append)
        first = box.put("a", lambda: place.take("old"))
        await asyncio.sleep(0.5)
        second = box.put("a", lambda: place.take("new"))
        await asyncio.gather(first, second)
        assert [name for name, _ in place.seen] == ["new"]

    play(scene())


def test_what_is_wanted_while_the_same_key_is_on_its_way_comes_after_it() -> None:
    async def scene() -> None:
        seen: list[str] = []
        box = Outbox(lambda words: None)

        async def slow() -> bool:
            await asyncio.sleep(5)
            seen.append("first")
            return True

        async def quick() -> bool:
            seen.append("second")
            return True

        first = box.put("a", slow)
        await asyncio.sleep(1)
        await asyncio.gather(first, box.put("a", quick))
        assert seen == ["first", "second"]

    play(scene())


def test_a_busy_place_is_left_alone_for_as_long_as_it_says_whatever_else_is_heard() -> None:
    async def scene() -> None:
        place = Place(RateLimited(60))
        box = Outbox(place.told.append)
        done = box.put("a", lambda: place.take("a"))
        await asyncio.sleep(1)
        box.hurry()
        other = box.put("b", lambda: place.take("b"))
        await asyncio.gather(done, other)
        assert place.tried[:2] == [0.0, pytest.approx(60.0)]

    play(scene())


def test_a_place_that_was_heard_of_is_tried_at_once() -> None:
    async def scene() -> None:
        place = Place(*[ConnectionError("down")] * 5)
        box = Outbox(place.told.append)
        done = box.put("a", lambda: place.take("a"))
        await asyncio.sleep(20)  # the next try is at 31
        box.hurry()
        await done
        assert place.tried[-1] == pytest.approx(20.0)

    play(scene())


def test_what_is_refused_is_not_tried_again() -> None:
    async def scene() -> None:
        place = Place(Refused("no"))
        box = Outbox(place.told.append)
        with pytest.raises(Refused):
            await box.put("a", lambda: place.take("a"))
        await box.put("b", lambda: place.take("b"))
        assert place.told == ["no", ""]
        assert [name for name, _ in place.seen] == ["b"]

    play(scene())


def test_a_place_that_hangs_is_given_up_on_and_tried_again() -> None:
    async def scene() -> None:
        place = Place()
        hangs = [True]

        async def send() -> bool:
            if hangs.pop() if hangs else False:
                await asyncio.Event().wait()
            return await place.take("a")

        async def tick() -> None:
            while True:  # the loop of the test needs something to wait for
                await asyncio.sleep(1)

        ticking = asyncio.ensure_future(tick())
        await Outbox(place.told.append).put("a", send)
        assert [name for name, _ in place.seen] == ["a"]
        ticking.cancel()

    play(scene())


def test_who_leaves_waits_no_longer_and_it_comes_all_the_same() -> None:
    async def scene() -> None:
        place = Place(ConnectionError("down"))
        box = Outbox(place.told.append)
        done = box.put("a", lambda: place.take("a"))
        await asyncio.sleep(0.1)
        box.leave()
        with pytest.raises(ConnectionError, match="the gate ends"):
            await done
        await box.close(5.0)
        assert [name for name, _ in place.seen] == ["a"]

    play(scene())
