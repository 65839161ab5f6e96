"""Properties of a call rather than of its numbers: repeated, clean, in any dtype, on any device, without loops."""

import pytest
import torch

from softmark.records.verdict import Code
from softmark.verdict import (
    Category,
    Failed,
    TestContext,
    Verdict,
    activate,
    draw,
    keeps_dtype,
    leaves_inputs,
    ops_independent_of,
    raises,
    repeatable,
    uses_weights,
    works_on_meta,
)
from tests.support import lecture as ref
from tests.support.students import InProcess, failure


@pytest.fixture(autouse=True)
def case():
    with activate(TestContext(seed=11)) as case:
        yield case


class TestRepeatable:
    """The same inputs give the same answer."""

    def test_holds(self):
        """For a function with two outputs."""
        repeatable(InProcess(ref.attention), *draw("n d", "m d", "m d", n=3, m=4, d=5))

    def test_fails(self):
        """Dropout, a counter, an answer that comes only once."""
        for wrong in (lambda x: torch.dropout(x, 0.5, True), Counter(), Once()):
            verdict = failure(repeatable, InProcess(wrong), draw("n d", n=5, d=4))
            assert verdict.fact.startswith("calling it twice with the same inputs gives two different answers: ")


class Counter:
    """Adds one more at every call."""

    def __init__(self):
        self.calls = 0

    def __call__(self, x):
        self.calls += 1
        return x + self.calls


class Once(Counter):
    """Returns nothing from the second call on."""

    def __call__(self, x):
        self.calls += 1
        return x if self.calls == 1 else None


class TestLeavesInputs:
    """Inputs belong to the caller."""

    def test_holds(self):
        """In-place work on a copy is fine."""
        leaves_inputs(InProcess(lambda x, y: x.clone().mul_(2) + y), *draw("n", "n", n=3))

    def test_fails(self, case):
        """The changed argument is named."""
        verdict = failure(leaves_inputs, InProcess(lambda x, y: y.mul_(2) + x), *draw("n", "n", n=3))
        assert verdict.category is Category.INPUT_CHANGED
        assert verdict.fact == "changes its input in place: argument 2; make a new one"
        assert case.checks[-1].category is Category.INPUT_CHANGED


class TestKeepsDtype:
    """Results have the inputs' precision."""

    def test_holds(self):
        """Also for dtypes of the test's choice."""
        keeps_dtype(InProcess(ref.scores), *draw("n d", "m d", n=2, m=3, d=4))
        keeps_dtype(InProcess(ref.scores), *draw("n d", "m d", n=2, m=3, d=4), dtypes=(torch.bfloat16,))
        keeps_dtype(InProcess(lambda x: (x, x.argmax(), x > 0)), draw("n", n=3))
        keeps_dtype(InProcess(lambda x: (x.argmax(), x)), draw("n", n=3))

    @pytest.mark.parametrize(
        ("wrong", "fact"),
        [
            (lambda x: x.float(), "returned dtype float32 for inputs of dtype float64"),
            (lambda x: x.double(), "returned dtype float64 for inputs of dtype float32"),
            (lambda x: torch.zeros(3) + x.float(), "returned dtype float32 for inputs of dtype float64"),
            (lambda x: (x, x.float()), "output 2 of 2: dtype float32 for inputs of dtype float64"),
            (lambda x: (x, (x, x.double())), "output 2 of 2, output 2 of 2: dtype float64 for inputs of dtype float32"),
        ],
    )
    def test_fails(self, wrong, fact):
        """The fact names both dtypes, and says which one is right."""
        verdict = failure(keeps_dtype, InProcess(wrong), draw("n", n=3))
        rule = "the result must have the dtype of the inputs"
        assert (verdict.category, verdict.fact) == (Category.DTYPE, f"{fact}: {rule}")


class TestWorksOnMeta:
    """Code runs wherever its inputs are."""

    def test_holds(self):
        """Tensors made with the input's device are fine."""
        works_on_meta(InProcess(ref.scores), *draw("n d", "m d", n=2, m=3, d=4))
        works_on_meta(InProcess(lambda x: x + torch.ones(3, device=x.device)), draw("n", n=3))

    def test_mixed_devices_fail(self):
        """A table on the CPU does not meet inputs elsewhere; what the student would have seen is said."""
        verdict = failure(works_on_meta, InProcess(lambda x: x + torch.ones(3).double()), draw("n", n=3))
        assert verdict.category is Category.DEVICE
        assert verdict.fact.startswith("works on the CPU only: ")
        assert "RuntimeError" in verdict.fact

    def test_results_elsewhere_fail(self):
        """A result that is on the CPU whatever the inputs are."""
        verdict = failure(works_on_meta, InProcess(lambda x: torch.ones(x.shape)), draw("n", n=3))
        assert verdict.fact == "the result is on the CPU, wherever the inputs are"

    @pytest.mark.parametrize("at", [0, 1])
    def test_one_of_several_results_elsewhere_fails(self, at):
        """Two outputs, one of which is on the CPU, whichever it is."""

        def wrong(x):
            outputs = [x * 2, x * 3]
            outputs[at] = torch.ones(x.shape)
            return tuple(outputs)

        verdict = failure(works_on_meta, InProcess(wrong), draw("n", n=3))
        assert verdict.fact == "the result is on the CPU, wherever the inputs are"

    def test_what_is_not_of_the_device_is_not_judged(self, case):
        """Code that fails on the other device alone, and not because of a device, is not accused: the test says so."""

        def unfollowed(x):
            if x.device.type != "cpu":
                raise ValueError("what is this device?")
            return x

        works_on_meta(InProcess(unfollowed), draw("n", n=3))
        assert case.unfollowed == ["unfollowed"]
        assert [check.category for check in case.checks] == [None]

    def test_what_fails_everywhere_fails(self, case):
        """Code that fails on the CPU as well is told that, and nothing of devices."""

        def broken(x):
            raise ValueError("too few")

        verdict = failure(works_on_meta, InProcess(broken), draw("n", n=3))
        assert (verdict.category, verdict.fact) == (Category.ERROR, "raised ValueError: too few")
        assert not case.unfollowed

    def test_what_fails_everywhere_fails_although_devices_are_in_its_words(self):
        """Code that raises on the CPU what looks like a matter of devices works on no device at all."""

        def broken(x):
            raise RuntimeError("Expected all tensors to be on the same device, cpu and cuda:0")

        class OfDevices(InProcess):
            def on_meta(self, args, kwargs):
                raise Failed(Verdict(Category.ERROR, "uses tensors on two devices", code=Code.WRONG_DEVICE))

        verdict = failure(works_on_meta, OfDevices(broken), draw("n", n=3))
        assert verdict.fact.startswith("raised RuntimeError")

    def test_other_failures_pass_through(self):
        """A crash stays a crash."""

        class Crashing(InProcess):
            def on_meta(self, args, kwargs):
                raise Failed(Verdict(Category.CRASH, "crashed"))

        assert failure(works_on_meta, Crashing(ref.scores), draw("n", n=3)).category is Category.CRASH


