"""Hidden tests: no loop over tokens or heads, and right results."""

from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.multi_head.inputs import problem
from graders.multi_head.modules import modules
from reference import multi_head as ref
from softmark import OpCount, agree, draw, ops_independent_of, random_mask, repeatable

FEW = {"m": 3, "n": 4, "D_q": 10, "D_kv": 9, "h": 2, "d_k": 24, "d_v": 36}
MANY_TOKENS = FEW | {"m": 151, "n": 163}
ALIKE = FEW | {"n": 3, "D_kv": 10}


def check_operations(what, got, want, small, large):
    """Check that both calls are right, and that the larger one takes no more operations."""
    agree(got, want, *small)
    agree(got, want, *large)
    ops_independent_of(what, got, small, large)


@number("5.1")
@weight(0.5)
@visibility("after_published")
def test_operations_and_tokens(student):
    """The number of operations does not grow with the number of tokens: without a mask, with one, in self-attention."""
    few, many = problem(**FEW), problem(**MANY_TOKENS)
    X, *weights = problem(**ALIKE)
    longer = draw("n D", n=157, D=10)
    examples, longer_examples = problem(**FEW, batch=(2,)), problem(**MANY_TOKENS, batch=(2,))
    for small, large in (
        (few, many),
        ((*few, random_mask(3, 4)), (*many, random_mask(151, 163))),
        ((X, X, *weights[1:]), (longer, longer, *weights[1:])),
        (examples, longer_examples),
        ((*examples, random_mask(2, 3, 4)), (*longer_examples, random_mask(2, 151, 163))),
    ):
        attention = student.multi_head_attention
        check_operations("the number of tokens", attention, ref.multi_head_attention, small, large)


@number("5.2")
@weight(0.5)
@visibility("after_published")
def test_operations_and_heads(student):
    """The number of operations does not grow with the number of heads: without a mask, with one, in self-attention."""
    few, alike = problem(**FEW)[:-1], problem(**ALIKE)[:-1]
    examples, itself = problem(**FEW, batch=(2,))[:-1], (alike[0], *alike[:1], *alike[2:])
    given = (few, None), (few, random_mask(3, 4)), (itself, None), (examples, None), (examples, random_mask(2, 3, 4))
    for inputs, mask in given:
        attention = student.multi_head_attention
        small, large = ((*inputs, n_heads, mask) for n_heads in (2, 24))
        check_operations("the number of heads", attention, ref.multi_head_attention, small, large)


@number("5.3")
@weight(1)
@visibility("after_published")
def test_operations_of_the_module(student):
    """The same for the module."""
    few, many, keys, more_keys = draw("m D", "n D", "k D", "l D", m=3, n=151, k=4, l=163, D=48)
    divided, ours_divided, _ = modules(student, 48, 24)
    two, ours_of_two, _ = modules(student, 48, 2)
    agree(divided, ours_divided, few)
    repeatable(two, few)
    calls = ([few], [many]), ([few, keys, random_mask(3, 4)], [many, more_keys, random_mask(151, 163)])
    masked = ([few, None, random_mask(3, 3)], [many, None, random_mask(151, 151)])
    examples, longer_examples = draw("2 m D", "2 n D", m=3, n=151, D=48)
    each = ([examples, None, random_mask(2, 3, 3)], [longer_examples, None, random_mask(2, 151, 151)])
    for small, large in (*calls, masked, each):
        check_operations("the number of tokens", two, ours_of_two, small, large)
        ops_independent_of("the number of heads", GivenModule(), (two, *small), (divided, *small))


class GivenModule:
    """Calls the module that is its first argument, so that two modules can be compared in one check."""

    name = "MultiHeadAttention"

    def count_ops(self, args, kwargs) -> OpCount:
        module, *inputs = args
        return module.count_ops(inputs, kwargs)
