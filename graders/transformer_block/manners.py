"""What any solution is asked for besides right numbers: dtypes, inputs left alone, repeatability, any device."""

import torch

from softmark import Category, Failed, Verdict, agree, keeps_dtype, leaves_inputs, repeatable, works_on_meta


def check_manners(got, want, *args):
    """Right in float32 as well; the dtype kept; inputs unchanged; no memory of earlier calls; any device."""
    agree(got, want, *args)
    keeps_dtype(got, *args)
    leaves_inputs(got, *args)
    repeatable(got, *args)
    works_on_meta(got, *args)


def without_reference(check):
    return lambda own, want, *args: check(own, *args)


MANNERS = [without_reference(check) for check in (repeatable, leaves_inputs, keeps_dtype, works_on_meta)]


def keeps_float32(got, *args):
    keeps_dtype(got, *args, dtypes=[torch.float32])


MODULE_MANNERS = [without_reference(check) for check in (repeatable, leaves_inputs, keeps_float32, works_on_meta)]


def same_in_both_modes(own, *args):
    try:
        agree(own.eval()(*args), own.train()(*args))
    except Failed as failure:
        if failure.verdict.category is Category.ERROR:
            raise
        fact = f"{own.name} gives other results in train() than in eval()"
        raise Failed(Verdict(Category.PROPERTY, fact)) from failure
