"""Makes modules for the tests of parts 5 and 6: PyTorch's, the reference's and the student's, with given weights."""

from functools import cache

from torch import nn

from graders.transformer_block.inputs import of_order_one
from reference import transformer_block as ref
from softmark import agree, causal_mask, draw, gradients_agree


def torch_layer(D, n_heads, d_ff, norm_first):
    """Return PyTorch's own block."""
    return nn.TransformerEncoderLayer(D, n_heads, d_ff, dropout=0.0, norm_first=norm_first, batch_first=True)


@cache
def torch_shapes(D, n_heads, d_ff):
    return {name: tuple(w.shape) for name, w in torch_layer(D, n_heads, d_ff, False).state_dict().items()}


def draw_module_weights(D, n_heads, d_ff):
    """Draw weights of order one for every parameter of PyTorch's own block, by name."""
    drawn = {name: draw("shape", shape=shape) for name, shape in torch_shapes(D, n_heads, d_ff).items()}
    return {name: of_order_one(w, fan_in=w.shape[-1]) for name, w in drawn.items()}


def loaded(module, weights):
    """Return the module with these weights, in their dtype. A student's module takes the dtype by itself."""
    if isinstance(module, nn.Module):
        module.load_state_dict(weights, assign=True)
    else:
        module.load_state_dict(weights)
    return module


def run_block(weights, X, mask, *sizes):
    return loaded(ref.TransformerBlock(*sizes), weights)(X, mask)


def run_block_by_block(weights, tokens, vocab_size, max_len, d_model, n_heads, d_ff, n_layers, norm_first):
    """Run a transformer's blocks one by one."""
    T = tokens.shape[-1]
    X = weights["embed.weight"][tokens] + weights["positions"][:T]
    for i in range(n_layers):
        start = f"blocks.{i}."
        block = {name.removeprefix(start): w for name, w in weights.items() if name.startswith(start)}
        X = run_block(block, X, causal_mask(T), d_model, n_heads, d_ff, norm_first)
    return X


def own_runner(student):
    """Return `run_block` with the student's class."""

    def run_own_block(weights, X, mask, *sizes):
        module = loaded(student.TransformerBlock(*sizes[:3], norm_first=sizes[3]), weights)
        return module(X) if mask is None else module(X, mask)

    return run_own_block


def check_in_turn(pairs, weights, *inputs):
    """Check several modules that are used in turn, in both modes; their weights change between the calls.

    `pairs` are the student's modules, each with the reference's, and `weights` are those of each.
    """
    for training, change in (True, 0.0), (False, 0.1), (False, -0.1):
        for modules, own_weights in zip(pairs, weights, strict=True):
            changed = {name: w + change for name, w in own_weights.items()}
            own, ours = (loaded(module.train(training), changed) for module in modules)
            agree(own, ours, *inputs)
    for own, ours in pairs:
        gradients_agree(own, ours, *inputs)


def named(entries, names):
    """Return the entries that the handout names."""
    return {name: value for name, value in entries.items() if name in names}
