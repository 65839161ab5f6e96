"""A TransformerBlock whose parameters are missing, shared, misnamed or of the wrong shape, or start wrong."""

import torch
import torch.nn as nn

from reference import transformer_block as ref
from softmark import mistake


def make(block, d_model, n_heads, d_ff, norm_first):
    """The attributes of part 5 as they should be."""
    nn.Module.__init__(block)
    block.n_heads, block.norm_first = n_heads, norm_first
    block.self_attn = nn.MultiheadAttention(d_model, n_heads)
    block.linear1, block.linear2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
    block.norm1 = nn.ParameterDict({"weight": torch.ones(d_model), "bias": torch.zeros(d_model)})
    block.norm2 = nn.ParameterDict({"weight": torch.ones(d_model), "bias": torch.zeros(d_model)})


@mistake(
    ref.TransformerBlock.__init__,
    id="N25",
    says="Your block has one layer norm that is used in both places.",
    hint="norm1 and norm2 are two different things, with parameters of their own.",
)
def module_shares_one_norm(self, d_model, n_heads, d_ff, norm_first=False):
    make(self, d_model, n_heads, d_ff, norm_first)
    self.norm2 = self.norm1


@mistake(
    ref.TransformerBlock.__init__,
    id="N14",
    says="The gains of your new layer norms are 0, so the block starts as a constant.",
    hint="A new layer norm must be plain standardisation.",
)
def module_gains_start_at_zero(self, d_model, n_heads, d_ff, norm_first=False):
    make(self, d_model, n_heads, d_ff, norm_first)
    for norm in (self.norm1, self.norm2):
        nn.init.zeros_(norm["weight"])


@mistake(
    ref.TransformerBlock.__init__,
    says="Your hidden layer is always 4 · d_model wide.",
    hint="d_ff is an argument.",
)
def module_ignores_d_ff(self, d_model, n_heads, d_ff, norm_first=False):
    make(self, d_model, n_heads, 4 * d_model, norm_first)


@mistake(
    ref.TransformerBlock.__init__,
    says="Your linear layers have no biases.",
    hint="The handout lists twelve parameters.",
)
def module_linear_without_bias(self, d_model, n_heads, d_ff, norm_first=False):
    make(self, d_model, n_heads, d_ff, norm_first)
    self.linear1, self.linear2 = nn.Linear(d_model, d_ff, bias=False), nn.Linear(d_ff, d_model, bias=False)


@mistake(
    ref.TransformerBlock.__init__,
    says="Your attention has no biases.",
    hint="The handout lists twelve parameters.",
)
def module_attention_without_bias(self, d_model, n_heads, d_ff, norm_first=False):
    make(self, d_model, n_heads, d_ff, norm_first)
    self.self_attn = nn.MultiheadAttention(d_model, n_heads, bias=False)


@mistake(
    ref.TransformerBlock.__init__,
    says="Your norms call their parameters gain and bias; PyTorch's names are weight and bias.",
    hint="The table in the handout has the names; state_dict() shows yours.",
)
def module_norms_named_gain(self, d_model, n_heads, d_ff, norm_first=False):
    make(self, d_model, n_heads, d_ff, norm_first)
    self.norm1 = nn.ParameterDict({"gain": torch.ones(d_model), "bias": torch.zeros(d_model)})
    self.norm2 = nn.ParameterDict({"gain": torch.ones(d_model), "bias": torch.zeros(d_model)})


@mistake(
    ref.TransformerBlock.__init__,
    id="H33",
    says="Your gains and biases are plain tensors, so the module does not know them as parameters.",
    hint="Only an nn.Parameter, or a module that holds one, is found by parameters() and load_state_dict.",
)
def module_norms_of_plain_tensors(self, d_model, n_heads, d_ff, norm_first=False):
    make(self, d_model, n_heads, d_ff, norm_first)
    del self.norm1, self.norm2
    self.norm1 = {"weight": torch.ones(d_model), "bias": torch.zeros(d_model)}
    self.norm2 = {"weight": torch.ones(d_model), "bias": torch.zeros(d_model)}


@mistake(
    ref.TransformerBlock.__init__,
    says="Your block keeps the three projections of the attention apart, under names of their own.",
    hint="PyTorch keeps them in one matrix, in_proj_weight: the handout says in which order.",
)
def module_projections_apart(self, d_model, n_heads, d_ff, norm_first=False):
    make(self, d_model, n_heads, d_ff, norm_first)
    layers = {name: nn.Linear(d_model, d_model) for name in ("q_proj", "k_proj", "v_proj", "out_proj")}
    self.self_attn = nn.ModuleDict(layers)


@mistake(
    ref.TransformerBlock.__init__,
    says="Your block has a third layer norm.",
    hint="The handout lists twelve parameters and there are no others.",
)
def module_with_third_norm(self, d_model, n_heads, d_ff, norm_first=False):
    make(self, d_model, n_heads, d_ff, norm_first)
    self.norm3 = nn.ParameterDict({"weight": torch.ones(d_model), "bias": torch.zeros(d_model)})


@mistake(
    ref.TransformerBlock.__init__,
    says="Your norm_first is turned round: True gives the post-norm block.",
    hint="norm_first=True means that the norm comes before the sublayer.",
)
def module_norm_first_inverted(self, d_model, n_heads, d_ff, norm_first=False):
    make(self, d_model, n_heads, d_ff, not norm_first)
