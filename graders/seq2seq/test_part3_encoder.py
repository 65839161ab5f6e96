"""Hidden tests of part 3: the encoder. First sentences of one length, then padding, then how it behaves."""

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.seq2seq.inputs import some_ids
from graders.seq2seq.modules import both, loaded, random_weights, sentences, tensors_of
from reference import seq2seq as ref
from softmark import (
    agree,
    agree_in_turn,
    confirm_reference,
    gradients_agree,
    keeps_dtype,
    leaves_inputs,
    repeatable,
    to_float32,
    uses_weights,
    without_values,
    works_on_meta,
)

FULL = [(3, 5, 7, 4, 6), (1, 4, 5, 3, 2), (4, 1, 6, 2, 3), (3, 3, 3, 3, 3), (2, 6, 1, 1, 1), (2, 40, 5, 2, 3)]
PADDED = [(3, 5, 7, 4, 6), (2, 7, 5, 3, 2), (4, 4, 4, 4, 4), (5, 3, 6, 2, 1), (2, 3, 9, 1, 2), (2, 100, 5, 2, 2)]
"""N, S, V, D and H."""


def run_encoder(weights, tokens, lengths, *sizes):
    return loaded(ref.Encoder(*sizes), weights)(tokens, lengths)


def run_one_by_one(weights, tokens, lengths, *sizes):
    """Encode each sentence by itself, without padding."""
    states, last = torch.zeros(*tokens.shape, 2 * sizes[2]).double(), []
    for n, length in enumerate(lengths.tolist()):
        alone, its_last = run_encoder(weights, tokens[n : n + 1, :length], lengths[n : n + 1], *sizes)
        states[n, :length] = alone[0]
        last.append(its_last[0])
    return states, torch.stack(last)


def states_of(answer):
    """Return the states of an answer (states, last); an answer of another form stays as it is."""
    return answer[0] if isinstance(answer, tuple | list) and len(answer) == 2 else answer


def check_states(student, tokens, lengths, *sizes):
    """Check that the student's encoder gives the reference's states."""
    given = random_weights(ref.Encoder, *sizes), tokens, lengths, *sizes

    def run_own(weights, tokens, lengths, *sizes):
        return states_of(loaded(student.Encoder(*sizes), weights)(tokens, lengths))

    confirm_reference(lambda: run_encoder(*given), lambda: run_one_by_one(*given), "sentences one by one")
    agree(run_own, lambda *given: run_encoder(*given)[0], *given)


def padded_or_full(n, s, v, *, full):
    return (some_ids(v, n, s), torch.full((n,), s)) if full else sentences(n, s, v)


@number("3.1")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize("sizes", [(7, 4, 6), (3, 5, 2)])
def test_encoder_parameters(student, sizes):
    """The parameters of the handout by name and shape."""
    own = student.Encoder(*sizes)
    expected = without_values(ref.Encoder(*sizes).state_dict())
    own.has_entries(expected)
    agree(without_values(own.parameters()), expected)
    uses_weights(own, *sentences(2, 3, sizes[0]))


@number("3.2")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize("sizes", FULL, ids=str)
def test_states_without_padding(student, sizes):
    """Every token is real: the states of both directions, side by side."""
    n, s, v, *widths = sizes
    check_states(student, *padded_or_full(n, s, v, full=True), v, *widths)


@number("3.3")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize("sizes", PADDED, ids=str)
def test_states_with_padding(student, sizes):
    """Each direction reads the real tokens only, and the states of the padding are 0."""
    n, s, v, *widths = sizes
    check_states(student, *padded_or_full(n, s, v, full=False), v, *widths)


@number("3.4")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize(
    ("full", "sizes"), [*((True, sizes) for sizes in FULL), *((False, sizes) for sizes in PADDED)], ids=str
)
def test_last_of_the_own_states(student, full, sizes):
    """The last state is the forward half after the last real token, and the backward half after the first token."""
    n, s, v, _, h = sizes
    tokens, lengths = padded_or_full(n, s, v, full=full)
    own = loaded(student.Encoder(*sizes[2:]), random_weights(ref.Encoder, *sizes[2:]))
    states, last = tensors_of(own(tokens, lengths), (n, s, 2 * h), (n, 2 * h))
    uses_weights(own, tokens, lengths)
    agree(last, torch.cat([states[torch.arange(n), lengths - 1, :h], states[:, 0, h:]], dim=1))


@number("3.5")
@weight(0.25)
@visibility("after_published")
@pytest.mark.parametrize("lengths", [(2, 4, 1), (3, 3, 3), (1, 1, 1), (5, 2, 4)])
def test_encoder_ignores_padding(student, lengths):
    """Other ids in the padding, or more of it, change nothing."""
    tokens, lengths = some_ids(9, 3, 5), torch.tensor(lengths)
    padding = torch.arange(5) >= lengths[:, None]
    own, ours = both(student, "Encoder", 9, 3, 2)
    states, last = tensors_of(own(tokens, lengths), (3, 5, 4), (3, 4))
    uses_weights(own, tokens, lengths)
    own.load_state_dict(ours.state_dict())
    agree(states[padding], 0 * states[padding])
    for id_of_padding in (0, 8):
        agree(own(tokens.masked_fill(padding, id_of_padding), lengths), (states, last))
    longer = torch.cat([tokens, some_ids(9, 3, 4)], dim=1)
    agree(own(longer, lengths), (torch.cat([states, torch.zeros(3, 4, 4).double()], dim=1), last))


@number("3.6")
@weight(0.25)
@visibility("after_published")
def test_encoder_conduct(student):
    """Gradients reach every parameter; dtype, device and mode do not matter, and any calls may come before."""
    sizes = 7, 4, 3
    own, ours = both(student, "Encoder", *sizes)
    inputs = sentences(3, 5, 7)
    agree(own, ours, *inputs)
    for call in (inputs, sentences(1, 1, 7), sentences(4, 3, 7)):
        gradients_agree(own, ours, *call)
    for check in (repeatable, leaves_inputs, works_on_meta):
        check(own, *inputs)
    other_lengths = inputs[0], torch.tensor([1, 5, 2])
    agree_in_turn(own, ours, inputs, sentences(4, 8, 7), sentences(1, 1, 7), sentences(3, 5, 7), other_lengths)
    agree(own.eval(), ours.eval(), *inputs)
    agree(own.train(), ours.train(), *inputs)
    single = random_weights(ref.Encoder, *sizes)
    for weights in (to_float32(single), {name: 40 * value for name, value in single.items()}):
        agree(loaded(own, weights), loaded(ours, weights), *inputs)
        gradients_agree(own, ours, *inputs)
    keeps_dtype(loaded(own, to_float32(single)), *inputs, dtypes=(torch.float32,))
    keeps_dtype(loaded(own, single), *inputs, dtypes=(torch.float64,))
    twin = both(student, "Encoder", *sizes)
    for pair in (twin, (own, loaded(ours, single)), twin):
        agree(*pair, *inputs)
