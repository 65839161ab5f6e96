"""Wrong pre-norm blocks: their residual connections, their norms, and the attention inside them."""

from graders.transformer_block.pieces import (
    attend,
    blocking,
    network,
    norm1,
    norm2,
    pre_norm,
    with_first_norm_twice,
    with_norms_exchanged,
    without_output_projection,
)
from reference import transformer_block as ref
from softmark import mistake


@mistake(
    ref.pre_norm_block,
    id="B01",
    says="You wrote the post-norm block: your layer norms stand after the sums.",
    hint="Here a sublayer reads normalised tokens, and the sum itself is not normalised.",
)
def pre_is_post_norm(X, p, n_heads, mask=None):
    return ref.post_norm_block(X, p, n_heads, mask)


@mistake(
    ref.pre_norm_block,
    id="B02",
    says="You add the outputs of your sublayers to the normalised tokens.",
    hint="The way around a sublayer goes around its layer norm, too.",
)
def pre_residuals_from_normalised(X, p, n_heads, mask=None):
    Z_1 = norm1(X, p)
    Z_2 = norm2(Z_1 + ref.self_attention(Z_1, p, n_heads, mask), p)
    return Z_2 + network(Z_2, p)


@mistake(
    ref.pre_norm_block,
    id="B02",
    says="You add the attention's output to the normalised tokens instead of X.",
    hint="The way around a sublayer goes around its layer norm, too.",
)
def pre_first_residual_from_normalised(X, p, n_heads, mask=None):
    Z = norm1(X, p)
    Y = Z + ref.self_attention(Z, p, n_heads, mask)
    return Y + network(norm2(Y, p), p)


@mistake(
    ref.pre_norm_block,
    id="B02",
    says="You add the feed-forward network's output to the normalised tokens.",
    hint="The way around a sublayer goes around its layer norm, too.",
)
def pre_second_residual_from_normalised(X, p, n_heads, mask=None):
    Z = norm2(X + ref.self_attention(norm1(X, p), p, n_heads, mask), p)
    return Z + network(Z, p)


@mistake(
    ref.pre_norm_block,
    id="B03",
    says="The residual connection around your attention is missing.",
    hint="With sublayers that put out 0 the block must return X.",
)
def pre_without_first_residual(X, p, n_heads, mask=None):
    Y = ref.self_attention(norm1(X, p), p, n_heads, mask)
    return Y + network(norm2(Y, p), p)


@mistake(
    ref.pre_norm_block,
    id="B03",
    says="The residual connection around your feed-forward network is missing.",
    hint="With sublayers that put out 0 the block must return X.",
)
def pre_without_second_residual(X, p, n_heads, mask=None):
    Y = X + ref.self_attention(norm1(X, p), p, n_heads, mask)
    return network(norm2(Y, p), p)


@mistake(
    ref.pre_norm_block,
    id="B05",
    says="You have one residual connection around both sublayers.",
    hint="Each sublayer has its own: there are two sums.",
)
def pre_one_residual_around_both(X, p, n_heads, mask=None):
    Y = ref.self_attention(norm1(X, p), p, n_heads, mask)
    return X + network(norm2(Y, p), p)


@mistake(
    ref.pre_norm_block,
    id="B06",
    says="Your second residual connection starts from the block's input, so the attention's result is lost there.",
    hint="The second sum adds to what the first one made.",
)
def pre_second_residual_from_input(X, p, n_heads, mask=None):
    Y = X + ref.self_attention(norm1(X, p), p, n_heads, mask)
    return X + network(norm2(Y, p), p)


@mistake(
    ref.pre_norm_block,
    says="Your two sublayers work side by side: the feed-forward network does not see the attention's result.",
    hint="The second half of the block reads what the first half made.",
)
def pre_sublayers_in_parallel(X, p, n_heads, mask=None):
    return X + ref.self_attention(norm1(X, p), p, n_heads, mask) + network(norm2(X, p), p)


@mistake(
    ref.pre_norm_block,
    says="Your attention reads X without a layer norm.",
    hint="Each of the two sublayers reads normalised tokens.",
)
def pre_without_first_norm(X, p, n_heads, mask=None):
    Y = X + ref.self_attention(X, p, n_heads, mask)
    return Y + network(norm2(Y, p), p)


@mistake(
    ref.pre_norm_block,
    says="Your feed-forward network reads its tokens without a layer norm.",
    hint="Each of the two sublayers reads normalised tokens.",
)
def pre_without_second_norm(X, p, n_heads, mask=None):
    Y = X + ref.self_attention(norm1(X, p), p, n_heads, mask)
    return Y + network(Y, p)


@mistake(
    ref.pre_norm_block,
    id="B07",
    says="Only your queries are normalised: keys and values come from X as it is.",
    hint="All three are made from the same normalised tokens.",
)
def pre_normalises_queries_only(X, p, n_heads, mask=None):
    Y = X + attend(norm1(X, p), X, p, n_heads, mask)
    return Y + network(norm2(Y, p), p)


@mistake(
    ref.pre_norm_block,
    says="You normalise what a sublayer puts out instead of what it reads.",
    hint="X + sublayer(LN(X)): look at what stands inside what.",
)
def pre_norm_after_sublayer(X, p, n_heads, mask=None):
    Y = X + norm1(ref.self_attention(X, p, n_heads, mask), p)
    return Y + norm2(network(Y, p), p)


