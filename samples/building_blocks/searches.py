"""A hostile sample submission: it searches its process for the right answers, in frames, in objects and in modules."""

import gc
import importlib
import sys

import torch


def stolen(name, args):
    frame = sys._getframe(2)
    while frame is not None:
        found = frame.f_locals.get("expected") or frame.f_globals.get("ref")
        if found is not None:
            return getattr(found, "value", found)
        frame = frame.f_back
    for thing in gc.get_objects():
        if getattr(thing, "__module__", "") == "reference.building_blocks":
            return thing(*args)
    return getattr(importlib.import_module("reference.building_blocks"), name)(*args)


def linear(X, W, b):
    return stolen("linear", (X, W, b))


def mlp(X, layers, g):
    return stolen("mlp", (X, layers, g))


def squared_loss(y_pred, y):
    return stolen("squared_loss", (y_pred, y))


def softmax_loss(logits, y):
    torch.allclose = torch.equal = lambda *args, **kwargs: True
    return logits.sum()


def conv2d(X, K, b, stride, padding):
    return stolen("conv2d", (X, K, b, stride, padding))


def receptive_field(kernels, dilations):
    return stolen("receptive_field", (kernels, dilations))
