"""A sample submission: a bracket is never closed."""


def rnn_cost(n, d, n_layers=1):
    return (2 * n_layers * n * d * d, n + n_layers - 1, n - 1, n * d * (n_layers + 1)
