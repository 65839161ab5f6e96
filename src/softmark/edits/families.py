"""Lists functions and operators that are easily confused with each other."""

from __future__ import annotations

import ast

AXIS_WORDS = ("dim", "axis", "dim0", "dim1", "dims")
"""Options that name an axis."""
_FAMILIES = (
    "sum mean amax", "amax amin", "max min", "prod cumprod", "sum cumsum", "mean sum", "softmax log_softmax", "std var",
    "sin cos", "tanh sigmoid relu", "sigmoid tanh relu", "relu gelu tanh", "gelu relu", "silu relu", "exp log",
    "sqrt square", "rsqrt sqrt", "log log2", "tril triu", "triu tril", "zeros ones", "ones zeros", "new_zeros new_ones",
    "new_ones new_zeros", "zeros_like ones_like", "ones_like zeros_like", "cat stack", "stack cat", "all any",
    "any all", "argmax argmin", "argmin argmax", "minimum maximum", "floor ceil", "ceil floor", "unsqueeze squeeze",
    "repeat_interleave repeat", "amin amax", "min max", "cos sin", "var std", "cumsum sum", "log_softmax softmax",
    "maximum minimum", "randn rand", "rand randn", "flip roll", "append extend",
)  # fmt: skip
OTHERS: dict[str, tuple[str, ...]] = {}
"""The functions that are easily written instead of a function, by its name."""
for _family in _FAMILIES:
    _first, *_rest = _family.split()
    OTHERS[_first] = tuple(dict.fromkeys([*OTHERS.get(_first, ()), *_rest]))

ELEMENTWISE = {"softmax": ("sigmoid", "exp"), "log_softmax": ("exp",)}
"""The elementwise functions that may be written instead of a function along an axis, by its name."""

IN_PLACE = {"masked_fill", "clamp", "add", "mul", "sub", "div", "unsqueeze", "squeeze", "transpose", "exp", "relu"}
"""Methods that also exist in a form that writes into its tensor, such as `clamp_`."""

OPERATORS: dict[type[ast.operator], tuple[type[ast.operator], ...]] = {
    ast.Add: (ast.Sub, ast.Mult),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Add, ast.Div),
    ast.Div: (ast.Mult, ast.FloorDiv),
    ast.FloorDiv: (ast.Mult, ast.Mod),
    ast.Mod: (ast.FloorDiv,),
    ast.Pow: (ast.Mult,),
    ast.MatMult: (ast.Mult,),
    ast.BitAnd: (ast.BitOr, ast.BitXor),
    ast.BitOr: (ast.BitAnd, ast.BitXor),
}
COMMUTATIVE = (ast.Add, ast.Mult, ast.BitAnd, ast.BitOr, ast.BitXor)
WRITES = {ast.Add: "add_", ast.Sub: "sub_", ast.Mult: "mul_", ast.Div: "div_"}
"""The method of a tensor that does the same as an operator, but writes into the left side."""

COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.Gt),
    ast.LtE: (ast.Lt, ast.GtE),
    ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.LtE),
    ast.Eq: (ast.NotEq, ast.GtE),
    ast.NotEq: (ast.Eq, ast.Gt),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}

_MISTAKEN: dict[str, tuple[str, ...]] = {
    "view": ("reshape",), "reshape": ("view",), "relu": ("gelu", "sigmoid"), "isqrt": ("sqrt",), "tan": ("tanh",),
    "log": ("exp",), "log10": ("log",), "log1p": ("log",), "expm1": ("exp",), "floor_divide": ("div",),
    "squeeze": ("unsqueeze",), "split": ("chunk",), "chunk": ("split",), "repeat": ("repeat_interleave",),
    "rand": ("randn", "zeros"), "empty": ("zeros",), "zeros_like": ("ones_like",), "mul": ("matmul",),
    "softmin": ("softmax",), "leaky_relu": ("relu",), "elu": ("relu",), "prod": ("sum",), "norm": ("sum",),
    "logical_or": ("logical_and",), "logical_and": ("logical_or",), "argsort": ("sort",), "abs": ("square",),
    "tanh": ("sigmoid", "relu"), "sigmoid": ("tanh", "softmax"), "normal_": ("zeros_",), "Linear": ("Identity",),
    "exp2": ("exp",), "hardsigmoid": ("sigmoid",), "hardtanh": ("tanh",),
    "log2": ("log",),
    "cos": ("sin",), "cosh": ("cos",), "sinh": ("sin",), "minimum": ("maximum",), "rsqrt": ("sqrt",),
}  # fmt: skip
"""The functions that may be meant by a function that is rarely right, by its name. Mutants do not use this table."""


def neighbours(name: str) -> tuple[str, ...]:
    """Return the functions that a student may have meant who wrote this one."""
    return tuple(dict.fromkeys([*OTHERS.get(name, ()), *_MISTAKEN.get(name, ())]))
