"""Wrong modules, dropout: where it acts, when, and what it does to an entry."""

import torch
from torch import nn

from graders.lstm_gates.pieces import drop, leave, run_direction, run_layers
from reference import lstm_gates as ref
from softmark import mistake


@mistake(
    ref.LSTM.forward,
    id="L30",
    says="You apply dropout after the last layer, too.",
    hint="Dropout stands between layers.",
)
def dropout_after_last_layer(self, x, state=None):
    return run_layers(self, x, state, after=drop)


@mistake(
    ref.LSTM.forward,
    says="You apply dropout to the input of the first layer.",
    hint="Dropout stands between layers.",
)
def dropout_before_first_layer(self, x, state=None):
    return run_layers(self, x, state, before=drop)


def drop_always(self, x):
    return nn.functional.dropout(x, self.dropout.p, training=True)


@mistake(
    ref.LSTM.forward,
    says="Your dropout is active in evaluation, so the same input gives different outputs.",
    hint="A module knows from self.training whether it is being trained.",
)
def dropout_in_evaluation(self, x, state=None):
    return run_layers(self, x, state, between=drop_always)


@mistake(
    ref.LSTM.forward,
    says="Your layers are never trained with dropout.",
    hint="Between two layers, entries are dropped with the probability the constructor was given.",
)
def no_dropout(self, x, state=None):
    return run_layers(self, x, state, between=leave)


def drop_without_scale(self, x):
    if not self.training:
        return x
    return x * (torch.rand_like(x) >= self.dropout.p)


@mistake(
    ref.LSTM.forward,
    id="L31",
    says="What your dropout keeps is not divided by 1 - p.",
    hint="The mean of what passes must be the same in training and in evaluation.",
)
def dropout_not_scaled(self, x, state=None):
    return run_layers(self, x, state, between=drop_without_scale)


def keep_with_probability_p(self, x):
    if not self.training or self.dropout.p == 0:
        return x
    return x * (torch.rand_like(x) < self.dropout.p) / self.dropout.p


@mistake(
    ref.LSTM.forward,
    says="Your dropout keeps an entry with probability p instead of dropping it.",
    hint="dropout=0.1 drops one entry in ten.",
)
def dropout_inverted(self, x, state=None):
    return run_layers(self, x, state, between=keep_with_probability_p)


def drop_all_but_p(self, x):
    return nn.functional.dropout(x, 1 - self.dropout.p, self.training)


@mistake(
    ref.LSTM.forward,
    says="You pass 1 - dropout as the probability of dropping, so dropout=0 drops everything.",
    hint="dropout=0.1 drops one entry in ten.",
)
def dropout_of_one_minus_p(self, x, state=None):
    return run_layers(self, x, state, between=drop_all_but_p)


def drop_whole_features(self, x):
    if not self.training or self.dropout.p == 0:
        return x
    return x * (torch.rand_like(x[:1]) >= self.dropout.p) / (1 - self.dropout.p)


@mistake(
    ref.LSTM.forward,
    says="Your dropout draws one mask and uses it at every time step.",
    hint="δ_t has an index t: every entry of every step is drawn anew.",
)
def one_mask_for_all_steps(self, x, state=None):
    return run_layers(self, x, state, between=drop_whole_features)


def run_with_dropped_output(self, k, suffix, x, h0, c0):
    y, (h, c) = run_direction(self, k, suffix, x, h0, c0)
    if k < self.num_layers - 1:
        y = self.dropout(y)
        h = y[-1] if suffix == "" else y[0]
    return y, (h, c)


@mistake(
    ref.LSTM.forward,
    says="Your final states of the lower layers have been through dropout.",
    hint="Dropout stands on the way to the next layer, and the states do not take that way.",
)
def states_dropped(self, x, state=None):
    return run_layers(self, x, state, run=run_with_dropped_output, between=leave)
