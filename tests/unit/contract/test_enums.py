"""Our enumerations behave as those of `enum`, as far as they are used."""

from __future__ import annotations

import copy
import enum
import pickle

import pytest

from assent.contract import Operation, Outcome


class Real(enum.IntEnum):
    ALLOW = 0
    ASK = 1
    DENY = 2


def test_members_are_in_order_and_known_by_name_and_value() -> None:
    assert [(each.name, each.value) for each in Outcome] == [(each.name, each.value) for each in Real]
    assert (Outcome(1), Outcome["ASK"], Operation("read")) == (Outcome.ASK, Outcome.ASK, Operation.READ)
    assert len(Operation) == len(list(Operation))


def test_there_is_one_object_for_each() -> None:
    for each in (Outcome.DENY, Operation.FETCH):
        assert copy.copy(each) is copy.deepcopy(each) is pickle.loads(pickle.dumps(each)) is each


def test_numbers_compare_and_others_do_not() -> None:
    assert max(Outcome) is Outcome.DENY
    assert Outcome.ALLOW < Outcome.ASK
    with pytest.raises(TypeError):
        sorted(Operation)  # type: ignore[type-var]  # as intended


def test_they_are_shown_as_the_real_ones_are() -> None:
    assert (str(Outcome.ASK), f"{Outcome.ASK}", repr(Outcome.ASK)) == (str(Real.ASK), f"{Real.ASK}", "<Outcome.ASK: 1>")
    assert (str(Operation.READ), repr(Operation.READ)) == ("Operation.READ", "<Operation.READ: 'read'>")


@pytest.mark.parametrize("value", [3, "read", None, [], -1])
def test_what_is_none_of_them_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="is not a valid Outcome"):
        Outcome(value)  # type: ignore[arg-type]  # as intended


def test_a_member_stays_what_it_is() -> None:
    with pytest.raises(AttributeError):
        Outcome.ALLOW = Outcome.DENY  # type: ignore[misc]  # as intended
