"""Softmark grades deep-learning homework.

What a hidden test or a list of mistakes needs is here: `from softmark import agree, draw, causal, mistake`. The names
are looked up on first use, so that `import softmark` costs nothing in processes that never compare numbers.
"""

from typing import Any

_VERDICT = frozenset(
    {
        "Failed",
        "agree",
        "batch_independent",
        "causal",
        "draw",
        "equivalent",
        "errs",
        "gradients_agree",
        "holds",
        "inherited",
        "ignores_padding",
        "keeps_dtype",
        "leaves_inputs",
        "mistake",
        "ops_independent_of",
        "permutation_equivariant",
        "raises",
        "repeatable",
        "rows_sum_to_one",
        "uses_inputs",
        "uses_weights",
        "works_on_meta",
    }
)

__all__ = sorted(_VERDICT)


def __getattr__(name: str) -> Any:
    if name in _VERDICT:
        from softmark import verdict

        return getattr(verdict, name)
    raise AttributeError(f"module 'softmark' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(_VERDICT)
