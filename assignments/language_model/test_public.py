"""Public tests: a language model. Run them with `softmark check`.

The numbers are in examples.json: small inputs, and the right answers to them. The hidden tests look in more places; the
handout says everything that they ask for.
"""

import pytest
import torch
import torch.nn.functional as F
from gradescope_utils.autograder_utils.decorators import number

from softmark import (
    agree,
    causal,
    draw,
    draw_integers,
    gradients_agree,
    keeps_dtype,
    leaves_inputs,
    raises,
    repeatable,
)

SIZES = (5, 4, 4, 2, 1)
"""V, context, D, heads and blocks of a small model."""


def model_of(student, weights, dropout=0.0):
    """Return the student's model with these weights."""
    model = student.LanguageModel(*SIZES, dropout)
    model.load_state_dict(weights)
    return model


# Part 1: windows --------------------------------------------------------------------------------------------


@number("1.1")
@pytest.mark.parametrize("name", ["windows", "windows, one after the other", "windows, the last one does not fit"])
def test_windows(student, example, name):
    """Windows at given starts, and one after the other."""
    example(student.windows, name)


@number("1.2")
def test_windows_outside(student):
    """A window that reaches beyond the text raises ValueError."""
    ids = torch.arange(6)
    agree(student.windows(ids, 5), (ids[None, :5], ids[None, 1:]))
    for starts in ([2], [0, -1]):
        raises(ValueError, student.windows, ids, 4, torch.tensor(starts))
    raises(ValueError, student.windows, ids, 6)
    leaves_inputs(student.windows, ids, 2, torch.tensor([3, 0]))


# Part 2: next_token_loss, perplexity ------------------------------------------------------------------------


@number("2.1")
@pytest.mark.parametrize(
    "of", ["all targets", "some ignored", "an id ignored", "one row", "large logits", "none counts"]
)
def test_loss(student, example, of):
    """The mean over the targets that count."""
    example(student.next_token_loss, f"next_token_loss, {of}")


@number("2.2")
@pytest.mark.parametrize("name", ["perplexity", "perplexity, some ignored", "perplexity, none counts"])
def test_perplexity(student, example, name):
    """The exponential of the mean."""
    example(student.perplexity, name)


@number("2.3")
def test_loss_and_library(student):
    """PyTorch's cross entropy says the same, and has the same gradients."""
    logits, targets = draw("a b t v", a=2, b=3, t=4, v=5), draw_integers(0, 5, "a b t", a=2, b=3, t=4)

    def theirs(logits, targets, ignore):
        return F.cross_entropy(logits.flatten(0, -2), targets.flatten(), ignore_index=ignore)

    agree(student.next_token_loss, theirs, logits, targets, 2)
    gradients_agree(student.next_token_loss, theirs, logits, targets, 2)
    keeps_dtype(student.perplexity, logits, targets, 2)


# Part 3: LanguageModel --------------------------------------------------------------------------------------


@number("3.1")
@pytest.mark.parametrize("name", ["LanguageModel", "LanguageModel, two blocks"])
def test_model(student, example, name):
    """The logits of a small model with given weights."""
    example(student.LanguageModel, name)


@number("3.2")
def test_model_parameters(student):
    """The parameters that the handout names for the model itself; the head has none of its own."""
    shapes = {name: tuple(value.shape) for name, value in student.LanguageModel(*SIZES).parameters().items()}
    around = {name: shape for name, shape in shapes.items() if not name.startswith("blocks.0.")}
    assert around == {"embed.weight": (5, 4), "positions.weight": (4, 4), "norm.weight": (4,), "norm.bias": (4,)}
    assert len(shapes) == 16, f"there are {len(shapes)} parameters, expected 16: 4 and 12 of the block"
    table = student.LanguageModel(200, 4, 20, 2, 1).parameters()["embed.weight"]
    assert 0.015 < float(table.std()) < 0.025, f"the embedding starts with a spread of {float(table.std()):.2g}"


@number("3.3")
def test_model_is_causal(student):
    """Changing token t changes no logits before t."""
    model = student.LanguageModel(*SIZES).eval()
    causal(lambda scores: model(scores.argmax(-1)), draw("n t v", n=2, t=4, v=5))


@number("3.4")
def test_model_lengths(student):
    """Fewer tokens than the context, as many, and too many; in `hidden`, too."""
    model = student.LanguageModel(*SIZES)
    for t in 1, 4:
        assert tuple(model(draw_integers(0, 5, "2 3 t", t=t)).shape) == (2, 3, t, 5)
        assert tuple(model.hidden(draw_integers(0, 5, "t", t=t)).shape) == (t, 4)
    for method in model, model.hidden:
        raises(ValueError, method, draw_integers(0, 5, "2 5"))


@number("3.5")
def test_model_dropout(student):
    """With a dropout of 1 the block adds nothing in train(), and all it has in eval()."""
    ids = draw_integers(0, 5, "2 4")
    weights = {name: 1 + value for name, value in student.LanguageModel(*SIZES).state_dict().items()}
    silent, dropping = model_of(student, weights, 0.0), model_of(student, weights, 1.0)
    agree(dropping.eval()(ids), silent.train()(ids))
    nothing = {name: 0 * value if "blocks" in name else value for name, value in weights.items()}
    agree(dropping.train()(ids), model_of(student, nothing).eval()(ids))


