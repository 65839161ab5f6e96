"""Cost model: what recurrent, convolutional and attention layers cost, and how a mixture of experts saves work.

Three layers take n tokens of d features and give n tokens of d features. They differ in what they cost:

    recurrent       h_t = tanh(W_x x_t + W_h h_{t-1} + b)     one token after the other
    convolution     y_t = ReLU(Σ_j K_j x_{t-j} + b)           k neighbours at once
    attention       Y = softmax(Q Kᵀ / √d_head) V W_O         every token with every token

Letters: n tokens, d features, k entries of a kernel (part 1) or experts of a token (parts 4 to 6), f hidden units
of a feed-forward network. All counts are Python's whole numbers, however large. `…` stands for none, one or two
batch dimensions.
"""

from collections.abc import Callable

import torch

# ------------------------------------------------------------------------------------------------------------
# Part 1: what a layer costs
# ------------------------------------------------------------------------------------------------------------


def rnn_cost(n: int, d: int, n_layers: int = 1) -> tuple[int, int, int, int]:
    """Count what a stack of recurrent layers costs.

    n         the number of tokens
    d         the number of features of a token, and of a state
    n_layers  the number of layers
    returns   multiply-adds, serial steps, longest path, numbers that are kept
    """
    # BEGIN SOLUTION
    of_inputs = n * d * d  # W_x x_t for each token
    of_states = n * d * d  # W_h h_{t-1} for each token
    multiply_adds = n_layers * (of_inputs + of_states)
    serial_steps = n + n_layers - 1  # layer 2 begins when layer 1 has done its first token
    longest_path = n - 1  # from state to state
    tokens = n * d  # what W_x is multiplied with in the first layer
    states = n_layers * n * d  # what comes out of every tanh
    kept = tokens + states
    return multiply_adds, serial_steps, longest_path, kept
    # END SOLUTION


