"""Values are what their fields are."""

from __future__ import annotations

from assent.contract import Value


class Pair(Value):
    __slots__ = ("left", "right")

    def __init__(self, left: object, right: object) -> None:
        self.left = left
        self.right = right


class Twin(Pair):
    __slots__ = ()


class Single(Value):
    __slots__ = ("only",)

    def __init__(self, only: object) -> None:
        self.only = only


class Triple(Pair):
    __slots__ = ("more",)

    def __init__(self, left: object, right: object, more: object) -> None:
        super().__init__(left, right)
        self.more = more


class Nothing(Value):
    __slots__ = ()


def test_values_with_the_same_fields_are_equal_and_hash_alike() -> None:
    assert Pair(1, ("a",)) == Pair(1, ("a",))
    assert len({Pair(1, 2), Pair(1, 2), Pair(2, 1)}) == 2
    assert Single("x") == Single("x") != Single("y")
    assert Nothing() == Nothing()
    assert hash(Nothing()) == hash(Nothing())


def test_values_of_different_classes_are_different_whatever_they_hold() -> None:
    assert Pair(1, 2) != Twin(1, 2)
    assert Pair(1, 2) != (1, 2)
    assert Single((1, 2)) != Pair(1, 2)
    assert Twin(1, 2) == Twin(1, 2) != Twin(1, 3)
    assert Triple(1, 2, 3) == Triple(1, 2, 3) != Triple(1, 0, 3)


def test_a_value_shows_its_fields() -> None:
    assert repr(Pair(1, "a")) == "Pair(left=1, right='a')"
