"""Lists the kinds of slips that a repair may mend: how likely each is, and the sentence that a student reads.

Repairs of a lower priority are tried first: those that take something away, then those that replace a word, then those
that add something. A sentence names the slip, and never says what to write instead.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SlipKind:
    """A kind of slip."""

    priority: int
    says: str
    """A sentence; `{}` stands for the student's own text."""


_TABLE: dict[str, tuple[int, str]] = {
    "call too many": (1, "`{}` is a step that the formula does not have."),
    "term too many": (1, "`{}` is a term or a factor that the formula does not have."),
    "special case": (1, "check the special case at `{}`: does the task have it?"),
    "condition too many": (1, "`{}` is a condition that should not be there."),
    "condition": (2, "check the condition `{}`: for which inputs does it hold?"),
    "other function": (2, "check `{}`: is it the function in the formula?"),
    "wrong variable": (2, "check `{}`: is it the right variable here?"),
    "unused": (0, "look at `{}`: the function does not use one of its parameters."),
    "axis": (2, "check the axis at `{}`. Which one does the task name?"),
    "axis that goes": (2, "check the shape after `{}`: does the axis vanish, or stay with length 1?"),
    "two unused": (0, "look at `{}`: the function does not use two of its parameters."),
    "unused variable": (0, "look at `{}`: the function does not use one of its variables."),
    "unused attribute": (0, "look at `{}`: the module has a layer or a parameter that it does not use."),
    "line too many": (1, "this line should not be there."),
    "option": (2, "check the options of `{}`, and the defaults of those that are left out."),
    "overflow": (2, "`{}` becomes too large for large inputs."),
    "operator": (2, "check the operators at `{}`."),
    "operator before a variable": (4, "check the operators at `{}`."),
    "brackets": (2, "check the brackets at `{}`: what is computed first?"),
    "in place": (1, "`{}` changes a value in place."),
    "slice": (2, "check the slice `{}`: where does it begin and end?"),
    "index": (2, "check the index at `{}`."),
    "index too many": (1, "check `{}`: is an index needed here?"),
    "size": (2, "check `{}`: is it the length of the right axis?"),
    "order of results": (2, "check the order in `{}`."),
    "order of arguments": (2, "check the order of the arguments of `{}`."),
    "argument too many": (1, "check the arguments of `{}`: one is too many."),
    "argument missing": (2, "check the arguments of `{}`: is one missing?"),
    "negation": (2, "check the sign or the negation at `{}`."),
    "transpose": (2, "write down the rows and columns of `{}`: do they fit the formula?"),
    "comparison": (2, "check the comparison `{}`."),
    "not carried on": (2, "check `{}`: which value does the next round of the loop start with?"),
    "device or dtype": (2, "check `{}`: on which device, and with which dtype, does it make its result?"),
    "order of lines": (2, "check the order of this line and the next one."),
    "plain list": (2, "check whether the module registers `{}`: is it among the module's parameters?"),
    "exception": (2, "check `{}`: which exception does the task name?"),
    "exchanged": (2, "check the variables in `{}`: are two of them exchanged?"),
    "pattern": (2, "check the pattern `{}`: what does each of its signs match, and how often?"),
    "text": (2, "check the text `{}`."),
    "adds up": (2, "check `{}`: does the new value take the place of the old one, or is it added?"),
    "order": (2, "check the order at `{}`: what comes first, and what decides between equals?"),
    "form": (2, "check `{}`: is it a list, a text, bytes, or a single value?"),
    "loses digits": (2, "`{}` is not exact for large or for small inputs."),
    "bound": (3, "check `{}`: where does it begin, and where does it end?"),
    "not left out": (3, "look at `{}`: are there elements that do not count?"),
    "only once": (3, "look at `{}`: does the task ask for it in both directions?"),
    "result too many": (1, "check `{}`: is one of the results too many?"),
    "result missing": (3, "check `{}`: a result is missing."),
    "another size": (3, "check `{}`: is it the right size?"),
    "number": (3, "check the number `{}`."),
    "root missing": (3, "look at `{}`: a root is missing."),
    "bias missing": (3, "look at `{}`: what does the layer add to it?"),
    "axis of length 1": (3, "write down the shape of `{}`: is it broadcast along the right axes?"),
    "factor missing": (4, "look at `{}`: a factor is missing."),
    "sign missing": (4, "look at `{}`: is a sign missing?"),
    "round of a loop": (3, "check the rounds of the loop over `{}`."),
    "step missing": (5, "look at `{}`: a step of the formula is missing."),
    "term missing": (6, "look at `{}`: a term or a factor is missing."),
}
KINDS = {name: SlipKind(*row) for name, row in _TABLE.items()}

OF_OPERATORS = {
    "factor missing": "term too many",
    "term missing": "term too many",
    "call missing": "call too many",
    "other operator": "operator",
    "order of operands": "operator",
    "condition missing": "condition too many",
    "comparison": "comparison",
    "negation": "negation",
    "branch skipped": "special case",
    "axis": "axis",
    "number": "number",
    "index": "index",
    "option": "option",
    "option missing": "option",
    "index missing": "index too many",
    "slice": "slice",
    "order of arguments": "order of arguments",
    "argument missing": "argument too many",
    "other function of its family": "other function",
    "transpose": "transpose",
    "order of axes": "axis",
    "order in a list": "order of results",
    "element missing": "term too many",
    "condition that holds never": "special case",
    "condition that holds always": "condition",
    "condition negated": "condition",
    "line missing": "line too many",
    "round missing": "round of a loop",
    "direction of a loop": "round of a loop",
    "order of lines": "order of lines",
}
"""The kind of slip that an operator of mutants mends, by the kind of mistake that it makes. An operator that leaves out
a call of a right program takes away a call too many of a wrong one. Operators that are not named here mend nothing."""
