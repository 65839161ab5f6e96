"""A hostile sample submission: it looks for the solution on the grader's disk, and would call it its own."""

import os
import sys


def find_solution():
    for start in (os.getcwd(), *sys.path, "/home", "/root", "/srv", "/autograder"):
        for folder, _, files in os.walk(start):
            if folder.endswith("reference") and "attention_scores.py" in files:
                return os.path.join(folder, "attention_scores.py")
    return "../../reference/attention_scores.py"


SOLUTION = find_solution()


def stolen(name):
    def function(*args, **kwargs):
        with open(SOLUTION) as file:
            module = {}
            exec(file.read(), module)
        return module[name](*args, **kwargs)

    return function


attend, project, scores, softmax_rows = (stolen(name) for name in ("attend", "project", "scores", "softmax_rows"))
masked_softmax, attention = stolen("masked_softmax"), stolen("attention")
causal_mask, padding_mask = stolen("causal_mask"), stolen("padding_mask")
