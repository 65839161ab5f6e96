"""Other right solutions, in other styles: each must earn all the marks, or a hidden test asks for more than it says."""

import torch
import torch.nn as nn
import torch.nn.functional as F

from reference import transformer_block as ref
from softmark.verdict import equivalent

# Part 1: layer_norm -------------------------------------------------------------------------------------------


@equivalent(ref.layer_norm)
def norm_with_var(X, gain, bias, eps):
    mean = X.mean(-1, keepdim=True)
    var = X.var(-1, unbiased=False, keepdim=True)
    return (X - mean) / (var + eps).sqrt() * gain + bias


@equivalent(ref.layer_norm)
def norm_with_var_mean(X, gain, bias, eps):
    var, mean = torch.var_mean(X, dim=-1, correction=0, keepdim=True)
    return torch.addcmul(bias, (X - mean) * torch.rsqrt(var + eps), gain)


@equivalent(ref.layer_norm)
def norm_with_std_squared(X, gain, bias, eps):
    sigma = torch.std(X, dim=-1, correction=0, keepdim=True)
    return gain * ((X - X.mean(dim=-1, keepdim=True)) / torch.sqrt(sigma**2 + eps)) + bias


@equivalent(ref.layer_norm)
def norm_with_sums(X, gain, bias, eps):
    d = X.shape[-1]
    centred = X - (X.sum(dim=-1) / d).unsqueeze(-1)
    sigma2 = torch.einsum("...d,...d->...", centred, centred) / d
    return bias + gain * centred * ((sigma2 + eps) ** -0.5)[..., None]


@equivalent(ref.layer_norm)
def norm_with_centring_matrix(X, gain, bias, eps):
    d = X.shape[-1]
    C = torch.eye(d, dtype=X.dtype, device=X.device) - 1 / d
    Z = X @ C
    return gain * Z / torch.sqrt(Z.pow(2).mean(-1, True) + eps) + bias


@equivalent(ref.layer_norm)
def norm_with_length(X, gain, bias, eps):
    Z = X - X.mean(dim=-1, keepdim=True)
    d = X.shape[-1]
    longer = torch.cat([Z, torch.full_like(Z[..., :1], (d * eps) ** 0.5)], dim=-1)
    return gain * d**0.5 * F.normalize(longer, dim=-1)[..., :-1] + bias


@equivalent(ref.layer_norm)
def norm_token_by_token(X, gain, bias, eps):
    rows = []
    for x in X.reshape(-1, X.shape[-1]):
        z = x - x.mean()
        rows.append(gain * z / torch.sqrt((z * z).mean() + eps) + bias)
    return torch.stack(rows).reshape(X.shape)


@equivalent(ref.layer_norm)
def norm_in_float64_and_back(X, gain, bias, eps):
    wide = X.double()
    wide = wide - wide.mean(dim=-1, keepdim=True)
    wide = wide / torch.sqrt(wide.square().mean(dim=-1, keepdim=True) + eps)
    return gain * wide.to(X.dtype) + bias


@equivalent(ref.layer_norm)
def norm_of_features_first(X, gain, bias, eps):
    features = X.movedim(-1, 0)
    Z = features - features.mean(0)
    Z = Z / torch.sqrt((Z**2).mean(0) + eps)
    return Z.movedim(0, -1) * gain + bias


# Part 2: feed_forward -----------------------------------------------------------------------------------------


@equivalent(ref.feed_forward)
def network_of_linears(X, W1, b1, W2, b2):
    return F.linear(F.relu(F.linear(X, W1.T, b1)), W2.T, b2)


@equivalent(ref.feed_forward)
def network_einsum_and_clamp(X, W1, b1, W2, b2):
    H = (torch.einsum("...td,df->...tf", X, W1) + b1).clamp(min=0)
    return torch.einsum("...tf,fd->...td", H, W2) + b2


@equivalent(ref.feed_forward)
def network_flat(X, W1, b1, W2, b2):
    rows = X.reshape(-1, X.shape[-1])
    H = torch.addmm(b1, rows, W1).relu_()
    return torch.addmm(b2, H, W2).reshape(X.shape)


@equivalent(ref.feed_forward)
def network_token_by_token(X, W1, b1, W2, b2):
    return torch.stack([torch.relu(x @ W1 + b1) @ W2 + b2 for x in X.unbind(dim=-2)], dim=-2)


