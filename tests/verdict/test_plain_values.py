"""Answers of texts, bytes, whole numbers, lists and dictionaries: right or wrong, and in which words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from softmark.records.verdict import Verdict
from softmark.verdict import Category, Failed, agree
from tests.support.students import failure

WORDS = ["the", "cat", "sat", "on", "the", "mat"]
IDS = [4, 9, 5, 7]
COUNTS = {"the": 2, "cat": 1, "sat": 1}
PAIRS = [("a", "b"), ("b", "c"), ("c", "d")]
NUMBERS = torch.tensor([1.5, 2.5])

FACTS: list[tuple[Any, Any, str, str]] = [
    # lists
    (WORDS[:-1], WORDS, "returned 5 entries, expected 6 entries: the last entry is missing",
     "first at index 5: got its end, expected 'mat'; got ['the', 'cat', 'sat', 'on', 'the'], "
     "expected ['the', 'cat', 'sat', 'on', 'the', 'mat']"),
    (WORDS[2:], WORDS, "returned 4 entries, expected 6 entries: the first 2 entries are missing",
     "first at index 0: got 'sat'"),
    ([*WORDS, "."], WORDS, "returned 7 entries, expected 6 entries: the last entry is too many",
     "got '.', expected its end"),
    (WORDS[:2] + WORDS[3:], WORDS,
     "returned 5 entries, expected 6 entries: the entry at index 2 is missing", "got 'on'"),
    (WORDS[:1] + WORDS[3:], WORDS,
     "returned 4 entries, expected 6 entries: 2 entries are missing from index 1 on", "got 'on'"),
    (["the", "cat", "sat", "on", "mat"], WORDS,
     "returned 5 entries, expected 6 entries: the entry at index 4 is missing", ""),
    (["on", "the", "mat", "cat", "sat"], WORDS,
     "returned 5 entries, expected 6 entries: the same entries, but each only once", ""),
    ([3, 5, 3], [5, 3], "returned 3 entries, expected 2 entries: the first entry is too many", ""),
    ([], WORDS, "returned an empty list, expected 6 entries", ""),
    (WORDS[::-1], WORDS, "all 6 entries are wrong: they are in reverse order", "first at index 0: got 'mat'"),
    (["cat", "the", "sat", "on", "the", "mat"], WORDS,
     "2 of 6 entries are wrong: they are the right entries, in another order", ""),
    (["The", "Cat", "sat", "on", "the", "mat"], WORDS,
     "2 of 6 entries are wrong: they are right but for upper and lower case", ""),
    (["the ", "cat ", "sat", "on", "the", "mat"], WORDS,
     "2 of 6 entries are wrong: they are right but for spaces and line ends", "got 'the '"),
    ([*WORDS[:5], "dog"], WORDS, "1 of 6 entries is wrong", "first at index 5: got 'dog', expected 'mat'"),
    (["dog"], ["cat"], "the only entry is wrong", "first at index 0: got 'dog', expected 'cat'"),
    ([0, 5, 1, 3], IDS, "all 4 entries are wrong: each is 4 too small", "first at index 0: got 0, expected 4"),
    ([4, 10, 6, 7], IDS, "2 of 4 entries are wrong: the wrong ones are 1 too large", ""),
    ([9, 5, 7, 0], IDS, "all 4 entries are wrong: each is what the next one should be", ""),
    ([0, 4, 9, 5], IDS, "all 4 entries are wrong: each is what the previous one should be", ""),
    ([("b", "a"), ("c", "b"), ("d", "c")], PAIRS,
     "all 3 entries are wrong: the order inside each of them is reversed", ""),
    ([PAIRS[1], PAIRS[0], PAIRS[2]], PAIRS, "2 of 3 entries are wrong: they are the right entries, in another order",
     "first at index 0: got ['b', 'c'], expected ['a', 'b']"),
    ([b"the", b"cat"], ["the", "cat"], "the entry at index 0 is bytes, expected a text: decode the bytes as UTF-8", ""),
    (["the", "cat"], [b"the", b"cat"], "the entry at index 0 is a text, expected bytes: encode the texts as UTF-8", ""),
    ([4.0, 9.0, 5.0, 7.0], IDS, "the entry at index 0 is a float, expected an int", ""),
    ([True, 9, 5, 7], IDS, "the entry at index 0 is a bool, expected an int", ""),
    ("the cat", WORDS, "returned a text, expected a list: leave its entries apart, do not join them", ""),
    (NUMBERS, WORDS, "returned a tensor, expected a list: `.tolist()` makes one of it", ""),
    (None, WORDS, "returned None, expected a list: does every path through the function end with `return`?", ""),
    (WORDS, "the cat", "returned a list, expected a text: join its entries to one text", ""),
    # dictionaries
    ({"the": 2, "cat": 1}, COUNTS, "1 entry is missing", "missing: 'sat'"),
    ({**COUNTS, "on": 1, "mat": 1}, COUNTS, "2 entries are too many", "too many: 'on', 'mat'"),
    ({"the": 1, "cat": 1, "on": 1}, COUNTS, "1 entry is missing, 1 entry is too many, 1 of 3 values is wrong",
     "missing: 'sat'; too many: 'on'; at 'the': got 1, expected 2"),
    ({"the": 3, "cat": 2, "sat": 2}, COUNTS, "all 3 values are wrong: each is 1 too large",
     "at 'the': got 3, expected 2"),
    ({0: "a", 1: "b"}, {4: "a", 5: "b"}, "2 entries are missing, 2 entries are too many: each key is 4 too small", ""),
    ({0: "a", 1: "b"}, {"a": 0, "b": 1},
     "2 entries are missing, 2 entries are too many: keys and values are exchanged", ""),
    (["the"], COUNTS, "returned a list, expected a dictionary: the handout says what its keys are", ""),
    # texts and bytes
    ("the cat sat", "the cat sat on", "the text is too short: the last 3 characters are missing",
     "at index 11: got “the·cat·sat”, expected “the·cat·sat·on”"),
    ("cat sat", "the cat sat", "the text is too short: the first 4 characters are missing", ""),
    ("the cat\n\n", "the cat\n", "the text is too long: 1 character too many at the end", "got “the·cat⏎⏎”"),
    ("The Cat", "the cat", "the text is right but for upper and lower case", ""),
    ("the  cat", "the cat", "the text is right but for spaces and line ends", "at index 4: got “the··cat”"),
    ("tac", "cat", "the text is in reverse order", ""),
    ("the dog", "the cat", "the text is wrong from character 4 on", ""),
    ("dog", "cat", "the text is wrong from the first character on", "got “dog”, expected “cat”"),
    ("", "cat", "the text is empty", ""),
    ("x" * 50 + "dog" + "y" * 50, "x" * 50 + "cat" + "y" * 50, "the text is wrong from character 50 on",
     "at index 50: got … “xxxxxxxxxxxxxxxxdogyyyyyyyyyyyyyy” …"),
    (b"\xff\x00", b"\xff\x01",
     "the bytes are wrong from byte 1 on", r"at index 1: got b'\xff\x00', expected b'\xff\x01'"),
    ("cat", b"cat", "returned a text, expected bytes: encode the texts as UTF-8", ""),
    (b"cat", "cat", "returned bytes, expected a text: decode the bytes as UTF-8", ""),
    (b"cat", "dog", "returned bytes, expected a text", ""),
    # whole numbers, large ones, and plain values beside others
    (12, 13, "the value is wrong: it is 1 too small", "got 12, expected 13, off by 1"),
    (39, 13, "the value is wrong: it is 3 times what is expected", "off by 26"),
    (13, 39, "the value is wrong: it is 1/3 of what is expected", "off by 26"),
    (40, 13, "the value is wrong", "off by 27"),
    (-26, 13, "the value is wrong", "off by 39"),
    (8, 4, "the value is wrong", "off by 4"),
    (2**70 + 1, 2**70, "the value is wrong: it is 1 too large", "expected 1180591620717411303424, off by 1"),
    (2**71, 2**70, "the value is wrong: it is 2 times what is expected", ""),
    ([26, 34, 2], [13, 17, 1], "all 3 entries are wrong: each is 2 times what is expected", ""),
    ({"n": 13, "d": 34}, {"n": 13, "d": 17}, "1 of 2 values is wrong", "at 'd': got 34, expected 17"),
    ((WORDS[:-1], NUMBERS), (WORDS, NUMBERS),
     "output 1 of 2: 5 entries, expected 6 entries: the last entry is missing", ""),
    ({"ids": [5], "x": NUMBERS}, {"ids": [4], "x": NUMBERS}, "entry 'ids': the only entry is wrong", ""),
]  # fmt: skip


@pytest.mark.parametrize(("got", "want", "fact", "where"), FACTS, ids=[fact for _, _, fact, _ in FACTS])
def test_words(got: Any, want: Any, fact: str, where: str) -> None:
    """The fact says how many are wrong and in what way; the second sentence shows the first difference."""
    verdict = failure(agree, got, want)
    assert verdict.fact == fact
    assert where in verdict.where


class TestRight:
    """What is accepted."""

    @pytest.mark.parametrize(
        ("got", "want"),
        [
            (tuple(WORDS), WORDS),
            ([list(pair) for pair in PAIRS], PAIRS),
            ([np.int64(4), torch.tensor(9), 5, np.array(7)], IDS),
            ({"sat": 1, "the": 2, "cat": 1}, COUNTS),
            (2**70, 2**70),
            ([[], [1], {"a": None}], [[], [1], {"a": None}]),
        ],
    )
    def test_loses_nothing(self, got: Any, want: Any) -> None:
        """A tuple for a list, whole numbers of a library, and a dictionary in another order are right."""
        agree(got, want)

    def test_several_outputs_are_compared_one_by_one(self) -> None:
        """A tuple of whole numbers holds outputs, so the sentence names the output."""
        assert failure(agree, (3, 5), (3, 4)).fact == "output 2 of 2: the value is wrong: it is 1 too large"


def test_pairs_are_written_alike() -> None:
    """A list that stands for a tuple makes no line of the drawing differ."""
    lines = failure(agree, [["a", "b"], ["b", "c"], ["c", "x"]], PAIRS).lines
    assert lines is not None
    assert lines.got[:2] == lines.expected[:2]


class TestSecrets:
    """No entry stands in a fact, because students read it where numbers are hidden."""

    @pytest.mark.parametrize(
        ("got", "want"),
        [
            (["secret"], ["hidden"]), ({"secret": 1}, {"hidden": 1}), ({"word": "secret"}, {"word": "hidden"}),
            ("secret", "hidden"), (b"secret", b"hidden"), ([("x", "secret")], [("x", "hidden")]),
        ],
    )  # fmt: skip
    def test_are_in_the_second_sentence(self, got: Any, want: Any) -> None:
        """What was expected, and what came, is in `where` and in the lines only."""
        verdict = failure(agree, got, want)
        assert not any(word in verdict.fact for word in ("secret", "hidden", "word"))
        assert "hidden" in verdict.where


class TestLines:
    """The lines for a drawing."""

    def test_of_a_list_are_its_entries(self) -> None:
        """Each entry is a line."""
        lines = failure(agree, ["the", "dog", "sat"], ["the", "cat", "sat"]).lines
        assert lines is not None
        assert (lines.expected, lines.got) == (("'the'", "'cat'", "'sat'"), ("'the'", "'dog'", "'sat'"))

    def test_of_a_dictionary_keep_its_order(self) -> None:
        """The order in which the entries came never counts."""
        lines = failure(agree, {"sat": 1, "the": 1, "cat": 1}, COUNTS).lines
        assert lines is not None
        assert (lines.got[0], lines.got[1:]) == ("'the': 1", lines.expected[1:])

    def test_of_a_long_list_begin_before_the_first_difference(self) -> None:
        """Of a thousand entries at most forty lines are kept."""
        lines = failure(agree, [*range(500), 0, *range(501, 1000)], list(range(1000))).lines
        assert lines is not None
        assert (lines.first, len(lines.got), lines.got[3]) == (497, 40, "0")

    def test_of_two_entries_there_are_none(self) -> None:
        """The sentence says it all."""
        assert failure(agree, [1, 2], [1, 3]).lines is None


data = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4) | st.binary(max_size=4),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=12,
)


@given(st.lists(data, min_size=1, max_size=5), st.lists(data, max_size=5))
def test_equal_or_described(want: list[Any], got: list[Any]) -> None:
    """An equal answer is right, and every other one has a sentence. Neither breaks the comparison."""
    agree(want, want)
    verdict = checked(got, want)
    if verdict is None:
        assert got == want
    else:
        assert verdict.fact
        assert verdict.category in (Category.TYPE, Category.VALUE)
        assert repr(got) != repr(want)


def checked(got: Any, want: Any) -> Verdict | None:
    """Return the verdict on an answer; None if it is right."""
    try:
        agree(got, want)
    except Failed as failed:
        return failed.verdict
    return None
