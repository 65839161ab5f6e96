"""Makes an entry's skeleton of a student's program: what they changed in the reference, as an edit without words.

Both programs are compared by their tokens. If too much differs, the entry has the student's statements as its body.
The words are left empty for the author, and an entry without words is refused, so no skeleton is forgotten.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from softmark.edits.changes import EditError, TextChange, changed, places_of
from softmark.edits.definitions import SourceDefinition, definitions_of
from softmark.edits.tokens import PythonToken, tokens_of

ALIKE = 0.6
"""The share of tokens that two functions must have in common for their differences to be edits."""
MOST_CHANGES = 4
"""The number of changes up to which they are edits."""
_COMMENT = re.compile(r"[ \t]*#[^\n]*")
_WORDS = 'says = ""\nhint = ""\n'


def skeletons(student: str, reference: str, wanted: Sequence[str]) -> dict[str, str]:
    """Return an entry for each function that differs from the reference's, by the function's name.

    `wanted` are the functions and classes of the homework; of a class, each method that differs has an entry.
    Raise EditError if the student's text is no Python.
    """
    try:
        own = definitions_of(student)
    except SyntaxError as error:
        raise EditError(f"it is no Python: {error.msg} in line {error.lineno}") from error
    known = definitions_of(reference)
    names = [name for name in known if name.partition(".")[0] in wanted and not known[name].is_class and name in own]
    return {name: _skeleton(own[name], known[name]) for name in names if not _is_same(own[name], known[name].text)}


def _skeleton(own: SourceDefinition, known: SourceDefinition) -> str:
    header = f"[[{known.name}]]" if known.name.isidentifier() else f'[["{known.name}"]]'
    changes = _changes(own, known)
    if changes is None:
        return f"{header}\nbody = '''\n{_body(own, known)}'''\n{_WORDS}"
    texts = [_quoted(str(change)) for change in changes]
    edit = texts[0] if len(texts) == 1 else "[\n" + "".join(f"    {text},\n" for text in texts) + "]"
    lines = "".join(f"# {line}\n" for line in _new_lines(known, changes))
    return f"{header}\n{lines}edit = {edit}\n{_WORDS}"


def _changes(own: SourceDefinition, known: SourceDefinition) -> list[TextChange] | None:
    """Return changes of the reference's function of which exactly the student's comes; None if there are no few."""
    old, new = known.tokens, own.tokens
    matcher = SequenceMatcher(None, [t.text for t in old], [t.text for t in new], autojunk=False)
    blocks = _blocks([block[1:] for block in matcher.get_opcodes() if block[0] != "equal"])
    if matcher.ratio() < ALIKE or not 0 < len(blocks) <= MOST_CHANGES:
        return None
    changes = [_widened(known, own, *block) for block in blocks]
    if any(change is None for change in changes):
        return None
    found = list(dict.fromkeys(change for change in changes if change is not None))
    try:
        if _is_same(own, changed(known, places_of(known, found))):
            return found
    except EditError:
        pass
    return None


def _blocks(different: Sequence[tuple[int, int, int, int]]) -> list[tuple[int, int, int, int]]:
    """Return the places that differ; those with one or two equal tokens between them are one place."""
    blocks: list[tuple[int, int, int, int]] = []
    for i1, i2, j1, j2 in different:
        if blocks and i1 - blocks[-1][1] <= 2:
            i1, _, j1, _ = blocks.pop()
        blocks.append((i1, i2, j1, j2))
    return blocks


def _widened(known: SourceDefinition, own: SourceDefinition, i1: int, i2: int, j1: int, j2: int) -> TextChange | None:
    """Return a change of these tokens with so many of their neighbours that the old text occurs exactly once."""
    old, new = known.tokens, own.tokens
    while True:
        if i1 < i2:
            before = known.text[old[i1].start : old[i2 - 1].end]
            after = own.text[new[j1].start : new[j2 - 1].end] if j1 < j2 else ""
            try:
                places_of(known, [change := TextChange(" ".join(before.split()), _dedented(after, own))])
                return change
            except EditError:
                pass
        room_before = i1 > 0 and j1 > 0
        if i2 < len(old) and j2 < len(new) and (not room_before or _is_of_the_line(known, old[i2 - 1 : i2 + 1])):
            i2, j2 = i2 + 1, j2 + 1
        elif room_before:
            i1, j1 = i1 - 1, j1 - 1
        else:
            return None


def _is_of_the_line(known: SourceDefinition, two: Sequence[PythonToken]) -> bool:
    return len(two) == 2 and "\n" not in known.text[two[0].end : two[1].start]


def _dedented(text: str, own: SourceDefinition) -> str:
    """Return lines of a student's function without the indentation of its statements and without comments."""
    kept, done = "", 0
    for token in tokens_of(text):
        kept += _COMMENT.sub("", text[done : token.start]) + token.text
        done = token.end
    return kept.replace(f"\n{own.body_indent}", "\n")


def _is_same(own: SourceDefinition, text: str) -> bool:
    """Return whether a text has the same statements as the student's function, whatever its docstring and layout."""
    return _statements(own.text) == _statements(text)


def _statements(text: str) -> list[str] | None:
    try:
        function = ast.parse(textwrap.dedent(text)).body[0]
    except (SyntaxError, ValueError):
        return None
    assert isinstance(function, ast.FunctionDef)
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    return [ast.dump(node) for node in [function.args, *body] if not isinstance(node, ast.arguments)] + [
        argument.arg for argument in _arguments(function)
    ]


def _arguments(function: ast.FunctionDef) -> list[ast.arg]:
    return [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]


def _body(own: SourceDefinition, known: SourceDefinition) -> str:
    """Return a student's statements, with their names for the arguments set to the reference's first."""
    theirs, ours = (_names(definition) for definition in (own, known))
    renamed = [(a, b) for a, b in zip(theirs, ours, strict=False) if a != b]
    first = f"{', '.join(a for a, _ in renamed)} = {', '.join(b for _, b in renamed)}\n" if renamed else ""
    statements = own.text[own.body :]
    return f"{first}{_dedented(statements, own).rstrip()}\n"


def _names(definition: SourceDefinition) -> list[str]:
    function = ast.parse(textwrap.dedent(definition.text)).body[0]
    assert isinstance(function, ast.FunctionDef)
    return [argument.arg for argument in _arguments(function)]


def _new_lines(known: SourceDefinition, changes: Sequence[TextChange]) -> Iterator[str]:
    """Yield the lines that come of the changes, because text replaces text and precedence can surprise."""
    before = {line.strip() for line in known.text.splitlines()}
    for line in changed(known, places_of(known, changes)).splitlines():
        if line.strip() not in before:
            yield line.strip()


def _quoted(text: str) -> str:
    if "\n" in text:
        return f"'''\n{text}'''"
    return (
        f"'{text}'" if '"' in text and "'" not in text else '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
    )
