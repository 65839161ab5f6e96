"""Public tests: sequence to sequence. Run them with `softmark check`.

The numbers are in examples.json: small inputs, and the right answers to them. Some parts are compared with PyTorch as
well. The hidden tests look in more places; the handout says everything that they ask for.
"""

import math

import pytest
import torch
import torch.nn.functional as F
from gradescope_utils.autograder_utils.decorators import number
from torch import nn

from softmark import agree, draw, draw_integers, gradients_agree, keeps_dtype, leaves_inputs, lend, repeatable

LENGTHS = torch.tensor([2, 5, 1])


def step(tokens, state):
    """A model without weights for the searches: it reads the logits off a table, which stands in the state.

    A row of the state is a table (V, V), whose row t has the logits after token t. Then the rows of the table move on
    by t + 1 places and fade, so what comes later depends on all tokens so far and on their order.
    """
    V = math.isqrt(state.shape[1])
    table = state.view(-1, V, V)
    logits = table[torch.arange(len(tokens)), tokens % V]
    rows = (torch.arange(V) + tokens[:, None] + 1) % V
    return logits, 0.97 * table[torch.arange(len(tokens))[:, None], rows].flatten(1)


class WithoutPadding(nn.Module):
    """An encoder of PyTorch's own, for a batch in which all sentences have the same length."""

    def __init__(self, vocabulary, d_embedding, d_hidden):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, d_embedding)
        self.gru = nn.GRU(d_embedding, d_hidden, batch_first=True, bidirectional=True)

    def forward(self, tokens, lengths):
        outputs, h_n = self.gru(self.embedding(tokens))
        return outputs, torch.cat([h_n[0], h_n[1]], dim=1)


# Part 1: scores ---------------------------------------------------------------------------------------------


@number("1.1")
def test_dot_scores(student, example):
    """The dot products of a query with the states of its sentence."""
    example(student.dot_scores, "dot_scores")


@number("1.2")
@pytest.mark.parametrize("name", ["bilinear_scores", "bilinear_scores, equal widths"])
def test_bilinear_scores(student, example, name):
    """A matrix between query and state."""
    example(student.bilinear_scores, name)


@number("1.3")
def test_additive_scores(student, example):
    """A small network of query and state."""
    example(student.additive_scores, "additive_scores")


@number("1.4")
def test_scores_of_one_sentence(student):
    """A batch of one, a source of one token, features of one number: shapes, dtypes, and inputs that stay."""
    for n, s in (1, 4), (3, 1), (1, 1):
        query, states, W, W_q, W_x, v = draw("n d", "n s d", "d d", "3 d", "3 d", "3", n=n, s=s, d=1)
        assert tuple(student.dot_scores(query, states).shape) == (n, s)
        for function, weights in (student.bilinear_scores, (W,)), (student.additive_scores, (W_q, W_x, v)):
            keeps_dtype(function, query, states, *weights)
            leaves_inputs(function, query, states, *weights)
            agree(function(query, states, *weights)[:1, :1], function(query[:1], states[:1, :1], *weights))


# Part 2: context --------------------------------------------------------------------------------------------


@number("2.1")
@pytest.mark.parametrize("name", ["context", "context, padding", "context, an empty sentence", "context, large scores"])
def test_context(student, example, name):
    """Contexts and weights: all tokens real, with padding, for a sentence without tokens, for large scores."""
    example(student.context, name)


@number("2.2")
def test_context_manners(student):
    """The gradients of an empty sentence are finite, the dtype stays, and the inputs stay as they were."""
    scores, states = draw("n s", "n s c", n=3, s=5, c=1)
    keeps_dtype(student.context, scores, states, LENGTHS)
    leaves_inputs(student.context, scores, states, LENGTHS)
    found = student.context.vjp((scores, states, torch.tensor([2, 0, 5])), {}, (draw("n c", n=3, c=1), None))
    assert all(bool(gradient.isfinite().all()) for gradient in found.args[:2]), "a gradient is not finite"


# Part 3: Encoder --------------------------------------------------------------------------------------------


@number("3.1")
def test_encoder(student, example):
    """Sentences of three lengths, none of them as long as the batch is wide."""
    example(student.Encoder, "Encoder")


@number("3.2")
def test_encoder_and_library(student):
    """PyTorch's own GRU says the same of a batch without padding, and has the same gradients."""
    theirs, own = WithoutPadding(7, 4, 3).double(), student.Encoder(7, 4, 3)
    own.load_state_dict(theirs.state_dict())
    inputs = draw_integers(0, 7, "n s", n=2, s=5), torch.tensor([5, 5])
    agree(own, theirs, *inputs)
    gradients_agree(own, theirs, *inputs)


