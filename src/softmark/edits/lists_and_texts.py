"""Proposes repairs of code that works with lists, dictionaries and texts: filters, counts, orders and forms.

Steps such as `sorted({})` are proposed only for functions that use no tensors, because each proposal costs a trial.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import combinations

from softmark.edits.scopes import Scope, called, replaced
from softmark.edits.slips import Names, NodeOperators, OwnFunctions, RepairChange, of_each_node

_MOST_NAMES = 4
_STEPS = (
    "sorted({})", "sorted({}, key=len)", "sorted({}, key=len, reverse=True)", "({})[::-1]", "list({})", "set({})",
    "tuple({})", "[{}]", "({}).lower()", "({}).split()", "({}).strip()", "({}).encode()", "bytes([{}])", "len({})",
    "sum({})", "str({})", "dict(enumerate({}))", "enumerate({})", "dict.fromkeys({})", '" ".join({})', '"".join({})',
    "map(re.escape, {})", "re.escape({})", '"(" + {} + ")"', '"<" + {} + ">"', "[one for one in {} if one]",
    "[one.encode() for one in {}]",
)  # fmt: skip
_ORDERED = ("max", "min", "sorted", "sort", "nlargest", "nsmallest")
_TEXTS = {"": (" ",), " ": ("",)}
_ENCODINGS = ("utf-8", "latin-1", "ascii", "utf-16", "utf8", "utf-16-le", "cp1252")
_HANDLERS = ("ignore", "strict", "replace", "backslashreplace", "xmlcharrefreplace")


def lists_and_texts(scope: Scope, own: OwnFunctions) -> Iterator[RepairChange]:
    """Yield the changes of every node of a function, in the order of the text; steps that are missing come last."""
    names = Names(scope)
    yield from of_each_node(_OPERATORS, scope, names)
    if scope.is_plain:
        for node in scope.written():
            yield from _orders(node)
            if isinstance(node, ast.Call):
                yield from _chains(node, scope, own)
            yield from _steps(node, scope, own, names)


def _targets(node: ast.AST, scope: Scope) -> list[str]:
    """Return the variables of the loops and comprehensions around a node, the innermost first."""
    found: list[str] = []
    for above in scope.above(node):
        if isinstance(above, ast.For):
            found += sorted(Scope.stored_in(above.target))
        elif isinstance(above, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            found += [name for one in above.generators for name in sorted(Scope.stored_in(one.target))]
    return list(dict.fromkeys(found))


# Filters and conditions -----------------------------------------------------------------------------------------------


def _filter(node: ast.ListComp | ast.GeneratorExp, scope: Scope, names: Names) -> Iterator[RepairChange]:
    """Yield a comprehension that leaves out some elements."""
    first, *rest = node.generators
    if first.ifs or not isinstance(first.target, ast.Name):
        return
    element = first.target.id
    lists = [name for name, annotation in scope.parameters.items() if "list" in annotation.lower()]
    tests = [
        element,
        *(f"{element} not in {name}" for name in lists),
        *(f"{element} != {name}" for name in scope.constants),
    ]
    for test in tests:
        kept = replaced(first, ifs=[ast.parse(test, mode="eval").body])
        yield RepairChange("not left out", node, ast.unparse(replaced(node, generators=[kept, *rest])))


def _tests(node: ast.If, scope: Scope, names: Names) -> Iterator[RepairChange]:
    """Yield conditions that two variables of loops are equal or not."""
    known = [*_targets(node, scope), *names.parameters_of("int")][:5]
    for one, other in combinations(dict.fromkeys(known), 2):
        yield RepairChange("condition", node.test, f"{one} != {other}")
        yield RepairChange("condition", node.test, f"{one} == {other}")
    for name in sorted(Scope.loaded_in(node.test) & set(scope.variables)):
        yield RepairChange.wrapped("condition", node.test, f"{name} is None or {{}}")


def _unguarded(node: ast.stmt, scope: Scope, names: Names) -> Iterator[RepairChange]:
    """Yield a statement of a loop that is done only for some of the elements."""
    above = scope.parent(node)
    if isinstance(above, ast.For) and isinstance(above.target, ast.Name) and node.lineno == node.end_lineno:
        element = above.target.id
        for test in (element, *(f"{element} not in {name}" for name in scope.of_type("list"))):
            words = f"if {test}:\n    {ast.unparse(node)}"
            yield RepairChange("not left out", node, words)


def _members(node: ast.Compare, scope: Scope, names: Names) -> Iterator[RepairChange]:
    """Yield a test of membership in more values."""
    group = node.comparators[0]
    if isinstance(node.ops[0], ast.In | ast.NotIn) and isinstance(group, ast.Tuple | ast.List):
        inside = [ast.unparse(one) for one in group.elts]
        for name in scope.parameters:
            if name not in inside:
                yield RepairChange("condition", group, f"({', '.join([*inside, name])})", node)


# Counts ---------------------------------------------------------------------------------------------------------------


def _counts(node: ast.Constant, scope: Scope, names: Names) -> Iterator[RepairChange]:
    """Yield the variable of a loop in the place of a number, as in `+ 1` for `+ count`."""
    if type(node.value) is int and not isinstance(scope.parent(node), ast.UnaryOp | ast.Subscript | ast.Slice):
        loops = [above for above in scope.above(node) if isinstance(above, ast.For)]
        inside = [name for loop in loops[:1] for name in sorted(Scope.stored_in(loop))]
        for name in dict.fromkeys([*_targets(node, scope)[:_MOST_NAMES], *inside[:_MOST_NAMES]]):
            yield RepairChange("number", node, name)


def _empty(node: ast.List, scope: Scope, names: Names) -> Iterator[RepairChange]:
    """Yield a parameter in the place of an empty list that a function is called with."""
    if not node.elts and isinstance(scope.parent(node), ast.Call):
        for name in scope.of_type("list"):
            yield RepairChange("wrong variable", node, name)


def _assigned(node: ast.Assign, scope: Scope, names: Names) -> Iterator[RepairChange]:
    """Yield a sum in the place of a value that is written over in each round of a loop."""
    target = node.targets[0]
    if not any(isinstance(above, ast.For | ast.While) for above in scope.above(node)):
        return
    value = ast.unparse(node.value)
    if isinstance(target, ast.Subscript):
        entry, key = ast.unparse(target.value), ast.unparse(target.slice)
        yield RepairChange("adds up", node, f"{ast.unparse(target)} += {value}")
        yield RepairChange("adds up", node, f"{entry}[{key}] = {entry}.get({key}, 0) + {value}")
    elif isinstance(target, ast.Name):
        yield RepairChange("adds up", node, f"{target.id} += {value}")


def _added(node: ast.AugAssign, scope: Scope, names: Names) -> Iterator[RepairChange]:
    """Yield an assignment in the place of a sum, and a second sum with the two keys exchanged."""
    target, value = ast.unparse(node.target), ast.unparse(node.value)
    yield RepairChange("adds up", node, f"{target} = {value}")
    if isinstance(node.target, ast.Subscript) and isinstance(node.target.slice, ast.Tuple):
        keys = node.target.slice.elts
        if len(keys) == 2:
            turned = replaced(node.target, slice=ast.Tuple(keys[::-1], ast.Load()))
            second = ast.unparse(replaced(node, target=turned))
            yield RepairChange("only once", node, f"{ast.unparse(node)}\n{second}")


# Orders and forms -----------------------------------------------------------------------------------------------------


def _sorted(node: ast.Call, scope: Scope, names: Names) -> Iterator[RepairChange]:
    """Yield other orders by which something is sorted or the largest is taken."""
    if called(node) not in _ORDERED or not (node.args or isinstance(node.func, ast.Attribute)):
        return
    given = {word.arg: word.value for word in node.keywords}
    others = [word for word in node.keywords if word.arg != "key"]
    keys = list(_keys(given.get("key"), node.args))
    for key in keys:
        words = [*others, ast.keyword("key", ast.parse(key, mode="eval").body)]
        yield RepairChange("order", node, ast.unparse(replaced(node, keywords=words)))
    if called(node) in ("sorted", "sort") and "reverse" not in given:
        yield RepairChange("order", node, ast.unparse(replaced(node, keywords=[*node.keywords, _REVERSED])))


_REVERSED = ast.keyword("reverse", ast.Constant(True))


def _keys(key: ast.expr | None, arguments: list[ast.expr]) -> Iterator[str]:
    """Yield keys of an order: of what is counted, and with ties by the element itself."""
    if key is None:
        if len(arguments) == 1 and isinstance(arguments[0], ast.Name):
            counts = arguments[0].id
            yield f"{counts}.get"
            yield f"lambda one: ({counts}[one], one)"
        yield "len"
    elif isinstance(key, ast.Attribute) and key.attr == "get":
        yield f"lambda one: ({ast.unparse(key.value)}[one], one)"
        yield f"lambda one: (-{ast.unparse(key.value)}[one], one)"
    elif isinstance(key, ast.Lambda) and len(key.args.args) == 1:
        element, value = key.args.args[0].arg, ast.unparse(key.body)
        yield f"lambda {element}: ({value}, {element})"
        yield f"lambda {element}: -({value})"
        yield f"lambda {element}: (-({value}), {element})"
        if isinstance(key.body, ast.Tuple) and len(key.body.elts) > 1:
            yield f"lambda {element}: ({', '.join(map(ast.unparse, key.body.elts[::-1]))})"


def _lists(node: ast.List, scope: Scope, names: Names) -> Iterator[RepairChange]:
    """Yield a list with one more element: a variable that the function never reads."""
    elements = list(map(ast.unparse, node.elts))
    for other in names.unused[:_MOST_NAMES] if elements else []:
        for place in range(len(elements), -1, -1):
            kind = names.kind_of_unused(other)
            yield RepairChange(kind, node, f"[{', '.join([*elements[:place], other, *elements[place:]])}]")


def _orders(node: ast.AST) -> Iterator[RepairChange]:
    """Yield a sum of lists or texts in the other order."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        exchanged = replaced(node, left=node.right, right=node.left)
        yield RepairChange("order of results", node, f"({ast.unparse(exchanged)})")
    if isinstance(node, ast.List) and len(node.elts) == 1 and not isinstance(node.elts[0], ast.Starred):
        yield RepairChange("form", node, ast.unparse(node.elts[0]))


