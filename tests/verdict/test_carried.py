"""Carried error: right given the student's own earlier part, and what does not count as that."""

import pytest
import torch

from softmark.verdict import Standing, TestContext, activate, agree, draw, errs, holds, inherited
from softmark.verdict.carried import AT_MOST
from softmark.verdict.expected import expected_for
from tests.support import lecture as ref
from tests.support.lecture import softmax_rows
from tests.support.students import InProcess, failure


def unscaled(Q, K):
    return Q @ K.transpose(-1, -2)


def attention_on(scores):
    """A student's attention that is right but for the scores it builds on."""

    def attention(Q, K, V, mask=None):
        A = torch.softmax(scores(Q, K), -1)
        return A @ V, A

    return InProcess(attention)


def with_residual(S):
    return ref.softmax_rows(S) + S


@pytest.fixture
def case():
    with activate(TestContext(seed=5, parts={"scores": "3", "softmax_rows": "4"})) as case:
        yield case


@pytest.fixture
def qkv(case):
    return draw("n d", "m d", "m e", n=5, m=7, d=3, e=4)


class TestCarried:
    """An answer that the reference gives with the student's earlier function is right."""

    def test_is_right_and_marked(self, case, qkv):
        """agree returns, and the case says whose part it was given."""
        agree(attention_on(unscaled), ref.attention, *qkv, carried={"scores": InProcess(unscaled)})
        assert case.carried == ["scores"]
        assert case.note == "right, given your part 3"
        assert case.checks[0].category is None

    def test_names_only_what_is_wrong(self, case, qkv):
        """Of two earlier parts, the right one is not blamed."""
        earlier = {"scores": InProcess(unscaled), "softmax_rows": InProcess(ref.softmax_rows)}
        agree(attention_on(unscaled), ref.attention, *qkv, carried=earlier)
        assert case.carried == ["scores"]

    def test_two_wrong_parts(self, case, qkv):
        """Two wrong earlier parts are carried together."""

        def over_queries(S):
            return torch.softmax(S, -2)

        def attention(Q, K, V, mask=None):
            A = over_queries(unscaled(Q, K))
            return A @ V, A

        earlier = {"scores": InProcess(unscaled), "softmax_rows": InProcess(over_queries)}
        agree(InProcess(attention), ref.attention, *qkv, carried=earlier)
        assert case.note == "right, given your part 3 and part 4"

    def test_in_single_precision(self, case):
        """Earlier parts see the inputs in the dtype the student saw."""
        qkv = draw("n d", "m d", "m e", n=5, m=7, d=3, e=4, dtype=torch.float32)
        agree(attention_on(unscaled), ref.attention, *qkv, carried={"scores": InProcess(unscaled)})
        assert case.carried == ["scores"]

    def test_a_right_answer_needs_none(self, case, qkv):
        """Nothing is carried, and the earlier part is not even called, when the answer is right as it is."""
        earlier = InProcess(unscaled)
        agree(InProcess(ref.attention), ref.attention, *qkv, carried={"scores": earlier})
        assert case.carried == []
        assert case.note == ""
        assert earlier.calls == 0

    def test_with_nan_in_some_rows(self, case, qkv):
        """A row that the earlier part made NaN is NaN in an answer that is right given that part."""

        def one_row_lost(Q, K):
            return unscaled(Q, K).index_fill(-2, torch.tensor([1]), float("nan"))

        agree(attention_on(one_row_lost), ref.attention, *qkv, carried={"scores": InProcess(one_row_lost)})
        assert case.carried == ["scores"]

    def test_with_an_input_changed_in_place(self, case):
        """What the earlier part does to its inputs is carried, too: later lines of the same part read them."""

        def in_place(S):
            S -= S.amax(-1, keepdim=True)
            return torch.softmax(S, -1)

        def own(S):
            return in_place(S) + S

        agree(InProcess(own), with_residual, draw("n m", n=5, m=7), carried={"softmax_rows": InProcess(in_place)})
        assert case.carried == ["softmax_rows"]

    def test_the_reference_is_put_back(self, case, qkv):
        """The student's function stands in the reference's place for one run only."""
        before = ref.scores
        agree(attention_on(unscaled), ref.attention, *qkv, carried={"scores": InProcess(unscaled)})
        assert ref.scores is before


