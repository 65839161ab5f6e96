"""Makes a zip that is the same whenever and wherever it is made: dates, rights and system are fixed."""

from __future__ import annotations

import stat
import zipfile
from collections.abc import Collection, Mapping
from io import BytesIO

_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The earliest time that a zip can hold."""
_UNIX = 3  # the system that the rights are read by


def zipped(
    files: Mapping[str, bytes], executable: Collection[str] = (), compression: int = zipfile.ZIP_STORED
) -> bytes:
    """Return a zip of the files, in their order. Those named in `executable` may be run."""
    made = BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.create_system = _UNIX
            entry.external_attr = (stat.S_IFREG | (0o755 if name in executable else 0o644)) << 16
            archive.writestr(entry, content, compression)
    return made.getvalue()