@equivalent(ref.feed_forward)
def network_with_biases_in_the_weights(X, W1, b1, W2, b2):
    X = F.pad(X, (0, 1), value=1.0)
    H = nn.ReLU()(X @ torch.cat([W1, b1[None]]))
    return F.pad(H, (0, 1), value=1.0) @ torch.cat([W2, b2[None]])


# Parts 3 and 4: the blocks ------------------------------------------------------------------------------------


def heads(Y, n_heads):
    return Y.reshape(*Y.shape[:-1], n_heads, -1).transpose(-3, -2)


def attention_from_scratch(X, p, n_heads, mask):
    Q, K, V = (heads(X @ p[f"W_{role}"] + p[f"b_{role}"], n_heads) for role in "QKV")
    S = Q @ K.mT / K.shape[-1] ** 0.5
    if mask is not None:
        S = S.masked_fill(~mask[..., None, :, :], float("-inf"))
    return (S.softmax(dim=-1) @ V).transpose(-3, -2).flatten(-2) @ p["W_O"] + p["b_O"]


def attention_of_the_library(X, p, n_heads, mask):
    W = torch.cat([p["W_Q"], p["W_K"], p["W_V"]], dim=1)
    b = torch.cat([p["b_Q"], p["b_K"], p["b_V"]])
    Q, K, V = (heads(Y, n_heads) for Y in (X @ W + b).chunk(3, dim=-1))
    mask = None if mask is None else mask.unsqueeze(-3)
    return F.scaled_dot_product_attention(Q, K, V, attn_mask=mask).transpose(-3, -2).flatten(-2) @ p["W_O"] + p["b_O"]


def attention_head_by_head(X, p, n_heads, mask):
    total = p["b_O"]
    roles = [[Y.chunk(n_heads, dim=-1) for Y in (p[f"W_{r}"], p[f"b_{r}"])] for r in "QKV"]
    for i, W_o in enumerate(p["W_O"].chunk(n_heads, dim=0)):
        Q, K, V = (X @ W[i] + b[i] for W, b in roles)
        S = Q @ K.transpose(-1, -2) * K.shape[-1] ** -0.5
        if mask is not None:
            S = torch.where(mask, S, torch.full_like(S, -1e9))
        total = total + torch.softmax(S, dim=-1) @ V @ W_o
    return total


def normalised(X, p, i):
    return ref.layer_norm(X, p[f"gain{i}"], p[f"bias{i}"], 1e-5)


@equivalent(ref.post_norm_block)
def post_from_scratch(X, p, n_heads, mask=None):
    Y = normalised(X + attention_from_scratch(X, p, n_heads, mask), p, 1)
    H = (Y @ p["W1"] + p["b1"]).relu()
    return normalised(Y + H @ p["W2"] + p["b2"], p, 2)


@equivalent(ref.post_norm_block)
def post_with_a_loop_over_sublayers(X, p, n_heads, mask=None):
    sublayers = [
        lambda Z: ref.self_attention(Z, p, n_heads, mask),
        lambda Z: ref.feed_forward(Z, p["W1"], p["b1"], p["W2"], p["b2"]),
    ]
    for i, sublayer in enumerate(sublayers, start=1):
        X = ref.layer_norm(X + sublayer(X), p[f"gain{i}"], p[f"bias{i}"], ref.EPS)
    return X


@equivalent(ref.post_norm_block)
def post_head_by_head(X, p, n_heads, mask=None):
    Y = normalised(X + attention_head_by_head(X, p, n_heads, mask), p, 1)
    return normalised(Y + ref.feed_forward(Y, p["W1"], p["b1"], p["W2"], p["b2"]), p, 2)


@equivalent(ref.pre_norm_block)
def pre_of_the_library(X, p, n_heads, mask=None):
    X = X + attention_of_the_library(normalised(X, p, 1), p, n_heads, mask)
    Z = normalised(X, p, 2)
    return X + F.relu(Z @ p["W1"] + p["b1"]) @ p["W2"] + p["b2"]


@equivalent(ref.pre_norm_block)
def pre_with_a_running_sum(X, p, n_heads, mask=None):
    stream = X.clone()
    stream = stream.add(attention_from_scratch(normalised(stream, p, 1), p, n_heads, mask))
    return stream.add(ref.feed_forward(normalised(stream, p, 2), p["W1"], p["b1"], p["W2"], p["b2"]))


