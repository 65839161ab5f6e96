"""Charges a mistake once: a part that builds on earlier ones is also right with the student's own."""

from graders.lstm_gates.inputs import gate_values, step_inputs
from softmark import draw

STEP = ("gate_inputs", "gates", "next_state")


def earlier(student, *names):
    """Return the student's own versions of earlier parts, by name."""
    return {name: getattr(student, name) for name in names}


def step_with_inputs(student):
    """Yield the student's functions of one step, each with inputs to check it with."""
    yield student.gate_inputs, *step_inputs((5,), d=3, p=4, h=4)
    yield student.gates, draw("n h4", n=5, h4=12)
    yield student.next_state, *gate_values((5,), h=3)
