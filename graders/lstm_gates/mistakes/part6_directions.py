"""Wrong modules, the two directions: the way back through time, its weights, its states and its half of the output."""

import torch

from graders.lstm_gates.pieces import parameters_of, run_direction, run_layers
from reference import lstm_gates as ref
from softmark import mistake


def row_of_layer(self, k, suffix):
    return k


@mistake(
    ref.LSTM.forward,
    says="Both directions of your layer k start from row k of the initial state.",
    hint="The two directions of a layer have a row each.",
)
def same_start_for_both_directions(self, x, state=None):
    return run_layers(self, x, state, row=row_of_layer)


def run_backward_over_the_batch(self, k, suffix, x, h0, c0):
    if suffix == "":
        return run_direction(self, k, suffix, x, h0, c0)
    y, state = ref.lstm(x.flip(1), h0, c0, *parameters_of(self, k, suffix))
    return y.flip(1), state


@mistake(
    ref.LSTM.forward,
    says="Your backward direction turns the batch round instead of time.",
    hint="x is (T, N, D): which axis is time?",
)
def batch_turned_round(self, x, state=None):
    return run_layers(self, x, state, run=run_backward_over_the_batch)


def run_backward_unturned(self, k, suffix, x, h0, c0):
    if suffix == "":
        return run_direction(self, k, suffix, x, h0, c0)
    return ref.lstm(x.flip(0), h0, c0, *parameters_of(self, k, suffix))


@mistake(
    ref.LSTM.forward,
    id="L34",
    says="You did not turn the backward direction's outputs round again: output[t] holds another step's.",
    hint="The backward half of output[t] has seen x[t] and everything after it.",
)
def backward_outputs_not_turned(self, x, state=None):
    return run_layers(self, x, state, run=run_backward_unturned)


def run_both_forward(self, k, suffix, x, h0, c0):
    return ref.lstm(x, h0, c0, *parameters_of(self, k, suffix))


@mistake(
    ref.LSTM.forward,
    says="Your backward direction reads the sequence forward.",
    hint="The backward direction starts with the last step of x.",
)
def both_directions_forward(self, x, state=None):
    return run_layers(self, x, state, run=run_both_forward)


def run_with_last_output_as_state(self, k, suffix, x, h0, c0):
    y, (_, c) = run_direction(self, k, suffix, x, h0, c0)
    return y, (y[-1], c)


@mistake(
    ref.LSTM.forward,
    id="L35",
    says="Your backward direction's final h is its output at the last step of x, where it has just begun.",
    hint="The backward direction is done when it has read x[0].",
)
def backward_state_at_wrong_end(self, x, state=None):
    return run_layers(self, x, state, run=run_with_last_output_as_state)


def run_backward_with_forward_weights(self, k, suffix, x, h0, c0):
    if suffix == "":
        return run_direction(self, k, suffix, x, h0, c0)
    y, state = ref.lstm(x.flip(0), h0, c0, *parameters_of(self, k, ""))
    return y.flip(0), state


@mistake(
    ref.LSTM.forward,
    says="Your backward direction uses the weights of the forward one.",
    hint="The parameters whose names end in _reverse belong to the backward direction.",
)
def backward_uses_forward_weights(self, x, state=None):
    return run_layers(self, x, state, run=run_backward_with_forward_weights)


def backward_first(halves):
    return torch.cat(halves[::-1], dim=-1)


@mistake(
    ref.LSTM.forward,
    says="You put the backward half of the output before the forward half.",
    hint="Forward comes first.",
)
def halves_exchanged(self, x, state=None):
    return run_layers(self, x, state, join=backward_first)
