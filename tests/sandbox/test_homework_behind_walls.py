"""What homework does still works behind the walls."""

from __future__ import annotations

import multiprocessing
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from softmark.sandbox.failures import StudentFailure
from tests.support.confined import LEVELS, Outcome, attempt
from tests.support.sandboxes import loaded, sandbox, value


@pytest.fixture(params=LEVELS)
def level(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def _softmax_of_product() -> torch.Tensor:
    square = torch.arange(64 * 64, dtype=torch.float64).reshape(64, 64) / 4096
    return (square @ square.T).softmax(-1)


def _descend() -> float:
    layer = nn.Linear(2, 1)
    optimizer = torch.optim.Adam(layer.parameters(), lr=0.1)
    loss = torch.tensor(0.0)
    for _ in range(300):
        optimizer.zero_grad()
        loss = (layer(torch.eye(2)) - 1).square().sum()
        loss.backward()
        optimizer.step()
    return loss.item()


def _save_and_load() -> list[int]:
    torch.save(torch.arange(3), "numbers.pt")
    loaded: list[int] = torch.load("numbers.pt").tolist()
    return loaded


def _import_afresh(name: str) -> Any:
    sys.modules.pop(name, None)
    return __import__(name)


def _ask_another_process() -> Any:
    ours, theirs = multiprocessing.Pipe()
    other = multiprocessing.get_context("fork").Process(target=lambda: theirs.send(42))
    other.start()
    answer = ours.recv()
    other.join()
    return answer


def _ask_another_thread() -> int:
    answers: list[int] = []
    other = threading.Thread(target=lambda: answers.append(42))
    other.start()
    other.join()
    return answers[0]


class TestOrdinaryWork:
    @pytest.mark.parametrize(
        "action",
        [
            pytest.param(lambda: _softmax_of_product().sum(-1).allclose(torch.ones(64).double()), id="matmul"),
            pytest.param(lambda: torch.linalg.svd(torch.eye(5)).S.tolist() == [1.0] * 5, id="svd"),
            pytest.param(lambda: nn.LSTM(4, 5)(torch.ones(3, 2, 4))[0].shape == (3, 2, 5), id="lstm"),
            pytest.param(lambda: nn.Conv2d(3, 4, 3)(torch.ones(1, 3, 8, 8)).shape == (1, 4, 6, 6), id="conv"),
            pytest.param(lambda: _descend() < 0.01, id="training"),
            pytest.param(lambda: np.linalg.inv(np.eye(3)).sum() == 3.0, id="numpy"),
            pytest.param(lambda: _save_and_load() == [0, 1, 2], id="files"),
            pytest.param(lambda: _import_afresh("statistics").mean([1, 2, 3]) == 2, id="import"),
            pytest.param(lambda: _import_afresh("sqlite3").sqlite_version > "3", id="import of a library"),
            pytest.param(lambda: _ask_another_process() == 42, id="multiprocessing"),
            pytest.param(lambda: _ask_another_thread() == 42, id="threads"),
        ],
    )
    def test_works(self, level: str, action: Callable[[], Any]) -> None:
        """The operation gives its result behind the walls as before them."""
        outcome = attempt(lambda: bool(action()), level)
        assert outcome == Outcome(value=True)


REFUSED = """
import os, socket, subprocess

def opens():
    open("/etc/passwd")

def connects():
    socket.socket()

def starts():
    subprocess.run(["/bin/true"])

def becomes():
    os.execv("/bin/true", ["true"])

def leaves():
    os.setsid()

def changes():
    os.chown(".", 0, 0)
"""


class TestRefusal:
    """What a student reads who tries what is refused."""

    @pytest.mark.parametrize("name", ["opens", "connects", "starts", "becomes", "leaves", "changes"])
    def test_is_told_as_the_rule(self, name: str) -> None:
        """By whichever errno a call was refused: that these things are not available, and not only an exception."""
        with sandbox() as opened, loaded(opened, REFUSED) as worker:
            with pytest.raises(StudentFailure) as caught:
                value(worker, name)
            assert caught.value.category == "error"
            assert "raised PermissionError: " in caught.value.fact
            assert caught.value.fact.endswith("not available")
            assert worker.alive
