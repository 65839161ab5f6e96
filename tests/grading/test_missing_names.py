"""A name that is not defined gets the nearest explanation that the file gives."""

import pytest

from softmark.grading.missing_names import missing_name
from softmark.intake.model import SubmittedFiles
from softmark.sandbox.wire import Raised

ONE = "def one(x):\n    return x + W\n"
OTHER = "def other(x):\n    W = 1\n    return x + W\n"
MAIN = "if __name__ == '__main__':\n"
UNDER_MAIN = "which is set only under `if __name__ == '__main__':`, and that is not run while grading: set it above"
ELSEWHERE = "which is not defined at this place: pass it as an argument, or define it before it is used"
NOWHERE = "which is defined nowhere: check how it is spelt, or define it"

PLACES: dict[str, tuple[str, str]] = {
    "nowhere": (ONE, NOWHERE),
    "a constant under main": (f"{ONE}{MAIN}    W = 1\n", UNDER_MAIN),
    "with a type": (f"{ONE}{MAIN}    W: int = 1\n", UNDER_MAIN),
    "a function under main": (f"{ONE}{MAIN}    def W(): return 1\n", UNDER_MAIN),
    "a class under main": (f"{ONE}{MAIN}    class W: pass\n", UNDER_MAIN),
    "a longer name under main": (f"{ONE}{MAIN}    W2 = 1\n", NOWHERE),
    "inside another function": (OTHER + ONE, ELSEWHERE),
    "inside another function, beside a main": (f"{OTHER}{ONE}{MAIN}    print(one(2))\n", ELSEWHERE),
    "below": (f"{ONE}one(1)\nW = 1\n", ELSEWHERE),
}


def said(
    source: str, message: str = "name 'W' is not defined", cls: str = "NameError", line: str = "return x + W"
) -> str:
    """Return the sentence about an exception of a file, empty if there is none."""
    handed = SubmittedFiles("hw.py", {"hw.py": source.encode()})
    return missing_name(Raised(cls, message, (), ()), line, handed, lambda name: "") or ""


@pytest.mark.parametrize(("source", "why"), PLACES.values(), ids=PLACES)
def test_where_it_is_set(source: str, why: str) -> None:
    """Under main, inside of another function, too late, or nowhere."""
    assert said(source) == f"uses `W`, {why}"


@pytest.mark.parametrize(
    ("source", "what"),
    [
        ("def one(x):\n    return math.pi\n", "add `import math` at the top"),
        ("def other():\n    import math\n\ndef one(x):\n    return math.pi\n", "move `import math` to the top"),
        ("# import math\ndef one(x):\n    return math.pi\n", "add `import math` at the top"),
    ],
)
def test_import(source: str, what: str) -> None:
    """One that is forgotten is added; one inside of another function is moved."""
    sentence = said(source, "name 'math' is not defined", line="return math.pi")
    assert sentence == f"uses `math`, which is not defined: {what}"


def test_before_it_has_a_value() -> None:
    """A name that a function sets later, or in one branch only."""
    message = "cannot access local variable 'W' where it is not associated with a value"
    assert said(ONE, message, "UnboundLocalError") == (
        "uses `W` before it has a value: give it one before this line, in every branch"
    )


def test_name_that_is_not_in_the_line() -> None:
    """An exception may say anything: a name that the student's line does not hold is not repeated."""
    assert said(ONE, line="return x + W2") == ""


FORGOTTEN = (
    "collections copy functools itertools json math os random re sys time torch typing warnings "
    "Any Callable Dict List Optional Tuple Union Counter OrderedDict defaultdict deque namedtuple "
    "DataLoader Dataset TensorDataset Linear Module ModuleList Parameter partial reduce ceil exp log pi sqrt "
    "F np numpy nn optim Tensor Path dataclass"
)


@pytest.mark.parametrize("name", FORGOTTEN.split())
def test_the_import_sets_the_name(name: str) -> None:
    """Each import that a student is told to add is one, and sets the name that is missing."""
    sentence = said("x = 1\n", f"name '{name}' is not defined", line=f"return {name}")
    statement = sentence.split("`")[3]
    assert sentence == f"uses `{name}`, which is not defined: add `{statement}` at the top"
    namespace: dict[str, object] = {}
    exec(statement, namespace)
    assert name in namespace


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("true", "Python writes `True`"),
        ("false", "Python writes `False`"),
        ("null", "Python writes `None`"),
        ("nil", "Python writes `None`"),
        ("NULL", "Python writes `None`"),
        ("get_ipython", "only a notebook has it; delete this line"),
        ("display", "only a notebook has it; delete this line"),
        ("xrange", "Python 3 writes `range`"),
        ("unicode", "Python 3 writes `str`"),
        ("raw_input", "Python 3 writes `input`"),
    ],
)
def test_of_another_language(name: str, why: str) -> None:
    """A name of another language, of an old Python or of notebooks is put right."""
    sentence = said("x = 1\n", f"name '{name}' is not defined", line=f"return {name}")
    assert sentence == f"uses `{name}`, which is not defined: {why}"


def test_similar() -> None:
    """A name like one of the file's is taken for a slip."""
    assert said("total = 1\n", "name 'totals' is not defined", line="return totals") == (
        "uses `totals`, which is not defined: did you mean `total`?"
    )


def test_similar_functions_of_a_homework() -> None:
    """A function that another part asks for is not taken for a slip."""
    handed = SubmittedFiles("hw.py", {"hw.py": b"def cbow_loss(E): pass\ndef glove_los(X): pass\n"})
    asked = ("cbow_loss", "glove_loss", "skip_gram_loss")
    assert handed.similar("glove_loss", asked) == "glove_los"
    assert handed.similar("skip_gram_loss", asked) is None


def test_what_a_failed_cell_was_to_set() -> None:
    """What became of the cell comes before every guess."""
    handed = SubmittedFiles("hw.py", {"hw.py": ONE.encode()})
    raised = Raised("NameError", "name 'true' is not defined", (), ())
    assert missing_name(raised, "return true", handed, lambda name: f"{name} failed") == "uses `true`, true failed"
