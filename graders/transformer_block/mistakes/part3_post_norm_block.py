"""Wrong post-norm blocks: their residual connections, their norms, and the attention inside them."""

from graders.transformer_block.pieces import (
    attend,
    blocking,
    network,
    norm1,
    norm2,
    post_norm,
    with_first_norm_twice,
    with_norms_exchanged,
    with_weights_turned,
    without_output_projection,
)
from reference import transformer_block as ref
from softmark import mistake


@mistake(
    ref.post_norm_block,
    id="B01",
    says="You wrote the pre-norm block: your layer norms stand before the sublayers.",
    hint="Here each layer norm comes after the residual connection.",
)
def post_is_pre_norm(X, p, n_heads, mask=None):
    return ref.pre_norm_block(X, p, n_heads, mask)


@mistake(
    ref.post_norm_block,
    id="B03",
    says="The residual connection around your attention is missing.",
    hint="With an attention that puts out 0 the first half of the block must still see X.",
)
def post_without_first_residual(X, p, n_heads, mask=None):
    Y = norm1(ref.self_attention(X, p, n_heads, mask), p)
    return norm2(Y + network(Y, p), p)


@mistake(
    ref.post_norm_block,
    id="B03",
    says="The residual connection around your feed-forward network is missing.",
    hint="Each of the two sublayers has a way around it.",
)
def post_without_second_residual(X, p, n_heads, mask=None):
    Y = norm1(X + ref.self_attention(X, p, n_heads, mask), p)
    return norm2(network(Y, p), p)


@mistake(
    ref.post_norm_block,
    id="B05",
    says="You have one residual connection around both sublayers.",
    hint="Each sublayer has its own: there are two sums.",
)
def post_one_residual_around_both(X, p, n_heads, mask=None):
    Y = norm1(ref.self_attention(X, p, n_heads, mask), p)
    return norm2(X + network(Y, p), p)


@mistake(
    ref.post_norm_block,
    id="B06",
    says="Your second residual connection starts from the block's input instead of the first half's result.",
    hint="What the second sublayer reads is also what is added to its output.",
)
def post_second_residual_from_input(X, p, n_heads, mask=None):
    Y = norm1(X + ref.self_attention(X, p, n_heads, mask), p)
    return norm2(X + network(Y, p), p)


@mistake(
    ref.post_norm_block,
    says="Your feed-forward network reads the block's input instead of the first half's result.",
    hint="The two sublayers work one after the other.",
)
def post_network_reads_input(X, p, n_heads, mask=None):
    Y = norm1(X + ref.self_attention(X, p, n_heads, mask), p)
    return norm2(Y + network(X, p), p)


@mistake(
    ref.post_norm_block,
    says="Your second residual connection takes the sum before the first layer norm.",
    hint="After the first layer norm, everything that follows works with its result.",
)
def post_residual_before_norm(X, p, n_heads, mask=None):
    S = X + ref.self_attention(X, p, n_heads, mask)
    return norm2(S + network(norm1(S, p), p), p)


@mistake(
    ref.post_norm_block,
    says="You normalise what a sublayer puts out and then add its input.",
    hint="First the sum, then the layer norm: LN(X + sublayer(X)).",
)
def post_norm_inside_sum(X, p, n_heads, mask=None):
    Y = X + norm1(ref.self_attention(X, p, n_heads, mask), p)
    return Y + norm2(network(Y, p), p)


@mistake(
    ref.post_norm_block,
    says="The first layer norm is missing.",
    hint="There is one after each of the two sums.",
)
def post_without_first_norm(X, p, n_heads, mask=None):
    Y = X + ref.self_attention(X, p, n_heads, mask)
    return norm2(Y + network(Y, p), p)


@mistake(
    ref.post_norm_block,
    says="The second layer norm is missing.",
    hint="There is one after each of the two sums.",
)
def post_without_second_norm(X, p, n_heads, mask=None):
    Y = norm1(X + ref.self_attention(X, p, n_heads, mask), p)
    return Y + network(Y, p)


@mistake(
    ref.post_norm_block,
    says="You normalise the block's input as well.",
    hint="A post-norm block has two layer norms, and both come after a sum.",
)
def post_with_norm_at_the_start(X, p, n_heads, mask=None):
    return post_norm(norm1(X, p), p, lambda Z: ref.self_attention(Z, p, n_heads, mask))


@mistake(
    ref.post_norm_block,
    id="B09",
    says="You exchanged the weights of the two layer norms.",
    hint="gain1 and bias1 belong to the norm after the attention.",
)
def post_norms_exchanged(X, p, n_heads, mask=None):
    return post_norm(X, with_norms_exchanged(p), lambda Z: ref.self_attention(Z, p, n_heads, mask))


@mistake(
    ref.post_norm_block,
    id="N25",
    says="You use gain1 and bias1 in both layer norms.",
    hint="The second norm has weights of its own.",
)
def post_one_norm_for_both(X, p, n_heads, mask=None):
    return post_norm(X, with_first_norm_twice(p), lambda Z: ref.self_attention(Z, p, n_heads, mask))