# Part 4: with_temperature -----------------------------------------------------------------------------------


@number("4.1")
@pytest.mark.parametrize("of", ["2", "0.5", "0", "0 and ties", "large logits"])
def test_temperature(student, example, of):
    """Careful and bold temperatures, and 0."""
    example(student.with_temperature, f"with_temperature, {of}")


@number("4.2")
def test_temperature_manners(student):
    """A negative temperature raises ValueError; the dtype stays, and so do the inputs; -inf stays -inf."""
    logits = draw("n v", n=3, v=5)
    raises(ValueError, student.with_temperature, logits, -0.5)
    for temperature in 0, 0.7:
        keeps_dtype(student.with_temperature, logits, temperature)
        leaves_inputs(student.with_temperature, logits, temperature)
    blocked = torch.tensor([-torch.inf, 1.0, 3.0], dtype=torch.float64)
    agree(student.with_temperature(blocked, 2), torch.tensor([-torch.inf, -1.0, 0.0], dtype=torch.float64))


# Part 5: top_k, top_p ---------------------------------------------------------------------------------------


@number("5.1")
@pytest.mark.parametrize("of", ["1", "3", "2 and ties", "9"])
def test_top_k(student, example, of):
    """Exactly k tokens, or all."""
    example(student.top_k, f"top_k, {of}")


@number("5.2")
@pytest.mark.parametrize("of", ["0.7", "0.95", "0.6 and ties", "0", "1", "exactly"])
def test_top_p(student, example, of):
    """The likeliest tokens until their probabilities sum to p."""
    example(student.top_p, f"top_p, {of}")


@number("5.3")
def test_top_manners(student):
    """k = 0 and p above 1 raise ValueError; the dtype stays, and so do the inputs."""
    logits = draw("n v", n=3, v=5)
    for function, good, bad in (student.top_k, 2, 0), (student.top_p, 0.5, 1.1), (student.top_p, 0.5, -0.1):
        keeps_dtype(function, logits, good)
        leaves_inputs(function, logits, good)
        raises(ValueError, function, logits, bad)


# Part 6: choose, generate -----------------------------------------------------------------------------------


@number("6.1")
@pytest.mark.parametrize("name", ["choose", "choose, edges", "choose, a gap"])
def test_choose(student, example, name):
    """The token whose piece of [0, 1) holds the number; the edges of the pieces; a sum below 1."""
    example(student.choose, name)


@number("6.2")
@pytest.mark.parametrize("of", ["rows", "a context of 2", "temperature 0", "k and p", "END"])
def test_generate(student, example, of):
    """A small model writes on."""

    def written(weights, ids, uniforms, context, options):
        return student.generate(model_of(student, weights).eval(), ids, uniforms, context, **options)

    example(written, f"generate, {of}")


@number("6.3")
@pytest.mark.parametrize("mode", ["train", "eval"])
def test_generate_keeps_the_mode(student, example, mode):
    """Afterwards the model is in train() or eval() as before. With a dropout of 1 its logits tell."""

    def mode_after(weights, ids, uniforms, training):
        model = model_of(student, weights, 1.0).train(training)
        student.generate(model, ids, uniforms, 4)
        return model(ids)

    example(mode_after, f"generate, in {mode}()")


@number("6.4")
def test_generate_manners(student):
    """The inputs stay as they were, and a second call gives the same."""
    given = student.LanguageModel(*SIZES), draw_integers(0, 5, "3 2"), torch.rand(3, 4), 4
    leaves_inputs(student.generate, *given)
    repeatable(student.generate, *given)


# Part 7: freeze, features -----------------------------------------------------------------------------------


@number("7.1")
@pytest.mark.parametrize("name", ["freeze", "freeze, nothing"])
def test_freeze(student, example, name):
    """The names of the parameters that learn."""
    example(lambda trainable: sorted(student.freeze(student.LanguageModel(*SIZES), trainable)), name)


@number("7.2")
def test_freeze_lets_learn(student):
    """Named parameters have a gradient and all others have none, also when the model is frozen a second time."""
    model, ids = student.LanguageModel(*SIZES[:4], 2), draw_integers(0, 5, "2 4")
    for trainable in (["blocks.0"], ["norm.bias"], ["embed", "blocks.1.norm1"]):
        names = student.freeze(model, trainable)
        found = model.vjp((ids,), {}, draw("2 4 5", dtype=torch.float32)).parameters
        learning = [name for name in model.parameters() if found.get(name) is not None]
        assert learning == names, f"these learn: {', '.join(learning)}; these are told: {', '.join(names)}"
    for unknown in "blocks.7", "block":
        raises(ValueError, student.freeze, model, ["norm", unknown])


@number("7.3")
def test_features(student, example):
    """The vector of the last real token of each row."""

    def described(weights, ids, lengths):
        return student.features(model_of(student, weights).eval(), ids, lengths)

    example(described, "features")