class TestGuards:
    """What is nothing to build on is not carried."""

    @pytest.mark.parametrize(
        "earlier",
        [
            lambda Q, K: torch.zeros(Q.shape[-2], K.shape[-2], dtype=Q.dtype),
            lambda Q, K: torch.arange(35.0, dtype=Q.dtype).reshape(5, 7),
            lambda Q, K: 1 + 1e-6 * torch.tanh(unscaled(Q, K)),
            lambda Q, K: 1e-9 * unscaled(Q, K),
        ],
        ids=["zeros", "constant", "with a trace of them", "of no effect"],
    )
    def test_must_depend_on_its_inputs(self, case, qkv, earlier):
        """A constant of the right shape makes later parts trivial, and so does one with a trace of the inputs."""
        failure(agree, attention_on(earlier), ref.attention, *qkv, carried={"scores": InProcess(earlier)})
        assert case.carried == []

    def test_must_depend_on_them_in_every_call(self, case):
        """An earlier part that is honest in one call does not stand for the others."""
        calls = []

        def once(S):
            calls.append(S)
            return S / 2 if len(calls) % 2 else torch.full_like(S, 0.5)

        def twice(S):
            return ref.softmax_rows(ref.softmax_rows(S))

        def own(S):
            return torch.full_like(S, 0.5)

        failure(agree, InProcess(own), twice, draw("n m", n=5, m=7), carried={"softmax_rows": InProcess(once)})

    def test_must_not_answer_otherwise_when_it_counts(self, case, qkv):
        """A lie that waits for the question that counts must guess which of them it is."""
        lies = []

        def lying_once(Q, K):
            lies.append(1)
            return unscaled(Q, K) if len(lies) > 1 else torch.ones(5, 7, dtype=Q.dtype)

        def attention(Q, K, V, mask=None):
            A = torch.full((5, 7), 1 / 7, dtype=Q.dtype)
            return A @ V, A

        failure(agree, InProcess(attention), ref.attention, *qkv, carried={"scores": InProcess(lying_once)})
        assert case.carried == []

    def test_must_be_mostly_finite(self, case, qkv):
        """NaN carried along makes NaN of everything."""

        def broken(Q, K):
            return unscaled(Q, K) * float("nan")

        failure(agree, attention_on(broken), ref.attention, *qkv, carried={"scores": InProcess(broken)})
        assert case.carried == []

    def test_must_not_make_an_answer_of_nan(self, case, qkv):
        """One NaN in each row of an earlier result is little, but what is built on it is NaN throughout."""

        def one_column_lost(Q, K):
            return unscaled(Q, K).index_fill(-1, torch.tensor([1]), float("nan"))

        earlier = {"scores": InProcess(one_column_lost)}
        verdict = failure(agree, attention_on(one_column_lost), ref.attention, *qkv, carried=earlier)
        assert verdict.category == "nan"
        assert case.carried == []

    def test_must_have_the_right_shape(self, case):
        """A transposed score matrix is no score matrix, even where the rest would run."""
        qkv = draw("n d", "m d", "m e", n=5, m=7, d=3, e=4)

        def transposed(Q, K):
            return K @ Q.T

        def attention(Q, K, V, mask=None):
            A = torch.softmax(transposed(Q, K), -1)
            return A.T @ V, A

        failure(agree, InProcess(attention), ref.attention, *qkv, carried={"scores": InProcess(transposed)})
        assert case.carried == []

    def test_must_not_raise(self, case, qkv):
        """An earlier part that fails carries nothing, and its failure is not this part's."""

        def raising(Q, K):
            raise ValueError

        verdict = failure(agree, attention_on(unscaled), ref.attention, *qkv, carried={"scores": InProcess(raising)})
        assert verdict.category == "value"

    def test_own_mistakes_stay_wrong(self, case, qkv):
        """A later part with a mistake of its own is wrong whatever came before."""

        def attention(Q, K, V, mask=None):
            A = torch.softmax(unscaled(Q, K), -2)
            return A @ V, A

        failure(agree, InProcess(attention), ref.attention, *qkv, carried={"scores": InProcess(unscaled)})
        assert case.carried == []

    def test_is_capped(self, case, qkv):
        """A case carries a limited number of checks: each costs calls of the student's code."""
        earlier = {"scores": InProcess(unscaled)}
        for _ in range(AT_MOST):
            agree(attention_on(unscaled), ref.attention, *qkv, carried=earlier)
        failure(agree, attention_on(unscaled), ref.attention, *qkv, carried=earlier)

    def test_an_unknown_name_is_the_test_authors_mistake(self, case, qkv):
        """A name that the reference does not call is refused even when the student's answer is right."""
        with pytest.raises(TypeError, match='carried names "score", which attention does not call'):
            agree(InProcess(ref.attention), ref.attention, *qkv, carried={"score": InProcess(unscaled)})

    def test_a_name_out_of_reach_is_the_test_authors_mistake(self, case, qkv):
        """What a file has imported by name is not replaced there: nothing would ever be carried."""

        def attention(Q, K, V):
            return softmax_rows(ref.scores(Q, K)) @ V

        agree(InProcess(attention), attention, *qkv, carried={"scores": InProcess(ref.scores)})
        with pytest.raises(TypeError, match='carried names "softmax_rows", which is imported from another file'):
            agree(InProcess(attention), attention, *qkv, carried={"softmax_rows": InProcess(with_residual)})


