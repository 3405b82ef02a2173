"""A reply from elsewhere counts only where it is signed, of now, and new."""

from __future__ import annotations

import hashlib
import hmac

from hypothesis import given
from hypothesis import strategies as st

from assent.approval.channels import replies
from assent.contract.approval import Scope


@given(st.binary(max_size=40), st.text(min_size=1, max_size=20), st.binary(max_size=40), st.text(max_size=20))
def test_a_signature_is_good_for_its_own_secret_and_body_alone(
    body: bytes, secret: str, other: bytes, guess: str
) -> None:
    secret, guess = (each.encode("utf-8", "replace").decode() for each in (secret, guess))
    made = replies.signature(secret, "v1:answer:1:", body)
    assert made == hmac.new(secret.encode(), b"v1:answer:1:" + body, hashlib.sha256).hexdigest()
    assert replies.signed(secret, "v1:answer:1:", body, made)
    assert replies.signed(secret, "v1:answer:1:", other, made) is (other == body)
    assert replies.signed(secret, "v1:answer:2:", body, made) is False
    assert replies.signed(guess, "v1:answer:1:", body, made) is (guess == secret)
    assert replies.signed(secret, "v1:answer:1:", body, guess) is (guess == made)


def test_without_a_secret_nothing_is_signed() -> None:
    assert replies.signed("", "h", b"x", replies.signature("", "h", b"x")) is False


def test_a_time_counts_within_five_minutes_and_as_plain_digits() -> None:
    assert [replies.timely(str(at), 1000.0) for at in (699, 700, 1000, 1300, 1301)] == [False, True, True, True, False]
    assert [replies.timely(text, 1000.0) for text in ("", "-1000", "1e3", " 1000", "1000.0", "١٠٠٠", "9" * 400)] == [
        False
    ] * 7


def test_what_was_used_is_not_used_again_as_long_as_it_could_be_believed() -> None:
    now = [0.0]
    once = replies.Once(lambda: now[0])
    assert [once.use("a"), once.use("a"), once.use("b"), once.use("")] == [True, False, True, False]
    now[0] = 2 * replies.WINDOW
    assert once.use("a") is False
    now[0] += 1
    once.use("c")
    assert once.use("a") is True  # its signature is too old by far


def test_a_memory_that_is_full_refuses_and_forgets_nothing() -> None:
    now = [0.0]
    once = replies.Once(lambda: now[0])
    assert all(once.use(str(number)) for number in range(replies.MOST))
    assert once.use("one more") is False
    assert once.use("0") is False
    now[0] = 3 * replies.WINDOW
    assert once.use("one more") is True


def test_answers_from_elsewhere_save_no_rule_that_stays() -> None:
    assert {Scope.ONCE, Scope.QUARTER, Scope.SESSION} <= set(replies.SCOPES)
    assert [scope for scope in replies.SCOPES if scope.bounds.lasting] == []
    assert [scope.bounds.lasting for scope in (Scope.PROJECT, Scope.EVERYWHERE)] == [True, True]
