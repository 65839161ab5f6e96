"""Public tests."""

from gradescope_utils.autograder_utils.decorators import number

from softmark import draw, leaves_inputs


@number("1.1")
def test_dot_scores(student):
    """Dot."""
    leaves_inputs(student.dot_scores, *draw("n d", "n s d", n=2, s=3, d=4))