@equivalent(ref.pre_norm_block)
def pre_without_key_bias(X, p, n_heads, mask=None):
    q = {**p, "b_K": torch.zeros_like(p["b_K"])}  # it adds the same to every score of a row
    Y = X + ref.self_attention(normalised(X, p, 1), q, n_heads, mask)
    return Y + ref.feed_forward(normalised(Y, p, 2), p["W1"], p["b1"], p["W2"], p["b2"])


# Part 5: TransformerBlock -------------------------------------------------------------------------------------


def new_norm(width):
    norm = nn.Module()
    norm.weight = nn.Parameter(torch.ones(width))
    norm.bias = nn.Parameter(torch.zeros(width))
    return norm


@equivalent(ref.TransformerBlock)
class BlockOfModules(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, norm_first=False):
        super().__init__()
        self.n_heads, self.norm_first = n_heads, norm_first
        self.self_attn = nn.Module()
        self.self_attn.in_proj_weight = nn.Parameter(torch.randn(3 * d_model, d_model) / d_model**0.5)
        self.self_attn.in_proj_bias = nn.Parameter(torch.zeros(3 * d_model))
        self.self_attn.out_proj = nn.Linear(d_model, d_model)
        self.linear1 = nn.Linear(d_model, d_ff)
        self.linear2 = nn.Linear(d_ff, d_model)
        self.norm1, self.norm2 = new_norm(d_model), new_norm(d_model)

    def normalise(self, norm, X):
        return ref.layer_norm(X, norm.weight, norm.bias, ref.EPS)

    def attend(self, X, mask):
        Q, K, V = F.linear(X, self.self_attn.in_proj_weight, self.self_attn.in_proj_bias).chunk(3, dim=-1)
        Q, K, V = heads(Q, self.n_heads), heads(K, self.n_heads), heads(V, self.n_heads)
        bias = None
        if mask is not None:
            bias = torch.zeros(mask.shape, dtype=X.dtype, device=X.device).masked_fill(~mask, -torch.inf).unsqueeze(-3)
        H = F.scaled_dot_product_attention(Q, K, V, attn_mask=bias)
        return self.self_attn.out_proj(H.transpose(-3, -2).flatten(-2))

    def think(self, X):
        return self.linear2(torch.relu(self.linear1(X)))

    def forward(self, X, mask=None):
        if self.norm_first:
            X = X + self.attend(self.normalise(self.norm1, X), mask)
            return X + self.think(self.normalise(self.norm2, X))
        X = self.normalise(self.norm1, X + self.attend(X, mask))
        return self.normalise(self.norm2, X + self.think(X))


@equivalent(ref.TransformerBlock)
class BlockAroundTheLibrarysAttention(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, norm_first=False):
        super().__init__()
        self.n_heads = n_heads
        self.self_attn = nn.MultiheadAttention(d_model, n_heads, batch_first=True)
        self.linear1, self.linear2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.norm1, self.norm2 = new_norm(d_model), new_norm(d_model)
        self.norm_first = norm_first

    def attend(self, X, mask):
        *batch, T, D = X.shape
        if mask is not None:
            mask = ~mask.expand(*batch, T, T).reshape(-1, T, T).repeat_interleave(self.n_heads, dim=0)
        flat = X.reshape(-1, T, D)
        return self.self_attn(flat, flat, flat, attn_mask=mask, need_weights=False)[0].reshape(X.shape)

    def forward(self, X, mask=None):
        def normalise(norm, Z):
            return ref.layer_norm(Z, norm.weight, norm.bias, 1e-5)

        def leave(norm, Z):
            return Z

        before, after = (normalise, leave) if self.norm_first else (leave, normalise)
        X = after(self.norm1, X + self.attend(before(self.norm1, X), mask))
        H = self.linear1(before(self.norm2, X)).relu()
        return after(self.norm2, X + self.linear2(H))