@mistake(
    ref.post_norm_block,
    says="Your feed-forward network comes before the attention.",
    hint="First tokens look at each other, then each of them is worked on by itself.",
)
def post_network_first(X, p, n_heads, mask=None):
    Y = norm1(X + network(X, p), p)
    return norm2(Y + ref.self_attention(Y, p, n_heads, mask), p)


@mistake(
    ref.post_norm_block,
    says="Your block ends after the attention: the feed-forward half is missing.",
    hint="LN(X + sublayer(X)) happens twice, with two different sublayers.",
)
def post_without_network(X, p, n_heads, mask=None):
    return norm1(X + ref.self_attention(X, p, n_heads, mask), p)


@mistake(
    ref.post_norm_block,
    says="You add the input twice: once inside your attention and once around it.",
    hint="One of your functions has a residual connection already.",
)
def post_residual_twice(X, p, n_heads, mask=None):
    Y = norm1(X + X + ref.self_attention(X, p, n_heads, mask), p)
    return norm2(Y + network(Y, p), p)


@mistake(
    ref.post_norm_block,
    says="Your layer norms use an ε of 1e-12.",
    hint="EPS stands at the top of the file.",
)
def post_other_eps(X, p, n_heads, mask=None):
    Y = norm1(X + ref.self_attention(X, p, n_heads, mask), p, 1e-12)
    return norm2(Y + network(Y, p), p, 1e-12)


@mistake(
    ref.post_norm_block,
    says="Your block ignores the mask.",
    hint="Pass it on to the attention.",
)
def post_ignores_mask(X, p, n_heads, mask=None):
    return post_norm(X, p, lambda Z: ref.self_attention(Z, p, n_heads))


@mistake(
    ref.post_norm_block,
    id="M01",
    says="Your block lets tokens look exactly where they may not.",
    hint="True means may look in this course; PyTorch's own functions do not all agree with each other.",
)
def post_inverts_mask(X, p, n_heads, mask=None):
    return post_norm(X, p, lambda Z: attend(Z, Z, p, n_heads, blocking(mask)))


@mistake(
    ref.post_norm_block,
    says="Your block lets tokens look exactly where they may not.",
    hint="True means may look in this course; PyTorch's own functions do not all agree with each other.",
)
def post_passes_mask_inverted(X, p, n_heads, mask=None):
    return post_norm(X, p, lambda Z: ref.self_attention(Z, p, n_heads, None if mask is None else ~mask))


@mistake(
    ref.post_norm_block,
    says="Your block takes the mask with queries and keys exchanged.",
    hint="Row i of the mask says where token i may look.",
)
def post_transposes_mask(X, p, n_heads, mask=None):
    turned = None if mask is None else mask.transpose(-1, -2)
    return post_norm(X, p, lambda Z: attend(Z, Z, p, n_heads, turned))


@mistake(
    ref.post_norm_block,
    says="Your attention has a single head, whatever n_heads says.",
    hint="Pass n_heads on to the attention.",
)
def post_ignores_heads(X, p, n_heads, mask=None):
    return post_norm(X, p, lambda Z: ref.self_attention(Z, p, 1, mask))


@mistake(
    ref.post_norm_block,
    id="S01",
    says="The scores of your attention are not scaled.",
    hint="Divide by the square root of the width of a key of one head, or use self_attention as it is given.",
)
def post_unscaled(X, p, n_heads, mask=None):
    d_k = X.shape[-1] // n_heads
    return post_norm(X, p, lambda Z: attend(Z, Z, p, n_heads, mask, factor=d_k**0.5))


@mistake(
    ref.post_norm_block,
    id="S03",
    says="Your attention scales by √D; the width of a key is D / n_heads.",
    hint="d_k is the width of a key inside one head.",
)
def post_scaled_by_full_width(X, p, n_heads, mask=None):
    return post_norm(X, p, lambda Z: attend(Z, Z, p, n_heads, mask, factor=n_heads**-0.5))


@mistake(
    ref.post_norm_block,
    says="Your attention has no output projection: W_O and b_O are not used.",
    hint="The heads are concatenated and then multiplied by one more matrix.",
)
def post_without_output_projection(X, p, n_heads, mask=None):
    return post_norm(X, p, lambda Z: attend(Z, Z, without_output_projection(p), n_heads, mask))


@mistake(
    ref.post_norm_block,
    says="You multiply with the attention's weights transposed.",
    hint="The weights in p are (in, out) and used as X @ W.",
)
def post_weights_transposed(X, p, n_heads, mask=None):
    return post_norm(X, p, lambda Z: attend(Z, Z, with_weights_turned(p), n_heads, mask))


@mistake(
    ref.post_norm_block,
    says="You cut the residual connections off from the gradient.",
    hint="That is the way on which gradients reach the lower blocks: no detach, no .data.",
)
def post_residuals_detached(X, p, n_heads, mask=None):
    Y = norm1(X.detach() + ref.self_attention(X, p, n_heads, mask), p)
    return norm2(Y.detach() + network(Y, p), p)


@mistake(
    ref.post_norm_block,
    says="You add the attention to the caller's X in place.",
    hint="Make a new tensor of the sum.",
)
def post_in_place(X, p, n_heads, mask=None):
    X += ref.self_attention(X, p, n_heads, mask)
    Y = norm1(X, p)
    return norm2(Y + network(Y, p), p)
