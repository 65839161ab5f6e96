"""The functions `experts` that hidden tests hand to a mixture: they treat each row by itself and have no weights."""


def experts(e, rows):
    """Return what expert e makes of rows; no two experts make the same of a row, and each feature counts."""
    return (0.5 + e) * rows + rows * rows.flip(-1) / (4 + rows.abs())


def strict_experts(e, rows):
    """Return the same; raise ValueError if a row has not chosen expert e, or if there is no row.

    It is for k = 2 and four experts whose scores are the first four features of a row, all different.
    """
    if not len(rows) or not (rows[:, :4].topk(2).indices == e).any(-1).all():
        raise ValueError("these are not the tokens of this expert")
    return experts(e, rows)
