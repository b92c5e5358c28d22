"""Does what differs between systems: locks, signals, processors, open files, names of libraries.

No other module names a function that only POSIX systems have. Each function goes by what Python offers, not by the
system's name: Windows lacks fcntl, some signals and flags of open().
"""

import contextlib
import os
import signal
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from typing import IO, Any, NoReturn

try:
    import fcntl as _fcntl
except ImportError:
    _fcntl = None  # type: ignore[assignment]
try:
    import msvcrt as _msvcrt
except ImportError:
    _msvcrt = None  # type: ignore[assignment]

IS_WINDOWS = sys.platform == "win32"
LIBRARY = "libvmafx.dll" if IS_WINDOWS else "libvmafx.so.0"
LIBRARY_FOLDER = "bin" if IS_WINDOWS else "lib"  # of the library, in a wheel
PROGRAM_ENDING = ".exe" if IS_WINDOWS else ""
LIBRARY_FROM_PROGRAM = "" if IS_WINDOWS else "../lib/vmafx"  # the folder of the library, from that of ffmpeg
INTERRUPTED, PIPE_BROKEN = 128 + 2, 128 + 13  # exit statuses of Ctrl-C and of a reader that has gone

# -- Processors and users ----------------------------------------------------------------------------------------------


def processors() -> int:
    """Returns how many processors this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def memory() -> int:
    """Returns the bytes of memory that this process, or its container, may use; 0 if the system does not tell."""
    if "SC_PHYS_PAGES" not in getattr(os, "sysconf_names", {}):
        return 0
    found = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for limit in "memory.max", "memory/memory.limit_in_bytes":  # of cgroups, version 2 and 1
        with contextlib.suppress(OSError, ValueError):  # a file that is missing, or says "max", sets no limit
            with open(f"/sys/fs/cgroup/{limit}", encoding="ascii") as file:
                found = min(found, int(file.read()))
    return found


def user() -> str:
    """Returns what tells this user's files apart in a folder that all users share; Windows has one for each user."""
    return str(os.getuid()) if hasattr(os, "getuid") else "own"


def is_own(found: os.stat_result) -> bool:
    return not hasattr(os, "getuid") or found.st_uid == os.getuid()


# -- Programs ----------------------------------------------------------------------------------------------------------


def become(program: str, words: Sequence[str]) -> NoReturn:
    """Goes on as another program. On Windows, whose exec() would return to the shell at once, waits for it instead.
    Raises OSError.
    """
    if IS_WINDOWS:
        sys.exit(subprocess.call([program, *words]))
    os.execv(program, [program, *words])


# -- Signals -----------------------------------------------------------------------------------------------------------


def signals(*names: str) -> set[signal.Signals]:
    """Returns those of these signals that there are."""
    return {getattr(signal, name) for name in names if hasattr(signal, name)}


@contextlib.contextmanager
def signals_held(numbers: Iterable[signal.Signals]) -> Iterator[None]:
    """Lets signals wait, for threads and processes that are started meanwhile, too, where that can be had."""
    mask: Any = getattr(signal, "pthread_sigmask", None)
    if mask is None:
        yield
        return
    before = mask(signal.SIG_BLOCK, numbers)
    try:
        yield
    finally:
        mask(signal.SIG_SETMASK, before)


def kill(process: int) -> None:
    os.kill(process, getattr(signal, "SIGKILL", signal.SIGTERM))  # Windows ends a process by either


# -- Open files --------------------------------------------------------------------------------------------------------


def flags(*names: str) -> int:
    """Returns those of these flags of os.open() that there are, and the flag for bytes as they are."""
    return sum(getattr(os, name, 0) for name in (*names, "O_BINARY"))


def access_of(descriptor: int) -> int:
    """Returns the flags that an open file was opened with; O_RDWR where nothing tells them. Raises OSError or
    OverflowError.
    """
    if _fcntl is not None:
        return _fcntl.fcntl(descriptor, _fcntl.F_GETFL)
    os.fstat(descriptor)
    return os.O_RDWR


def take_lock(file: int) -> bool:
    """Locks an open file until it is closed, however the process ends; False if another one holds the lock."""
    with contextlib.suppress(OSError):
        if _fcntl is not None:
            _fcntl.flock(file, _fcntl.LOCK_EX | _fcntl.LOCK_NB)
        elif _msvcrt is not None:
            _msvcrt.locking(file, _msvcrt.LK_NBLCK, 1)
        return True
    return False


def lock_byte(file: int, place: int) -> None:
    """Takes a lock of one byte that belongs to the open file, not to the process. Raises BlockingIOError or
    PermissionError if another one holds it.
    """
    if _fcntl is None:
        raise OSError("this system has no locks that belong to open files")
    lock = struct.pack("hhqqi4x", _fcntl.F_WRLCK, os.SEEK_SET, place, 1, 0)
    _fcntl.fcntl(file, _fcntl.F_OFD_SETLK, lock)


def unnamed_file() -> IO[bytes]:
    """Returns a file in memory, or one that vanishes with this process."""
    if hasattr(os, "memfd_create"):
        return open(os.memfd_create("vmafx"), "w+b", buffering=0)
    return tempfile.TemporaryFile(buffering=0)


def reopened(file: IO[bytes]) -> IO[bytes]:
    """Opens an unnamed file once more, from its beginning."""
    if isinstance(file.name, int):
        return open(f"/proc/self/fd/{file.fileno()}", "rb")
    return open(file.name, "rb", opener=lambda path, mode: os.open(path, mode | flags("O_TEMPORARY")))


# -- The command -------------------------------------------------------------------------------------------------------


def lacking(subcommand: str) -> str | None:
    """Returns why a subcommand cannot run on this system; None if it can."""
    if subcommand == "library" and not hasattr(_fcntl, "F_OFD_SETLK"):
        return "needs locks that belong to open files, which this system lacks: run it on Linux, or in WSL"
    return None
