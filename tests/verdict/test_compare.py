"""The sentences of a failed comparison: the fact first, then the place, and nothing hidden in the wrong field."""

import math
import re

import pytest
import torch

from softmark.records.verdict import Picture
from softmark.verdict import Category, TestContext, activate, agree, draw
from softmark.verdict.callee import Answer
from tests.support import lecture
from tests.support.students import InProcess, failure

WIDE = torch.arange(15.0, dtype=torch.float64).reshape(3, 5)


class TestShapes:
    """A wrong shape is named with the nearest explanation there is."""

    @pytest.mark.parametrize(
        ("got", "want", "fact"),
        [
            (
                (5, 3),
                (3, 5),
                "shape (5, 3), expected (3, 5): the answer is transposed, its last two axes are exchanged",
            ),
            ((5, 2, 3), (2, 3, 5), "shape (5, 2, 3), expected (2, 3, 5): the axes are in another order"),
            ((3, 5), (2, 3, 5), "shape (3, 5), expected (2, 3, 5): the first axis is missing"),
            ((5,), (2, 3, 5), "shape (5,), expected (2, 3, 5): the leading axes are missing"),
            ((1, 3, 5), (3, 5), "shape (1, 3, 5), expected (3, 5): an axis of length 1 is too many"),
            ((3, 1), (3,), "shape (3, 1), expected (3,): an axis of length 1 is too many"),
            ((3,), (3, 1), "shape (3,), expected (3, 1): an axis of length 1 is missing"),
            ((15,), (3, 5), "shape (15,), expected (3, 5): as many values, but arranged in other axes"),
            ((3, 4), (3, 5), "shape (3, 4), expected (3, 5): axis 1 has length 4, not 5"),
            ((0,), (3, 5), "shape (0,), expected (3, 5)"),
            ((), (3, 5), "shape (), expected (3, 5): that is a single number"),
        ],
    )
    def test_are_explained(self, got, want, fact):
        """The clause after the colon says how the shapes are related."""
        verdict = failure(agree, torch.zeros(got), torch.zeros(want))
        assert verdict.category is Category.SHAPE
        assert verdict.fact == fact

    def test_of_another_output_are_recognised(self):
        """Two outputs in the wrong order are told by their numbers."""
        three, four = torch.arange(3.0).double(), torch.arange(4.0).double()
        verdict = failure(agree, (four, three), (three, four))
        assert verdict.fact == (
            "output 1 of 2: shape (4,), expected (3,): these are the values of output 2, "
            "and output 2 has those of output 1: exchange them"
        )

    def test_the_shape_alone_is_no_exchange(self):
        """Other numbers in the shape of another output say nothing about an order."""
        three, four = torch.arange(3.0).double(), torch.arange(4.0).double()
        fact = failure(agree, (four + 1, four), (three, four)).fact
        assert fact == "output 1 of 2: shape (4,), expected (3,): axis 0 has length 4, not 3"

    @pytest.mark.parametrize(
        ("got", "clause"),
        [
            (lambda x: x.transpose(-1, -2), ": the answer is transposed, its last two axes are exchanged"),
            (lambda x: x.reshape(2, 5, 3), ": the same lengths, but in another order"),
            (lambda x: x.transpose(0, 1), ": axes 0 and 1 are exchanged"),
            (lambda x: x.permute(1, 2, 0), ": the axes are in another order"),
        ],
    )
    def test_axes_are_exchanged_only_if_the_numbers_are(self, got, clause):
        """A reshape has the same shape as a transpose, and other numbers."""
        right = torch.arange(30.0).double().reshape(2, 3, 5)
        assert failure(agree, got(right), right).fact.endswith(clause)

    @pytest.mark.parametrize(
        ("got", "want", "clause"),
        [
            ((4, 3), (4, 4, 3), ": an axis is missing"),  # the first or the second
            ((4, 3), (4, 3, 5), ": the last axis is missing"),
            ((4, 5), (4, 3, 5), ": axis 1 is missing"),
            ((3, 4, 4), (3, 4), ": there is one axis too many"),
        ],
    )
    def test_an_axis_is_named_only_if_it_can_be_no_other(self, got, want, clause):
        """Of two axes of one length, nobody knows which one is missing."""
        assert failure(agree, torch.zeros(got), torch.zeros(want)).fact.endswith(clause)

    def test_never_broadcast(self):
        """A single number does not stand for a matrix of it."""
        assert failure(agree, torch.ones(1, 1), torch.ones(3, 3)).category is Category.SHAPE


