"""Checks of a block that need no reference: the dtype, inputs left alone, repeatability, any device, both modes."""

import torch

from softmark import Category, Failed, agree, fail, keeps_dtype, leaves_inputs, repeatable, works_on_meta

MANNERS = (keeps_dtype, repeatable, leaves_inputs, works_on_meta)


def keeps_float32(got, *args):
    keeps_dtype(got, *args, dtypes=[torch.float32])


MODULE_MANNERS = (repeatable, leaves_inputs, keeps_float32, works_on_meta)


def same_in_both_modes(own, *args):
    try:
        agree(own.eval()(*args), own.train()(*args))
    except Failed as failure:
        if failure.verdict.category is Category.ERROR:
            raise
        fail(Category.PROPERTY, f"{own.name} gives other results in train() than in eval()")
