"""What a check expects is computed once per test and process, and never taken for another check."""

import pytest
import torch

from softmark.verdict import TestContext, activate, agree, draw, expected, gradients_agree, lend
from softmark.verdict.expected import computed, expected_for
from tests.support import lecture as ref
from tests.support.students import Counting, InProcess, failure

CALLS = []


def counted(x, factor=2.0):
    """A reference that notes its calls."""
    CALLS.append(x.dtype)
    return x * factor


def applied(function, x):
    return function(x)


def doubled(x):
    return 2 * x


def tripled(x):
    return 3 * x


@pytest.fixture(autouse=True)
def _no_calls():
    CALLS.clear()


def calls_of(case_id, x, **kwargs):
    """How often the reference runs when a right answer is judged."""
    before = len(CALLS)
    with activate(TestContext(id=case_id)):
        agree(lambda x, factor=2.0: x * factor, counted, x, **kwargs)
    return len(CALLS) - before


class TestMemory:
    """The same case, check, reference and inputs: nothing is computed twice."""

    def test_is_used(self):
        """The second submission of a batch costs no run of the reference."""
        x = draw("n", n=4)
        assert calls_of("used", x) > 1
        assert calls_of("used", x.clone()) == 0

    def test_is_bounded_in_bytes(self, monkeypatch):
        """What was not used for longest is forgotten: inputs may be answers, of which each student has others."""
        monkeypatch.setattr(expected, "MOST_BYTES", 2_000_000)
        first, *others = (torch.full((1000,), float(number)) for number in range(100))
        calls_of("bounded", first)
        assert calls_of("bounded", first) == 0
        for x in others:
            calls_of("bounded", x)
        assert calls_of("bounded", others[-1]) == 0
        assert calls_of("bounded", first) > 0

    def test_tells_inputs_apart(self):
        """One bit of one number, a shape, a dtype, a keyword: each is another truth."""
        x = draw("n", n=4)
        calls_of("inputs", x)
        other = x.clone()
        other[2] = torch.nextafter(other[2], torch.tensor(9.0).double())
        assert calls_of("inputs", other) > 0
        assert calls_of("inputs", x.reshape(2, 2)) > 0
        assert calls_of("inputs", x.float()) > 0
        assert calls_of("inputs", x, factor=3.0) > 0
        assert calls_of("inputs", x, factor=3.0) == 0

    def test_tells_cases_apart(self):
        """Another id is looked up separately; no id is never remembered."""
        x = draw("n", n=4)
        calls_of("cases", x)
        assert calls_of("another case", x) > 0
        assert calls_of("", x) > 0
        assert calls_of("", x) > 0

    def test_a_check_that_is_made_again(self):
        """The same call later in the same case, as when gradients are compared after values, costs nothing either."""
        x = draw("n", n=4)
        calls_of("again", x)
        before = len(CALLS)
        with activate(TestContext(id="again")):
            agree(1, 1)
            agree(lambda x: x * 2, counted, x)
        assert len(CALLS) == before

    def test_tells_references_apart(self):
        """A reference of the same name from another loading of its module is another one."""
        x = draw("n", n=4)

        def tripled(x):
            return x * 3

        assert expected_for(ref.causal_mask, (3,), {}, "references").value.sum() == 6
        for want in (lambda n: torch.ones(n, n).bool(), tripled):
            agree(want(3), want, 3)
        calls_of("references", x)
        other = type(counted)(counted.__code__, counted.__globals__, "counted", (3.0,))
        with activate(TestContext(id="references")):
            agree(lambda x: x * 3, other, x)

    def test_state_is_never_remembered(self):
        """A module with new weights, and a closure over a new number, give new truths."""
        x = draw("n d", n=3, d=4)
        for seed in (1, 2):
            torch.manual_seed(seed)
            ours = ref.SelfAttention(4).double()
            with activate(TestContext(id="state")):
                agree(ours(x), ours, x)
                agree(x * seed, lambda x, seed=seed: x * seed, x)

    def test_closures_are_never_remembered(self):
        """The same function object gives another truth when what it closes over has changed."""
        factor = 1.0

        def scaled(x):
            return x * factor

        x = draw("n", n=4)
        for new in (1.0, 2.0):
            factor = new
            with activate(TestContext(id="closures")):
                agree(x * new, scaled, x)

    def test_recurrent_modules_are_remembered(self):
        """A GRU refers to its weights once more, weakly: the same weights find the same truth, others another one."""
        gru, x = torch.nn.GRU(3, 2).double(), draw("t n d", t=4, n=2, d=3)
        first = expected_for(gru, (x,), {}, "recurrent")
        assert expected_for(gru, (x,), {}, "recurrent") is first
        with torch.no_grad():
            gru.weight_hh_l0[0, 0] += 1
        other = expected_for(gru, (x,), {}, "recurrent")
        assert other is not first
        assert not torch.equal(other.value[0], first.value[0])

    def test_lent_functions(self):
        """A function of a file may be lent again, and is told apart from another one; closures are never remembered."""
        x = draw("n", n=4)

        def truth(function, calls=3):
            return expected_for(applied, (lend(function, calls=calls), x), {}, "lent")

        assert truth(doubled) is truth(doubled)
        assert torch.equal(truth(tripled).value, 3 * x)
        assert truth(doubled, calls=4) is not truth(doubled)
        factor = 4

        def scaled(x):
            return factor * x

        for factor in (4, 5):
            assert torch.equal(truth(scaled).value, factor * x)

    def test_gradients_are_remembered_too(self):
        """The same cotangent, drawn from the case's seed, finds the same gradients again; another one does not."""
        x = draw("n", n=4)
        runs = []
        for seed in (1, 1, 2):
            before = len(CALLS)
            with activate(TestContext(id="gradients", seed=seed)):
                gradients_agree(InProcess(lambda x: x * 2.0), counted, x)
            runs.append(len(CALLS) - before)
        assert runs[0] > runs[2] > runs[1] == 0

    def test_does_not_hang_on_the_tests_tensors(self):
        """Inputs changed by the test after the check do not reach the remembered truth."""
        x = draw("n", n=4)
        truth = expected_for(ref.softmax_rows, (x,), {}, "tensors")
        kept = x.clone()
        x.zero_()
        assert torch.equal(truth.args[0], kept)


