"""What was found out about a machine, as plain data that crosses from one process to another."""

import msgspec


class Machine(msgspec.Struct, frozen=True):
    """The findings, as plain data."""

    level: str
    why_not_higher: dict[str, str]
    devices: tuple[str, ...]
    versions: dict[str, str]
    landlock: int
    limits: dict[str, float]
    remarks: tuple[str, ...] = ()
