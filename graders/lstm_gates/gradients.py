"""Check that the gradients of a sequence are those of the student's own values."""

import torch

from graders.lstm_gates.answers import three_of
from graders.lstm_gates.inputs import like
from softmark import Category, agree, fail, within_limit


def product(values, others):
    """Return the sum of the products of all numbers; a missing gradient counts as zero."""
    total = 0.0
    for value, other in zip(values, others, strict=True):
        if value is not None:
            if value.shape != other.shape:
                fail(Category.SHAPE, "a second call gives results of other shapes")
            total += float((value * other).sum())
    return total


def check_gradients(value_at, gradients_of, moves):
    """Check that the gradients are those of the student's own values, which may be wrong.

    value_at(s) is the answer (output, (h, c)) when every input has moved by s times its move.
    """
    answer = three_of(value_at(0.0))
    precise = all(value.dtype is torch.float64 for value in answer)
    step, limit = (1e-6, 1e-5) if precise else (1e-2, 1e-1)  # which dtype an answer has is asked by another test
    output, h, c = map(like, answer)
    claimed = product(gradients_of((output, (h, c))), moves)
    ahead, behind = (product(three_of(value_at(move)), (output, h, c)) for move in (step, -step))
    slope = (ahead - behind) / (2 * step)
    fact = "the gradients are not those of the output: something cuts them off on their way"
    within_limit(abs(slope - claimed), limit * (1 + abs(slope)), Category.PROPERTY, fact, name="gradients")


def check_function_gradients(own, want, inputs):
    """Check the values of part 4 or 5, then the gradients."""
    agree(own, want, *inputs)
    moves = [like(value) for value in inputs]

    def value_at(step):
        return own(*(value + step * move for value, move in zip(inputs, moves, strict=True)))

    check_gradients(value_at, lambda cotangent: own.vjp(inputs, {}, cotangent).args, moves)
