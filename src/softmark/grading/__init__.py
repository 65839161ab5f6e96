"""One submission against the hidden tests.

In: the files of a submission, the collected tests, a sandbox. Out: what came of each test, with a share of its points.
"""
