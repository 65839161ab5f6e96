"""What a part that builds on earlier ones needs to be also right with the student's own: a mistake is charged once."""

from graders.lstm_gates.inputs import gate_values, step_inputs
from softmark import Failed, draw, inherited

STEP = ("gate_inputs", "gates", "next_state")


def earlier(student, *names):
    """The student's own versions of earlier parts."""
    return {name: getattr(student, name) for name in names}


def unless_inherited(student, check, own, *args):
    """Make a check; its failure counts unless a function of one step errs and fails it, too."""
    try:
        check(own, *args)
    except Failed:
        step = [step_inputs((5,), d=3, p=4, h=4), [draw("n h4", n=5, h4=12)], gate_values((5,), h=3)]
        if not any(inherited(check, getattr(student, name), *inputs) for name, inputs in zip(STEP, step, strict=True)):
            raise
