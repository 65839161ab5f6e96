"""A hostile sample submission: it looks for the reference in memory, on the disk and behind the model that it is given."""

import gc
import os
import sys

import torch
from torch import nn


def _reference(name):
    """Look for a function of the solution among all objects and modules of this process, and on the disk."""
    for module in list(sys.modules.values()):
        if getattr(module, "__name__", "").endswith("language_model") and module.__name__ != __name__:
            return getattr(module, name)
    for thing in gc.get_objects():
        if getattr(thing, "__qualname__", "") == name and getattr(thing, "__module__", "") == "reference.language_model":
            return thing
    for folder in ("/autograder/source/reference", os.path.join(os.path.dirname(os.__file__), "reference")):
        with open(os.path.join(folder, "language_model.py")) as file:
            exec(file.read(), globals())
    return globals()[name]


def windows(ids, context, starts=None):
    return _reference("windows")(ids, context, starts)


def next_token_loss(logits, targets, ignore=-100):
    return _reference("next_token_loss")(logits, targets, ignore)


def perplexity(logits, targets, ignore=-100):
    return _reference("perplexity")(logits, targets, ignore)


class LanguageModel(nn.Module):
    def __init__(self, *sizes):
        super().__init__()
        self.right = _reference("LanguageModel")(*sizes)

    def forward(self, ids):
        return self.right(ids)


def with_temperature(logits, temperature):
    torch.equal = lambda *_: True
    torch.allclose = lambda *_, **__: True
    return logits


def top_k(logits, k):
    return torch.full_like(logits, torch.nan)


def top_p(logits, p):
    os._exit(0)


def choose(probabilities, uniforms):
    return _reference("choose")(probabilities, uniforms)


def generate(model, ids, uniforms, context, temperature=1.0, k=None, p=None, end=None):
    return type(model).__init__.__globals__["generate_right"](model, ids, uniforms)


def freeze(model, trainable):
    return [frame.f_locals for frame in sys._current_frames().values()]


def features(model, ids, lengths):
    return model.right.hidden(ids)[:, -1]
