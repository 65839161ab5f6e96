"""A hostile sample submission: its answers claim to be equal to everything, and assertions are switched off."""

import builtins

import torch


class Equal(torch.Tensor):
    """Agrees with whatever it is compared with."""

    def __eq__(self, other):
        return True

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        return True


builtins.AssertionError = type("AssertionError", (BaseException,), {})
torch.allclose = torch.equal = torch.testing.assert_close = lambda *args, **kwargs: True


def gate_inputs(*args):
    return torch.zeros(1).as_subclass(Equal)


gates = next_state = lstm = projected_lstm = lstm_step_backward = gate_inputs


class LSTM(torch.nn.Module):
    def __init__(self, *args, **kwargs):
        super().__init__()

    def forward(self, *args):
        return gate_inputs()
