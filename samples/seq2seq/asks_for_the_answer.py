"""A hostile sample submission: it looks for the test's own code behind `step`, and asks `step` without an end."""

import gc
import inspect

import torch
from torch import nn


def _reference():
    """Look for the solution among all functions of this process, and on the disk."""
    for thing in gc.get_objects():
        if inspect.isfunction(thing) and thing.__module__ == "reference.seq2seq":
            return thing
    return open("/autograder/source/reference/seq2seq.py").read()


def dot_scores(query, states):
    return _reference()(query, states)


def bilinear_scores(query, states, W):
    return _reference()(query, states, W)


def additive_scores(query, states, W_q, W_x, v):
    return _reference()(query, states, W_q, W_x, v)


def context(scores, states, lengths):
    return _reference()(scores, states, lengths)


class Encoder(nn.Module):
    def forward(self, tokens, lengths):
        return _reference()(tokens, lengths)


def teacher_forced_loss(logits, targets, pad):
    return _reference()(logits, targets, pad)


def greedy(step, state, start, end, limit):
    code = inspect.getclosurevars(step).nonlocals
    while True:
        for name, value in code.items():
            step(torch.tensor([start]), getattr(value, "__globals__", {}).get(name, state))


def beam_search(step, state, start, end, width, limit):
    while True:
        step(step, {"state": state, "answer": None})
