"""Named mistakes: the module, how it uses its weights and biases."""

from graders.multi_head.pieces import attend, packed
from reference import multi_head as ref
from softmark import mistake


@mistake(
    ref.MultiHeadAttention.forward,
    id="H11",
    says="You unpack in_proj_weight as keys, queries, values.",
    hint="The handout gives the order of the three blocks.",
)
def module_unpacks_k_q_v(self, X_q, X_kv=None, mask=None):
    X_kv = X_q if X_kv is None else X_kv
    W_k, W_q, W_v = self.in_proj_weight.chunk(3)
    b_k, b_q, b_v = self.in_proj_bias.chunk(3)
    H = attend(X_q @ W_q.T + b_q, X_kv @ W_k.T + b_k, X_kv @ W_v.T + b_v, self.n_heads, mask)
    return self.out_proj(H)


@mistake(
    ref.MultiHeadAttention.forward,
    says="You unpack in_proj_weight as queries, values, keys.",
    hint="The handout gives the order of the three blocks.",
)
def module_unpacks_q_v_k(self, X_q, X_kv=None, mask=None):
    X_kv = X_q if X_kv is None else X_kv
    W_q, W_v, W_k = self.in_proj_weight.chunk(3)
    b_q, b_v, b_k = self.in_proj_bias.chunk(3)
    H = attend(X_q @ W_q.T + b_q, X_kv @ W_k.T + b_k, X_kv @ W_v.T + b_v, self.n_heads, mask)
    return self.out_proj(H)


@mistake(
    ref.MultiHeadAttention.forward,
    says="You unpack in_proj_weight head by head, as (n_heads, 3, d_head).",
    hint="The three blocks Q, K, V are the slowest index; the heads come inside each of them.",
)
def module_unpacks_head_by_head(self, X_q, X_kv=None, mask=None):
    X_kv = X_q if X_kv is None else X_kv
    W_q, W_k, W_v = self.in_proj_weight.unflatten(0, (self.n_heads, 3, -1)).transpose(0, 1).flatten(1, 2)
    b_q, b_k, b_v = self.in_proj_bias.unflatten(0, (self.n_heads, 3, -1)).transpose(0, 1).flatten(1)
    H = attend(X_q @ W_q.T + b_q, X_kv @ W_k.T + b_k, X_kv @ W_v.T + b_v, self.n_heads, mask)
    return self.out_proj(H)


@mistake(
    ref.MultiHeadAttention.forward,
    says="You multiply with the blocks of in_proj_weight without transposing them.",
    hint="PyTorch keeps a weight as (out, in), and your tokens are rows.",
)
def module_does_not_transpose_in_proj(self, X_q, X_kv=None, mask=None):
    X_kv = X_q if X_kv is None else X_kv
    W_q, W_k, W_v = self.in_proj_weight.chunk(3)
    b_q, b_k, b_v = self.in_proj_bias.chunk(3)
    H = attend(X_q @ W_q + b_q, X_kv @ W_k + b_k, X_kv @ W_v + b_v, self.n_heads, mask)
    return self.out_proj(H)


@mistake(
    ref.MultiHeadAttention.forward,
    says="You multiply with out_proj.weight without transposing it.",
    hint="PyTorch keeps a weight as (out, in); calling the layer does it right.",
)
def module_does_not_transpose_out_proj(self, X_q, X_kv=None, mask=None):
    H = attend(*packed(self, X_q, X_kv), self.n_heads, mask)
    return H @ self.out_proj.weight + self.out_proj.bias


@mistake(
    ref.MultiHeadAttention.forward,
    says="You leave out in_proj_bias.",
    hint="Queries, keys and values each get their own third of it.",
)
def module_without_input_biases(self, X_q, X_kv=None, mask=None):
    X_kv = X_q if X_kv is None else X_kv
    W_q, W_k, W_v = self.in_proj_weight.chunk(3)
    return self.out_proj(attend(X_q @ W_q.T, X_kv @ W_k.T, X_kv @ W_v.T, self.n_heads, mask))