class TestOpsIndependentOf:
    """No loop over tokens."""

    def test_holds(self):
        """A few operations more are not a loop."""
        small, large = draw("n d", n=4, d=3), draw("n d", n=40, d=3)
        ops_independent_of("the number of tokens", InProcess(lambda X: ref.attention(X, X, X)[0]), (small,), (large,))

    def test_fails(self):
        """The fact has both counts."""

        def loop(X):
            return torch.stack([x * 2 for x in X])

        verdict = failure(
            ops_independent_of, "the number of tokens", InProcess(loop), (torch.ones(4, 3),), (torch.ones(40, 3),)
        )
        assert verdict.fact.startswith("the number of tensor operations grows with the number of tokens: from ")

    def test_fails_for_a_loop_that_is_only_twice_as_long(self):
        """A loop over eight tokens makes twice the operations of one over four, and is a loop."""

        def loop(X):
            rows = [(x * 2).exp().sin().cos() for x in X]
            return torch.stack(rows)

        verdict = failure(
            ops_independent_of, "the number of tokens", InProcess(loop), (torch.ones(4, 3),), (torch.ones(8, 3),)
        )
        assert verdict.fact.startswith("the number of tensor operations grows with the number of tokens: from ")


class OwnModule(InProcess):
    """A student's module, whose parameters can be read and set."""

    def parameters(self):
        return {name: weight.detach().clone() for name, weight in self.function.named_parameters()}

    def load_state_dict(self, state):
        self.function.load_state_dict(state)


class TestUsesWeights:
    """The output of a module depends on its parameters."""

    @pytest.mark.parametrize("start", [0.0, 0.3, 1e38, float("inf"), float("nan")])
    def test_holds(self, start):
        """The parameters of a new module may hold any numbers, as those of torch.empty do."""
        layer = torch.nn.Linear(3, 2)
        for weight in layer.parameters():
            torch.nn.init.constant_(weight, start)
        uses_weights(OwnModule(layer), draw("n d", n=4, d=3))

    def test_fails(self):
        """A module that leaves its parameters alone."""

        class Unused(torch.nn.Linear):
            def forward(self, x):
                return 2 * x

        verdict = failure(uses_weights, OwnModule(Unused(3, 2), "Unused"), draw("n d", n=4, d=3))
        assert verdict.fact == "Unused: the output stays the same when the parameters change"


class TestRaises:
    """Bad arguments are refused with the right exception."""

    def raising(self, error):
        def refuse(x):
            raise error

        return InProcess(refuse)

    def test_holds(self):
        """The exception itself, or one derived from it."""
        raises(ValueError, self.raising(ValueError("no")), 1)
        raises(LookupError, self.raising(KeyError("no")), 1)
        raises(Exception, self.raising(ZeroDivisionError()), 1)

    def test_fails(self):
        """Another exception, or none at all. The sentence says what came, and for which arguments."""
        verdict = failure(raises, ValueError, self.raising(KeyError("no")), 1)
        assert (verdict.category, verdict.fact) == (
            Category.PROPERTY,
            "raised KeyError: 'no'; it must raise ValueError for these arguments",
        )
        verdict = failure(raises, ValueError, InProcess(lambda x, n: n, "size"), torch.ones(2, 3), 1)
        assert verdict.fact == "returned an int; it must raise ValueError for argument 1 of shape (2, 3)"
        assert verdict.where == "argument 2 was 1"
        verdict = failure(raises, ValueError, InProcess(lambda names, x: 1, "f"), ["norm", "block"], [0] * 99)
        assert verdict.where == "argument 1 was ['norm', 'block']"

    def test_students_own_classes_are_known_by_name_only(self):
        """A class that happens to be called like a builtin's subclass is not trusted further than its name."""

        class OutOfRange(Exception):
            pass

        fact = failure(raises, ValueError, self.raising(OutOfRange("no")), 1).fact
        assert fact == "raised OutOfRange: no; it must raise ValueError for these arguments"
