"""Makes patch embeddings and vision transformers with given weights, the student's and the reference's."""

import torch

from reference import vision_transformer as ref
from softmark import Category, agree, draw, fail, gradients_agree

TWICE = ("in_proj_weight", "linear2.weight")
"""Weights that are drawn larger, so that tokens choose where they look, and the feed-forward network counts."""


def weights_of(name, *sizes):
    """Draw weights of order one for every parameter of a class of the reference, by name."""
    with torch.random.fork_rng():
        shapes = {key: value.shape for key, value in getattr(ref, name)(*sizes).state_dict().items()}
    drawn = {key: draw("shape", shape=shape) / max(1, shape[1:].numel()) ** 0.5 for key, shape in shapes.items()}
    return {key: 2 * value if key.endswith(TWICE) else value for key, value in drawn.items()}


def filled(module, weights):
    """Return the module with these weights, the reference's in their dtype, as a student's takes it by itself."""
    module.load_state_dict(weights, **{"assign": True} if isinstance(module, torch.nn.Module) else {})
    return module


def run_embedding(weights, images, *sizes):
    return filled(ref.PatchEmbedding(*sizes), weights)(images)


def run_transformer(weights, images, *sizes):
    return filled(ref.VisionTransformer(*sizes), weights)(images)


RUNS = {"PatchEmbedding": run_embedding, "VisionTransformer": run_transformer}


def check(student, name, sizes, weights, images):
    """Check that the student's module, made anew with these weights, gives the numbers of the reference's."""

    def run_own(weights, images, *sizes):
        return filled(getattr(student, name)(*sizes), weights)(images)

    agree(run_own, RUNS[name], weights, images, *sizes)


def checked_pair(student, name, sizes, images):
    """Return the student's module and the reference's with the same weights, once their numbers agree."""
    weights = weights_of(name, *sizes)
    check(student, name, sizes, weights, images)
    return filled(getattr(student, name)(*sizes), weights), filled(getattr(ref, name)(*sizes), weights)


def check_several(student, name, cases):
    """Check several modules that are used in turn, in both modes; their weights change between the calls."""
    pairs = [checked_pair(student, name, *case) for case in cases]
    for change, training in (0.0, True), (0.1, False):
        for (own, ours), (_, images) in zip(pairs, cases, strict=True):
            weights = {key: value + change for key, value in ours.state_dict().items()}
            for module in (own, ours):
                filled(module, weights).train(training)
            agree(own, ours, images)
    for (own, ours), (_, images) in zip(pairs, cases, strict=True):
        gradients_agree(own, ours, images)


def tensors_in(answer, *shapes):
    """Return the tensors of a student's answer; fail if it has others than tensors of these shapes."""
    values = tuple(answer) if isinstance(answer, tuple | list) else (answer,)
    if [tuple(getattr(value, "shape", ())) for value in values] != list(shapes):
        fail(Category.SHAPE, f"the answer does not consist of tensors of the shapes {' and '.join(map(str, shapes))}")
    return tuple(torch.as_tensor(value).detach().double() for value in values)
