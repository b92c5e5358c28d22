"""Runs a program that may hang, in a driver that is broken."""

import contextlib
import subprocess
from collections.abc import Sequence
from typing import NamedTuple

from .._run import Processes


class Ended(NamedTuple):
    status: int | None  # None: it did not end within its time
    out: str
    err: str

    @property
    def last_line(self) -> str:
        return (self.err.strip().splitlines() or [f"it ended with status {self.status}"])[-1]


def run_limited(command: Sequence[str], limit_s: float) -> Ended:
    """Runs a program for at most this many seconds. One that not even SIGKILL ends, in the kernel, is left behind.

    Raises Failure if the program cannot be started.
    """
    process = Processes().start(command)
    try:
        out, err = process.communicate(timeout=limit_s)
        return Ended(process.returncode, out, err)
    except subprocess.TimeoutExpired as expired:
        process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            out, err = process.communicate(timeout=1)
            return Ended(None, out, err)
        return Ended(None, _text(expired.stdout), _text(expired.stderr))
    except BaseException:
        process.kill()
        raise


def _text(read: bytes | str | None) -> str:
    return read.decode(errors="replace") if isinstance(read, bytes) else read or ""
