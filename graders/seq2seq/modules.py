"""Makes encoders and decoders with given weights, the student's and the reference's."""

import torch

from graders.seq2seq.inputs import some_ids, some_lengths
from reference import seq2seq as ref
from softmark import Category, draw, fail


def random_weights(cls, *sizes):
    """Draw weights of order one for every parameter of a class of the reference, by name."""
    shapes = {name: tuple(value.shape) for name, value in cls(*sizes).state_dict().items()}
    return {name: draw("shape", shape=shape) / max(1, shape[-1]) ** 0.5 for name, shape in shapes.items()}


def loaded(module, weights):
    """Return the module with these weights, in their dtype. A student's module takes the dtype by itself."""
    if isinstance(module, torch.nn.Module):
        module.load_state_dict(weights, assign=True)
    else:
        module.load_state_dict(weights)
    return module


def both(student, name, *sizes, weights=None):
    """Return the student's module and the reference's with the same weights."""
    cls = getattr(ref, name)
    weights = weights or random_weights(cls, *sizes)
    return loaded(getattr(student, name)(*sizes), weights), loaded(cls(*sizes), weights)


def sentences(n, s, vocab_size):
    """Draw tokens and lengths of sources."""
    return some_ids(vocab_size, n, s), some_lengths(n, s)


def decoder_inputs(n, s, vocab_size, hidden_size, states_size):
    """Draw the tokens, the state, the encoder's states and the lengths of a step of the decoder."""
    h, states = draw("n h", "n s c", n=n, s=s, h=hidden_size, c=states_size)
    return some_ids(vocab_size, n), h, states, some_lengths(n, s)


def tensors_of(answer, *shapes):
    """Return the tensors of a student's answer; fail if there are others than tensors of these shapes."""
    values = answer if isinstance(answer, tuple | list) else (answer,)
    if [tuple(getattr(value, "shape", ())) for value in values] != list(shapes):
        expected = " and ".join(map(str, shapes))
        fail(Category.SHAPE, f"the answer does not consist of tensors of the shapes {expected}")
    return tuple(torch.as_tensor(value).double() for value in values)
