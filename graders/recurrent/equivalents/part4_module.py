"""Other right modules: their parameters, states and dropout made by other means."""

import math

import torch
from torch import nn

from reference import recurrent as ref
from softmark import equivalent


@equivalent(ref.RNN)
class FlippedSequences(nn.Module):
    """Parameters by setattr, the backward direction by turning the sequence round, part 2 for tanh."""

    def __init__(
        self,
        input_size,
        hidden_size,
        num_layers=1,
        nonlinearity="tanh",
        batch_first=False,
        dropout=0.0,
        bidirectional=False,
    ):
        super().__init__()
        if nonlinearity not in {"tanh", "relu"}:
            raise ValueError("unknown non-linearity")
        self.H, self.L, self.R = hidden_size, num_layers, 2 if bidirectional else 1
        self.relu, self.batch_first, self.p = nonlinearity == "relu", batch_first, dropout
        for layer in range(self.L):
            width = input_size if layer == 0 else self.R * self.H
            for end in (f"_l{layer}", f"_l{layer}_reverse")[: self.R]:
                setattr(self, "weight_ih" + end, nn.Parameter(torch.zeros(self.H, width)))
                setattr(self, "weight_hh" + end, nn.Parameter(torch.zeros(self.H, self.H)))
                setattr(self, "bias_ih" + end, nn.Parameter(torch.zeros(self.H)))
                setattr(self, "bias_hh" + end, nn.Parameter(torch.zeros(self.H)))
        for parameter in self.parameters():
            nn.init.uniform_(parameter, -(self.H**-0.5), self.H**-0.5)

    def scan(self, x, h, W_ih, W_hh, b_ih, b_hh):
        if not self.relu:
            return ref.rnn(x, h, W_ih, W_hh, b_ih + b_hh)
        outputs = []
        for x_t in x:
            h = (x_t @ W_ih.T + h @ W_hh.T + (b_ih + b_hh)).clamp(min=0)
            outputs.append(h)
        return torch.stack(outputs), h

    def forward(self, x, h0=None):
        x = x.permute(1, 0, 2) if self.batch_first else x
        if h0 is None:
            h0 = torch.zeros(self.L * self.R, x.size(1), self.H, dtype=x.dtype, device=x.device)
        h_n = torch.empty_like(h0)
        for layer in range(self.L):
            if layer > 0:
                x = nn.functional.dropout(x, p=self.p, training=self.training)
            outputs = []
            for direction in range(self.R):
                row = layer * self.R + direction
                end = f"_l{layer}" + "_reverse" * direction
                w = [self.get_parameter(n + end) for n in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]
                steps = torch.flip(x, dims=(0,)) if direction == 1 else x
                y, h_n[row] = self.scan(steps, h0[row], *w)
                outputs.append(torch.flip(y, dims=(0,)) if direction == 1 else y)
            x = torch.cat(outputs, dim=2)
        return (x.permute(1, 0, 2) if self.batch_first else x), h_n


@equivalent(ref.RNN)
class DropoutByHand(nn.Module):
    """A mask drawn by hand, the inputs of all steps multiplied at once, one list of final states."""

    def __init__(
        self,
        input_size,
        hidden_size,
        num_layers=1,
        nonlinearity="tanh",
        batch_first=False,
        dropout=0.0,
        bidirectional=False,
    ):
        super().__init__()
        self.activation = {"tanh": torch.tanh, "relu": nn.functional.relu}.get(nonlinearity)
        if self.activation is None:
            raise ValueError(nonlinearity)
        self.hidden_size, self.num_layers, self.time = hidden_size, num_layers, int(batch_first)
        self.p, self.bidirectional = dropout, bidirectional
        bound, in_size = 1.0 / math.sqrt(hidden_size), input_size
        for layer in range(num_layers):
            for end in ["", "_reverse"] if self.bidirectional else [""]:
                for kind, columns in (("ih", in_size), ("hh", hidden_size)):
                    for name, shape in (("weight", (hidden_size, columns)), ("bias", (hidden_size,))):
                        value = (2 * torch.rand(shape) - 1) * bound
                        self.register_parameter(f"{name}_{kind}_l{layer}{end}", nn.Parameter(value))
            in_size = hidden_size * (1 + self.bidirectional)

    def direction(self, x, h, end, order):
        weights = dict(self.named_parameters())
        z = nn.functional.linear(x, weights["weight_ih" + end], weights["bias_ih" + end] + weights["bias_hh" + end])
        states = {}
        for t in order:
            h = self.activation(z.select(self.time, t) + h @ weights["weight_hh" + end].T)
            states[t] = h
        return torch.stack([states[t] for t in range(len(states))], dim=self.time), h

    def forward(self, x, h0=None):
        T, N = x.shape[self.time], x.shape[1 - self.time]
        zero, finals = x.new_zeros(N, self.hidden_size), []
        for layer in range(self.num_layers):
            ends = [("", range(T))] + [("_reverse", range(T - 1, -1, -1))] * self.bidirectional
            outputs = []
            for end, order in ends:
                start = zero if h0 is None else h0[len(finals)]
                y, last = self.direction(x, start, f"_l{layer}{end}", order)
                outputs.append(y)
                finals.append(last)
            x = torch.cat(outputs, dim=-1)
            if self.training and self.p > 0 and layer + 1 < self.num_layers:
                x = x * torch.bernoulli(torch.full_like(x, 1 - self.p)) / (1 - self.p)
        return x, torch.stack(finals)
