"""How much of the machine one student process may use."""

from __future__ import annotations

import math
from dataclasses import dataclass

from softmark.records.time_allowed import SPARE

_TESTS_OF_A_WORKER = 60  # at their full limit


@dataclass(frozen=True)
class Limits:
    """Allowances of one worker; a homework may set some of them in its homework.toml."""

    cpu_seconds: float = 10.0
    """Processor time of one test."""
    import_seconds: float = 20.0
    """Processor time of loading the submission."""
    test_seconds: float = 60.0
    """Time on the clock that a hidden test may take itself, without what it waits for."""
    memory_mb: int = 2048
    """Memory beyond what the interpreter and torch already hold."""
    file_mb: int = 100
    """Size of one file, and of all files together."""
    processes: int = 64
    """Processes and threads at one time, the worker's own included."""
    open_files: int = 64
    """Files, pipes and sockets that one process has open at one time."""
    answer_mb: int = 8
    """Size of an answer, beyond sixteen times what is expected of it."""
    output_bytes: int = 16384
    """What is kept of the beginning and of the end of what the code prints, each."""

    def of_a_submission(self, tests: int) -> float:
        """Return the seconds that a submission may take altogether: what its import and all its tests may take."""
        return self.import_seconds + SPARE + tests * (self.cpu_seconds + SPARE)

    def of_a_worker(self) -> int:
        """Return the seconds of processor time after which the kernel ends a worker, whatever it is asked."""
        return math.ceil(self.import_seconds + _TESTS_OF_A_WORKER * self.cpu_seconds)


DEFAULTS = Limits()
"""What a homework has that sets none."""
