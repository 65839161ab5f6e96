"""What the tests of parts 5 and 6 share: modules with given weights, PyTorch's, the reference's and the student's."""

from contextlib import contextmanager
from functools import cache

from torch import nn

from graders.transformer_block.inputs import causal_mask, of_order_one
from reference import transformer_block as ref
from softmark import Registry, current_test, draw


def torch_layer(D, n_heads, d_ff, norm_first):
    """PyTorch's own block."""
    return nn.TransformerEncoderLayer(D, n_heads, d_ff, dropout=0.0, norm_first=norm_first, batch_first=True)


@cache
def torch_shapes(D, n_heads, d_ff):
    return {name: tuple(w.shape) for name, w in torch_layer(D, n_heads, d_ff, False).state_dict().items()}


def draw_module_weights(D, n_heads, d_ff):
    """Weights of order one for every parameter of PyTorch's own block, by name."""
    drawn = {name: draw("shape", shape=shape) for name, shape in torch_shapes(D, n_heads, d_ff).items()}
    return {name: of_order_one(w, fan_in=w.shape[-1]) for name, w in drawn.items()}


def loaded(module, weights):
    """The module with these weights, in their dtype. A student's module takes it by itself."""
    if isinstance(module, nn.Module):
        module.load_state_dict(weights, assign=True)
    else:
        module.load_state_dict(weights)
    return module


def run_block(weights, X, mask, *sizes):
    return loaded(ref.TransformerBlock(*sizes), weights)(X, mask)


def run_block_by_block(weights, tokens, vocab_size, max_len, d_model, n_heads, d_ff, n_layers, norm_first):
    """A transformer's blocks are run one by one, so that the student's own block can stand in for each.

    It must stand in the same file as `run_block`: that name is replaced there.
    """
    T = tokens.shape[-1]
    X = weights["embed.weight"][tokens] + weights["positions"][:T]
    for i in range(n_layers):
        start = f"blocks.{i}."
        block = {name.removeprefix(start): w for name, w in weights.items() if name.startswith(start)}
        X = run_block(block, X, causal_mask(T), d_model, n_heads, d_ff, norm_first)
    return X


def own_runner(student):
    """`run_block` with the student's class."""

    def run_own_block(weights, X, mask, *sizes):
        module = loaded(student.TransformerBlock(*sizes[:3], norm_first=sizes[3]), weights)
        return module(X) if mask is None else module(X, mask)

    return run_own_block


FUNCTIONS = ("layer_norm", "feed_forward", "post_norm_block", "pre_norm_block")


@contextmanager
def naming_first(cls):
    """Name mistakes of one class only: those of the functions it calls wait until none of its own fits."""
    case = current_test()
    everything = case.mistakes
    if everything is not None:
        case.mistakes = Registry([m for m in everything.mistakes if m.target_name.startswith(f"{cls}.")])
    try:
        yield
    finally:
        case.mistakes = everything


def named(entries, names):
    """Those of the entries that the handout names."""
    return {name: value for name, value in entries.items() if name in names}
