"""Defines the two errors that tell the person at the keyboard that grading cannot start."""


class UsageError(Exception):
    """Refuses what was typed; the text is one sentence that names the next step (exit code 2)."""


class ConfigError(Exception):
    """Refuses a homework whose own files are wrong; the text begins with file and line (exit code 2)."""

    def __init__(self, file: str, line: int, problem: str) -> None:
        super().__init__(f"{file}:{line}: {problem}")
        self.file = file
        self.line = line
        self.problem = problem
