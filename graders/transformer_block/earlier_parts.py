"""Each mistake is paid for once: what a later part takes from earlier ones, and what it is not charged for."""

import torch

from graders.transformer_block.inputs import EPS, narrowed
from reference import transformer_block as ref
from softmark import Answer, Category, Failed, agree, current_test, holds, inherited, keeps_dtype


def agree_unnamed(*args, **kwargs):
    """`agree` without looking for the mistake's name."""
    case = current_test()
    budget, case.budget = case.budget, 0.0
    try:
        agree(*args, **kwargs)
    finally:
        case.budget = budget


def earlier(student, *names):
    """The student's own earlier functions, each with the reference's in its place where it cannot be called."""
    return {name: OwnOrReference(getattr(student, name), getattr(ref, name)) for name in names}


class OwnOrReference:
    def __init__(self, own, reference):
        self.own, self.reference = own, reference

    def __call__(self, *args, **kwargs):
        return self.call(args, kwargs).value

    def call(self, args, kwargs):
        """What the student's function answers and does to its inputs, or what the reference answers."""
        try:
            return self.own.call(args, kwargs)
        except Failed:
            return Answer(self.reference(*args, **kwargs))


def charge(student, check, own, want, args, before):
    """Make a check(own, want, *args); its failure counts unless an earlier part that errs fails it, too.

    `before` lists the earlier parts: the name and the arguments to try it with.
    """
    try:
        check(own, want, *args)
    except Failed:
        if not any(is_to_blame(check, getattr(student, name), getattr(ref, name), given) for name, given in before):
            raise


def is_to_blame(check, own, want, args, make=lambda own: own):
    """Whether an earlier function, or what is made of an earlier class, errs and fails a check although it is right."""

    def check_if_right(own):
        made = make(own)
        if holds(agree_unnamed, made, want, *args):
            check(made, want, *args)

    return inherited(check_if_right, own)


def parts_1_and_2(X, p):
    """The earlier parts of a block, with arguments of its kind."""
    return [
        ("layer_norm", (X, p["gain1"], p["bias1"], EPS)),
        ("feed_forward", (X, p["W1"], p["b1"], p["W2"], p["b2"])),
    ]


def in_either_width(check, student, *given):
    """Run a check in float64, and once more in float32 where an error comes from a part 1 or 2 that knows no other."""
    try:
        check(student, *given)
    except Failed as failure:
        if failure.verdict.category is not Category.ERROR or keeps_float64(student):
            raise
        check(student, *narrowed(given))


def keeps_float64(student):
    return keeps(student, torch.float64)


def keeps(student, dtype):
    """Whether parts 1 and 2 give results of the dtype of their inputs; they do unless they err."""
    X, b = torch.eye(3, dtype=dtype), torch.ones(3, dtype=dtype)
    parts = (student.layer_norm, (X, b, b, EPS)), (student.feed_forward, (X, X, b, X, b))
    return not any(inherited(keeps_dtype, part, *given, dtypes=[dtype]) for part, given in parts)


def in_float32(student, value):
    """A value in float32, if parts 1 and 2 know that dtype."""
    return narrowed(value) if keeps(student, torch.float32) else value