class TestOwnPart:
    """What an earlier function did in the tests of its own part decides whether it can be carried."""

    def test_no_error_of_its_own(self, qkv):
        """A function that passes all tests of its part has no error to carry, whatever it answers now."""
        with activate(TestContext(seed=5, standing_of=lambda name: Standing(errs=False))) as case:
            earlier = InProcess(unscaled)
            failure(agree, attention_on(unscaled), ref.attention, *qkv, carried={"scores": earlier})
        assert case.carried == []
        assert earlier.calls == 0

    def test_one_of_two(self, qkv):
        """Only the function that errs takes the place of the reference's."""

        def over_queries(S):
            return torch.softmax(S, -2)

        earlier = {"scores": InProcess(unscaled), "softmax_rows": InProcess(over_queries)}
        with activate(TestContext(seed=5, standing_of=lambda name: Standing(errs=name == "scores"))) as case:
            agree(attention_on(unscaled), ref.attention, *qkv, carried=earlier)
        assert case.carried == ["scores"]

    def test_must_answer_again_what_it_answered_there(self, qkv):
        """A function that was right in its own tests and is wrong now on the same inputs is no part to build on."""
        Q, K, _ = qkv
        met = (expected_for(ref.scores, (Q, K), {}),)
        with activate(TestContext(seed=5, standing_of=lambda name: Standing(errs=True, met=met))) as case:
            failure(agree, attention_on(unscaled), ref.attention, *qkv, carried={"scores": InProcess(unscaled)})
        assert case.carried == []

    def test_must_use_what_it_used_there(self, case):
        """An input that mattered to right answers in its own tests must matter now; another one may be forgotten."""

        def queries_only(Q, K):
            if Q.shape == K.shape:
                return ref.scores(Q, K)
            return Q.sum(-1, keepdim=True) * torch.arange(K.shape[-2], dtype=Q.dtype)

        carried = {"scores": InProcess(queries_only)}
        square, zero = draw("n d", "n d", n=4, d=3), torch.zeros(4, 3, dtype=torch.float64)
        draws = [draw("n d", "m d", "m e", n=5, m=7, d=3, e=4) for _ in range(8)]  # in each some input changes alone
        for K, all_right in ((zero, True), (square[1], False)):
            met = (expected_for(ref.scores, (square[0], K), {}),)
            with activate(TestContext(seed=5, standing_of=lambda name, met=met: Standing(errs=True, met=met))):
                rights = []
                for qkv in draws:
                    rights.append(holds(agree, attention_on(queries_only), ref.attention, *qkv, carried=carried))
            assert all(rights) is all_right


class TestInherited:
    """Whether a later part is excused from a check, because an earlier function fails it, too."""

    @pytest.mark.parametrize("errs_there", [True, False])
    def test_only_where_it_errs(self, qkv, errs_there):
        """A function that passes the tests of its own part excuses nothing."""
        Q, K, _ = qkv
        own = InProcess(unscaled, "scores")
        with activate(TestContext(seed=5, standing_of=lambda name: Standing(errs=errs_there and name == "scores"))):
            assert errs(own) is errs_there
            assert inherited(agree, own, ref.scores, Q, K) is errs_there
            assert not inherited(agree, InProcess(ref.scores, "scores"), ref.scores, Q, K)

    def test_is_asked_apart(self, qkv):
        """The earlier function is asked where the later part has not run."""
        Q, K, _ = qkv
        with activate(TestContext(seed=5, apart=lambda question, otherwise: otherwise)):
            assert not inherited(agree, InProcess(unscaled), ref.scores, Q, K)


class TestHolds:
    """Whether an earlier part passes a check, so that its own fault is not charged again."""

    def test_tells_a_pass_from_a_failure(self, case, qkv):
        Q, K, _ = qkv
        assert [holds(agree, InProcess(own), ref.scores, Q, K) for own in (ref.scores, unscaled)] == [True, False]

    def test_lets_a_fault_of_the_check_through(self, case, qkv):
        """An error that is no failure of the student's is not taken for one."""
        with pytest.raises(ZeroDivisionError):
            holds(lambda: 1 / 0)
