"""Makes modules of part 7, the student's and the reference's, with the same weights, and runs them."""

import torch

from graders.text_features.inputs import draw_ids
from reference import text_features as ref
from softmark import draw

SIZES = {
    "ordinary": {"size": 6, "d": 5, "h": 7, "n_out": 3},
    "one_output": {"size": 3, "d": 4, "h": 2, "n_out": 1},
    "one_word": {"size": 1, "d": 2, "h": 3, "n_out": 2},
    "one_feature": {"size": 4, "d": 1, "h": 5, "n_out": 2},
    "one_unit": {"size": 5, "d": 3, "h": 1, "n_out": 2},
    "all_alike": {"size": 4, "d": 4, "h": 4, "n_out": 4},
    "broad": {"size": 40, "d": 17, "h": 9, "n_out": 5},
}


def draw_weights(sizes, dtype=torch.float64):
    """Draw weights for every parameter, by name; PAD has a vector like any other id."""
    size, d, h, n_out = (sizes[name] for name in ("size", "d", "h", "n_out"))
    shapes = {
        "embedding.weight": (size + 4, d),
        "hidden.weight": (h, d),
        "hidden.bias": (h,),
        "output.weight": (n_out, h),
        "output.bias": (n_out,),
    }
    return {name: draw("shape", shape=shape, dtype=dtype) for name, shape in shapes.items()}


def draw_texts(size, batch=(2,), T=7):
    """Draw padded ids; if there are several texts, the last one of each batch has nothing but PAD."""
    ids = draw_ids(size, batch, T)
    if batch and batch[-1] > 1:
        ids[..., -1, :] = 0
    return ids


def loaded(network, weights):
    """Return the network with these weights, in their dtype. A student's network takes the dtype by itself."""
    if isinstance(network, torch.nn.Module):
        network.to(weights["hidden.bias"].dtype)
    network.load_state_dict(weights)
    return network


def pair(student, sizes, dtype=torch.float64):
    """Return the student's and the reference's network with the same random weights, and the weights."""
    weights = draw_weights(sizes, dtype)
    return loaded(student.AveragingNetwork(**sizes), weights), loaded(ref.AveragingNetwork(**sizes), weights), weights


def run(weights, ids, sizes):
    """Return the answer of the reference with these weights."""
    return loaded(ref.AveragingNetwork(**sizes), weights)(ids)


def own_runner(student):
    """Return `run` with the student's class."""

    def run_own(weights, ids, sizes):
        return loaded(student.AveragingNetwork(**sizes), weights)(ids)

    return run_own


def gradients(weights, ids, cotangent, sizes):
    """Return the gradient of every parameter of the reference, zeros if none reaches it."""
    network = loaded(ref.AveragingNetwork(**sizes), weights)
    answer = network(ids)
    if answer.requires_grad:  # it does not where nothing learns
        answer.backward(cotangent)
    return {name: _or_zero(value.grad, value) for name, value in network.named_parameters()}


def own_gradients(student):
    """Return `gradients` with the student's class."""

    def gradients_of_own(weights, ids, cotangent, sizes):
        network = loaded(student.AveragingNetwork(**sizes), weights)
        found = network.vjp((ids,), {}, cotangent).parameters
        return {name: _or_zero(found.get(name), value) for name, value in weights.items()}

    return gradients_of_own


def _or_zero(gradient, value):
    return torch.zeros_like(value) if gradient is None else gradient
