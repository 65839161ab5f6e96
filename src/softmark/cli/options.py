"""Options that several commands have."""

from enum import StrEnum


class Isolation(StrEnum):
    """What --isolation accepts."""

    full = "full"
    user = "user"
    process = "process"
    none = "none"


class DeviceChoice(StrEnum):
    """What --device accepts."""

    auto = "auto"
    cpu = "cpu"
    cuda = "cuda"