def conv_cost(n: int, d: int, k: int, n_layers: int = 1, dilated: bool = False) -> tuple[int, int, int, int]:
    """Count what a stack of causal convolutions over time costs.

    n         the number of tokens
    d         the number of features of a token, before and after each layer
    k         the number of tokens that one output looks at; ValueError if it is below 2
    n_layers  the number of layers
    dilated   if True, the layers have the dilations 1, k, k², …, else they all have the dilation 1
    returns   multiply-adds, serial steps, longest path, numbers that are kept
    """
    # BEGIN SOLUTION
    if k < 2:
        raise ValueError(f"a kernel of size {k} sees no token but the output's own")
    of_a_layer = n * k * d * d  # K_j x_{t-j} for each token and each entry of the kernel
    multiply_adds = n_layers * of_a_layer
    serial_steps = n_layers
    if dilated:
        longest_path, reach = 0, 1  # without a layer, an output sees one token
        while reach < n:
            reach = reach * k  # each layer multiplies what it sees
            longest_path = longest_path + 1
    else:
        longest_path = -(-(n - 1) // (k - 1))  # each layer goes k - 1 tokens back; rounded up
    tokens = n * d  # what the kernel of the first layer is multiplied with
    outputs = n_layers * n * d  # what comes out of every ReLU
    kept = tokens + outputs
    return multiply_adds, serial_steps, longest_path, kept
    # END SOLUTION


def attention_cost(n: int, d: int, n_heads: int = 1, n_layers: int = 1) -> tuple[int, int, int, int]:
    """Count what a stack of self-attention layers costs.

    n         the number of tokens
    d         the number of features of a token, before and after each layer
    n_heads   the number of heads, each d / n_heads wide; ValueError if that is no whole number
    n_layers  the number of layers
    returns   multiply-adds, serial steps, longest path, numbers that are kept
    """
    # BEGIN SOLUTION
    if d % n_heads != 0:
        raise ValueError(f"{d} features cannot be split into {n_heads} heads")
    d_head = d // n_heads
    projections = 3 * n * d * d  # Q, K and V
    scores = n_heads * n * n * d_head  # Q Kᵀ of each head
    mixing = n_heads * n * n * d_head  # weights times V of each head
    output = n * d * d  # W_O
    multiply_adds = n_layers * (projections + scores + mixing + output)
    serial_steps = 4 * n_layers  # the four products follow each other
    longest_path = min(n - 1, 1)  # every token sees every other one
    tokens = n * d  # what W_Q, W_K and W_V are multiplied with
    q_k_v = 3 * n * d
    weights = n_heads * n * n  # what comes out of softmax
    heads = n * d  # what W_O is multiplied with
    kept = n_layers * (tokens + q_k_v + weights + heads)
    return multiply_adds, serial_steps, longest_path, kept
    # END SOLUTION


# ------------------------------------------------------------------------------------------------------------
# Part 2: parameters
# ------------------------------------------------------------------------------------------------------------


def parameters(kind: str, **sizes: int) -> int:
    """Count the parameters of a layer or model, biases included.

    kind     "rnn", "lstm", "conv", "attention", "feed_forward", "block" or "gpt"; ValueError for any other
    sizes    the sizes of that kind, by name, as the handout lists them
    returns  the number of parameters
    """
    # BEGIN SOLUTION
    d = sizes["d"]
    if kind in ("rnn", "lstm"):
        h = sizes["h"]
        gates = 4 if kind == "lstm" else 1
        widths = [d] + [h] * (sizes["n_layers"] - 1)  # what each layer gets
        total = 0
        for width in widths:
            of_inputs = h * width  # W_x
            of_states = h * h  # W_h
            biases = 2 * h  # b_x and b_h
            total = total + gates * (of_inputs + of_states + biases)
        return total
    if kind == "conv":
        kernel = sizes["k"] * d * sizes["h"]
        bias = sizes["h"]
        return kernel + bias
    f = sizes.get("f", 4 * d)
    attention = 4 * d * d + 4 * d  # W_Q, W_K, W_V and W_O, each with a bias
    feed_forward = d * f + f + f * d + d  # two layers, each with a bias
    norms = 2 * 2 * d  # two of them, each with a gain and a bias
    block = attention + feed_forward + norms
    if kind == "attention":
        return attention
    if kind == "feed_forward":
        return feed_forward
    if kind == "block":
        return block
    if kind == "gpt":
        words = sizes["vocabulary"] * d  # the embedding, which is the last layer, too
        positions = sizes["n"] * d
        blocks = sizes["n_layers"] * block
        last_norm = 2 * d
        return words + positions + blocks + last_norm
    raise ValueError(f"there is no kind {kind!r}")
    # END SOLUTION


# ------------------------------------------------------------------------------------------------------------
# Part 3: where attention becomes dear
# ------------------------------------------------------------------------------------------------------------


def crossover(d: int, f: int | None = None) -> tuple[int, int]:
    """Find the shortest texts for which attention does more multiply-adds than something else.

    d        the number of features of a token
    f        the number of hidden units of the feed-forward network d → f → d; 4 d if it is None
    returns  two numbers of tokens, each at least 1. From the first one on, a whole attention layer does more
             multiply-adds than the feed-forward network. From the second one on, its scores and its mixing alone do
             more than a recurrent layer
    """
    # BEGIN SOLUTION
    if f is None:
        f = 4 * d
    # 4 n d² + 2 n² d > 2 n d f    if and only if    n > f - 2 d
    feed_forward = max(f - 2 * d + 1, 1)
    # 2 n² d > 2 n d²              if and only if    n > d
    recurrent = d + 1
    return feed_forward, recurrent
    # END SOLUTION


# ------------------------------------------------------------------------------------------------------------
# Part 4: a router
# ------------------------------------------------------------------------------------------------------------


def route(X: torch.Tensor, W_router: torch.Tensor, k: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Choose the k best experts of each token, and weigh them.

    X: (…, d)                 tokens
    W_router: (d, n_experts)  the scores of a token x are x W_router
    k                         the number of experts of a token; ValueError if it is below 1 or above n_experts
    returns (…, k), (…, k)    the experts, the one with the highest score first, of equal scores the smaller number
                              first; and their weights, softmax over the scores of these k
    """
    # BEGIN SOLUTION
    n_experts = W_router.shape[-1]
    if not 1 <= k <= n_experts:
        raise ValueError(f"{k} of {n_experts} experts cannot be chosen")
    S = X @ W_router  # (…, n_experts)
    order = torch.argsort(S, dim=-1, descending=True, stable=True)  # (…, n_experts)  equal scores stay in order
    chosen = order[..., :k]  # (…, k)
    weights = torch.softmax(S.gather(-1, chosen), dim=-1)  # (…, k)
    return chosen, weights
    # END SOLUTION


# ------------------------------------------------------------------------------------------------------------
# Part 5: a mixture of experts
# ------------------------------------------------------------------------------------------------------------


def mixture(
    X: torch.Tensor, W_router: torch.Tensor, experts: Callable[[int, torch.Tensor], torch.Tensor], k: int
) -> torch.Tensor:
    """Send each token to its k experts, and sum what they make of it, weighted.

    X: (…, d)                 tokens
    W_router: (d, n_experts)
    experts                   a function: experts(e, rows) is what expert number e makes of rows (m, d), again (m, d)
    k                         the number of experts of a token
    returns (…, d)            each expert is called once, with its own tokens only; not at all if it has none
    """
    # BEGIN SOLUTION
    chosen, weights = route(X, W_router, k)  # (…, k) both
    d = X.shape[-1]
    tokens = X.reshape(-1, d)  # (N, d)
    chosen = chosen.reshape(-1, k)  # (N, k)
    weights = weights.reshape(-1, k)  # (N, k)
    Y = torch.zeros_like(tokens)  # (N, d)
    for e in range(W_router.shape[-1]):
        rows, places = (chosen == e).nonzero(as_tuple=True)  # (m,) both: the tokens that chose e, and at which place
        if len(rows) > 0:
            made = experts(e, tokens[rows])  # (m, d)
            share = weights[rows, places].unsqueeze(-1)  # (m, 1)
            Y = Y.index_add(0, rows, share * made)  # (N, d)
    return Y.reshape(X.shape)  # (…, d)
    # END SOLUTION


# ------------------------------------------------------------------------------------------------------------
# Part 6: parameters that exist, and parameters that a token meets
# ------------------------------------------------------------------------------------------------------------


def active_parameters(d: int, f: int, n_experts: int, k: int, n_layers: int) -> tuple[int, int]:
    """Count the parameters of transformer blocks whose feed-forward network is a mixture of experts.

    d          the number of features of a token
    f          the number of hidden units of each expert, a feed-forward network d → f → d
    n_experts  the number of experts of a block
    k          the number of experts that a token is sent to
    n_layers   the number of blocks
    returns    how many parameters exist, and how many of them a token meets
    """
    # BEGIN SOLUTION
    attention = parameters("attention", d=d, n_heads=1)
    expert = parameters("feed_forward", d=d, f=f)
    norms = 2 * 2 * d
    router = d * n_experts  # no bias
    shared = attention + norms + router  # every token meets these
    exist = n_layers * (shared + n_experts * expert)
    met = n_layers * (shared + k * expert)
    return exist, met
    # END SOLUTION
