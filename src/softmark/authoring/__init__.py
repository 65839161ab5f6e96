"""Makes and verifies a homework.

In: `graders/<hw>/` and `reference/<hw>.py`. Out: starters, notebooks, worked examples, the verification that the
hidden tests grade, and the zip for Gradescope.

`build.py`, `verification.py` and `bundle.py` are the commands of these names; `claims.py` says what is verified.
"""
