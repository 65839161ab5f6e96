"""Hidden tests of part 6: choosing a token by a given number, and generating with a small model.

All uniform numbers are given, so no test is random, and none depends on a stream of random numbers.
"""

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.language_model.inputs import some_ids, some_probabilities, some_uniforms
from graders.language_model.modules import (
    SMALL,
    TINY,
    Own,
    random_weights,
    run_generate,
    run_generate_and_read,
)
from reference import language_model as ref
from softmark import agree, agree_in_turn, leaves_inputs, repeatable, to_float32, works_on_meta

ALMOST_ONE = 1 - 2.0**-53
"""The largest number below 1."""


@number("6.1")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize(
    "shape", [(40, 5), (6, 7), (7,), (2, 30, 4), (1, 9), (1, 30, 4), (4, 4), (200, 3), (2, 100)], ids=str
)
def test_choose(student, shape):
    """Each row's token is the one whose piece of [0, 1) holds the number."""
    for _ in range(3):
        agree(student.choose, ref.choose, some_probabilities(*shape), some_uniforms(*shape[:-1]))


@number("6.2")
@weight(0.5)
@visibility("after_published")
def test_choose_at_the_edges(student):
    """A piece has its left end and not its right one; tokens of probability 0 have none; rounding may leave a gap."""
    p = torch.tensor([[0, 0.25, 0.5, 0, 0.25, 0, 0]], dtype=torch.float64).repeat(8, 1)
    u = torch.tensor([0, 0.25, 0.75, ALMOST_ONE, 0.1, 0.5, 0.7499, 0.2501], dtype=torch.float64)
    agree(student.choose, ref.choose, p, u)
    short = torch.tensor([[0.1] * 10, [0.3, 0.3, 0.2, 0.2 - 1e-9, 0, 0, 0, 0, 0, 0]], dtype=torch.float64)
    for row in short:
        agree(student.choose, ref.choose, row, torch.tensor(ALMOST_ONE, dtype=torch.float64))
    agree(student.choose, ref.choose, torch.eye(6, dtype=torch.float64), some_uniforms(6))
    agree(student.choose, ref.choose, torch.eye(6, dtype=torch.float64), torch.zeros(6, dtype=torch.float64))


@number("6.3")
@weight(0.25)
@visibility("after_published")
def test_choose_conduct(student):
    """float32 is right, inputs stay, any device will do, and any calls may come before."""
    inputs = some_probabilities(5, 4), some_uniforms(5)
    agree(student.choose, ref.choose, *inputs)
    for check in (leaves_inputs, repeatable, works_on_meta):
        check(student.choose, *inputs)
    others = [(some_probabilities(*shape), some_uniforms(*shape[:-1])) for shape in ((2, 3, 6), (3, 1), (5, 4), (9,))]
    agree_in_turn(student.choose, ref.choose, inputs, *others)
    agree(student.choose, ref.choose, *others[0])


def check_generate(student, sizes, n, t, new, context, **options):
    """Check that the student's function writes what the reference writes."""
    given = some_ids(sizes[0], n, t), some_uniforms(n, new), context
    agree(Own(student).run_generate, run_generate, random_weights(*sizes), sizes, *given, **options)


WRITING = {
    "one_row": (SMALL, 1, 2, 3, 6),
    "rows": (SMALL, 5, 3, 3, 6),
    "beyond_the_context": (SMALL, 3, 4, 7, 6),
    "a_long_beginning": (SMALL, 2, 9, 2, 6),
    "a_shorter_context": (SMALL, 3, 5, 3, 3),
    "a_context_of_one": ((5, 1, 4, 1, 1), 3, 2, 3, 1),
    "one_new_token": ((3, 4, 4, 2, 1), 4, 1, 1, 4),
    "as_many_rows_as_tokens": ((4, 4, 4, 1, 1), 4, 4, 4, 4),
}
"""Sizes of the model, N, T, the number of new tokens, and the context."""


@number("6.4")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize("case", WRITING.values(), ids=WRITING)
def test_generate(student, case):
    """One token after the other, each chosen by its own number after the last tokens that fit the context."""
    check_generate(student, *case)


OPTIONS = [
    {"temperature": 0.5},
    {"temperature": 0},
    {"k": 2},
    {"p": 0.6},
    {"temperature": 2, "k": 4, "p": 0.6},
    {"temperature": 0.4, "p": 0.8},
    {"temperature": 3, "p": 0.5},
    {"k": 3, "p": 0.75},
    {"k": 2, "p": 0.55},
    {"temperature": 1.5, "k": 3, "end": 0},
]


@number("6.5")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_generate_with_options(student, options):
    """Temperature first, then top-k, then top-p."""
    check_generate(student, TINY, 16, 2, 2, 6, **options)


@number("6.6")
@weight(0.25)
@visibility("after_published")
@pytest.mark.parametrize("end", [0, 1, 2])
def test_generate_until_end(student, end):
    """A row that has written END goes on with END; an END in the beginning does not count; each row ends by itself."""
    check_generate(student, (3, 6, 4, 2, 1), 6, 3, 4, 6, end=end)


@number("6.7")
@weight(0.25)
@visibility("after_published")
def test_generate_conduct(student):
    """The model writes in eval() and has its mode afterwards; float32 is right, and inputs stay."""
    dropping = (*TINY, 1.0)  # in train() all that the blocks add is dropped out, so the mode shows
    own, weights, ids, uniforms = Own(student), random_weights(*TINY), some_ids(5, 3, 4), some_uniforms(3, 3)
    for training in (True, False):
        agree(own.run_generate_and_read, run_generate_and_read, weights, dropping, training, ids, uniforms, 6)
    agree(own.run_generate, run_generate, to_float32(weights), TINY, ids, uniforms.float(), 6)
    model = own.model(weights, dropping)
    for check in (leaves_inputs, repeatable, works_on_meta):
        check(student.generate, model, ids, uniforms, 6, end=0)


IN_TURN = [
    *({}, {"k": 2}, {"k": 4}, {"k": 1}, {}, {"p": 0.6}, {"p": 1}, {"p": 0}, {"p": 1}, {}),
    *({"end": 0}, {"end": 3}, {"end": 0}, {}, {"temperature": 1}, {"temperature": 3}, {"temperature": 1}, {}),
]


@number("6.8")
@weight(0.25)
@visibility("after_published")
def test_generate_in_turn(student):
    """No context, no temperature, no k, no p and no END is kept from one call to the next."""
    own, weights, given = Own(student), random_weights(*TINY), (some_ids(5, 4, 2), some_uniforms(4, 2), 6)
    for options in IN_TURN:
        agree(own.run_generate, run_generate, weights, TINY, *given, **options)
    longer, shorter = (some_ids(5, 5, 5), some_uniforms(5, 3)), (given[0][:1, :1], given[1][:1, :1].float(), 2)
    for other in (given, (*longer, 5), shorter, given):
        agree(own.run_generate, run_generate, weights, TINY, *other)
