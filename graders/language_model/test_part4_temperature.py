"""Hidden tests of part 4: temperature."""

import pytest
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.language_model.inputs import with_blocked
from reference import language_model as ref
from softmark import agree, agree_in_turn, draw, raises, well_behaved

SHAPES = [(5,), (3, 7), (2, 3, 4), (4, 1), (1, 2), (4, 4)]


@number("4.1")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize("temperature", [1, 0.7, 2.5, 0.001, 1000])
def test_temperature(student, temperature):
    """The logits divided by the temperature, with 0 for the largest of each row."""
    for shape in SHAPES:
        agree(student.with_temperature, ref.with_temperature, 2 * draw("shape", shape=shape), temperature)


@number("4.2")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_temperature_of_zero(student, shape):
    """At 0 only the likeliest token stays; of several, the one with the smallest id."""
    logits = draw("shape", shape=shape)
    for own in (logits, logits.round(), 0 * logits, -logits):
        agree(student.with_temperature, ref.with_temperature, own, 0)
    agree(student.with_temperature, ref.with_temperature, logits, 0.0)


@number("4.3")
@weight(0.25)
@visibility("after_published")
def test_negative_temperature(student):
    """A negative temperature raises ValueError."""
    logits = draw("a b", a=2, b=5)
    agree(student.with_temperature, ref.with_temperature, logits, 0.5)
    for temperature in (-1, -0.5, -1e-3, -100.0):
        raises(ValueError, student.with_temperature, logits, temperature)


@number("4.4")
@weight(0.5)
@visibility("after_published")
def test_temperature_conduct(student):
    """Logits up to ±1000 and of -inf are right, in float32, too; inputs stay, and any calls may come before."""
    own, ours = student.with_temperature, ref.with_temperature
    logits, token, longer = 2 * draw("2 5"), draw("3 1"), draw("2 3 8")
    for temperature in (0, 0.8):
        for large in (500 * logits.clamp(-2, 2), 900 + logits, logits.roll(1) - 900):
            agree(own, ours, large, temperature)
            agree(own, ours, large.float(), temperature)
        agree(own, ours, with_blocked(logits), temperature)
        agree(own, ours, with_blocked(logits).flip(-1).contiguous(), temperature)
        well_behaved(own, ours, logits, temperature)
        agree_in_turn(own, ours, (logits, temperature), (longer, 0.5), (token, 2), (longer, 0), (draw("2 5"), 1.5))
