"""Hidden tests of part 5: learned positions."""

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.positional_encoding.sizes import batch as batch_of
from reference import positional_encoding as ref
from softmark import agree, agree_in_turn, draw, gradients_agree, keeps_dtype, leaves_inputs, raises, uses_weights


def learned(student, max_len, d, dtype=torch.float32):
    """Return the student's module and the reference's with the same random table, and the table."""
    table = draw("max_len d", max_len=max_len, d=d, dtype=dtype)
    theirs, ours = student.LearnedPositions(max_len, d), ref.LearnedPositions(max_len, d)
    theirs.load_state_dict({"table": table})
    ours.load_state_dict({"table": table})
    return theirs, ours, table


def combinations(student):
    """Yield the module of both and tokens, so that conditions meet: both dtypes of tokens and table, both modes."""
    for of_table in (torch.float32, torch.float64):
        theirs, ours, _ = learned(student, 7, 3, of_table)
        for row in range(30):
            dtype, n = [torch.float32, torch.float64][row % 2], [7, 6, 3, 2, 1][row % 5]
            if row % 15 == 0:
                theirs.train(row == 0)
            yield theirs, ours, draw("batch n d", batch=batch_of(row), n=n, d=3, dtype=dtype)


@number("5.1")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize(("n", "d"), [(11, 6), (4, 7), (6, 6), (1, 5), (7, 1), (65, 3), (101, 2), (3, 70)])
def test_learned_rows(student, n, d):
    """Row t of the table is added to token t (as many tokens as rows)"""
    theirs, ours, _ = learned(student, n, d)
    agree(theirs, ours, draw("n d", n=n, d=d, dtype=torch.float32))


@number("5.2")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize("batch", [(), (3,), (2, 4), (20,), (14, 1), (5, 5), (6,)])
def test_shorter_sequences(student, batch):
    """Shorter sequences get the first rows, with none, one or two batch dimensions, of more sequences than rows, too"""
    for rows, lengths in ((13, (13, 10, 6, 5, 1)), (6, (5, 6))):
        theirs, ours, _ = learned(student, rows, 6)
        for n in lengths:
            agree(theirs, ours, draw("batch n d", batch=batch, n=n, d=6, dtype=torch.float32))


@number("5.3")
@weight(0.4)
@visibility("after_published")
@pytest.mark.parametrize(("max_len", "n"), [(9, 10), (9, 20), (1, 4)])
def test_too_long_a_sequence(student, max_len, n):
    """A sequence longer than the table raises ValueError, one as long as the table fits"""
    theirs, ours, _ = learned(student, max_len, 6)
    agree(theirs, ours, draw("n d", n=max_len, d=6, dtype=torch.float32))
    raises(ValueError, theirs, draw("n d", n=n, d=6, dtype=torch.float32))
    for batch in (1, 2, (2, 3), (n, 1)):
        raises(ValueError, theirs, draw("batch n d", batch=batch, n=n, d=6, dtype=torch.float32))
    raises(ValueError, theirs.eval(), draw("n d", n=n, d=6, dtype=torch.float32))
    agree(theirs, ours, draw("n d", n=max_len, d=6, dtype=torch.float32))


@number("5.4")
@weight(0.2)
@visibility("after_published")
def test_the_only_parameter(student):
    """The table is the module's only parameter, and nothing else is in its state_dict"""
    theirs, _, table = learned(student, 12, 5)
    agree(theirs.parameters(), {"table": table})
    theirs.has_entries({"table": table})
    uses_weights(theirs, draw("n d", n=9, d=5))


@number("5.5")
@weight(0.2)
@visibility("after_published")
def test_gradients_of_the_table(student):
    """Gradients flow to X and to the table, in both modes, with any batch and length"""
    theirs, ours, _ = learned(student, 12, 6)
    X = draw("n d", n=9, d=6, dtype=torch.float32)
    agree(theirs, ours, X)
    gradients_agree(theirs, ours, X)
    gradients_agree(theirs, ours, 40 * X)
    for theirs, ours, tokens in combinations(student):
        gradients_agree(theirs, ours, tokens)


@number("5.6")
@weight(0.2)
@visibility("after_published")
def test_learned_dtype(student):
    """The result has the dtype of X, X is not changed, and the result is the same whatever came before"""
    theirs, ours, _ = learned(student, 11, 8)
    X = draw("n d", n=9, d=8)
    agree(theirs, ours, X)
    keeps_dtype(theirs, X)
    leaves_inputs(theirs, X)
    precise = student.LearnedPositions(11, 8)
    precise.load_state_dict({"table": draw("max_len d", max_len=11, d=8)})
    keeps_dtype(precise, X.float())
    other, its_ours, _ = learned(student, 5, 1)
    agree_in_turn(theirs, ours, [X], [draw("1 n d", n=11, d=8)], [X[:3]], [40 * X], [X.float()])
    agree(other, its_ours, draw("n d", n=4, d=1))
    agree(theirs, ours, X)
    agree(theirs.eval(), ours, X)
    twin, its_own, table = learned(student, 11, 8)  # another object of the same sizes is used in between
    agree(twin, its_own, X)
    agree(theirs, ours, X)
    theirs.load_state_dict({"table": table})  # and the table changes between two calls
    agree(theirs, its_own, X)
    precise, _, _ = learned(student, 11, 8, torch.float64)
    keeps_dtype(precise, X)
    for theirs, ours, tokens in combinations(student):
        agree(theirs, ours, tokens)