@mistake(
    ref.MultiHeadAttention.forward,
    id="S31",
    says="Your queries get no bias.",
    hint="The first third of in_proj_bias belongs to them.",
)
def module_without_query_bias(self, X_q, X_kv=None, mask=None):
    Q, K, V = packed(self, X_q, X_kv)
    return self.out_proj(attend(Q - self.in_proj_bias.chunk(3)[0], K, V, self.n_heads, mask))


@mistake(
    ref.MultiHeadAttention.forward,
    says="Your values get no bias.",
    hint="The last third of in_proj_bias belongs to them.",
)
def module_without_value_bias(self, X_q, X_kv=None, mask=None):
    Q, K, V = packed(self, X_q, X_kv)
    return self.out_proj(attend(Q, K, V - self.in_proj_bias.chunk(3)[2], self.n_heads, mask))


@mistake(
    ref.MultiHeadAttention.forward,
    says="You leave out the bias of the output projection.",
    hint="out_proj has a weight and a bias.",
)
def module_without_output_bias(self, X_q, X_kv=None, mask=None):
    return attend(*packed(self, X_q, X_kv), self.n_heads, mask) @ self.out_proj.weight.T


@mistake(
    ref.MultiHeadAttention.forward,
    says="You return the concatenated heads: the output projection is missing.",
    hint="This part has one more step than part 3.",
)
def module_without_output_projection(self, X_q, X_kv=None, mask=None):
    return attend(*packed(self, X_q, X_kv), self.n_heads, mask)


@mistake(
    ref.MultiHeadAttention.forward,
    id="H17",
    says="You project every head on its own with the same block of out_proj and add up.",
    hint="Concatenate first; then one projection of the full width mixes all heads.",
)
def module_projects_each_head(self, X_q, X_kv=None, mask=None):
    H = ref.split_heads(attend(*packed(self, X_q, X_kv), self.n_heads, mask), self.n_heads)
    W_o = self.out_proj.weight[:, : H.shape[-1]]
    return (H @ W_o.T).sum(dim=-3) + self.out_proj.bias


@mistake(
    ref.MultiHeadAttention.forward,
    id="H05",
    says="You put the heads together as (d_head, n_heads) before the output projection.",
    hint="out_proj expects all features of head 0 first, then those of head 1.",
)
def module_merges_interleaved(self, X_q, X_kv=None, mask=None):
    H = attend(*packed(self, X_q, X_kv), self.n_heads, mask)
    return self.out_proj(H.unflatten(-1, (self.n_heads, -1)).transpose(-1, -2).flatten(-2))


@mistake(
    ref.MultiHeadAttention.forward,
    id="S41",
    says="Your module scales its own weights in place, so the second call gives another result.",
    hint="A forward pass leaves the parameters as they are; scale what you compute from them.",
)
def module_scales_weights_in_place(self, X_q, X_kv=None, mask=None):
    result = self.out_proj(attend(*packed(self, X_q, X_kv), self.n_heads, mask))
    self.in_proj_weight.data.mul_(0.5)
    return result


@mistake(
    ref.MultiHeadAttention.forward,
    says="Your module uses .data of its packed weight, so no gradient reaches in_proj_weight.",
    hint="Use the parameters themselves; the optimiser needs their gradients.",
)
def module_detaches_weights(self, X_q, X_kv=None, mask=None):
    X_kv = X_q if X_kv is None else X_kv
    W_q, W_k, W_v = self.in_proj_weight.data.chunk(3)
    b_q, b_k, b_v = self.in_proj_bias.chunk(3)
    H = attend(X_q @ W_q.T + b_q, X_kv @ W_k.T + b_k, X_kv @ W_v.T + b_v, self.n_heads, mask)
    return self.out_proj(H)
