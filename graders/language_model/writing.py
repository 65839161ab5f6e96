"""Functions of the reference in a row, for worked examples: each takes a model's weights."""

from reference import language_model as ref
from softmark import numbers

SIZES = (5, 4, 4, 2, 1)
"""V, context, D, heads and blocks of the model in worked examples."""


def model_weights():
    """Return small numbers for every parameter of the model, by name."""
    shapes = {name: tuple(value.shape) for name, value in ref.LanguageModel(*SIZES).state_dict().items()}
    return {name: numbers(name, *shape) for name, shape in shapes.items()}


def _model(weights, dropout=0.0):
    model = ref.LanguageModel(*SIZES, dropout).double()
    model.load_state_dict(weights)
    return model


def written(weights, ids, uniforms, context, options):
    """Return what the model writes."""
    return ref.generate(_model(weights).eval(), ids, uniforms, context, **options)


def mode_after(weights, ids, uniforms, training):
    """Return the logits after writing. With a dropout of 1 they tell the mode."""
    model = _model(weights, dropout=1.0).train(training)
    ref.generate(model, ids, uniforms, 4)
    return model(ids)


def learning(trainable):
    """Return the names that are told after freezing, by the alphabet: models may make their layers in other orders."""
    return sorted(ref.freeze(ref.LanguageModel(*SIZES), trainable))


def described(weights, ids, lengths):
    """Return the features of some rows."""
    return ref.features(_model(weights).eval(), ids, lengths)
