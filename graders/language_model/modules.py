"""Makes language models with given weights, the student's and the reference's, and runs what takes a model."""

from functools import cache

from torch import nn

from reference import language_model as ref
from softmark import draw

SMALL = (7, 6, 8, 2, 2)
TINY = (5, 6, 4, 2, 1)
"""V, context, D, heads and blocks of an ordinary model, and of one for tests that ask often."""


@cache
def shapes(*sizes):
    return {name: tuple(value.shape) for name, value in ref.LanguageModel(*sizes).state_dict().items()}


def random_weights(*sizes):
    """Draw weights for every parameter of a model, by name: of order one, the gains around 1."""
    drawn = {name: draw("shape", shape=shape) / shape[-1] ** 0.5 for name, shape in shapes(*sizes[:5]).items()}
    return {name: 1 + value if _is_gain(name) else value for name, value in drawn.items()}


def _is_gain(name):
    return name.endswith(("norm.weight", "norm1.weight", "norm2.weight"))


def loaded(module, weights, training=False):
    """Return the module with these weights, in their dtype and in a mode."""
    if isinstance(module, nn.Module):
        module.load_state_dict(weights, strict=False, assign=True)  # a mistake may have added a parameter
    else:
        module.load_state_dict(weights)
    return module.train(training)


def run_model(weights, sizes, ids, training=False):
    """Return the reference's logits."""
    return loaded(ref.LanguageModel(*sizes), weights, training)(ids)


def run_hidden(weights, sizes, ids, training=False):
    """Return the reference's vectors before the head."""
    return loaded(ref.LanguageModel(*sizes), weights, training).hidden(ids)


def run_generate(weights, sizes, *given, **options):
    """Return what the reference writes with its own model."""
    return ref.generate(loaded(ref.LanguageModel(*sizes), weights), *given, **options)


def run_generate_and_read(weights, sizes, training, ids, *given):
    """Return what the reference writes, and the logits of its model afterwards."""
    model = loaded(ref.LanguageModel(*sizes), weights, training)
    return ref.generate(model, ids, *given), model(ids)


def run_features(weights, sizes, ids, lengths, training=False):
    """Return the reference's features with its own model."""
    return ref.features(loaded(ref.LanguageModel(*sizes), weights, training), ids, lengths)


class Own:
    """The same runs with the student's functions and the student's model."""

    def __init__(self, student):
        self.student = student

    def model(self, weights, sizes, training=False):
        return loaded(self.student.LanguageModel(*sizes), weights, training)

    def whole_model(self, weights, sizes, training=False):
        """Return the student's model. Raise Failed if it has other parameters: its logits would be random."""
        own = self.model(weights, sizes, training)
        if own.parameters().keys() != weights.keys():
            own.has_entries(weights)
        return own

    def run_model(self, weights, sizes, ids, training=False):
        return self.whole_model(weights, sizes, training)(ids)

    def run_hidden(self, weights, sizes, ids, training=False):
        return self.model(weights, sizes, training).hidden(ids)

    def run_generate(self, weights, sizes, *given, **options):
        return self.student.generate(self.model(weights, sizes), *given, **options)

    def run_generate_and_read(self, weights, sizes, training, ids, *given):
        model = self.model(weights, sizes, training)
        return self.student.generate(model, ids, *given), model(ids)

    def run_features(self, weights, sizes, ids, lengths, training=False):
        return self.student.features(self.model(weights, sizes, training), ids, lengths)
