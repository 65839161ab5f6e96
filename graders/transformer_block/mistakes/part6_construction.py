"""A Transformer whose blocks, positions or embedding are not the parameters they should be."""

import torch
import torch.nn as nn

from reference import transformer_block as ref
from softmark import mistake


def make_transformer(model, vocab_size, max_len, d_model, blocks):
    """The attributes of part 6 as they should be."""
    nn.Module.__init__(model)
    model.embed = nn.Embedding(vocab_size, d_model)
    model.positions = nn.Parameter(0.02 * torch.randn(max_len, d_model))
    model.blocks = nn.ModuleList(blocks)


@mistake(
    ref.Transformer.__init__,
    id="R11",
    says="All blocks of your stack are one and the same object.",
    hint="Make a new block in every step of the loop.",
)
def stack_of_one_block(self, vocab_size, max_len, d_model, n_heads, d_ff, n_layers, norm_first=False):
    block = ref.TransformerBlock(d_model, n_heads, d_ff, norm_first)
    make_transformer(self, vocab_size, max_len, d_model, [block] * n_layers)


@mistake(
    ref.Transformer.__init__,
    id="H33",
    says="You keep the blocks in a plain list, so their parameters are missing.",
    hint="PyTorch has a list whose modules are found.",
)
def stack_in_a_plain_list(self, vocab_size, max_len, d_model, n_heads, d_ff, n_layers, norm_first=False):
    make_transformer(self, vocab_size, max_len, d_model, [])
    del self.blocks
    self.blocks = [ref.TransformerBlock(d_model, n_heads, d_ff, norm_first) for _ in range(n_layers)]


@mistake(
    ref.Transformer.__init__,
    says="You make one block, whatever n_layers says.",
    hint="The stack has n_layers blocks.",
)
def stack_ignores_n_layers(self, vocab_size, max_len, d_model, n_heads, d_ff, n_layers, norm_first=False):
    blocks = [ref.TransformerBlock(d_model, n_heads, d_ff, norm_first)]
    make_transformer(self, vocab_size, max_len, d_model, blocks)


@mistake(
    ref.Transformer.__init__,
    says="Your blocks are always post-norm: you do not pass norm_first on.",
    hint="The constructor of a block takes it, too.",
)
def stack_ignores_norm_first(self, vocab_size, max_len, d_model, n_heads, d_ff, n_layers, norm_first=False):
    blocks = [ref.TransformerBlock(d_model, n_heads, d_ff) for _ in range(n_layers)]
    make_transformer(self, vocab_size, max_len, d_model, blocks)


@mistake(
    ref.Transformer.__init__,
    says="Your positions are a buffer, which is never trained.",
    hint="The vectors of the positions are learned: they are a parameter.",
)
def positions_as_buffer(self, vocab_size, max_len, d_model, n_heads, d_ff, n_layers, norm_first=False):
    blocks = [ref.TransformerBlock(d_model, n_heads, d_ff, norm_first) for _ in range(n_layers)]
    make_transformer(self, vocab_size, max_len, d_model, blocks)
    del self.positions
    self.register_buffer("positions", 0.02 * torch.randn(max_len, d_model))


@mistake(
    ref.Transformer.__init__,
    id="M33",
    says="You made token 0 a padding token, so its vector is never trained.",
    hint="Token 0 is a token like any other: look at the options of your embedding.",
)
def embedding_with_padding_token(self, vocab_size, max_len, d_model, n_heads, d_ff, n_layers, norm_first=False):
    blocks = [ref.TransformerBlock(d_model, n_heads, d_ff, norm_first) for _ in range(n_layers)]
    make_transformer(self, vocab_size, max_len, d_model, blocks)
    self.embed = nn.Embedding(vocab_size, d_model, padding_idx=0)


@mistake(
    ref.Transformer.__init__,
    says="Your transformer has a layer norm after the last block.",
    hint="The handout lists the parameters; there is nothing after the blocks.",
)
def stack_with_final_norm(self, vocab_size, max_len, d_model, n_heads, d_ff, n_layers, norm_first=False):
    blocks = [ref.TransformerBlock(d_model, n_heads, d_ff, norm_first) for _ in range(n_layers)]
    make_transformer(self, vocab_size, max_len, d_model, blocks)
    self.norm = nn.ParameterDict({"weight": torch.ones(d_model), "bias": torch.zeros(d_model)})


@mistake(
    ref.Transformer.__init__,
    says="Your transformer has an output layer.",
    hint="The handout lists the parameters; there is nothing after the blocks.",
)
def stack_with_output_layer(self, vocab_size, max_len, d_model, n_heads, d_ff, n_layers, norm_first=False):
    blocks = [ref.TransformerBlock(d_model, n_heads, d_ff, norm_first) for _ in range(n_layers)]
    make_transformer(self, vocab_size, max_len, d_model, blocks)
    self.head = nn.Linear(d_model, vocab_size)
