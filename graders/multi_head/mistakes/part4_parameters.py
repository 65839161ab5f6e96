"""Named mistakes: the module, which parameters it has."""

import torch
from torch import nn

from graders.multi_head.pieces import attend, packed
from reference import multi_head as ref
from softmark import mistake


@mistake(
    ref.MultiHeadAttention.__init__,
    id="H14",
    says="Your module takes a d_model that its heads do not divide.",
    hint="Check it where the module is made, so that nobody finds out only when it is called.",
)
def module_without_check(self, d_model, n_heads):
    nn.Module.__init__(self)
    self.n_heads = n_heads
    self.in_proj_weight = nn.Parameter(torch.randn(3 * d_model, d_model))
    self.in_proj_bias = nn.Parameter(torch.zeros(3 * d_model))
    self.out_proj = nn.Linear(d_model, d_model)


@mistake(
    ref.MultiHeadAttention,
    says="You keep four separate linear layers, so PyTorch's packed weights find no place in your module.",
    hint="Queries, keys and values share one weight and one bias; the handout lists names and shapes.",
)
class ModuleWithFourLayers(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("the width does not divide")
        self.n_heads = n_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.out_proj = nn.Linear(d_model, d_model)

    def forward(self, X_q, X_kv=None, mask=None):
        X_kv = X_q if X_kv is None else X_kv
        Q, K, V = self.q_proj(X_q), self.k_proj(X_kv), self.v_proj(X_kv)
        return self.out_proj(attend(Q, K, V, self.n_heads, mask))


@mistake(
    ref.MultiHeadAttention,
    says="Your output projection has no bias.",
    hint="The handout lists four parameters; out_proj has two of them.",
)
class ModuleWithoutOutputBias(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("the width does not divide")
        self.n_heads = n_heads
        self.in_proj_weight = nn.Parameter(torch.randn(3 * d_model, d_model))
        self.in_proj_bias = nn.Parameter(torch.zeros(3 * d_model))
        self.out_proj = nn.Linear(d_model, d_model, bias=False)

    def forward(self, X_q, X_kv=None, mask=None):
        return self.out_proj(attend(*packed(self, X_q, X_kv), self.n_heads, mask))


@mistake(
    ref.MultiHeadAttention,
    says="Your in_proj_weight is (in, out); PyTorch keeps it the other way round, as (3D, D).",
    hint="This part follows PyTorch's layout, unlike parts 1 to 3.",
)
class ModuleWithInOutLayout(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("the width does not divide")
        self.n_heads = n_heads
        self.in_proj_weight = nn.Parameter(torch.randn(d_model, 3 * d_model))
        self.in_proj_bias = nn.Parameter(torch.zeros(3 * d_model))
        self.out_proj = nn.Linear(d_model, d_model)

    def forward(self, X_q, X_kv=None, mask=None):
        X_kv = X_q if X_kv is None else X_kv
        Q = (X_q @ self.in_proj_weight + self.in_proj_bias).chunk(3, dim=-1)[0]
        K, V = (X_kv @ self.in_proj_weight + self.in_proj_bias).chunk(3, dim=-1)[1:]
        return self.out_proj(attend(Q, K, V, self.n_heads, mask))


@mistake(
    ref.MultiHeadAttention,
    id="H33",
    says="Your packed weight is a plain tensor, so the module does not know it as a parameter.",
    hint="Only an nn.Parameter or a submodule is found by parameters() and load_state_dict.",
)
class ModuleWithPlainTensors(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("the width does not divide")
        self.n_heads = n_heads
        self.in_proj_weight = torch.randn(3 * d_model, d_model)
        self.in_proj_bias = torch.zeros(3 * d_model)
        self.out_proj = nn.Linear(d_model, d_model)

    def forward(self, X_q, X_kv=None, mask=None):
        return self.out_proj(attend(*packed(self, X_q, X_kv), self.n_heads, mask))


@mistake(
    ref.MultiHeadAttention,
    says="Your module has parameters that nn.MultiheadAttention does not have.",
    hint="The handout lists four parameters and there are no others.",
)
class ModuleWithExtraParameter(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("the width does not divide")
        self.n_heads = n_heads
        self.in_proj_weight = nn.Parameter(torch.randn(3 * d_model, d_model))
        self.in_proj_bias = nn.Parameter(torch.zeros(3 * d_model))
        self.out_proj = nn.Linear(d_model, d_model)
        self.scale = nn.Parameter(torch.tensor(float(d_model // n_heads)).rsqrt())

    def forward(self, X_q, X_kv=None, mask=None):
        return self.out_proj(attend(*packed(self, X_q, X_kv), self.n_heads, mask))
