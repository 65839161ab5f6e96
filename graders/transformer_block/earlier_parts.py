"""Charges a mistake once: a part that builds on earlier ones is also right with the student's own."""

import torch

from graders.transformer_block.inputs import EPS
from reference import transformer_block as ref
from softmark import Answer, Category, Failed, agree, holds, inherited, keeps_dtype, to_float32


def earlier(student, *names):
    """Return the student's own earlier functions; the reference's answers where one cannot be called."""
    return {name: OwnOrReference(getattr(student, name), getattr(ref, name)) for name in names}


class OwnOrReference:
    def __init__(self, own, reference):
        self.own, self.reference = own, reference

    def __call__(self, *args, **kwargs):
        return self.call(args, kwargs).value

    def call(self, args, kwargs):
        """Return what the student's function answers and does to its inputs, or what the reference answers."""
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
    """Return whether an earlier function, or what is made of an earlier class, errs and fails a check.

    Only a failure with right numbers counts: wrong numbers are judged elsewhere.
    """

    def check_if_right(own):
        made = make(own)
        if holds(agree, made, want, *args):
            check(made, want, *args)

    return inherited(check_if_right, own)


def parts_1_and_2(X, p):
    """Return the earlier parts of a block, with arguments of its kind."""
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
        check(student, *to_float32(given))


def keeps_float64(student):
    return keeps(student, torch.float64)


def keeps(student, dtype):
    """Return whether parts 1 and 2 give results of the dtype of their inputs; they do unless they err."""
    X, b = torch.eye(3, dtype=dtype), torch.ones(3, dtype=dtype)
    parts = (student.layer_norm, (X, b, b, EPS)), (student.feed_forward, (X, X, b, X, b))
    return not any(inherited(keeps_dtype, part, *given, dtypes=[dtype]) for part, given in parts)


def in_float32(student, value):
    """Return the value in float32, if parts 1 and 2 know that dtype."""
    return to_float32(value) if keeps(student, torch.float32) else value
