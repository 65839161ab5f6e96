"""Runs a module of Python as if the system had not what only Linux has, or what no Windows has.

    python tests/support/other_system.py KIND MODULE ARGUMENTS…      (or `softmark WORDS…`, or `-c CODE`)

KIND is "windows" or "macos". Modules cannot be imported, functions and constants are missing, folders cannot be opened
as files, and programs that this program starts run in the same way. It is no Windows: paths, the console and the
start of programs are those of this system.
"""

from __future__ import annotations

import ctypes
import os
import runpy
import signal
import subprocess
import sys
import time
import types
from typing import Any

KIND = sys.argv[1]
MODULES = {
    "macos": (),
    "windows": ("fcntl", "resource", "termios", "pwd", "grp", "tty", "pty", "syslog", "crypt", "nis", "spwd"),
}
NAMES = {
    "macos": {
        os: "pidfd_open memfd_create pipe2 sched_getaffinity sched_setaffinity getresuid getresgid setresuid setresgid",
        signal: "sigtimedwait",
    },
    "windows": {
        os: """
            fork forkpty geteuid getuid getegid getgid getresuid getresgid setresuid setresgid setuid setgid setgroups
            getgroups setsid getsid setpgid getpgid getpgrp killpg wait3 wait4 waitid pidfd_open pipe2 memfd_create
            sched_getaffinity sched_setaffinity sched_yield sysconf chown lchown fchown fchmod mkfifo mknod statvfs
            fstatvfs getloadavg uname nice getpriority setpriority chroot openpty ttyname tcgetpgrp ctermid sendfile
            pread pwrite posix_fallocate posix_fadvise register_at_fork
            O_NOFOLLOW O_DIRECTORY O_CLOEXEC O_NONBLOCK O_NOCTTY O_SYNC O_PATH O_TMPFILE
        """,
        signal: """
            SIGKILL SIGALRM SIGHUP SIGUSR1 SIGUSR2 SIGXCPU SIGXFSZ SIGSYS SIGBUS SIGCHLD SIGQUIT SIGPIPE SIGTSTP SIGSTOP
            SIGCONT SIGTTIN SIGTTOU SIGWINCH SIGPROF SIGVTALRM SIGTRAP SIGPOLL SIGURG setitimer getitimer alarm
            pthread_sigmask pthread_kill sigwait sigpending siginterrupt pause sigtimedwait sigwaitinfo
            SIG_BLOCK SIG_UNBLOCK SIG_SETMASK ITIMER_REAL ITIMER_PROF ITIMER_VIRTUAL
        """,
        time: "clock_gettime clock_settime pthread_getcpuclockid",
    },
}


def main() -> None:
    """Block, and run the module."""
    import random  # noqa: F401 - the library's own modules that look at the system while they are imported
    import selectors  # noqa: F401
    import shutil
    import tempfile  # noqa: F401

    import torch  # noqa: F401 - it is built for this system

    subprocess.signal = types.SimpleNamespace(**vars(signal))  # type: ignore[attr-defined]  # Popen.kill is another there
    for name in MODULES[KIND]:
        sys.modules[name] = None  # type: ignore[assignment]
    for owner, names in NAMES[KIND].items():
        for name in names.split():
            if hasattr(owner, name):
                delattr(owner, name)
    ctypes.CDLL = _no_library  # type: ignore[assignment,misc]
    if KIND == "windows":
        for functions in (os.supports_dir_fd, os.supports_fd, os.supports_follow_symlinks):
            functions.clear()
        shutil._use_fd_functions = False  # type: ignore[attr-defined]
        os.open = _files_only(os.open)
    else:
        time.clock_gettime = _no_clock_of_another(time.clock_gettime)
        sys.platform = "darwin"
    subprocess.Popen.__init__ = _here(subprocess.Popen.__init__)  # type: ignore[method-assign]
    if not sys.flags.safe_path:
        sys.path[0] = os.getcwd()
    del sys.argv[:2]
    _run()


def _run() -> None:
    """Run `softmark` as it is typed, the code of `-c`, or a module."""
    what = sys.argv[0]
    if what == "softmark":
        from softmark.cli import main as softmark

        softmark()
    elif what == "-c":
        exec(compile(sys.argv[1], "<code>", "exec"), {"__name__": "__main__"})
    else:
        runpy.run_module(what, run_name="__main__", alter_sys=True)


def _no_library(name: Any = None, *_: Any, **__: Any) -> Any:
    raise OSError(f"there is no library {name}")


def _files_only(opened: Any) -> Any:
    def open_file(path: Any, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        if dir_fd is not None:
            raise NotImplementedError("dir_fd unavailable on this platform")
        if os.path.isdir(path):
            raise PermissionError(13, "Permission denied", str(path))
        return opened(path, flags, mode)

    return open_file


def _no_clock_of_another(clock: Any) -> Any:
    def clock_gettime(number: int) -> float:
        if number < 0:
            raise OSError(22, "Invalid argument")
        return clock(number)

    return clock_gettime


def _here(start: Any) -> Any:
    """Let a program of Python that is started run as this one does."""

    def init(self: Any, args: Any, *more: Any, **settings: Any) -> None:
        if isinstance(args, list) and args[:1] == [sys.executable] and "-m" in args:
            module = args.index("-m")
            args = [*args[:module], __file__, KIND, *args[module + 1 :]]
        start(self, args, *more, **settings)

    return init


if __name__ == "__main__":
    main()
