"""Hidden tests: no loop over tokens or heads, and right results."""

from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.multi_head.inputs import problem
from graders.multi_head.modules import modules
from reference import multi_head as ref
from softmark import OpCount, agree, draw, ops_independent_of

FEW = {"m": 3, "n": 4, "D_q": 10, "D_kv": 9, "h": 2, "d_k": 24, "d_v": 36}
MANY_TOKENS = FEW | {"m": 23, "n": 29}


@number("5.1")
@weight(0.5)
@visibility("after_published")
def test_operations_and_tokens(student):
    """The number of operations does not grow with the number of tokens."""
    few, many = problem(**FEW), problem(**MANY_TOKENS)
    agree(student.multi_head_attention, ref.multi_head_attention, *few)
    agree(student.multi_head_attention, ref.multi_head_attention, *many)
    ops_independent_of("the number of tokens", student.multi_head_attention, few, many)


@number("5.2")
@weight(0.5)
@visibility("after_published")
def test_operations_and_heads(student):
    """The number of operations does not grow with the number of heads."""
    *inputs, _ = problem(**FEW)
    agree(student.multi_head_attention, ref.multi_head_attention, *inputs, 2)
    agree(student.multi_head_attention, ref.multi_head_attention, *inputs, 24)
    ops_independent_of("the number of heads", student.multi_head_attention, (*inputs, 2), (*inputs, 24))


@number("5.3")
@weight(1)
@visibility("after_published")
def test_operations_of_the_module(student):
    """The same for the module."""
    few, many = draw("m D", "n D", m=3, n=23, D=48)
    divided, ours_divided, _ = modules(student, 48, 24)
    two, ours_of_two, _ = modules(student, 48, 2)
    agree(divided, ours_divided, few)
    agree(two, ours_of_two, many)
    ops_independent_of("the number of tokens", two, (few,), (many,))
    ops_independent_of("the number of heads", GivenModule(), (two, few), (divided, few))


class GivenModule:
    """Calls the module that is its first argument, so that two modules can be compared in one check."""

    name = "MultiHeadAttention"

    def count_ops(self, args, kwargs) -> OpCount:
        module, *inputs = args
        return module.count_ops(inputs, kwargs)