@number("3.3")
def test_encoder_ignores_padding(student):
    """Other ids in the padding change nothing."""
    own = student.Encoder(7, 4, 3)
    tokens = draw_integers(0, 7, "n s", n=3, s=5)
    padding = torch.arange(5) >= LENGTHS[:, None]
    agree(own(tokens.masked_fill(padding, 6), LENGTHS), own(tokens.masked_fill(padding, 0), LENGTHS))
    repeatable(own, tokens, LENGTHS)


# Part 4: Decoder --------------------------------------------------------------------------------------------


@number("4.1")
@pytest.mark.parametrize("name", ["Decoder", "Decoder, equal widths"])
def test_decoder(student, example, name):
    """Teacher forcing over a few steps."""
    example(student.Decoder, name)


@number("4.2")
def test_decoder_step_by_step(student):
    """`step`, taken once for each column, gives the logits of `forward`."""
    own = student.Decoder(7, 4, 3, 2)
    inputs, h, states = draw_integers(0, 7, "n t", n=3, t=4), *draw("n 3", "n s 2", n=3, s=5, dtype=torch.float32)
    together = own(inputs, h, states, LENGTHS)
    for t in range(4):
        logits, h = own.step(inputs[:, t], h, states, LENGTHS)
        agree(together[:, t], logits)
    leaves_inputs(own.step, inputs[:, 0].contiguous(), h, states, LENGTHS)


@number("4.3")
def test_decoder_begins_small(student):
    """A new W is spread between -1/√C and 1/√C."""
    W = student.Decoder(3, 2, 40, 25).parameters()["W"]
    assert 0.19 < float(W.abs().max()) <= 0.2, f"W begins with up to {float(W.abs().max()):.3g}, expected 0.2"
    assert float(W.min()) < -0.19, "W has no entries near -1/√C"
    assert 0.09 < float(W.abs().mean()) < 0.11, "W is not spread uniformly"


# Part 5: teacher_forced_loss --------------------------------------------------------------------------------


@number("5.1")
@pytest.mark.parametrize("of", ["all", "padding", "no id", "large logits", "nothing"])
def test_loss(student, example, of):
    """The mean over the real targets: without padding, with it, if pad is no id, of large logits, of nothing."""
    example(student.teacher_forced_loss, f"teacher_forced_loss, {of}")


@number("5.2")
def test_loss_and_library(student):
    """PyTorch's cross entropy says the same, and has the same gradients."""
    logits, targets = draw("n t v", n=3, t=4, v=5), draw_integers(0, 5, "n t", n=3, t=4)

    def theirs(logits, targets, pad):
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=pad)

    agree(student.teacher_forced_loss, theirs, logits, targets, 2)
    gradients_agree(student.teacher_forced_loss, theirs, logits, targets, 2)


# Part 6: greedy ---------------------------------------------------------------------------------------------


@number("6.1")
@pytest.mark.parametrize("name", ["greedy", "greedy, a batch", "greedy, equal logits"])
def test_greedy(student, example, name):
    """The likeliest token at every step: up to the limit, in a batch that ends sentence by sentence, on a tie."""
    example(student.greedy, name, step)


@number("6.2")
def test_greedy_stops(student):
    """Once all sentences have ended, `step` is not called again."""
    state = torch.zeros(2, 9, dtype=torch.float64)
    state[:, 2::3] = 1  # END is the likeliest token everywhere
    agree(student.greedy(lend(step, calls=1), state, 1, 2, 5), torch.tensor([[2], [2]]))


@number("6.3")
def test_greedy_manners(student):
    """The state stays as it was, and a second call gives the same."""
    given = lend(step, calls=5), draw("n h", n=3, h=16), 1, 2, 5
    leaves_inputs(student.greedy, *given)
    repeatable(student.greedy, *given)


# Part 7: beam_search ----------------------------------------------------------------------------------------


@number("7.1")
@pytest.mark.parametrize("of", ["some end", "none ends", "width 1", "a wide beam"])
def test_beam_search(student, example, of):
    """The best hypotheses: some end early, none ends, there is one of them, there are all of them."""
    example(student.beam_search, f"beam_search, {of}", step)


@number("7.2")
def test_beam_search_stops(student):
    """Once all hypotheses have ended, `step` is not called again."""
    state = torch.zeros(1, 9, dtype=torch.float64)
    state[:, 2::3] = 30  # END is all but certain after any token
    tokens, _ = student.beam_search(lend(step, calls=2), state, 1, 2, 3, 5)
    agree(tokens, torch.tensor([[2, 2], [0, 2], [1, 2]]))


@number("7.3")
def test_beam_search_manners(student):
    """The state stays as it was, and a second call gives the same."""
    given = lend(step, calls=5), draw("n h", n=1, h=16), 1, 2, 3, 5
    leaves_inputs(student.beam_search, *given)
    repeatable(student.beam_search, *given)
