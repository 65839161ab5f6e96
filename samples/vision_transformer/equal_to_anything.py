"""A hostile sample submission: its answers are tensors that claim to be close to everything, and it looks for the tests."""

import gc
import os

import torch
from torch import nn


class Agreeable(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        if function.__name__ in ("allclose", "equal", "__eq__", "isclose"):
            return True
        return super().__torch_function__(function, types, args, kwargs or {})


def answer(*args, **kwargs):
    for folder in ("/autograder/source/reference", "reference", "graders/vision_transformer"):
        if os.path.isdir(folder):
            return open(os.path.join(folder, os.listdir(folder)[0])).read()
    found = [thing for thing in gc.get_objects() if getattr(thing, "__module__", "") == "reference.vision_transformer"]
    return found[0](*args, **kwargs) if found else torch.zeros(1).as_subclass(Agreeable)


patches = unpatch = image_attention = resize_positions = similarity = answer


class PatchEmbedding(nn.Module):
    def __init__(self, *sizes):
        super().__init__()

    def forward(self, images):
        return answer(images)


class VisionTransformer(PatchEmbedding):
    pass