def _texts(node: ast.Constant, scope: Scope, names: Names) -> Iterator[RepairChange]:
    """Yield other texts: with and without a space, other encodings, other ways with what cannot be decoded."""
    if isinstance(node.value, bytes) and not node.value.strip():
        yield RepairChange("text", node, repr(b" " if not node.value else b""))
    if not isinstance(node.value, str) or isinstance(scope.parent(node), ast.JoinedStr):
        return
    others = {*_TEXTS.get(node.value, ())}
    others |= {"utf-8"} if node.value in _ENCODINGS else set()
    others |= {*_HANDLERS} if node.value in _HANDLERS else set()
    for other in sorted(others - {node.value}):
        yield RepairChange("text", node, repr(other))


def _codes(node: ast.Call, scope: Scope, names: Names) -> Iterator[RepairChange]:
    """Yield options of encode and decode, and bytes decoded where they are printed."""
    if called(node) == "decode" and "errors" not in {word.arg for word in node.keywords} and len(node.args) < 2:
        words = [*node.keywords, ast.keyword("errors", ast.Constant("replace"))]
        yield RepairChange("option", node, ast.unparse(replaced(node, keywords=words)))
    if called(node) == "str" and len(node.args) == 1:
        yield RepairChange("form", node, f'({ast.unparse(node.args[0])}).decode("utf-8", errors="replace")')
    if called(node) in ("most_common", "elements") and not node.args:
        yield RepairChange("order", node, f"{ast.unparse(node.func.value)}.items()")  # type: ignore[attr-defined]


