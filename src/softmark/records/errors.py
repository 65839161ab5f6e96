"""The two ways in which the people who run a grading can be told that it cannot start."""


class UsageError(Exception):
    """What was typed cannot be done; the text is one sentence that names the next step (exit code 2)."""


class ConfigError(Exception):
    """A homework's own files are wrong; the text begins with file and line (exit code 2)."""

    def __init__(self, file: str, line: int, problem: str) -> None:
        super().__init__(f"{file}:{line}: {problem}")
        self.file = file
        self.line = line
        self.problem = problem
