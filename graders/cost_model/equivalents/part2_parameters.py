"""Other right ways to write parts 2, 3 and 6."""

from reference import cost_model as ref
from softmark import equivalent


@equivalent(ref.parameters)
def by_kind(kind, **sizes):
    """Look up a function for each kind."""

    def linear(a, b):
        return (a + 1) * b

    def recurrent(d, h, n_layers):
        return linear(d, h) + linear(h, h) + (n_layers - 1) * 2 * linear(h, h)

    def attention(d, n_heads):
        return 4 * linear(d, d)

    def feed_forward(d, f):
        return linear(d, f) + linear(f, d)

    def block(d, f, n_heads):
        return attention(d, n_heads) + feed_forward(d, f) + 4 * d

    def gpt(vocabulary, n, d, n_heads, n_layers):
        return d * (vocabulary + n + 2) + n_layers * block(d, 4 * d, n_heads)

    table = {
        "rnn": recurrent,
        "lstm": lambda d, h, n_layers: 4 * recurrent(d, h, n_layers),
        "conv": lambda d, h, k: linear(k * d, h),
        "attention": attention,
        "feed_forward": feed_forward,
        "block": block,
        "gpt": gpt,
    }
    if kind not in table:
        raise ValueError(kind)
    return table[kind](**sizes)


@equivalent(ref.parameters)
def by_shapes(kind, **sizes):
    """Write down the shape of every parameter, and multiply."""
    import math

    d, h, f = sizes.get("d", 0), sizes.get("h", 0), sizes.get("f", 4 * sizes.get("d", 0))
    attention = [(d, d), (d,)] * 4
    feed_forward = [(d, f), (f,), (f, d), (d,)]
    block = [*attention, *feed_forward, *[(d,)] * 4]
    layers = sizes.get("n_layers", 1)
    recurrent = [(h, d), (h, h), (h,), (h,)] + [(h, h), (h, h), (h,), (h,)] * (layers - 1)
    shapes = {
        "rnn": recurrent,
        "lstm": recurrent * 4,
        "conv": [(sizes.get("k", 0), d, h), (h,)],
        "attention": attention,
        "feed_forward": feed_forward,
        "block": block,
        "gpt": [(sizes.get("vocabulary", 0), d), (sizes.get("n", 0), d), (d,), (d,), *block * layers],
    }
    try:
        return sum(math.prod(shape) for shape in shapes[kind])
    except KeyError:
        raise ValueError("no such kind") from None


@equivalent(ref.parameters)
def matched(kind, **sizes):
    """Tell the kinds apart with match."""
    match kind:
        case "rnn" | "lstm":
            d, h, n_layers = sizes["d"], sizes["h"], sizes["n_layers"]
            one = h * (d + h + 2) + (n_layers - 1) * h * (2 * h + 2)
            return one if kind == "rnn" else one * 4
        case "conv":
            return sizes["h"] * (sizes["k"] * sizes["d"] + 1)
        case "attention":
            return 4 * sizes["d"] * (sizes["d"] + 1)
        case "feed_forward":
            return 2 * sizes["d"] * sizes["f"] + sizes["d"] + sizes["f"]
        case "block":
            d, f = sizes["d"], sizes["f"]
            return 4 * d * d + 2 * d * f + 9 * d + f
        case "gpt":
            d = sizes["d"]
            return (sizes["vocabulary"] + sizes["n"] + 2) * d + sizes["n_layers"] * (12 * d * d + 13 * d)
        case _:
            raise ValueError(f"unknown: {kind}")


@equivalent(ref.crossover)
def inequality(d, f=None):
    f = 4 * d if f is None else f
    first = f - 2 * d
    return (first if first > 0 else 0) + 1, 1 + d


@equivalent(ref.crossover)
def bisected(d, f=None):
    """Look for the first length at which the left side is larger."""
    f = f or 4 * d

    def first(dearer):
        low, high = 0, 1
        while not dearer(high):
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if dearer(middle) else (middle, high)
        return high

    return (
        first(lambda n: 4 * n * d * d + 2 * n * n * d > 2 * n * d * f),
        first(lambda n: 2 * n * n * d > 2 * n * d * d),
    )


@equivalent(ref.active_parameters)
def everything_by_hand(d, f, n_experts, k, n_layers):
    expert = 2 * d * f + f + d
    rest = 4 * (d * d + d) + 4 * d + d * n_experts
    return n_layers * (rest + n_experts * expert), n_layers * (rest + k * expert)


@equivalent(ref.active_parameters)
def from_a_block(d, f, n_experts, k, n_layers):
    """Take a block, and put the further experts and the router into it."""
    block = ref.parameters("block", d=d, f=f, n_heads=1)
    expert = ref.parameters("feed_forward", d=d, f=f)
    dense = block + d * n_experts - expert
    return [n_layers * (dense + count * expert) for count in (n_experts, k)]