def _chains(node: ast.Call, scope: Scope, own: OwnFunctions) -> Iterator[RepairChange]:
    """Yield a function of the student's in the place of methods that are called one after the other."""
    inner: ast.expr = node
    while isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute):
        inner = inner.func.value
    if isinstance(inner, ast.Name):
        for name in own.of_one:
            if name != scope.name:
                yield RepairChange("other function", node, f"{name}({inner.id})")


def _steps(node: ast.AST, scope: Scope, own: OwnFunctions, names: Names) -> Iterator[RepairChange]:
    """Yield values with one more step, the student's own functions first."""
    for value in _values(node):
        for name, count in own.parameters.items():
            if name == scope.name:
                continue
            inner = value.elts[0] if isinstance(value, ast.List) and len(value.elts) == 1 else value
            if count == 1:
                yield RepairChange("step missing", value, f"{name}({ast.unparse(inner)})")
            for other in [one for one in scope.parameters if one != ast.unparse(inner)][:3] if count == 2 else []:
                yield RepairChange("step missing", value, f"{name}({ast.unparse(inner)}, {other})")
        for words in (*_STEPS, *(f"({{}})[:{name}]" for name in names.parameters_of("int"))):
            yield RepairChange.wrapped("step missing", value, words)


def _values(node: ast.AST) -> Iterator[ast.expr]:
    """Yield the expressions in a node around which a step may be missing."""
    if isinstance(node, ast.Assign | ast.AugAssign | ast.Return) and node.value is not None:
        yield from node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
    elif isinstance(node, ast.Call):
        yield from (one for one in node.args if not isinstance(one, ast.Constant | ast.Starred | ast.GeneratorExp))
    elif isinstance(node, ast.For | ast.comprehension):
        yield node.iter
    elif isinstance(node, ast.ListComp | ast.GeneratorExp):
        yield node.elt


_OPERATORS: NodeOperators = (
    (ast.ListComp | ast.GeneratorExp, _filter),
    (ast.If, _tests),
    (ast.Assign | ast.AugAssign | ast.Expr, _unguarded),
    (ast.Compare, _members),
    (ast.Constant, _counts),
    (ast.List, _empty),
    (ast.Assign, _assigned),
    (ast.AugAssign, _added),
    (ast.List, _lists),
    (ast.Call, _sorted),
    (ast.Constant, _texts),
    (ast.Call, _codes),
)