@equivalent(ref.TransformerBlock)
class BlockWithNamedParameters(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, norm_first=False):
        super().__init__()
        self.n_heads, self.norm_first = n_heads, norm_first
        self.self_attn = nn.Module()
        self.self_attn.in_proj_weight = nn.Parameter(torch.empty(3 * d_model, d_model))
        self.self_attn.in_proj_bias = nn.Parameter(torch.zeros(3 * d_model))
        nn.init.xavier_uniform_(self.self_attn.in_proj_weight)
        self.self_attn.out_proj = nn.Linear(d_model, d_model)
        self.linear1, self.linear2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        for name in ("norm1", "norm2"):
            norm = nn.Module()
            norm.register_parameter("weight", nn.Parameter(torch.full((d_model,), 1.0)))
            norm.register_parameter("bias", nn.Parameter(torch.zeros(d_model)))
            self.add_module(name, norm)

    def forward(self, X, mask=None):
        w = dict(self.named_parameters())
        p = {"W_O": w["self_attn.out_proj.weight"].T, "b_O": w["self_attn.out_proj.bias"]}
        for role, W, b in zip(
            "QKV", w["self_attn.in_proj_weight"].chunk(3), w["self_attn.in_proj_bias"].chunk(3), strict=True
        ):
            p[f"W_{role}"], p[f"b_{role}"] = W.T, b
        for i in (1, 2):
            p[f"W{i}"], p[f"b{i}"] = w[f"linear{i}.weight"].T, w[f"linear{i}.bias"]
            p[f"gain{i}"], p[f"bias{i}"] = w[f"norm{i}.weight"], w[f"norm{i}.bias"]
        run = ref.pre_norm_block if self.norm_first else ref.post_norm_block
        return run(X, p, self.n_heads, mask)


# Part 6: Transformer ------------------------------------------------------------------------------------------


@equivalent(ref.Transformer)
class TransformerOfSequentialBlocks(nn.Module):
    def __init__(self, vocab_size, max_len, d_model, n_heads, d_ff, n_layers, norm_first=False):
        super().__init__()
        self.max_len = max_len
        self.embed = nn.Embedding(vocab_size, d_model)
        self.positions = nn.Parameter(torch.zeros(max_len, d_model))
        self.blocks = nn.Sequential(
            *(ref.TransformerBlock(d_model, n_heads, d_ff, norm_first=norm_first) for _ in range(n_layers))
        )
        mask = torch.ones(max_len, max_len, dtype=torch.bool).tril()
        self.register_buffer("mask", mask, persistent=False)

    def forward(self, tokens):
        T = tokens.size(-1)
        if self.max_len < T:
            raise ValueError("the sequence is too long")
        X = self.embed(tokens) + self.positions[torch.arange(T, device=tokens.device)]
        for block in self.blocks:
            X = block(X, self.mask[:T, :T])
        return X


@equivalent(ref.Transformer)
class TransformerOfOneHotTokens(nn.Module):
    def __init__(self, vocab_size, max_len, d_model, n_heads, d_ff, n_layers, norm_first=False):
        super().__init__()
        self.embed = nn.Module()
        self.embed.weight = nn.Parameter(torch.randn(vocab_size, d_model))
        self.positions = nn.Parameter(torch.randn(max_len, d_model) * 0.01)
        self.blocks = nn.ModuleDict(
            {str(i): ref.TransformerBlock(d_model, n_heads, d_ff, norm_first) for i in range(n_layers)}
        )

    def forward(self, tokens):
        T = tokens.shape[-1]
        if len(self.positions) < T:
            raise ValueError(f"at most {len(self.positions)} tokens")
        one_hot = F.one_hot(tokens, len(self.embed.weight)).to(self.embed.weight.dtype)
        X = one_hot @ self.embed.weight + self.positions.narrow(0, 0, T)
        place = torch.arange(T, device=tokens.device)
        mask = place.unsqueeze(0) <= place.unsqueeze(1)
        for i in range(len(self.blocks)):
            X = self.blocks[str(i)](X, mask.expand(*tokens.shape[:-1], T, T))
        return X


@equivalent(ref.Transformer.forward)
def transformer_without_a_mask_tensor_of_its_own(self, tokens):
    T = tokens.shape[-1]
    if self.positions.shape[0] < T:
        raise ValueError("too long")
    X = F.embedding(tokens, self.embed.weight).add(self.positions[:T])
    future = torch.triu(torch.ones((T, T), device=X.device), diagonal=1) > 0
    for block in self.blocks:
        X = block(X, mask=future.logical_not())
    return X
