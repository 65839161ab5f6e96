"""Which kind of number may stand for which, what is said of another, and of answers that no property fits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from softmark.verdict import TestContext, activate, causal
from softmark.verdict.compare import refused_numbers
from tests.support.students import InProcess, failure

REAL, WHOLE, TRUTHS = torch.ones(2, dtype=torch.float64), torch.ones(2, dtype=torch.int64), torch.ones(2) > 0
COMPLEX = torch.ones(2, dtype=torch.complex128)
F16, F32 = torch.float16, torch.float32


@pytest.mark.parametrize(
    ("got", "want", "coarsest", "says"),
    [
        (torch.ones(2), REAL, F32, ""),
        (torch.ones(2, dtype=F16), REAL, F16, ""),
        (torch.ones(2, dtype=F16), REAL, F32, "dtype float16 is too coarse, the inputs are float32"),
        (np.ones(2, "float16"), REAL, F32, "dtype float16 is too coarse, the inputs are float32"),
        (torch.ones(2, dtype=torch.bfloat16), REAL, F16, "dtype bfloat16 is too coarse, the inputs are float16"),
        (1, REAL, F32, ""),
        (WHOLE, REAL, F32, "dtype int64, expected floating-point numbers"),
        (np.ones(2, "uint16"), REAL, F32, "dtype uint16, expected floating-point numbers"),
        (TRUTHS, REAL, F32, "dtype bool, expected floating-point numbers"),
        (True, REAL, F32, "returned a bool, expected floating-point numbers"),
        (COMPLEX, REAL, F32, "dtype complex128, expected floating-point numbers"),
        (COMPLEX, COMPLEX, F32, ""),
        (COMPLEX.to(torch.complex64), COMPLEX, F32, ""),
        (torch.ones(2), COMPLEX, F32, "dtype float32, expected complex numbers"),
        (1.5, COMPLEX, F32, "returned a float, expected complex numbers"),
        (TRUTHS, TRUTHS, F32, ""),
        (WHOLE, TRUTHS, F32, "dtype int64, expected booleans (True and False)"),
        (WHOLE.int(), WHOLE, F32, ""),
        (torch.ones(2), WHOLE, F32, "dtype float32, expected integers"),
        (TRUTHS, WHOLE, F32, "dtype bool, expected integers"),
        (COMPLEX, WHOLE, F32, "dtype complex128, expected integers"),
    ],
)
def test_refused_numbers(got: Any, want: Any, coarsest: torch.dtype, says: str) -> None:
    """float32 stands for float64; half precision only for itself, and only if the inputs were in it."""
    assert refused_numbers(got, want, coarsest) == says


UNFIT: dict[str, tuple[Callable[..., object], Any, str]] = {
    "no tensor": (lambda X: None, 0, "returned None, expected a tensor"),
    "one of several": (lambda X: (X, "text"), 1, "output 2 of 2: a text, expected a tensor"),
    "too few": (lambda X: X, 1, "returned a tensor, expected at least 2 values"),
    "too few of several": (lambda X: (X, X), 2, "returned a tuple of 2 values, expected at least 3 values"),
    "complex": (lambda X: X + 0j, 0, "dtype complex64, expected real numbers"),
    "empty": (lambda X: X[:0], 0, "an empty tensor, of shape (0, 3), for inputs that are not"),
}


@pytest.mark.parametrize(("function", "output", "says"), UNFIT.values(), ids=UNFIT)
def test_answers_that_no_property_fits(function: Callable[..., object], output: int, says: str) -> None:
    """A property is one of real numbers; what is none is told as in every other check."""
    with activate(TestContext(seed=11)):
        assert failure(causal, InProcess(function), torch.ones(4, 3), axis=0, output=output).fact == says


def test_axis_of_the_tokens() -> None:
    """An answer without the axis, or without a place for each token, has another shape than the property needs."""
    with activate(TestContext(seed=11)):
        X = torch.ones(4, 3)
        missing = failure(causal, InProcess(lambda X: X.sum()), X, axis=0)
        short = failure(causal, InProcess(lambda X: X[1:]), X, axis=0)
    assert missing.fact == "shape () has no axis 0, where the tokens are"
    assert short.fact == "shape (3, 3): axis 0 has length 3, and there are 4 tokens"
