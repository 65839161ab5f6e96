"""Wrong modules, the stack of layers: what a layer reads, and which rows of the states are its own."""

import torch

from graders.lstm_gates.pieces import parameters_of, run_direction, run_layers
from reference import lstm_gates as ref
from softmark import mistake


def run_with_cells_below(self, k, suffix, x, h0, c0):
    y, state = run_direction(self, k, suffix, x, h0, c0)
    if k == self.num_layers - 1:
        return y, state
    steps = x if suffix == "" else x.flip(0)
    h, c, cells = h0, c0, []
    for t in range(len(steps)):
        _, (h, c) = ref.lstm(steps[t : t + 1], h, c, *parameters_of(self, k, suffix))
        cells.append(c)
    y = torch.stack(cells)
    return (y if suffix == "" else y.flip(0)), state


@mistake(
    ref.LSTM.forward,
    id="L29",
    says="Your upper layers read the cell states of the layer below.",
    hint="The input of layer 1 is the output of layer 0: its hidden states.",
)
def upper_layers_read_cells(self, x, state=None):
    return run_layers(self, x, state, run=run_with_cells_below)


def run_upper_layers_alike(self, k, suffix, x, h0, c0):
    return run_direction(self, min(k, 1), suffix, x, h0, c0)


@mistake(
    ref.LSTM.forward,
    id="R11",
    says="All your layers above layer 0 use the weights of layer 1.",
    hint="Every layer has parameters of its own; look at the names you read them by.",
)
def upper_layers_share_weights(self, x, state=None):
    return run_layers(self, x, state, run=run_upper_layers_alike)


@mistake(
    ref.LSTM.forward,
    id="L49",
    says="You run layer 0 only.",
    hint="num_layers says how many layers read one another's output.",
)
def first_layer_only(self, x, state=None):
    halves, h_n, c_n = [], [], []
    for row, suffix in enumerate(self.suffixes):
        h0, c0 = (None, None) if state is None else (state[0][row], state[1][row])
        y, (h, c) = run_direction(self, 0, suffix, x, h0, c0)
        halves.append(y)
        h_n.append(h)
        c_n.append(c)
    return torch.cat(halves, dim=-1), (torch.stack(h_n), torch.stack(c_n))


def first_row(self, k, suffix):
    return 0


@mistake(
    ref.LSTM.forward,
    says="All your layers and directions start from the first row of the initial state.",
    hint="h0 and c0 have one row for every layer and direction.",
)
def same_start_for_all(self, x, state=None):
    return run_layers(self, x, state, row=first_row)


def rows_by_direction(self, k, suffix):
    return self.suffixes.index(suffix) * self.num_layers + k


@mistake(
    ref.LSTM.forward,
    says="You read the initial states in the order first all forward layers, then all backward ones.",
    hint="The two directions of a layer stand next to each other.",
)
def initial_states_by_direction(self, x, state=None):
    return run_layers(self, x, state, row=rows_by_direction)


@mistake(
    ref.LSTM.forward,
    says="You return the final states in the order first all forward layers, then all backward ones.",
    hint="The two directions of a layer stand next to each other.",
)
def final_states_by_direction(self, x, state=None):
    output, (h, c) = run_layers(self, x, state)
    R = len(self.suffixes)
    rows = [k * R + r for r in range(R) for k in range(self.num_layers)]
    return output, (h[rows], c[rows])


@mistake(
    ref.LSTM.forward,
    id="R42",
    says="You ignore the initial state and start from zeros.",
    hint="Zeros are only for a state that is None.",
)
def module_ignores_state(self, x, state=None):
    return run_layers(self, x, None)


@mistake(
    ref.LSTM.forward,
    id="L27",
    says="Your h_n and c_n hold the last layer only.",
    hint="The final states have one row for every layer and direction.",
)
def final_states_of_last_layer(self, x, state=None):
    output, (h, c) = run_layers(self, x, state)
    return output, (h[-1], c[-1])


@mistake(
    ref.LSTM.forward,
    says="Your h_n and c_n hold one row only, that of the last layer and direction.",
    hint="The final states have one row for every layer and direction.",
)
def final_states_of_last_row(self, x, state=None):
    output, (h, c) = run_layers(self, x, state)
    return output, (h[-1:], c[-1:])


@mistake(
    ref.LSTM.forward,
    says="You return the final state as (c_n, h_n).",
    hint="The order of the pair is h_n, c_n.",
)
def module_swaps_states(self, x, state=None):
    output, (h, c) = run_layers(self, x, state)
    return output, (c, h)


def detach(self, x):
    return self.dropout(x).detach()


@mistake(
    ref.LSTM.forward,
    says="You cut the gradient between the layers, so the lower layers learn nothing.",
    hint="Look for detach, .data or no_grad on the way from one layer to the next.",
)
def detached_between_layers(self, x, state=None):
    return run_layers(self, x, state, between=detach)


@mistake(
    ref.LSTM.forward,
    id="L23",
    says="You keep the final state in the module and start the next call from it.",
    hint="A call without a state starts from zeros, whatever was called before.",
)
def state_kept_between_calls(self, x, state=None):
    if state is None:
        state = getattr(self, "kept", None)
    output, self.kept = run_layers(self, x, state)
    return output, self.kept