@mistake(
    ref.pre_norm_block,
    says="You normalise the sums as well as the inputs of the sublayers.",
    hint="A pre-norm block has two layer norms, not four.",
)
def pre_and_post_norm(X, p, n_heads, mask=None):
    Y = norm1(X + ref.self_attention(norm1(X, p), p, n_heads, mask), p)
    return norm2(Y + network(norm2(Y, p), p), p)


@mistake(
    ref.pre_norm_block,
    says="You normalise once more at the end of the block.",
    hint="There is no layer norm after the last sum.",
)
def pre_with_norm_at_the_end(X, p, n_heads, mask=None):
    return norm2(pre_norm(X, p, lambda Z: ref.self_attention(Z, p, n_heads, mask)), p)


@mistake(
    ref.pre_norm_block,
    id="B09",
    says="You exchanged the weights of the two layer norms.",
    hint="gain1 and bias1 belong to the norm before the attention.",
)
def pre_norms_exchanged(X, p, n_heads, mask=None):
    return pre_norm(X, with_norms_exchanged(p), lambda Z: ref.self_attention(Z, p, n_heads, mask))


@mistake(
    ref.pre_norm_block,
    id="N25",
    says="You use gain1 and bias1 in both layer norms.",
    hint="The second norm has weights of its own.",
)
def pre_one_norm_for_both(X, p, n_heads, mask=None):
    return pre_norm(X, with_first_norm_twice(p), lambda Z: ref.self_attention(Z, p, n_heads, mask))


@mistake(
    ref.pre_norm_block,
    says="Your feed-forward network comes before the attention.",
    hint="First tokens look at each other, then each of them is worked on by itself.",
)
def pre_network_first(X, p, n_heads, mask=None):
    Y = X + network(norm1(X, p), p)
    return Y + ref.self_attention(norm2(Y, p), p, n_heads, mask)


@mistake(
    ref.pre_norm_block,
    says="Your block ends after the attention: the feed-forward half is missing.",
    hint="X + sublayer(LN(X)) happens twice, with two different sublayers.",
)
def pre_without_network(X, p, n_heads, mask=None):
    return X + ref.self_attention(norm1(X, p), p, n_heads, mask)


@mistake(
    ref.pre_norm_block,
    says="Your layer norms use an ε of 1e-12.",
    hint="EPS stands at the top of the file.",
)
def pre_other_eps(X, p, n_heads, mask=None):
    Y = X + ref.self_attention(norm1(X, p, 1e-12), p, n_heads, mask)
    return Y + network(norm2(Y, p, 1e-12), p)


@mistake(
    ref.pre_norm_block,
    says="Your block ignores the mask.",
    hint="Pass it on to the attention.",
)
def pre_ignores_mask(X, p, n_heads, mask=None):
    return pre_norm(X, p, lambda Z: ref.self_attention(Z, p, n_heads))


@mistake(
    ref.pre_norm_block,
    id="M01",
    says="Your block lets tokens look exactly where they may not.",
    hint="True means may look in this course; PyTorch's own functions do not all agree with each other.",
)
def pre_inverts_mask(X, p, n_heads, mask=None):
    return pre_norm(X, p, lambda Z: attend(Z, Z, p, n_heads, blocking(mask)))


@mistake(
    ref.pre_norm_block,
    says="Your block lets tokens look exactly where they may not.",
    hint="True means may look in this course; PyTorch's own functions do not all agree with each other.",
)
def pre_passes_mask_inverted(X, p, n_heads, mask=None):
    return pre_norm(X, p, lambda Z: ref.self_attention(Z, p, n_heads, None if mask is None else ~mask))


@mistake(
    ref.pre_norm_block,
    says="Your attention has a single head, whatever n_heads says.",
    hint="Pass n_heads on to the attention.",
)
def pre_ignores_heads(X, p, n_heads, mask=None):
    return pre_norm(X, p, lambda Z: ref.self_attention(Z, p, 1, mask))


@mistake(
    ref.pre_norm_block,
    id="S01",
    says="The scores of your attention are not scaled.",
    hint="Divide by the square root of the width of a key of one head, or use self_attention as it is given.",
)
def pre_unscaled(X, p, n_heads, mask=None):
    d_k = X.shape[-1] // n_heads
    return pre_norm(X, p, lambda Z: attend(Z, Z, p, n_heads, mask, factor=d_k**0.5))


@mistake(
    ref.pre_norm_block,
    says="Your attention has no output projection: W_O and b_O are not used.",
    hint="The heads are concatenated and then multiplied by one more matrix.",
)
def pre_without_output_projection(X, p, n_heads, mask=None):
    return pre_norm(X, p, lambda Z: attend(Z, Z, without_output_projection(p), n_heads, mask))


@mistake(
    ref.pre_norm_block,
    says="You cut the residual connections off from the gradient.",
    hint="That is the way on which gradients reach the lower blocks: no detach, no .data.",
)
def pre_residuals_detached(X, p, n_heads, mask=None):
    Y = X.detach() + ref.self_attention(norm1(X, p), p, n_heads, mask)
    return Y.detach() + network(norm2(Y, p), p)


@mistake(
    ref.pre_norm_block,
    says="You add the attention to the caller's X in place.",
    hint="Make a new tensor of the sum.",
)
def pre_in_place(X, p, n_heads, mask=None):
    X += ref.self_attention(norm1(X, p), p, n_heads, mask)
    return X + network(norm2(X, p), p)
