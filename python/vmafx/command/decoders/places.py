"""Shares the decoders of GPUs among the processes of a machine: each run that uses them holds a place, which is a lock
on a file. The kernel gives it back when a process ends, however it ends.
"""

import contextlib
import os
import stat
import tempfile
from collections.abc import Iterator

from ..._system import flags, is_own, take_lock, user


def folder() -> str:
    return os.path.join(tempfile.gettempdir(), f"vmafx-decoders-{user()}")


@contextlib.contextmanager
def held(count: int) -> Iterator[int | None]:
    """Holds one of this many places; None if all are taken, or there is no room for their files."""
    taken = None
    try:
        for number in range(count):
            if (taken := _lock(number)) is not None:
                break
        yield None if taken is None else number
    finally:
        if taken is not None:
            os.close(taken)


def _lock(number: int) -> int | None:
    """Returns the open file of a place, or None if another process holds it."""
    try:
        path = folder()
        os.makedirs(path, mode=0o700, exist_ok=True)
        about = os.lstat(path)
        if not stat.S_ISDIR(about.st_mode) or not is_own(about):
            return None
        file = os.open(os.path.join(path, str(number)), flags("O_RDWR", "O_CREAT", "O_NOFOLLOW", "O_CLOEXEC"), 0o600)
    except OSError:
        return None
    if take_lock(file):
        return file
    os.close(file)
    return None
