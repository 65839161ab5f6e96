"""Says which environment variables a worker has. They are the same for all submissions."""

from __future__ import annotations

import os

_OF_WINDOWS = ("SYSTEMROOT", "WINDIR", "COMSPEC", "PATHEXT")
"""No program can be started on Windows without them."""


def environment(scratch: str) -> dict[str, str]:
    """Return the whole environment of a worker. The zygote should be started with the same one."""
    own = "HOME TMPDIR XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME XDG_RUNTIME_DIR MPLCONFIGDIR IPYTHONDIR"
    caches = "TORCH_HOME TORCHINDUCTOR_CACHE_DIR TRITON_CACHE_DIR HF_HOME NUMBA_CACHE_DIR CUDA_CACHE_PATH"
    return {
        **{name: os.environ[name] for name in _OF_WINDOWS if os.name == "nt" and name in os.environ},
        **dict.fromkeys((*own.split(), *caches.split()), scratch),
        **dict.fromkeys(("USER", "LOGNAME"), "student"),  # without them getpass, and so torch, reads /etc/passwd
        **dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"),
        "PATH": "/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "MPLBACKEND": "Agg",
        "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",  # large pages: a fork has few entries to copy
        "CUBLAS_WORKSPACE_CONFIG": ":4096:8",  # without it, matrix products on a graphics card differ between runs
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONNOUSERSITE": "1",
    }