class TestValues:
    """A wrong number is counted, described as a whole where that is possible, and located."""

    @pytest.mark.parametrize(
        ("wrong", "fact"),
        [
            (lambda x: x * 1.5 + 0, "14 of 15 values are wrong: each is 1.5 times what is expected"),
            (lambda x: -x, "14 of 15 values are wrong: each has the opposite sign"),
            (lambda x: x + 2, "all 15 values are wrong: each is 2 too large"),
            (lambda x: x - 0.5, "all 15 values are wrong: each is 0.5 too small"),
            (lambda x: x * 8**0.5, "14 of 15 values are wrong: each is √8 times what is expected"),
            (lambda x: x / 8**0.5, "14 of 15 values are wrong: each is 1/√8 of what is expected"),
            (lambda x: x / 7, "14 of 15 values are wrong: each is 1/7 of what is expected"),
            (lambda x: x * 2, "14 of 15 values are wrong: each is 2 times what is expected"),
            (lambda x: x.flip(0), "10 of 15 values are wrong: the rows are in reverse order"),
            (lambda x: x.flip(1), "12 of 15 values are wrong: the columns are in reverse order"),
            (lambda x: x.roll(1, 0), "all 15 values are wrong: each row is what the previous one should be"),
            (lambda x: x.roll(-1, 1), "all 15 values are wrong: each column is what the next one should be"),
            (lambda x: x * 0, "14 of 15 values are wrong: all are zero"),
            (lambda x: x.index_add(0, torch.tensor([1]), torch.ones(1, 5).double() * x[2] ** 2), None),
            (lambda x: x**2, "13 of 15 values are wrong"),
        ],
    )
    def test_are_described_as_a_whole(self, wrong, fact):
        """A factor, an offset, a sign, a single wrong row: said in one clause."""
        verdict = failure(agree, wrong(WIDE), WIDE)
        assert verdict.fact == (fact or "5 of 15 values are wrong: only in row 1")

    @pytest.mark.parametrize(
        ("shape", "place", "clause"),
        [
            ((3, 5), (2, slice(1, 4)), ": only in row 2"),
            ((5, 3), (slice(1, 4), 2), ": only in column 2"),
            ((2, 3, 5), (1, 2, slice(1, 4)), ": only in row 2"),
            ((2, 5), (1, slice(1, 4)), ""),  # of two, one is no pattern
            ((5, 2), (slice(1, 4), 1), ""),
            ((3, 5), (2, slice(1, 2)), ""),  # of one number neither
        ],
    )
    def test_one_row_or_column(self, shape, place, clause):
        """Several wrong numbers in one of at least three rows or columns are told together."""
        right = torch.linspace(1, 2, math.prod(shape), dtype=torch.float64).reshape(shape)
        wrong = right.clone()
        wrong[place] += right[place] ** 2
        assert failure(agree, wrong, right).fact.partition(" wrong")[2] == clause

    @pytest.mark.parametrize("dtype", [torch.bool, torch.int64, torch.uint8, torch.float32, torch.complex128])
    def test_axes_of_any_kind_of_number(self, dtype):
        """Masks and indices have axes, too."""
        right = (torch.arange(12).reshape(3, 4) % 5).to(dtype)
        assert failure(agree, right.T, right).fact.endswith(
            ": the answer is transposed, its last two axes are exchanged"
        )
        assert "shape (4, 3), expected (3, 4)" in failure(agree, right.reshape(4, 3), right).fact
        assert "shape (0, 3)" in failure(agree, right[:0, :3], right).fact

    def test_values_in_a_row(self):
        """Numbers without rows are shifted and reversed as well; repeated ones are not said to be shifted."""
        right = torch.tensor([3.0, 1.0, 4.0, 1.5, 9.0]).double()
        assert failure(agree, right.flip(0), right).fact.endswith(": the values are in reverse order")
        assert failure(agree, right.roll(1), right).fact.endswith(": each value is what the previous one should be")
        step = torch.tensor([1.0, 1.0, 1.0, 2.0, 2.0]).double()
        assert "previous" not in failure(agree, step.roll(1), step).fact

    def test_weights_that_sum_to_one_along_another_axis(self):
        """A softmax over another axis is told by its sums, whatever else is wrong with it."""
        scores = torch.randn(2, 3, 5, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
        right = scores.softmax(-1)
        assert failure(agree, (2 * scores).softmax(-2), right).fact.endswith(": each column sums to 1, not each row")
        assert failure(agree, (2 * scores).softmax(0), right).fact.endswith(": they sum to 1 along axis 0")
        assert failure(agree, (2 * scores).softmax(-1), right).fact.endswith("values are wrong")

    def test_transposed_square(self):
        """A transposed square matrix is recognised although its shape is right."""
        square = torch.randn(4, 4, dtype=torch.float64)
        assert "transposed" in failure(agree, square.T, square).fact

    def test_exchanged_outputs(self):
        """Two outputs of one shape in the wrong order are recognised by their numbers."""
        h, c = torch.randn(2, 3, 4, dtype=torch.float64)
        fact = failure(agree, (c, h), (h, c)).fact
        assert fact.endswith(": these are the values of output 2, and output 2 has those of output 1: exchange them")

    def test_one_output_in_both_places(self):
        """The same output twice is no exchange: only what it is can be said."""
        h, c = torch.randn(2, 3, 4, dtype=torch.float64)
        assert failure(agree, (c, c), (h, c)).fact.endswith("values are wrong: these are the values of output 2")

    def test_outputs_inside_outputs(self):
        """An output of an output is named by its place."""
        h, c, outputs = torch.randn(3, 3, 4, dtype=torch.float64)
        fact = failure(agree, (outputs, (c, h)), (outputs, (h, c))).fact
        assert "of output 2 of output 2, and output 2 of output 2 has those of output 1 of output 2: exchange" in fact

    def test_single_numbers_are_not_exchanged(self):
        """A loss that is as large as the accuracy beside it says nothing about their order."""
        assert failure(agree, (1.0, 1.0), (0.25, 1.0)).fact == "output 1 of 2: the value is wrong"

    def test_where_is_the_worst(self):
        """The place is that of the largest error over its tolerance, with got, expected and how far off."""
        wrong = WIDE.clone()
        wrong[1, 2] += 1e-3
        wrong[2, 1] += 5
        verdict = failure(agree, wrong, WIDE)
        assert verdict.where.startswith("worst at index [2, 1]: got 16, expected 11, off by 5, ")
        assert verdict.where.endswith(" times the tolerance")

    def test_where_zero_is_expected(self):
        """There is no scale to tell how far off it is."""
        verdict = failure(agree, torch.tensor([1.0, 1e-3]).double(), torch.tensor([1.0, 0.0]).double())
        assert verdict.where.startswith("worst at index [1]: got 0.001, expected exactly 0; ")

    def test_small_answers_are_shown_whole(self):
        """Up to a dozen numbers are all there to see."""
        verdict = failure(agree, torch.tensor([1, 2, 3]), torch.tensor([1, 2, 4]))
        assert verdict.fact == "1 of 3 values is wrong"
        assert verdict.where == "worst at index [2]: got 3, expected 4, off by 1; got [1, 2, 3], expected [1, 2, 4]"

    def test_small_matrices_are_drawn_and_not_written_out(self):
        """Rows and columns are read in a picture; a sentence of nested brackets is not."""
        verdict = failure(agree, torch.tensor([[1, 2], [3, 5]]), torch.tensor([[1, 2], [3, 4]]))
        assert verdict.where == "worst at index [1, 1]: got 5, expected 4, off by 1"
        assert verdict.picture == Picture(expected=((1, 2), (3, 4)), got=((1, 2), (3, 5)))
        column = failure(agree, torch.tensor([[1], [3]]), torch.tensor([[1], [4]])).where
        assert column.endswith("; got [[1], [3]], expected [[1], [4]]")

    def test_single_numbers(self):
        """A number without axes needs no index."""
        verdict = failure(agree, 0.25, 0.5)
        assert verdict.fact == "the value is wrong"
        assert verdict.where.startswith("got 0.25, expected 0.5, off by 0.25")

    def test_exchanged_booleans(self):
        """An inverted mask is said to be inverted."""
        mask = torch.ones(4, 4).tril().bool()
        assert failure(agree, ~mask, mask).fact == "all 16 values are wrong: True and False are exchanged"

    def test_picture_is_the_matrix_with_the_worst_number(self):
        """In a batch, the picture is of one example, and small; long answers have none."""
        true = torch.zeros(2, 3, 4, dtype=torch.float64) + 1
        wrong = true.clone()
        wrong[1, 2, 3] = 9
        picture = failure(agree, wrong, true).picture
        assert picture is not None
        assert picture.caption == "at [1, :, :]"
        assert picture.got[2] == (1, 1, 1, 9)
        assert failure(agree, torch.zeros(40, 3), torch.ones(40, 3)).picture is None


class TestNotFinite:
    """NaN and infinities are their own category, unless they are expected."""

    def test_are_counted(self):
        """How many, and where the first one is."""
        wrong = WIDE.clone()
        wrong[0, 3] = wrong[1, 1] = math.nan
        verdict = failure(agree, wrong, WIDE)
        assert verdict.category is Category.NAN
        assert verdict.fact == "2 of 15 values are NaN"
        assert verdict.where == "first at index [0, 3], expected 3"

    def test_a_number_without_axes_has_no_index(self):
        """Only the expected number is told, and a zero has no sign."""
        verdict = failure(agree, torch.tensor(math.nan), torch.tensor(-0.0))
        assert (verdict.fact, verdict.where) == ("the value is NaN", "expected 0")

    def test_infinities_are_named(self):
        """An overflow is called infinite."""
        assert failure(agree, torch.tensor([1.0, math.inf]), torch.ones(2)).fact == "1 of 2 values is infinite"

    def test_expected_ones_are_right(self):
        """Where the truth is infinite or NaN, the same is right, and the other numbers are still compared."""
        true = torch.tensor([1.0, -math.inf, math.nan, math.inf])
        agree(true.clone(), true)
        assert failure(agree, torch.tensor([2.0, -math.inf, math.nan, math.inf]), true).category is Category.VALUE
        assert failure(agree, torch.tensor([1.0, -math.inf, 0.0, math.inf]), true).category is Category.VALUE
        assert failure(agree, torch.tensor([1.0, math.inf, math.nan, math.inf]), true).category is Category.NAN
        assert failure(agree, torch.tensor([1.0, -1e9, math.nan, math.inf]), true).category is Category.VALUE

    def test_nan_never_passes(self):
        """A single NaN among right numbers fails, for every precision."""
        for dtype in (torch.float64, torch.float32):
            wrong = WIDE.clone().to(dtype)
            wrong[2, 4] = math.nan
            assert failure(agree, wrong, WIDE).category is Category.NAN


class TestSeverity:
    """One cause per failing check, the most severe first."""

    def test_shape_goes_before_value(self):
        """A wrong shape in the second output hides wrong numbers in the first."""
        verdict = failure(agree, (torch.zeros(2), torch.zeros(2)), (torch.ones(2), torch.zeros(3)))
        assert verdict.category is Category.SHAPE
        assert verdict.fact.startswith("output 2 of 2")


class TestPrivacy:
    """What is hidden stands in `where`, `picture` and `staff`, never in `fact`."""

    def test_facts_carry_no_expected_value(self):
        """The expected number, distinct from all else, does not occur in the fact."""
        secret = torch.tensor([[0.123456789, 4.0], [5.0, 6.0]], dtype=torch.float64)
        verdict = failure(agree, secret + torch.tensor([[1.0, 0.0], [0.0, 0.0]]), secret)
        assert "0.1234" not in verdict.fact
        assert "0.1234" in verdict.where
        assert "0.1234" not in verdict.staff

    def test_staff_find_the_case_again(self):
        """The staff text has the case's id and seed."""
        with activate(TestContext(id="test_scores[narrow]", seed=77)):
            q, k = draw("n d", "m d", n=2, m=3, d=4)
            verdict = failure(agree, InProcess(lambda Q, K: Q @ K.T, "scores"), lecture.scores, q, k)
        assert verdict.staff.startswith("check 1 (scores) of case test_scores[narrow], seed 77")


class TestChangedInputs:
    """agree judges values; a changed input is only mentioned when they are wrong."""

    def test_are_mentioned_with_a_wrong_value(self):
        """In-place scaling that spoils the answer is part of the fact."""

        def spoils(Q, K):
            Q.mul_(2)
            return lecture.scores(Q, K)

        q, k = draw("n d", "m d", n=2, m=3, d=4)
        verdict = failure(agree, InProcess(spoils), lecture.scores, q, k)
        assert verdict.fact.endswith("; it also changes its input in place (argument 1)")

    def test_do_not_fail_a_right_value(self):
        """`leaves_inputs` is the check for that."""

        def tidy(Q, K):
            answer = lecture.scores(Q, K)
            Q.zero_()
            return answer

        agree(InProcess(tidy), lecture.scores, *draw("n d", "m d", n=2, m=3, d=4))


class TestRandomAnswers:
    """A wrong answer that is another one every time says so."""

    def test_are_told_from_wrong_ones(self):
        """Dropout that nobody asked for cannot be named by its numbers."""

        def dropping(Q, K):
            return torch.dropout(lecture.scores(Q, K), 0.5, True)

        def doubled(Q, K):
            return 2 * lecture.scores(Q, K)

        q, k = draw("n d", "m d", n=5, m=7, d=4)
        assert "; a second call gives other values: " in failure(agree, InProcess(dropping), lecture.scores, q, k).fact
        assert "second call" not in failure(agree, InProcess(doubled), lecture.scores, q, k).fact

    @pytest.mark.parametrize(
        ("text", "question"),
        [
            ("torch.dropout(x, 0.5, True)", "is dropout active?"),
            ("nn.Dropout(0.1)", "is dropout active?"),
            ("x + torch.randn(3)", "does it draw random numbers, or leave an empty tensor unfilled?"),
            ("torch.empty(3)", "does it draw random numbers, or leave an empty tensor unfilled?"),
            ("CACHE.append(x)", "what does it keep from one call to the next?"),
        ],
    )
    def test_the_question_fits_the_text(self, text, question):
        """Nobody is asked about dropout who has none."""

        class Counting(InProcess):
            def mentions(self, pattern):
                return re.search(pattern, text) is not None

            def call(self, args, kwargs):
                answer = super().call(args, kwargs)
                return Answer(answer.value + self.calls)

        with activate(TestContext()):
            verdict = failure(agree, Counting(lambda x: x), lambda x: x, torch.zeros(3))
        assert verdict.fact.endswith(f"; a second call gives other values: {question}")
