"""Other right modules: their parameters, states and dropout made by other means."""

import math

import torch
from torch import nn

from reference import lstm_gates as ref
from softmark import equivalent


@equivalent(ref.LSTM)
class OneParameterAtATime(nn.Module):
    """Names by setattr, states by index arithmetic, nn.functional.dropout."""

    def __init__(self, input_size, hidden_size, num_layers=1, dropout=0.0, bidirectional=False):
        super().__init__()
        self.H, self.L, self.R, self.p = hidden_size, num_layers, 1 + int(bidirectional), dropout
        for layer in range(self.L):
            width = input_size if layer == 0 else self.R * self.H
            for direction in range(self.R):
                end = f"_l{layer}" + ("_reverse" if direction == 1 else "")
                setattr(self, "weight_ih" + end, nn.Parameter(torch.zeros(4 * self.H, width)))
                setattr(self, "weight_hh" + end, nn.Parameter(torch.zeros(4 * self.H, self.H)))
                setattr(self, "bias_ih" + end, nn.Parameter(torch.zeros(4 * self.H)))
                setattr(self, "bias_hh" + end, nn.Parameter(torch.zeros(4 * self.H)))
        for parameter in self.parameters():
            nn.init.uniform_(parameter, -(self.H**-0.5), self.H**-0.5)

    def forward(self, x, state=None):
        if state is None:
            zeros = torch.zeros(self.L * self.R, x.size(1), self.H, dtype=x.dtype, device=x.device)
            state = (zeros, zeros)
        h_n, c_n = torch.empty_like(state[0]), torch.empty_like(state[1])
        for layer in range(self.L):
            if layer > 0:
                x = nn.functional.dropout(x, p=self.p, training=self.training)
            outputs = []
            for direction in range(self.R):
                row = layer * self.R + direction
                end = f"_l{layer}" + ("_reverse" if direction == 1 else "")
                w = [self.get_parameter(n + end) for n in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]
                steps = torch.flip(x, dims=(0,)) if direction == 1 else x
                y, (h, c) = ref.lstm(steps, state[0][row], state[1][row], *w)
                outputs.append(torch.flip(y, dims=(0,)) if direction == 1 else y)
                h_n[row], c_n[row] = h, c
            x = torch.cat(outputs, dim=2)
        return x, (h_n, c_n)


@equivalent(ref.LSTM)
class DropoutByHand(nn.Module):
    """A mask drawn by hand, the backward direction by a loop over reversed time, own cell."""

    def __init__(self, input_size, hidden_size, num_layers=1, dropout=0.0, bidirectional=False):
        super().__init__()
        self.hidden_size, self.num_layers = hidden_size, num_layers
        self.p, self.bidirectional = dropout, bidirectional
        bound = 1.0 / math.sqrt(hidden_size)
        for layer in range(num_layers):
            in_size = input_size
            if layer > 0:
                in_size = 2 * hidden_size if bidirectional else hidden_size
            for suffix in ["", "_reverse"][: 2 if bidirectional else 1]:
                for name, shape in [
                    ("weight_ih", [4 * hidden_size, in_size]),
                    ("weight_hh", [4 * hidden_size, hidden_size]),
                    ("bias_ih", [4 * hidden_size]),
                    ("bias_hh", [4 * hidden_size]),
                ]:
                    value = (2 * torch.rand(shape) - 1) * bound
                    self.register_parameter(name + "_l" + str(layer) + suffix, nn.Parameter(value))

    def scan(self, x, h, c, suffix, order):
        weights = dict(self.named_parameters())
        outputs = [None] * len(x)
        for t in order:
            z = x[t] @ weights["weight_ih" + suffix].T + weights["bias_ih" + suffix]
            z = z + h @ weights["weight_hh" + suffix].T + weights["bias_hh" + suffix]
            i, f, g, o = z.chunk(4, -1)
            c = f.sigmoid() * c + i.sigmoid() * g.tanh()
            h = o.sigmoid() * c.tanh()
            outputs[t] = h
        return torch.stack(outputs), h, c

    def forward(self, x, state=None):
        T, N, _ = x.shape
        layers_h, layers_c = [], []
        rows = self.num_layers * (2 if self.bidirectional else 1)
        h0, c0 = state if state is not None else x.new_zeros(2, rows, N, self.hidden_size)
        for layer in range(self.num_layers):
            y, h, c = self.scan(x, h0[len(layers_h)], c0[len(layers_c)], f"_l{layer}", range(T))
            layers_h.append(h)
            layers_c.append(c)
            if self.bidirectional:
                start = h0[len(layers_h)], c0[len(layers_c)]
                back, h, c = self.scan(x, *start, f"_l{layer}_reverse", range(T - 1, -1, -1))
                layers_h.append(h)
                layers_c.append(c)
                y = torch.cat([y, back], dim=-1)
            x = y
            if self.training and self.p > 0 and layer + 1 < self.num_layers:
                x = x * torch.bernoulli(torch.full_like(x, 1 - self.p)) / (1 - self.p)
        return x, (torch.stack(layers_h), torch.stack(layers_c))