class TestPrecision:
    """The truth is float64 throughout."""

    def test_inputs_are_widened_exactly(self):
        """float32 inputs are used as they are, in float64."""
        x = draw("n", n=4, dtype=torch.float32)
        truth = computed(counted, (x,), {})
        assert set(CALLS) == {torch.float64}
        assert torch.equal(truth.leaves[0], x.double() * 2)

    def test_modules_are_widened_in_a_copy(self):
        """A float32 module gives a float64 truth and stays as it is."""
        ours = ref.SelfAttention(4)
        x = draw("n d", n=3, d=4, dtype=torch.float32)
        truth = computed(ours, (x,), {})
        assert truth.leaves[0].dtype is torch.float64
        assert ours.W_Q.dtype is torch.float32
        agree(InProcess(ours), ours, x)
        agree(InProcess(ours.forward), ours.forward, x)

    def test_a_failing_reference_is_the_graders_fault(self):
        """Its exception is let through as it is, not turned into a student's failure."""

        def broken(x):
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            agree(lambda x: x, broken, 1)


class TestCost:
    """What trusted code does beyond the calls, counted in tensor operations and not by a clock."""

    def operations(self, case_id):
        torch.manual_seed(0)
        with activate(TestContext(id=case_id, seed=1)):
            q, k = draw("n d", "m d", n=5, m=7, d=3)
            answer = ref.scores(q, k)
            with Counting() as counting:
                agree(answer, ref.scores, q, k)
        return counting.names.total()

    def test_of_a_first_check(self):
        """Truth and noise of a small computation take some two hundred operations of about a microsecond."""
        assert self.operations("cost") <= 200

    def test_of_a_remembered_check(self):
        """A remembered truth leaves the comparison, and the digest of the inputs."""
        self.operations("remembered")
        assert self.operations("remembered") <= 40

    def test_of_a_wrong_answer(self):
        """Reasons are found only when something is wrong, and are bounded as well."""
        q, k = draw("n d", "m d", n=5, m=7, d=3)
        with Counting() as counting:
            failure(agree, q @ k.T, ref.scores, q, k)
        assert counting.names.total() <= 500
